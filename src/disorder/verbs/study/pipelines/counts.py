"""Tables of counts: how many examples can be used, how many words go. No model is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from disorder.errors import DoesNotApply
from disorder.transformations import parse
from disorder.types import Dataset
from disorder.verbs.perturb import CHUNK, Tally
from disorder.verbs.study.result import Cell, Portion
from disorder.verbs.study.workbench import Bench, named, short

Count = Callable[
    [Dataset, Tally, str], Mapping[str, int]
]  # (data, what happened, transformation) → a number a column


@dataclass(frozen=True)
class Counts:
    """Break every example and count; with `by_transformation` each transformation has its row."""

    count: Count
    transformations: Sequence[str]
    does: str
    by_transformation: bool = True
    q: int | None = 1
    units: Mapping[str, str] = field(default_factory=dict)

    kind = "counts"
    needs_model = False
    trains = False

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """One portion a set of data."""
        for data in bench.data:
            yield bench.once(
                partial(self.counted, bench, data), data, made_of=bench.made_of(data=data)
            )

    def counted(self, bench: Bench, data: Any) -> Portion:
        """The counts of one set of data."""
        dataset, cells = bench.read(data, limit=bench.asked.limit), []
        for spec in self.transformations:
            tally = tallied(bench, dataset, spec, q=bench.q(self.q))
            row = {"data": bench.name_of(data)} | (
                {"transformation": spec} if self.by_transformation else {}
            )
            counts = self.count(dataset, tally, spec)
            cells += [
                Cell(row=row, column=column, value=n, n=len(dataset.examples))
                for column, n in counts.items()
            ]
        return Portion(cells=cells)


def tallied(bench: Bench, dataset: Dataset, spec: str, *, q: int) -> Tally:
    """What happens when every example is perturbed: variants and removed words, and examples left out
    by reason.
    """
    chosen, tally = parse(spec, fidelity=bench.fidelity).tried(dataset.task.language), Tally()
    examples, done = iter(dataset.examples), 0
    progress = named(bench.progress, f"{short(dataset.name)} {spec}")
    while chunk := list(islice(examples, CHUNK)):
        made = chosen.apply_all(
            chunk, task=dataset.task, q=q, seed=bench.asked.seed, short="skip", context=None
        )
        for variants in made:
            if isinstance(variants, DoesNotApply):
                tally.skip(spec, str(variants))
            else:
                tally.add(spec, variants)
        done += len(chunk)
        progress("", done, len(dataset.examples), "")
    return tally


def usable(dataset: Dataset, tally: Tally, spec: str) -> dict[str, int]:
    """How many examples there are, and how many can be perturbed as asked."""
    left_out = sum(sum(reasons.values()) for reasons in tally.skips.values())
    return {"examples": len(dataset.examples), "used": len(dataset.examples) - left_out}


def removed(dataset: Dataset, tally: Tally, spec: str) -> dict[str, int]:
    """How many words go from premises and hypotheses."""
    counts = tally.removed[spec]
    return {"premises": counts["a"], "hypotheses": counts["b"], "total": counts["a"] + counts["b"]}
