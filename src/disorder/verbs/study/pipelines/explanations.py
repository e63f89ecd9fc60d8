"""A figure that an explanation draws: one picture for every model on every set of data, with its
scores as cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from disorder.verbs.explain.result import Explained as Found
from disorder.verbs.study.result import Cell, Portion
from disorder.verbs.study.workbench import Bench, pictures_of, short, title_of

Placed = tuple[
    Mapping[str, str], str
]  # what a score's row is about beside model and data, and its column


def as_named(name: str) -> Placed:
    """Every score in a column of its own name."""
    return {}, name


@dataclass(frozen=True)
class Explained:
    """Explain every model on every set of data; `placed` says which row and column a score fills."""

    by: str
    transformation: str = "derange"
    placed: Callable[[str], Placed | None] = as_named
    q: int | None = 100
    units: Mapping[str, str] = field(default_factory=dict)

    kind = "explanation"
    needs_model = True
    trains = False

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return f"explain each model on each set of data by {self.by}, texts perturbed by {self.transformation}, q = {self.q}"

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """One portion a model and set of data."""
        for model, data in bench.pairs():
            made_of = bench.made_of(model=model, data=data)
            yield bench.once(
                partial(self.explained, bench, model, data), model, data, made_of=made_of
            )

    def explained(self, bench: Bench, model: Any, data: Any) -> Portion:
        """What the explanation finds."""
        found, folder = bench.explain(
            model, data, [self.by], q=bench.q(self.q), transformation=self.transformation
        )
        [section] = found.sections
        assert section.found is not None  # explain raises where its only explanation finds nothing
        about, what = (
            {"model": title_of(model), "data": bench.name_of(data)},
            f"{short(model)} on {short(data)}",
        )
        cells = list(self.cells(section.found, about))
        notes = [
            f"{what}: {section.found.finding}",
            *(f"{what}: {note}" for note in section.found.notes),
        ]
        link = bench.link(f"{section.name}: {what}", folder / "explain.html")
        return Portion(cells=cells, pictures=pictures_of(found, what), links=[link], notes=notes)

    def cells(self, found: Found, about: Mapping[str, str]) -> Iterator[Cell]:
        """The cells that the scores fill."""
        for name, score in found.scores.items():
            if (place := self.placed(name)) is not None:
                yield Cell.of({**about, **place[0]}, place[1], score)
