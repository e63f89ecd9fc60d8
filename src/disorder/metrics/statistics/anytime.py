"""When a run may stop: an interval for a mean that holds at every moment, and twenty planned looks.

The hedged betting sequence of Waudby-Smith & Ramdas (2024) for values in [0, 1]: a gambler bets
against each candidate mean; candidates that would have made him rich are out. Peeking after every
example costs no validity.

At planned looks the error of 5 % is divided beforehand (Bonferroni): 1 % among the looks before the
last, 4 % at the last. So any interval for a fixed sample may be looked at, that over families
included; one that ends a run early is wider than a fixed sample's, one at the end hardly so.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf, log, sqrt
from statistics import NormalDist

import numpy as np

from disorder.errors import DisorderError, option
from disorder.types import Floats, Ints

GRID = np.linspace(0, 1, 1001)
ALPHA = 0.05
CAP = 0.5  # share of the capital that a bet may risk at most


@dataclass
class Anytime:
    """An interval for the mean of values that come one after another."""

    alpha: float = ALPHA
    n: int = 0
    _sum: float = 0.5  # a prior observation of 1/2, as the sequence needs a first guess
    _squares: float = 0.25
    _for: Floats = field(default_factory=lambda: np.zeros(len(GRID)))
    _against: Floats = field(default_factory=lambda: np.zeros(len(GRID)))
    _low: float = 0.0
    _high: float = 1.0

    def update(self, values: Floats) -> None:
        """Take in more values, in the order they were drawn."""
        with np.errstate(divide="ignore"):
            tops = CAP / GRID
            bottoms = CAP / (1 - GRID)
        for x in values.tolist():
            bet = sqrt(2 * log(2 / self.alpha) / (self._squares * log(self.n + 2)))
            self._for += np.log1p(np.minimum(bet, tops) * (x - GRID))
            self._against += np.log1p(-np.minimum(bet, bottoms) * (x - GRID))
            self.n += 1
            self._sum += x
            self._squares += (x - self._sum / (self.n + 1)) ** 2
        self._tighten()

    def _tighten(self) -> None:
        alive = np.maximum(self._for, self._against) - log(2) < log(1 / self.alpha)
        kept = GRID[alive & (self._low <= GRID) & (self._high >= GRID)]
        if len(kept):
            self._low, self._high = float(kept[0]), float(kept[-1])

    @property
    def interval(self) -> tuple[float, float]:
        """The means that are still possible, one grid step wider on each side."""
        step = float(GRID[1])
        return max(0.0, self._low - step), min(1.0, self._high + step)

    @property
    def width(self) -> float:
        """How wide the interval is."""
        low, high = self.interval
        return high - low


RATIOS = np.round(np.linspace(-1, 3, 401), 2)


@dataclass
class AnytimeRatio:
    """An interval for a ratio of skills that holds at every moment at once: (mean after − chance)
    ÷ (mean before − chance), every label counting the same.

    Examples of all labels, one of each, make a unit; the gambler bets against each candidate ratio
    r that the mean of `after − r · before` over units is what r would make it. `before` alone is
    watched too: without skill there is no ratio.
    """

    n_labels: int  # that the gold has
    alpha: float = ALPHA
    ratios: Floats = field(default_factory=lambda: RATIOS.copy())
    n_units: int = 0

    def __post_init__(self) -> None:
        self._waiting: defaultdict[int, deque[tuple[float, float]]] = defaultdict(deque)
        self._low = np.minimum(0.0, -self.ratios)  # bounds of after − r · before
        self._span = np.maximum(1.0, 1 - self.ratios) - self._low
        self._null = ((1 - self.ratios) / self.n_labels - self._low) / self._span
        self._for = np.zeros(len(self.ratios))
        self._against = np.zeros(len(self.ratios))
        self._alive = np.ones(len(self.ratios), dtype=bool)
        self._sum = np.full(len(self.ratios), 0.5)
        self._squares = np.full(len(self.ratios), 0.25)
        self._before = Anytime(self.alpha)

    def update(self, label: Ints, after: Floats, before: Floats) -> None:
        """Take in examples in the order they were drawn: their label numbers, and how far each is
        right after and before, from 0 to 1.
        """
        for place, *both in zip(label.tolist(), after.tolist(), before.tolist(), strict=True):
            self._waiting[place].append((both[0], both[1]))
            if len(self._waiting) == self.n_labels and all(self._waiting.values()):
                unit = np.mean([queue.popleft() for queue in self._waiting.values()], axis=0)
                self._bet(float(unit[0]), float(unit[1]))

    def _bet(self, after: float, before: float) -> None:
        x = (after - self.ratios * before - self._low) / self._span
        bet = np.sqrt(2 * log(2 / self.alpha) / (self._squares * log(self.n_units + 2)))
        with np.errstate(divide="ignore"):
            most_for = CAP / self._null
            most_against = CAP / (1 - self._null)
        self._for += np.log1p(np.minimum(bet, most_for) * (x - self._null))
        self._against += np.log1p(-np.minimum(bet, most_against) * (x - self._null))
        alive = np.maximum(self._for, self._against) - log(2) < log(1 / self.alpha)
        if (self._alive & alive).any():  # the true ratio may lie between two candidates
            self._alive &= alive
        self.n_units += 1
        self._sum += x
        self._squares += (x - self._sum / (self.n_units + 1)) ** 2
        self._before.update(np.array([before]))

    @property
    def has_skill(self) -> bool:
        """Whether the skill before is above chance at any rate."""
        return self._before.interval[0] > 1 / self.n_labels

    @property
    def interval(self) -> tuple[float, float]:
        """The ratios that are still possible, one step wider on each side; any number as long as
        there may be no skill.

        Beyond the candidates an end is the most that the least skill before allows.
        """
        if not self.has_skill:
            return -inf, inf
        alive = np.flatnonzero(self._alive)
        chance = 1 / self.n_labels
        least = self._before.interval[0] - chance
        low = min(float(self.ratios[0]), -chance / least)
        high = max(float(self.ratios[-1]), (1 - chance) / least)
        if alive[0] > 0:
            low = float(self.ratios[alive[0] - 1])
        if alive[-1] < len(self.ratios) - 1:
            high = float(self.ratios[alive[-1] + 1])
        return low, high


@dataclass(frozen=True)
class StopRule:
    """`width(metric) < number`."""

    metric: str
    width: float

    @classmethod
    def parse(cls, text: str) -> StopRule:
        """The rule that a user typed."""
        match = re.fullmatch(r"\s*width\(\s*([\w@.]+)\s*\)\s*<\s*(\d*\.?\d+)\s*", text)
        if not match:
            raise DisorderError(f'{option("stop_when", text)}: write it as "width(p_c) < 0.02"')
        if not 0 < float(match[2]) < 1:
            raise DisorderError(
                f"{option('stop_when', text)}: the width must be above 0 and below 1, such as 0.02"
            )
        return cls(match[1], float(match[2]))


N_LOOKS = 20
FIRST = 200  # examples
FEWEST_FAMILIES = 30  # at a look; one with fewer is passed over
EARLY_ERROR = 0.01
LAST_ERROR = 0.04


@dataclass(frozen=True, slots=True)
class PlannedLook:
    """A look after so many examples, with the normal point of its interval."""

    number: int
    n_examples: int
    z: float
    is_last: bool


def planned_looks(n_examples: int) -> list[PlannedLook]:
    """The looks at up to so many examples, at sizes that grow by the same factor.

    >>> [look.n_examples for look in planned_looks(4000)][:3], len(planned_looks(4000))
    ([200, 234, 274], 20)
    """
    sizes = sorted(set(_sizes(n_examples)))
    early = len(sizes) - 1
    looks = []
    for number, size in enumerate(sizes, start=1):
        is_last = number == len(sizes)
        error = LAST_ERROR if is_last else EARLY_ERROR / early
        if early == 0:
            error = EARLY_ERROR + LAST_ERROR
        looks.append(PlannedLook(number, size, NormalDist().inv_cdf(1 - error / 2), is_last))
    return looks


def _sizes(n_examples: int) -> Iterator[int]:
    first = min(FIRST, n_examples)
    for k in range(N_LOOKS):
        yield round(first * (n_examples / first) ** (k / (N_LOOKS - 1)))
