"""Items that nothing computes: tables that people fill, the scored answers of a task that `disorder
human` made; and illustrations, which say what to type instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from disorder.errors import DisorderError
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.result import DIGITS, StepResult, StudyCell
from disorder.papers.study.workbench import Workbench, short_name
from disorder.types import ORIGINAL, Score
from disorder.verbs.human import (
    ALL,
    MAJORITY,
    MODEL,
    PERTURBED,
    HumanRecord,
    HumanScores,
    score,
)

SETS = {"accuracy": "all", "accuracy_c": "set=D_c", "accuracy_f": "set=D_f"}
MEANS = {"lexical": "mean of lexical", "gradient": "mean of gradient"}
OVERALL = {PERTURBED: "mean of all", ORIGINAL: ORIGINAL}
SALAD = (
    ORIGINAL,
    "sort",
    "reverse",
    "shuffle",
    "copy_sort",
    "replace_least",
    "repeat_most",
    "drop_least",
    "copy_one",
    "pbsmt",
    *MEANS.values(),
)


@dataclass(frozen=True)
class HumanTable(Pipeline):
    """Score the folders of tasks that people answered: one row per annotator (UNLI Table 4), texts
    called invalid (WS Table 4), or accuracy (WS, in the text).
    """

    of: Literal["annotators", "invalid", "accuracy"]

    kind = "people"
    needs_model = False
    does = "score what people answered, with disorder human"

    @property
    def reach(self) -> Sequence[Reach]:
        """Every cell: who answers is up to the user."""
        if self.of == "annotators":
            margins = [f"{name}_margin" for name in SETS]
            return [Reach((*SETS, *margins, "macro_f1"), {"evaluator": None})]
        if self.of == "invalid":
            return [Reach(("invalid",), {"transformation": SALAD})]
        return [Reach(("accuracy",), {"transformation": tuple(OVERALL.values()), "task": None})]

    def step_names(self, bench: Workbench) -> Sequence[str]:
        """One per folder."""
        return [short_name(folder) for folder in bench.data]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per folder of a task."""
        for folder in bench.data:
            if not isinstance(folder, str) or not (Path(folder) / "task.json").is_file():
                raise DisorderError(
                    f"{folder} is no task that people answered: disorder human make … makes one"
                )
            found = score(folder)
            notes = [
                f"{Path(folder).name}: {found.n_items:,} items of {found.source}, answered by "
                f"{len(found.answered)} people"
            ]
            yield StepResult(cells=list(self._cells(found)), notes=notes)

    def _cells(self, found: HumanScores) -> Iterator[StudyCell]:
        if self.of == "annotators":
            yield from _by_annotator(found)
        elif self.of == "invalid":
            names = {**{name: name for name in SALAD}, **MEANS}
            yield from _by_texts(found, "invalid", names, {})
        else:
            yield from _by_texts(found, "accuracy", OVERALL, {"task": "nli"})


def _by_annotator(found: HumanScores) -> Iterator[StudyCell]:
    for name in found.answered:
        row = {"evaluator": name, "data": found.source}
        for column, group in SETS.items():
            if record := found.score(name, "accuracy", group):
                yield _cell(row, column, record)
                margin = round((record.high - record.low) / 2, DIGITS)
                yield StudyCell(row=row, column=f"{column}_margin", value=margin, n=record.n)
        if record := found.score(name, "macro_f1"):
            yield _cell(row, "macro_f1", record)


def _by_texts(
    found: HumanScores, metric: str, names: Mapping[str, str], about: Mapping[str, str]
) -> Iterator[StudyCell]:
    """One row per transformation, by the majority where several answered."""
    who = MAJORITY if len(found.answered) > 1 else next(iter(found.answered))
    for record in found.scores:
        if record.evaluator != who or record.metric != metric or record.group != "all":
            continue
        name = names.get(record.transformation.partition(":")[0])
        if name is not None and record.transformation not in (ALL, MODEL):
            yield _cell({"transformation": name, **about}, metric, record)


def _cell(row: Mapping[str, str], column: str, record: HumanRecord) -> StudyCell:
    return StudyCell.of(row, column, Score(record.value, record.low, record.high, record.n))


@dataclass(frozen=True)
class Illustration(Pipeline):
    """A drawing or a made-up example: nothing is measured, commands show something alike."""

    kind = "drawing"
    needs_model = False
    does = "nothing is measured; commands show something alike"

    @property
    def reach(self) -> Sequence[Reach]:
        """Nothing."""
        return ()

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """Nothing."""
        yield from ()
