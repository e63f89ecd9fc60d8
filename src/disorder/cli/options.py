"""The options of the command line: their help in one place, and how their values are read."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from disorder.errors import DisorderError
from disorder.specs import parse_pairs

LONGEST_NAME = 150  # letters: a name has 255 at most

_new_folders: list[Path] = []


def option(text: str, *names: str, **more: int) -> typer.models.OptionInfo:
    """An option: its help, and its names where they do not follow from the parameter."""
    found: typer.models.OptionInfo = typer.Option(*names, help=text, **more)  # type: ignore[arg-type]
    return found


Model = Annotated[
    str,
    typer.Argument(
        help="Model spec: builtin, hf:FOLDER, causal:FOLDER, openai:MODEL, python:MODULE:FUNCTION"
    ),
]
ModelOrUsual = Annotated[
    str | None,
    typer.Argument(
        help="Model spec: builtin, hf:FOLDER, onnx:FOLDER, bow, python:MODULE:FUNCTION",
        show_default="builtin",
    ),
]
Data = Annotated[
    str | None, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
]
SomeData = Annotated[
    str, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
]

Suite = Annotated[
    str, option("Set of transformations: order, salad, classes, ladder, characters, alldrop, full")
]
With = Annotated[
    list[str] | None, option("Transformation instead of a suite; can be repeated", "--with")
]
Q = Annotated[
    int,
    option("Permutations of each example (shuffle and shuffle_ngrams draw 10 at most, or :q=N)"),
]
Seed = Annotated[int, option("Seed of every draw")]
Limit = Annotated[int | None, option("Audit this many examples, drawn at random by seed")]
Out = Annotated[
    str | None, option("Run folder, or an address like s3://… (default: runs/DATE-MODEL-DATA)")
]
Resume = Annotated[str | None, option("Resume a run that was stopped")]
Fidelity = Annotated[str, option("paper: as described; released: as the authors' code does")]
Short = Annotated[
    str, option("Examples with fewer than q distinct variants: skip them, or use those there are")
]

Columns = Annotated[
    str, option("Which columns are which: premise=text_a,hypothesis=text_b,gold=label")
]
Labels = Annotated[str, option("What the model's labels mean: LABEL_0=entailment,LABEL_1=neutral")]
GroupBy = Annotated[list[str] | None, option("Split scores by this column; can be repeated")]
TaskName = Annotated[
    str | None, option("Treat the data as this known task (disorder list data)", "--task")
]
Language = Annotated[
    str,
    option("Language of the texts: en, de, zh, th, … (disorder list languages); auto finds it out"),
]
DataDir = Annotated[str | None, option("Folder with the papers' datasets (else DISORDER_DATA)")]

ScoreName = Annotated[
    list[str] | None, option("Measure this score only; can be repeated", "--score")
]
Omega = Annotated[str, option("More thresholds x for Ω_x, e.g. 0.25,0.95")]
Curtail = Annotated[
    bool, option("Stop predicting for an example once its Ω scores are decided", "--curtail")
]
StopWhen = Annotated[
    str | None, option('Stop when an interval is narrow enough, e.g. "width(p_c) < 0.02"')
]

BatchSize = Annotated[int | None, option("Texts in a batch (default: by length)", min=1)]
Precision = Annotated[
    str, option("fp32, bf16, int8, or auto: a faster one if its predictions agree")
]
Agree = Annotated[
    float, option("Share of sampled predictions that must agree for --precision auto")
]
Engine = Annotated[str, option("Where the model runs: local or ray")]
Address = Annotated[str | None, option("Ray cluster to join (default: start one on this machine)")]
Workers = Annotated[
    int | None, option("Ray workers (default: one per GPU, else one per core)", min=1)
]
CacheFolder = Annotated[str | None, option("Folder of the prediction cache, or off", "--cache")]
ReadsBelow = Annotated[
    float, option("Conclusion: a model that keeps at most this share of its skill reads word order")
]
BagAbove = Annotated[
    float, option("Conclusion: one that keeps at least this share behaves like a bag of words")
]
LeastSkill = Annotated[
    float, option("Conclusion: skill above chance that counts as none, of all there could be")
]

Prompt = Annotated[
    list[str] | None,
    option("Prompt of a language model: a name (disorder list prompts) or a file; repeatable"),
]
Shots = Annotated[int, option("Examples with answers in the prompt", min=0)]
ShotsFrom = Annotated[
    str | None, option("Data that the examples come from (default: the training split of DATA)")
]
LabelWords = Annotated[str, option("Word for each label: entailment=yes,neutral=maybe")]
OptionOrders = Annotated[
    int, option("Orders in which the options are listed; predictions are their mean", min=1)
]
Calibrate = Annotated[
    str | None, option("content-free: subtract what the model says of an empty text")
]
Chat = Annotated[str, option("Use the model's chat template: on, off, or auto where it has one")]
Break = Annotated[
    str,
    option("What is perturbed: text, or of a prompt its instruction or its shots", "--break"),
]

BaseUrl = Annotated[
    str | None,
    option("Address of an OpenAI-compatible server, e.g. http://127.0.0.1:8080/v1", "--base-url"),
]
Answers = Annotated[
    str | None,
    option(
        "How a server's answers are read: auto, decisions, prompt-logprobs, first-token, "
        "constrained, parse"
    ),
]
NoAnswer = Annotated[
    str, option("Texts that a model does not answer: skip and count them, or abstain")
]
MaxConnections = Annotated[int | None, option("Requests at once (default: 8)", min=1)]
Timeout = Annotated[float | None, option("Seconds for one request (default: 120)")]
MaxRetries = Annotated[int | None, option("How often a failed request is sent again", min=0)]
PriceIn = Annotated[float | None, option("Price of a million tokens sent")]
PriceOut = Annotated[float | None, option("Price of a million tokens received")]
MaxQuestions = Annotated[
    int | None, option("Stop before more questions are sent to the model", min=1)
]
MaxTokens = Annotated[int | None, option("Stop before more tokens are spent", min=1)]
MaxCost = Annotated[float | None, option("Stop before more money is spent (needs prices)")]
FailIf = Annotated[
    list[str] | None,
    option(
        'Rule as for disorder gate, e.g. "skill_kept > 0.8"; stops as soon as it is decided, exit '
        "code 1 if it fails; can be repeated"
    ),
]
DryRun = Annotated[
    bool, option("Say how many model calls it takes, with one prompt, and make none", "--dry-run")
]

Profile = Annotated[bool, option("Say where the time went", "--profile")]
Json = Annotated[bool, option("Print run.json on standard output and nothing else", "--json")]


def mapping(option: str, text: str) -> dict[str, str]:
    """The pairs of `a=b,c=d`."""
    return parse_pairs(text, form=f"{option} {text!r}: write it as name=name,name=name")


def new_folder(model: str, data: str, home: str = "runs") -> Path:
    """A new folder whose name says what was made of which data and when."""
    words = [Path(spec).name.split(".")[0] if "/" in spec else spec for spec in (model, data)]
    name = "-".join(
        "".join(char if char.isalnum() else "-" for char in word).strip("-") for word in words
    )
    first = Path(home) / f"{datetime.now():%Y%m%d-%H%M%S}-{name[:LONGEST_NAME]}"
    for number in count(1):
        folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()  # in one step: another command may have taken the name just now
        except FileExistsError:
            continue
        except OSError as error:
            raise DisorderError(f"{folder} cannot be made ({error.strerror or error})") from None
        _new_folders.append(folder)
        return folder
    raise AssertionError("numbers do not end")


def remove_empty_folders() -> None:
    """Remove the folders that were made for a command which then wrote nothing."""
    while _new_folders:
        folder = _new_folders.pop()
        for each in (folder, folder.parent):
            try:
                each.rmdir()
            except OSError:  # something is in it
                break
