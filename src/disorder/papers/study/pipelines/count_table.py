"""Tables of counts, without a model: how many examples can be used, how many words are removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from disorder.errors import DoesNotApply
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.result import StepResult, StudyCell
from disorder.papers.study.workbench import Workbench, short_name
from disorder.transformations import parse
from disorder.types import Dataset
from disorder.verbs.perturb import CHUNK, Tally

# (data, tally of its perturbed texts, transformation) → one number per column
CountFunction = Callable[[Dataset, Tally, str], Mapping[str, int]]


@dataclass(frozen=True)
class CountTable(Pipeline):
    """Perturb every example and count; with `by_transformation` one row per transformation."""

    count: CountFunction
    columns: Sequence[str]
    transformations: Sequence[str]
    counts_what: str
    by_transformation: bool = True
    q: int | None = 1

    kind = "counts"
    needs_model = False
    by_draws = ("used",)

    says = "count {self.counts_what}"

    @property
    def reach(self) -> Sequence[Reach]:
        """What it counts, for each transformation where those have rows."""
        rows = {"transformation": self.transformations} if self.by_transformation else {}
        return [Reach(self.columns, rows)]

    def step_names(self, bench: Workbench) -> Sequence[str]:
        """One per set of data."""
        return [short_name(data) for data in bench.data]

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """One step per set of data."""
        for data in bench.data:
            compute = partial(self._counts, bench, data)
            yield bench.once(compute, data, made_of=bench.made_of(data=data))

    def _counts(self, bench: Workbench, data: Any) -> StepResult:
        dataset = bench.read(data, limit=bench.settings.limit)
        result = StepResult()
        for spec in self.transformations:
            full = bench.spec_of(spec)
            tally = tally_of(bench, dataset, full, q=bench.q(self.q), name=spec)
            row = {"data": bench.name_of(data)}
            if self.by_transformation:
                row["transformation"] = spec
            for column, n in self.count(dataset, tally, full).items():
                cell = StudyCell(row=row, column=column, value=n, n=len(dataset.examples))
                result.cells.append(cell)
        return result


def tally_of(
    bench: Workbench, dataset: Dataset, spec: str, *, q: int, name: str | None = None
) -> Tally:
    """Count variants, removed words, and examples left out; `name` is for messages."""
    transformation = parse(spec, fidelity=bench.fidelity).tried(dataset.task.language)
    tally = Tally()
    examples = iter(dataset.examples)
    done = 0
    while chunk := list(islice(examples, CHUNK)):
        made = transformation.apply_all(
            chunk, task=dataset.task, q=q, seed=bench.settings.seed, short="skip", context=None
        )
        for variants in made:
            if isinstance(variants, DoesNotApply):
                tally.skip(spec, str(variants))
            else:
                tally.add(spec, variants)
        done += len(chunk)
        stage = f"{short_name(dataset.name)} {name or spec}"
        bench.progress(stage, done, len(dataset.examples), "")
    return tally


def usable_examples(dataset: Dataset, tally: Tally, spec: str) -> dict[str, int]:
    """How many examples there are, and how many can be perturbed."""
    left_out = sum(sum(reasons.values()) for reasons in tally.skips.values())
    return {"examples": len(dataset.examples), "used": len(dataset.examples) - left_out}


def removed_words(dataset: Dataset, tally: Tally, spec: str) -> dict[str, int]:
    """How many words are removed from premises and hypotheses."""
    counts = tally.removed[spec]
    return {"premises": counts["a"], "hypotheses": counts["b"], "total": counts["a"] + counts["b"]}
