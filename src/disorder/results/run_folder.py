"""Results on disk: result.json, the page, and figures and tables with the rows behind them; and the
folder of an audit: a new run to begin with, its record read, checked and written.

Whoever wrote a folder, a run that passes has finite scores inside their intervals, each once, and
tables of the shape that charts are drawn from.
"""

from __future__ import annotations

import json
import math
import platform
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from disorder.errors import BadData, DisorderError, option
from disorder.requests.settings import DECLARED, Settings
from disorder.results.render import render
from disorder.results.result import Figure, Result, Table, as_csv
from disorder.results.run import SCHEMA_VERSION, Run
from disorder.safe_io import MAX_REASON, one_line, read_json, validated
from disorder.store.storage import (
    make_folder,
    place,
    remove_files,
    write_atomically,
    write_together,
)
from disorder.types import Dataset, Example

if TYPE_CHECKING:
    from disorder.results.run import Record

PACKAGES = ("disorder", "numpy", "onnxruntime", "tokenizers")


def new_run(
    model: str,
    data: str,
    dataset: Dataset,
    transformations: Sequence[str],
    settings: Mapping[str, Any],
    seed: int,
) -> Run:
    """A run that has just begun."""
    task = dataset.task
    return Run(
        model=model,
        data=data,
        task=task.name,
        labels=list(task.labels),
        breaks=task.breaks,
        reject_label=task.reject_label,
        default_label=task.default_label,
        language=task.language,
        is_likelihood=task.is_likelihood,
        kind=task.kind,
        chance=None if task.is_regression else task.chance,
        majority=majority_share(dataset.examples),
        transformations=list(transformations),
        settings=dict(settings),
        seed=seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        n_examples=len(dataset.examples),
        n_available=len(dataset.examples) + sum(dataset.skipped.values()),
        versions={name: version(name) for name in PACKAGES} | {"python": platform.python_version()},
        git=_git(),
        skips={"data": dict(dataset.skipped)},
    )


def majority_share(examples: Sequence[Example]) -> float:
    """The share of the most frequent gold label: what its constant answer has as accuracy."""
    labels = Counter(example.label for example in examples)
    return labels.most_common(1)[0][1] / len(examples)


def _git() -> str | None:
    """The commit of the folder the user works in, if it is a repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def write_run(folder: Path, run: Run) -> None:
    """Write result.json, which we read, and run.json, which other tools do, in one step."""
    from disorder.results.render import render

    found = run.model_copy().placed_in(folder)
    text = json.dumps(run.model_dump(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    texts = {RECORD: render(found.result, "json"), "run.json": text}
    write_together(
        {folder / name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    )


def write_report(folder: Path, run: Run) -> None:
    """Write report.html into the run folder."""
    from disorder.results.render import render

    html = render(run.model_copy().placed_in(folder).result, "page", in_folder=True)
    write_atomically(folder / "report.html", html.encode("utf-8", "backslashreplace"))


def read_run(folder: str | Path) -> Run:
    """The run in a folder, on disk or at an address like s3://bucket/run."""
    is_path = hasattr(folder, "joinpath")  # shared storage has paths of its own class
    if not isinstance(folder, str) and not is_path:
        raise BadData(f"a run is read from a folder, not from {type(folder).__name__}")
    where = place(folder)
    path = record_of(where, "run.json")
    try:
        raw = read_json(path)
    except FileNotFoundError:
        raise BadData(f"{folder} is no run folder: {_held(where)}") from None
    if not isinstance(raw, dict):
        raise BadData(f"{path} is damaged: it holds no object")
    expected = 2 if path.name == RECORD else SCHEMA_VERSION
    found = raw.get("schema_version")
    if found != expected:
        told = one_line(found)[:MAX_REASON]
        raise BadData(f"{path}: schema version {told}; this disorder reads {expected}")
    if path.name == RECORD and raw.get("verb") != "audit":
        raise BadData(f"{folder} is no run folder: it holds the result of another command")
    run: Run = validated(Run, raw | {"schema_version": SCHEMA_VERSION}, str(path))
    check_run(run, str(path))
    return run.placed_in(where)


def _held(folder: Path) -> str:
    """What a folder holds that is not a run."""
    if folder.is_dir():
        pages = sorted(path.name for path in folder.glob("*.html"))
        if pages:
            return f"open {folder / pages[0]}"
        runs = sorted(path.parent.name for path in folder.glob("*/run.json"))
        if runs:
            shown = ", ".join([*runs[:-4:-1], *(["…"] if len(runs) > 3 else [])])
            return f"it holds {len(runs):,} run{'s' * (len(runs) != 1)}: {shown}"
    return "it has no run.json"


MAX_POINTS = 10_000  # of one curve: a chart shows a few dozen

Number = float
Points = Annotated[list[tuple[Number, Number]], Field(max_length=MAX_POINTS)]
Bars = Annotated[list[Number], Field(max_length=MAX_POINTS)]
Bins = Annotated[
    list[tuple[Number, Number, Annotated[Number, Field(ge=1)]]], Field(max_length=MAX_POINTS)
]
When = Literal["before", "after"]


class FigureTables(BaseModel):
    """The numbers behind the charts of one transformation; older versions wrote fewer, none wrote
    null.
    """

    omega: Points = []
    acceptance: dict[Literal["right", "wrong"], Bars] = {}
    confidence: dict[When, Bars] = {}
    reliability: dict[When, Bins] = {}


class ToldVariant(BaseModel):
    """One perturbed version of a telling example."""

    variant: int
    texts: list[list[tuple[str, int | None]]]
    answer: str
    confidence: Number | None


class ToldExample(BaseModel):
    """One telling example."""

    kind: Literal["unmoved", "rescued", "noticed"]
    transformation: str
    id: str
    gold: str
    text_a: str
    text_b: str | None
    answer: str
    confidence: Number | None
    accepted: Number
    variants: list[ToldVariant]


class AskedPrompt(BaseModel):
    """How a language model was asked, what it made of it, and which way a server was read."""

    name: str
    label_words: dict[str, str]
    rendered: str
    label_mass: Number = 0
    option_orders: int = 1
    order_changes: Number = 0
    first_listed: Number = 0
    last_listed: Number = 0
    answers: str = ""
    server: str = ""
    refused: dict[str, str] = {}
    gives_probabilities: bool = True


# a fact of a prompt → those that are told with it
TOLD_WITH = {
    "order_changes": ("option_orders", "first_listed", "last_listed"),
    "answers": ("server", "refused", "gives_probabilities"),
}


class Spent(BaseModel):
    """What the questions to a language model cost."""

    questions: Number
    tokens: Number
    tokens_in: Number
    tokens_out: Number
    cost: Number


class SpreadRow(BaseModel):
    """A score over several prompts."""

    transformation: str
    metric: str
    group: str
    values: list[Any]
    low: Number
    high: Number


class GainRow(BaseModel):
    """What a perturbation keeps of what its control loses."""

    transformation: str
    control: str
    value: Number
    low: Number
    high: Number
    n: int


SHAPES: dict[str, Any] = {
    "prompt_spread": list[SpreadRow],
    "gains": list[GainRow],
    "figures": dict[str, FigureTables],
    "telling": list[ToldExample],
    "references": dict[Annotated[str, Field(min_length=1)], list[Any]],
    "variants": dict[str, Annotated[int, Field(ge=1)]],
    "skips": dict[str, dict[str, Annotated[int, Field(ge=0)]]],
    "n_examples": Annotated[int, Field(ge=0)],
    "n_available": Annotated[int, Field(ge=0)],
}


def check_run(run: Run, where: str) -> None:
    """Raise `BadData` where a run that was read could not have been written by an audit."""
    for name, shape in SHAPES.items():
        validated(shape, getattr(run, name), f"{where} ({name})")
    _check_asked(run, where)
    check_settings(run.settings, where)
    for steps in run.dev_r.values():
        if any(set(run.labels) - set(counts) for counts in steps.values()):
            raise BadData(f"{where} is damaged (dev_r): a label has no count")
    check_records(run.scores, where)
    for records in (*run.references.values(), run.noise_floor):
        check_records(records, where)


def _check_asked(run: Run, where: str) -> None:
    """Raise on a prompt, a cost or a decision that lacks what is told of it."""
    from disorder.results.gate import Decision

    for name, shape in (("prompt", AskedPrompt), ("spent", Spent), ("gate", Decision)):
        if getattr(run, name):
            validated(shape, getattr(run, name), f"{where} ({name})")
    for fact, others in TOLD_WITH.items():
        missing = [name for name in others if fact in run.prompt and name not in run.prompt]
        if missing:
            raise BadData(f"{where} is damaged (prompt): {fact} without {missing[0]}")


def check_settings(settings: Mapping[str, Any], where: str) -> None:
    """Raise on a setting that has no such type; settings of a newer version are let be."""
    # None is what a version may have written for a setting that was not given
    given = {
        name: value for name, value in settings.items() if name in DECLARED and value is not None
    }
    validated(Settings, given, f"{where} (settings)")


def check_records(records: Iterable[Record], where: str) -> None:
    """Raise on a score that is no number, lies outside its own interval, or stands there twice."""
    seen = set()
    for record in records:
        name = one_line(f"{record.transformation}:{record.metric}[{record.group}]")
        numbers = (record.low, record.value, record.high)
        if not all(map(math.isfinite, numbers)):
            raise BadData(f"{where} is damaged: {name} is not a number")
        if not record.low <= record.value <= record.high:
            raise BadData(
                f"{where} is damaged: {name} is {record.value:g}, "
                f"outside its own interval [{record.low:g}, {record.high:g}]"
            )
        if record.n < 0 or record.skipped < 0:
            raise BadData(f"{where} is damaged: {name} rests on {record.n} examples")
        key = (record.transformation, record.metric, record.group)
        if key in seen:
            raise BadData(f"{where} is damaged: {name} stands there twice")
        seen.add(key)


RECORD = "result.json"
PAGE = "report.html"
# what each verb left before there was one record for all of them
LEGACY = {
    "run.json": "audit",
    "sanity.json": "sanity",
    "study.json": "study",
    "training.json": "train",
}


def write_result(
    folder: Path,
    result: Result,
    *,
    record: str = RECORD,
    page_name: str = PAGE,
    beside: Mapping[str, str] | None = None,
) -> None:
    """Write a result with its page, figures and tables, and other files that are given as text.

    Those of an earlier result go first: stopped half-way, no old page stands beside new tables.
    """
    html = render(result, "page", in_folder=True)
    texts = {**(beside or {}), page_name: html, record: render(result, "json")}
    make_folder(folder)
    remove_files(folder, [*_earlier(folder / record), *texts])
    for figure in result.figures:
        write_atomically(folder / f"{figure.name}.svg", figure.svg.encode())
    exhibits: list[Figure | Table] = [*result.figures, *result.tables]
    for exhibit in exhibits:
        write_atomically(folder / f"{exhibit.name}.csv", as_csv(exhibit.rows))
    for name, text in texts.items():
        write_atomically(folder / name, text.encode("utf-8", "backslashreplace"))


def _earlier(path: Path) -> Iterator[str]:
    """The figures and tables that the record of an earlier result names."""
    try:
        sections = read_json(path)["sections"]
        names = [
            each["name"]
            for section in sections
            for each in (*section.get("figures", ()), *section.get("tables", ()))
        ]
    except (OSError, BadData, KeyError, TypeError, AttributeError):
        return
    for name in names:
        if re.fullmatch(r"\w+", str(name)):
            yield from (f"{name}.svg", f"{name}.csv")


def record_of(folder: Path, legacy: str) -> Path:
    """The record of a result: result.json, or what older versions wrote in its place."""
    path = folder / RECORD
    return folder / legacy if not path.exists() and (folder / legacy).exists() else path


def check_folder(folder: Path | None, verb: str) -> None:
    """Raise on a folder that holds the result of another verb."""
    if folder is not None and verb_of(folder) not in ("", verb):
        raise DisorderError(f"{folder} holds another result; choose another {option('out')}")


def verb_of(folder: Path) -> str:
    """The verb whose result a folder holds; empty where it holds none."""
    for name, verb in LEGACY.items():
        if (folder / name).exists():
            return verb
    try:
        found = read_json(folder / RECORD)
    except (OSError, BadData):
        return ""
    return str(found.get("verb", "")) if isinstance(found, dict) else ""
