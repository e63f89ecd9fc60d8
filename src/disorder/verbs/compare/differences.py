"""The differences between runs: by transformation, pair of runs, group and score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from disorder.data import groups as groups_of
from disorder.errors import BadData, DisorderError, NothingToMeasure, UnknownName
from disorder.metrics import decompose, difference_of
from disorder.results.comparison import Compared, Comparison, Difference
from disorder.results.run import DIGITS, Omitted
from disorder.results.writing import shown
from disorder.safe_io import visible
from disorder.transformations import parse
from disorder.types import ORIGINAL, Outcomes
from disorder.verbs.compare.finished_run import FinishedRun

NEAR = 2 * 10**-DIGITS  # scores in run.json are rounded


@dataclass
class Comparing:
    """One comparison under way."""

    given: list[FinishedRun]
    transformations: list[str]
    metrics: list[str]
    groups: list[str]
    pairs: str
    seed: int
    omitted: dict[tuple[str, str, str], str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def go(self) -> Comparison:
        """Compare all there is to compare; p-values are not corrected yet."""
        self._check_names()
        differences = [d for spec in [ORIGINAL, *self.transformations] for d in self._under(spec)]
        if not differences:
            why = "; ".join(
                f"{metric}, {spec}: {reason}" for (spec, metric, _), reason in self.omitted.items()
            )
            raise DisorderError(
                f"the runs share no score that can be compared{visible(f' ({why})' if why else '')}"
            )
        order = {(a.name, b.name): i for i, (a, b) in enumerate(self._pairs())}
        differences.sort(key=lambda d: (order[d.base, d.other], self.groups.index(d.group)))
        first = self.given[0].run
        return Comparison(
            data=first.data,
            n_examples=min(finished.run.n_examples for finished in self.given),
            audit_seed=first.seed,
            seed=self.seed,
            differences=differences,
            runs=[_compared(finished) for finished in self.given],
            notes=list(self.notes),
            omitted=[
                Omitted(transformation=t, metric=m, group=g, reason=why)
                for (t, m, g), why in self.omitted.items()
            ],
        )

    def _pairs(self) -> list[tuple[FinishedRun, FinishedRun]]:
        found = combinations(self.given, 2)
        return [pair for pair in found if self.pairs == "all" or pair[0] is self.given[0]]

    def _check_names(self) -> None:
        """Raise on a metric or a group that no run has."""
        measured = {r.metric for finished in self.given for r in finished.run.scores}
        measured |= {o.metric for finished in self.given for o in finished.run.omitted}
        known = {r.group for finished in self.given for r in finished.run.scores}
        for kind, names, there in (
            ("score", self.metrics, measured),
            ("group", self.groups, known),
        ):
            for name in names:
                if name not in there:
                    raise UnknownName(f"{kind} of these runs", name, map(visible, there))

    def _under(self, spec: str) -> Iterator[Difference]:
        """The differences under one transformation."""
        samples = {finished.name: finished.samples(spec) for finished in self.given}
        outcomes = {finished.name: finished.outcomes(spec) for finished in self.given}
        for base, other in self._pairs():
            first, second = samples[base.name], samples[other.name]
            mine, theirs = outcomes[base.name], outcomes[other.name]
            if first is None or second is None or mine is None or theirs is None:
                self._note(f"{spec} is not compared: no example could be used")
                continue
            if parse(spec).needs_context:
                self._note(f"{spec}: each model has its own perturbed texts, paired by example")
            elif not first.draws_as(second, self._cut_otherwise(base, other)):
                raise DisorderError(
                    f"{base.folder} and {other.folder} drew other permutations under "
                    f"{visible(spec)}, though their settings agree; audit both with the same "
                    "version of disorder"
                )
            yield from self._of_pair(spec, base, other, mine, theirs)

    def _cut_otherwise(self, base: FinishedRun, other: FinishedRun) -> list[str]:
        """The examples that one of two models reads further than the other."""
        cut = base.cut_otherwise(other) or []
        if cut:
            self._note(
                f"{len(cut):,} examples are longer than one of {base.name} and {other.name} reads, "
                "and cut at other words: there each has its own perturbed texts, paired by example"
            )
        return cut

    def _note(self, note: str) -> None:
        """Keep a note for the reader, once."""
        self.notes[visible(note)] = None

    def _of_pair(
        self, spec: str, base: FinishedRun, other: FinishedRun, first: Outcomes, second: Outcomes
    ) -> Iterator[Difference]:
        """The differences of two runs, on the examples that both predicted."""
        shared, i, j = np.intersect1d(
            first.example, second.example, assume_unique=True, return_indices=True
        )
        is_part = len(shared) < max(len(first), len(second))
        if is_part:
            self._note(
                f"{spec}: compared on the {len(shared):,} examples that both {base.name} "
                f"({len(first):,}) and {other.name} ({len(second):,}) predicted; intervals and "
                "tests are those of a fixed sample"
            )
        by_id = {example.id: example for example in base.examples}
        for group, mask, _ in groups_of([by_id[str(name)] for name in shared], base.examples):
            if group in self.groups:
                one = first.take(i[mask])
                two = second.take(j[mask])
                for metric in self._metrics(spec, group, base, other):
                    yield from self._of(metric, group, (base, one), (other, two), is_part=is_part)

    def _metrics(self, spec: str, group: str, base: FinishedRun, other: FinishedRun) -> list[str]:
        """The scores to compare: the requested ones, else the main ones that were measured, else
        all that were.
        """
        mine, theirs = (
            [r.metric for r in finished.run.scores if (r.transformation, r.group) == (spec, group)]
            for finished in (base, other)
        )
        either = list(dict.fromkeys([*mine, *theirs]))
        wanted = self.metrics or shown(either, "table", "permutations") or either
        for finished, has in ((base, mine), (other, theirs)):
            self._note_missing(
                finished, spec, group, [metric for metric in wanted if metric not in has]
            )
        return [metric for metric in wanted if metric in mine and metric in theirs]

    def _note_missing(
        self, finished: FinishedRun, spec: str, group: str, missing: list[str]
    ) -> None:
        """Say why a score is not there: nothing to measure, or not requested."""
        gone = {
            o.metric: o.reason
            for o in finished.run.omitted
            if (o.transformation, o.group) == (spec, group)
        }
        for metric in missing:
            if metric in gone:
                self.omitted[spec, metric, group] = f"{finished.name}: {gone[metric]}"
        unmeasured = [metric for metric in missing if metric not in gone]
        if unmeasured and not self.metrics:
            names = ", ".join(unmeasured)
            self._note(f"{spec}: {finished.name} did not measure {names} (--curtail or --score)")

    def _of(
        self,
        metric: str,
        group: str,
        base: tuple[FinishedRun, Outcomes],
        other: tuple[FinishedRun, Outcomes],
        *,
        is_part: bool,
    ) -> Iterator[Difference]:
        """One score of two runs, or nothing where it cannot be compared."""
        one, first = base
        two, second = other
        spec = first.transformation
        try:
            mine = decompose(metric, first)
            theirs = decompose(metric, second)
            values = mine.value, theirs.value
            found = difference_of(mine, theirs, seed=self.seed, family=first.family)
        except NothingToMeasure as reason:
            self.omitted[spec, metric, group] = f"{reason}, among the examples that both runs share"
            return
        if not is_part:
            _check(one, spec, metric, group, values[0])
            _check(two, spec, metric, group, values[1])
        numbers = (*values, found.difference, found.low, found.high)
        base_value, other_value, difference, low, high = (
            round(float(x), DIGITS) + 0.0 for x in numbers
        )
        yield Difference(
            transformation=spec,
            metric=metric,
            group=group,
            base=one.name,
            other=two.name,
            base_value=base_value,
            other_value=other_value,
            difference=difference,
            low=low,
            high=high,
            p=float(f"{found.p:.6g}"),
            p_holm=1.0,
            n=found.n,
            test=found.test,
        )


def _check(finished: FinishedRun, spec: str, metric: str, group: str, value: float) -> None:
    """Raise where the samples do not give the score that run.json holds."""
    record = finished.run.score(spec, metric, group)
    if record is not None and abs(record.value - value) > NEAR:
        raise BadData(
            f"{finished.folder}: its samples give {visible(metric)} = {value:.6f} under "
            f"{visible(spec)}, run.json says {record.value:.6f}; one of them was changed, or "
            "an earlier version measured otherwise: audit it again"
        )


def _compared(finished: FinishedRun) -> Compared:
    run = finished.run
    return Compared(
        name=finished.name,
        folder=str(finished.folder),
        model=run.model,
        model_hash=run.hashes.get("model", ""),
    )
