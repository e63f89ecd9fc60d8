"""The options of the command line: their help in one place, and how their values are read."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from disorder.errors import DisorderError


def _option(text: str, *names: str, **more: int) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(*names, help=text, **more)  # type: ignore[arg-type]
    return found


Model = Annotated[
    str,
    typer.Argument(help="Model spec: builtin, hf:FOLDER, onnx:FOLDER, bow, python:MODULE:FUNCTION"),
]
Data = Annotated[
    str | None, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
]
SomeData = Annotated[
    str, typer.Argument(help="Data spec: builtin, FILE.jsonl, mnli:matched, hf:NAME:SPLIT")
]

Suite = Annotated[str, _option("Set of transformations: order, salad, classes, ladder, full")]
With = Annotated[
    list[str] | None, _option("Transformation instead of a suite; can be repeated", "--with")
]
Q = Annotated[
    int,
    _option("Permutations of each example (shuffle and shuffle_ngrams draw 10 at most, or :q=N)"),
]
Seed = Annotated[int, _option("Seed of every draw")]
Limit = Annotated[int | None, _option("Audit this many examples, drawn at random by seed")]
Out = Annotated[
    str | None, _option("Run folder, or an address like s3://… (default: runs/DATE-MODEL-DATA)")
]
Resume = Annotated[str | None, _option("Resume a run that was stopped")]
Fidelity = Annotated[str, _option("paper: as described; released: as the authors' code does")]
Short = Annotated[
    str, _option("Examples with fewer than q distinct variants: skip them, or use those there are")
]

Columns = Annotated[
    str, _option("Which columns are which: premise=text_a,hypothesis=text_b,gold=label")
]
Labels = Annotated[str, _option("What the model's labels mean: LABEL_0=entailment,LABEL_1=neutral")]
GroupBy = Annotated[list[str] | None, _option("Split scores by this column; can be repeated")]
TaskName = Annotated[
    str | None, _option("Treat the data as this known task (disorder list data)", "--task")
]
DataDir = Annotated[str | None, _option("Folder with the papers' datasets (else DISORDER_DATA)")]

ScoreName = Annotated[
    list[str] | None, _option("Measure this score only; can be repeated", "--score")
]
Omega = Annotated[str, _option("More thresholds x for Ω_x, e.g. 0.25,0.95")]
Curtail = Annotated[
    bool, _option("Stop asking about an example once its Ω scores are decided", "--curtail")
]
StopWhen = Annotated[str | None, _option('Stop when sure enough, e.g. "width(p_c) < 0.02"')]

BatchSize = Annotated[int | None, _option("Texts in a batch (default: by length)", min=1)]
Precision = Annotated[str, _option("fp32, bf16, int8, or auto: a faster one if its answers agree")]
Agree = Annotated[float, _option("Share of sampled answers that must agree for --precision auto")]
Engine = Annotated[str, _option("Where the model runs: local or ray")]
Address = Annotated[str | None, _option("Ray cluster to join (default: start one on this machine)")]
Workers = Annotated[int | None, _option("Ray workers (default: one a GPU, else two)", min=1)]
CacheFolder = Annotated[str | None, _option("Folder of the prediction cache, or off", "--cache")]

Profile = Annotated[bool, _option("Say where the time went", "--profile")]
Json = Annotated[bool, _option("Print run.json on standard output and nothing else", "--json")]


def mapping(option: str, text: str) -> dict[str, str]:
    """The pairs of `a=b,c=d`."""
    pairs = [item.partition("=") for item in text.split(",") if item.strip()]
    if any(not equals or not left.strip() or not right.strip() for left, equals, right in pairs):
        raise DisorderError(f"{option} {text!r}: write it as name=name,name=name")
    return {left.strip(): right.strip() for left, _, right in pairs}


def new_folder(model: str, data: str, home: str = "runs") -> Path:
    """A folder name that says what was made of which data and when, and is not taken."""
    words = [Path(spec).name.split(".")[0] if "/" in spec else spec for spec in (model, data)]
    name = "-".join(
        "".join(char if char.isalnum() else "-" for char in word).strip("-") for word in words
    )
    first = folder = Path(home) / f"{datetime.now():%Y%m%d-%H%M%S}-{name}"
    number = 2
    while folder.exists():
        folder, number = first.with_name(f"{first.name}-{number}"), number + 1
    return folder
