"""Figures drawn by an explanation: one per model and set of data, with its scores as cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from disorder.verbs.explain import Explained
from disorder.verbs.study.explaining import explain_in_folder, pictures_of
from disorder.verbs.study.naming import short_name, title_of
from disorder.verbs.study.pipeline import Pipeline
from disorder.verbs.study.result import StepResult, StudyCell
from disorder.verbs.study.workbench import Workbench

# what a score's row is about beside model and data, and its column
CellPlace = tuple[Mapping[str, str], str]


def own_column(name: str) -> CellPlace:
    """Every score in a column of its own name."""
    return {}, name


@dataclass(frozen=True)
class ExplanationFigure(Pipeline):
    """Explain every model on every set of data; `place` says which row and column a score fills."""

    by: str
    transformation: str = "derange"
    place: Callable[[str], CellPlace | None] = own_column
    q: int | None = 100

    kind = "explanation"

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return (
            f"explain each model on each set of data by {self.by}, "
            f"texts perturbed by {self.transformation}, q = {self.q}"
        )

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per model and set of data."""
        for model, data in bench.pairs():
            compute = partial(self.explained, bench, model, data)
            made_of = bench.made_of(model=model, data=data)
            yield bench.once(compute, model, data, made_of=made_of)

    def explained(self, bench: Workbench, model: Any, data: Any) -> StepResult:
        """What the explanation finds for one model and set of data."""
        found, folder = explain_in_folder(
            bench, model, data, [self.by], q=bench.q(self.q), transformation=self.transformation
        )
        about = {"model": title_of(model), "data": bench.name_of(data)}
        what = f"{short_name(model)} on {short_name(data)}"
        result = StepResult(pictures=pictures_of(found, what))
        for section in found.sections:
            if section.found is not None:
                result.cells += self.cells(section.found, about)
                lines = [section.found.finding, *section.found.notes]
                result.notes += [f"{what}: {line}" for line in lines]
            result.links.append(bench.link(f"{section.name}: {what}", folder / "explain.html"))
        return result

    def cells(self, found: Explained, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The cells that the scores fill."""
        for name, score in found.scores.items():
            place = self.place(name)
            if place is not None:
                more, column = place
                yield StudyCell.of({**about, **more}, column, score)
