"""Models simulated by what they predict for original and perturbed texts, and concluded on by the
program's own code under `fidelity=paper`, and where `--until decided` ends a natural run early;
scripts/conclusion_zoo.py goes through texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from disorder.errors import NothingToMeasure
from disorder.metrics import decompose
from disorder.metrics.statistics.anytime import planned_looks
from disorder.metrics.statistics.skill import labels_that_count
from disorder.results.conclusion import Conclusion
from disorder.types import Outcomes, Task
from disorder.verbs.audit.concluding import conclude
from disorder.verbs.audit.deciding import UntilDecided
from disorder.verbs.audit.order_kinds import KindLimits
from disorder.verbs.audit.watching import Looks

Labels = NDArray[np.int64]
Shares = tuple[float, ...]
Predict = Callable[["Rows"], tuple[Labels, Labels]]
Recalls = Callable[[Shares], NDArray[np.float64]]

N_VARIANTS = 10
NOISE = (0.0, 0.1)
SHARES: dict[str, Shares] = {
    "balanced": (1 / 3, 1 / 3, 1 / 3),
    "88/10/2": (0.88, 0.10, 0.02),
    "95/5": (0.95, 0.05),
    "20 labels": (0.05,) * 20,
    "one label": (1.0, 0.0, 0.0),
}
LIMITS = KindLimits()


@dataclass(frozen=True)
class Rows:
    """Examples to predict: their gold labels, and how frequent each label is in the data."""

    gold: Labels
    shares: Shares
    rng: Generator

    @property
    def m(self) -> int:
        return len(self.shares)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.gold), N_VARIANTS

    def cue(self, accuracy: float) -> Labels:
        """The label that some feature of each text suggests: the gold one in this share."""
        other = (self.gold + self.rng.integers(1, self.m, len(self.gold))) % self.m
        return np.where(self.rng.random(len(self.gold)) < accuracy, self.gold, other)

    def two_sided(self, accuracy: float, second: int) -> Labels:
        """The first label or another one, by a feature that tells the first from all others."""
        is_first = self.gold == 0
        says_first = np.where(self.rng.random(len(self.gold)) < accuracy, is_first, ~is_first)
        return np.where(says_first, 0, second)

    def uniform(self) -> Labels:
        return self.rng.integers(self.m, size=self.shape)

    def by_prior(self) -> Labels:
        return self.rng.choice(self.m, size=self.shape, p=self.shares)


def still(answers: Labels) -> tuple[Labels, Labels]:
    """A model whose answer no permutation changes."""
    return answers, np.broadcast_to(answers[:, None], (len(answers), N_VARIANTS))


def bigrams(rows: Rows) -> tuple[Labels, Labels]:
    """A permutation leaves one bigram in twenty: then the cue is still seen."""
    cue = rows.cue(0.85)
    is_left = rows.rng.random(rows.shape) < 0.05
    return cue, np.where(is_left, cue[:, None], rows.by_prior())


def half(rows: Rows) -> tuple[Labels, Labels]:
    """A reader on half of the rows, a bag of words on the others."""
    reads = rows.rng.random(len(rows.gold)) < 0.5
    cue = rows.cue(0.9)
    return cue, np.where(reads[:, None], rows.uniform(), cue[:, None])


@dataclass(frozen=True)
class ZooModel:
    """A model: what it predicts, and how often it gets each gold label right, before and after."""

    predict: Predict
    before: Recalls
    after: Recalls


def rate(share: float) -> Recalls:
    """Every label is right in this share."""
    return lambda shares: np.full(len(shares), share)


def by_chance(shares: Shares) -> NDArray[np.float64]:
    return np.full(len(shares), 1 / len(shares))


def only(label: int) -> Recalls:
    return lambda shares: np.eye(len(shares))[label % len(shares)]


def two(accuracy: float, second: int) -> Recalls:
    return lambda shares: accuracy * (only(0)(shares) + only(second)(shares))


def invariant(predict: Callable[[Rows], Labels], recalls: Recalls) -> ZooModel:
    return ZooModel(lambda rows: still(predict(rows)), recalls, recalls)


def guesses(drawn: Callable[[Rows], Labels], recalls: Recalls) -> ZooModel:
    return ZooModel(lambda rows: (drawn(rows)[:, 0], drawn(rows)), recalls, recalls)


def reader(fallback: Callable[[Rows], Labels], recalls: Recalls) -> ZooModel:
    return ZooModel(lambda rows: (rows.cue(0.95), fallback(rows)), rate(0.95), recalls)


def constant(label: int) -> ZooModel:
    return invariant(lambda rows: np.full(len(rows.gold), label % rows.m), only(label))


def to_label(label: int) -> ZooModel:
    return reader(lambda rows: np.full(rows.shape, label % rows.m), only(label))


ZOO: dict[str, ZooModel] = {
    "constant, the frequent label": constant(0),
    "constant, the rare label": constant(-1),
    "uniform": guesses(Rows.uniform, by_chance),
    "prior": guesses(Rows.by_prior, np.array),
    "bag of words": invariant(lambda rows: rows.cue(0.8), rate(0.8)),
    "length only": invariant(lambda rows: rows.two_sided(0.7, 1), two(0.7, 1)),
    "overlap only": invariant(lambda rows: rows.two_sided(0.85, rows.m - 1), two(0.85, -1)),
    "second text only": invariant(lambda rows: rows.cue(0.6), rate(0.6)),
    "first word only": ZooModel(lambda rows: (rows.cue(0.6), rows.uniform()), rate(0.6), by_chance),
    "bigrams": ZooModel(bigrams, rate(0.85), lambda shares: 0.05 * 0.85 + 0.95 * np.array(shares)),
    "reader, then the frequent label": to_label(0),
    "reader, then the second label": to_label(1),
    "reader, then the rare label": to_label(-1),
    "reader, then uniform": reader(Rows.uniform, by_chance),
    "reader, then its prior": reader(Rows.by_prior, np.array),
    "half reader, half bag of words": ZooModel(
        half, rate(0.9), lambda shares: 0.5 * 0.9 + 0.5 * by_chance(shares)
    ),
}


@dataclass(frozen=True)
class Cell:
    """A model with noise, on a mix of labels."""

    model: str
    noise: float
    mix: str

    def predict(self, gold: Labels, rng: Generator) -> tuple[Labels, Labels]:
        """Answers before (examples) and after (examples × variants)."""
        rows = Rows(gold, SHARES[self.mix], rng)
        before, after = ZOO[self.model].predict(rows)
        return self._noisy(before, rng), self._noisy(after, rng)

    def _noisy(self, answers: Labels, rng: Generator) -> Labels:
        """Some answers are drawn at random, for each text apart."""
        is_noise = rng.random(answers.shape) < self.noise
        m = len(SHARES[self.mix])
        return np.where(is_noise, rng.integers(m, size=answers.shape), answers)

    def outcomes(self, n: int, rng: Generator) -> Outcomes:
        """An audit of n examples."""
        shares = SHARES[self.mix]
        gold = rng.choice(len(shares), size=n, p=shares)
        return outcomes_of(gold, *self.predict(gold, rng), len(shares))


def outcomes_of(gold: Labels, before: Labels, after: Labels, m: int) -> Outcomes:
    """Outcomes with the labels filled in, since probabilities would only cost time here."""
    n = len(gold)
    found = Outcomes(
        transformation="derange",
        task=Task("zoo", tuple(f"label {i}" for i in range(m))),
        example=np.arange(n).astype(str),
        gold=gold,
        original=np.zeros((n, m)),
        predictions=np.zeros((n, after.shape[1], 1)),
        is_simple=np.ones(n, dtype=bool),
    )
    vars(found).update(original_label=before, label=after)
    return found


@dataclass(frozen=True)
class Truth:
    """What is known of a cell: how often each gold label is answered right, before and after."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]

    @classmethod
    def of(cls, cell: Cell) -> Truth:
        model = ZOO[cell.model]
        shares = SHARES[cell.mix]
        noise = cell.noise * by_chance(shares)
        return cls(*((1 - cell.noise) * f(shares) + noise for f in (model.before, model.after)))

    def skills(self, gold: Labels) -> tuple[float, float]:
        """Skill before and after, over the labels that the gold has."""
        present = np.unique(gold)
        chance = 1 / len(present)
        return float(self.before[present].mean() - chance), float(
            self.after[present].mean() - chance
        )

    def kinds(self, gold: Labels, *, is_constant: bool) -> set[str]:
        """The conclusions that are right; `undecided` always is."""
        if len(np.unique(gold)) == 1:
            return {"one_gold_label"}
        before, after = self.skills(gold)
        if before < 1e-9:
            return {"undecided", "no_skill", *(["one_label"] if is_constant else [])}
        kept = after / before
        found = {"undecided", "mixed"}
        if kept <= LIMITS.reads_below:
            found = {"undecided", "reads_order"}
        elif kept >= LIMITS.bag_above:
            found = {"undecided", "bag_of_words"}
        if before < LIMITS.least_skill * (1 - 1 / len(np.unique(gold))):
            found.add("no_skill")  # so little counts as none
        return found


@dataclass
class Tally:
    """How often each conclusion was drawn in a cell, and how often it was wrong."""

    kinds: Counter[str]
    n_wrong: int = 0
    n_runs: int = 0


def tally(cell: Cell, n: int, runs: int, seed: int = 0) -> Tally:
    """Audit a cell many times."""
    truth = Truth.of(cell)
    found = Tally(Counter())
    rng = np.random.default_rng([seed, n])
    is_constant = cell.model.startswith("constant")
    for _ in range(runs):
        outcomes = cell.outcomes(n, rng)
        drawn: Conclusion = conclude(outcomes, LIMITS)
        found.kinds[drawn.kind] += 1
        found.n_runs += 1
        found.n_wrong += drawn.kind not in truth.kinds(outcomes.gold, is_constant=is_constant)
    return found


def cells(models: Sequence[str] = tuple(ZOO), mixes: Sequence[str] = tuple(SHARES)) -> list[Cell]:
    return [
        Cell(model, noise, mix)
        for model, noise, mix in product(models, NOISE, mixes)
        if mix != "one label" or model == "bag of words"  # no prediction is looked at there
    ]


def coverage(cell: Cell, n: int, runs: int, seed: int = 0) -> tuple[float, float]:
    """How often the interval of `skill_kept` holds the truth, of the audits that give one; and how
    many do.
    """
    truth = Truth.of(cell)
    rng = np.random.default_rng([seed, n, 1])
    inside = given = 0
    for _ in range(runs):
        outcomes = cell.outcomes(n, rng)
        if len(np.unique(outcomes.gold)) < 2:
            continue
        before, after = truth.skills(outcomes.gold)
        try:
            score = decompose("skill_kept", outcomes).score()
        except NothingToMeasure:
            continue
        given += 1
        inside += score.low <= after / before <= score.high
    return inside / max(1, given), given / runs


@dataclass(frozen=True)
class StoppedCell:
    """A model that is asked until its kind is decided: on a share of the families it is a bag of
    words, on the others its answer to another order is drawn by lot.
    """

    kept: float
    mix: str = "balanced"
    copies: int = 1

    def outcomes(self, n: int, rng: Generator) -> Outcomes:
        """All that would be predicted, in the order in which it is."""
        shares = SHARES[self.mix]
        family = np.arange(n) // self.copies
        gold = rng.choice(len(shares), size=n // self.copies + 1, p=shares)[family]
        rows = Rows(gold, shares, rng)
        cue = rows.cue(0.9)[:: self.copies][family]
        cue = np.where(rng.random(n) < 0.05, rows.uniform()[:, 0], cue)
        is_bag = (rng.random(n) < self.kept)[family]
        after = np.where(is_bag[:, None], cue[:, None], rows.uniform()[:, :3])
        m = len(shares)
        before = np.eye(m)[cue]
        return Outcomes(
            transformation="derange",
            task=Task("zoo", tuple(f"label {i}" for i in range(m))),
            example=np.arange(n).astype(str),
            gold=gold,
            original=before,
            predictions=np.eye(m)[after],
            is_simple=np.ones(n, dtype=bool),
            fidelity="natural",
            family=family,
            control=before,
        )

    def kinds(self) -> set[str]:
        """The conclusions that are right."""
        found = {"undecided"}
        if self.kept <= LIMITS.reads_below:
            found |= {"reads_order"}
        if LIMITS.reads_below <= self.kept <= LIMITS.bag_above:
            found |= {"mixed"}
        if self.kept >= LIMITS.bag_above:
            found |= {"bag_of_words", "bag_or_misled"}
        if self.kept >= LIMITS.reads_below:
            found |= {"mixed_or_bag"}
        if self.kept <= LIMITS.bag_above:
            found |= {"reads_or_mixed"}
        return found


@dataclass
class Stopped:
    """What runs that end at a look say, and how often that is wrong."""

    n_runs: int = 0
    n_wrong: int = 0
    n_intervals: int = 0
    n_covered: int = 0
    n_early: int = 0


def stopped(cell: StoppedCell, n: int, runs: int, seed: int = 0) -> Stopped:
    """Run a cell many times with `--until decided`: the kind and the interval are those of the look
    that ended it.
    """
    rng = np.random.default_rng([seed, n, round(1000 * cell.kept), cell.copies, len(cell.mix)])
    found = Stopped()
    for _ in range(runs):
        drawn = cell.outcomes(n, rng)
        assert drawn.family is not None
        looks = Looks(planned_looks(n), labels_that_count(drawn.gold, drawn.family))
        ends = [look.n_examples for look in looks.planned]
        watcher = UntilDecided("derange", looks, LIMITS, None, frozenset(), n, looks.planned[-1].z)
        for start, end in zip([0, *ends], ends, strict=False):
            part = {"derange": drawn.take(np.arange(start, end))}
            watcher.take(part, end, has_probabilities=False)
            if watcher.is_over():
                break
        [shown] = watcher.stops(end)
        found.n_runs += 1
        found.n_early += end < n
        found.n_wrong += watcher._concluded(watcher.z).kind not in cell.kinds()
        if shown.low is not None and shown.high is not None:
            found.n_intervals += 1
            found.n_covered += shown.low <= cell.kept <= shown.high
    return found
