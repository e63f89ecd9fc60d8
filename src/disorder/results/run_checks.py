"""Checks of a run that was read from a folder: what pages, gates and comparisons rely on.

Whoever wrote the folder, a run that passes has finite scores inside their intervals, each once, and
tables of the shape that charts are drawn from.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from disorder.errors import BadData
from disorder.requests.settings import DECLARED, Settings
from disorder.safe_io import validated
from disorder.visible_text import one_line

if TYPE_CHECKING:
    from disorder.results.run import Record, Run

MAX_POINTS = 10_000  # of one curve: a chart shows a few dozen
# settings that change where or how quickly a run is made, never its predictions
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


SHAPES: dict[str, Any] = {
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
    check_settings(run.settings, where)
    for steps in run.dev_r.values():
        if any(set(run.labels) - set(counts) for counts in steps.values()):
            raise BadData(f"{where} is damaged (dev_r): a label has no count")
    check_records(run.scores, where)
    for records in run.references.values():
        check_records(records, where)


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


def binding(run: Run) -> str:
    """A hash of all that decides a run's predictions: model, data, transformations, settings.

    Sample parts carry it, so that those of another run are never taken for one's own.
    """
    settings = {
        name: value
        for name, value in run.settings.items()
        if name not in DECLARED or DECLARED[name].option.changes_predictions
    }
    bound = [run.hashes, run.seed, run.transformations, settings]
    text = json.dumps(bound, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
