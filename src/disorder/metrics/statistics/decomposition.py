"""What does each example say? Scores taken apart by example, so that two models can be compared on
the same ones.

A score is a share of examples for which a claim holds, a mean of one number an example over those
that count, or a rank correlation over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.acceptance import flipped, right_first
from disorder.metrics.agreement import unchanged
from disorder.metrics.confidence import top_probability
from disorder.metrics.entropy import accepted_entropy
from disorder.metrics.omega import exceeds, threshold
from disorder.metrics.spearman import ENOUGH, correlation, numbers
from disorder.metrics.statistics.curtailment import rand_threshold
from disorder.metrics.wos import by_digest, dev_r
from disorder.types import Bools, Floats, Ints, Outcomes


@dataclass(frozen=True, eq=False)
class Claims:
    """A share: for which examples the claim holds."""

    holds: Bools

    @property
    def value(self) -> float:
        """The score."""
        return int(self.holds.sum()) / len(self.holds)


@dataclass(frozen=True, eq=False)
class Means:
    """A mean: offset + scale × the mean of `values` (each in 0..1) over the examples that count.

    For a mean over balanced classes `classes` says which class an example is in, and `order` lists
    those that may count, who is taken first coming first: a resample is balanced again.
    """

    values: Floats
    counts: Bools
    offset: float = 0.0
    scale: float = 1.0
    classes: Ints | None = None
    order: Ints | None = None

    @property
    def value(self) -> float:
        """The score."""
        return self.offset + self.scale * float(self.values[self.counts].mean())

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Sum of values and number of examples, for each row of weights (resamples × examples)."""
        if self.classes is None:
            return weights @ np.where(self.counts, self.values, 0.0), weights @ self.counts.astype(
                np.float64
            )
        kept = self._balanced(weights, self.classes)
        return kept @ self.values, kept.sum(axis=1)

    def _balanced(self, weights: Floats, classes: Ints) -> Floats:
        """Of every class as much weight as the smallest one has, first come by `order`."""
        assert self.order is not None
        members = [self.order[classes[self.order] == label] for label in np.unique(classes)]
        least = np.min([weights[:, who].sum(axis=1) for who in members], axis=0)[:, None]
        kept = np.zeros_like(weights)
        for who in members:
            part = weights[:, who]
            before = np.cumsum(part, axis=1) - part
            kept[:, who] = np.clip(least - before, 0, part)
        return kept


@dataclass(frozen=True, eq=False)
class Ranks:
    """A rank correlation of gold with each column of answers, averaged."""

    gold: Floats
    answers: Floats

    @property
    def value(self) -> float:
        """The score."""
        return float(self.resampled(np.arange(len(self.gold))[None, :], n_columns=None)[0])

    def resampled(self, picks: Ints, *, n_columns: int | None = ENOUGH) -> Floats:
        """The score of each row of example numbers; a few columns are enough for that."""
        columns = self.answers.T[:n_columns]
        return np.asarray(
            np.mean([correlation(self.gold[picks], column[picks]) for column in columns], axis=0)
        )


def by_example(metric: str, outcomes: Outcomes) -> Claims | Means | Ranks | None:
    """A score taken apart, or None for one that it is not known how; raises where there is nothing
    to measure.
    """
    if metric.startswith("omega@"):
        return Claims(exceeds(outcomes, threshold(metric.removeprefix("omega@"))))
    return KNOWN[metric](outcomes) if metric in KNOWN else None


def _accuracy(outcomes: Outcomes) -> Claims | Means:
    if outcomes.predictions.shape[1] == 1:
        return Claims(outcomes.n_accepted == 1)
    return _all(outcomes.acceptance)


def _all(values: Floats) -> Means:
    return _of(values, np.ones(len(values), dtype=bool), "no example to measure")


def _of(values: Floats, counts: Bools, otherwise: str) -> Means:
    if not counts.any():
        raise NothingToMeasure(otherwise)
    return Means(np.where(counts, values, 0.0).astype(np.float64), counts)


def _entropy(outcomes: Outcomes, group: Bools) -> Means:
    most = float(np.log(len(outcomes.task.labels)))
    counts = group & (outcomes.n_accepted > 0)
    shares = np.minimum(np.nan_to_num(accepted_entropy(outcomes)) / most, 1.0)
    return replace(_of(shares, counts, "no permutation was accepted"), scale=most)


def _wos(outcomes: Outcomes) -> Means:
    chance = 1 / len(outcomes.task.labels)
    _, (_, right), (_, kept) = dev_r(outcomes)
    found = _of(outcomes.acceptance, kept, "no balanced set of right answers is left")
    return replace(
        found,
        values=outcomes.acceptance.astype(np.float64),
        offset=1 / (1 - chance),
        scale=-1 / (1 - chance),
        classes=outcomes.gold.astype(np.int64),
        order=by_digest(outcomes, np.flatnonzero(right)),
    )


KNOWN: dict[str, Callable[[Outcomes], Claims | Means | Ranks]] = {
    "accuracy": _accuracy,
    "accuracy_used": lambda o: Claims(o.is_right),
    "omega_max": lambda o: Claims(o.n_accepted > 0),
    "omega_rand": lambda o: Claims(exceeds(o, rand_threshold(o.task, o.fidelity))),
    "omega_all": lambda o: Claims(o.n_accepted == o.n_variants),
    "p_c": lambda o: _of(o.acceptance, right_first(o), "no example was answered right"),
    "p_f": lambda o: _of(o.acceptance, flipped(o), "no wrong answer was flipped by a permutation"),
    "agreement": lambda o: _all(unchanged(o)),
    "confidence": lambda o: _all(top_probability(o)),
    "entropy_c": lambda o: _entropy(o, right_first(o)),
    "entropy_f": lambda o: _entropy(o, flipped(o)),
    "wos": _wos,
    "spearman": lambda o: Ranks(o.gold.astype(np.float64), numbers(o).astype(np.float64)),
}
