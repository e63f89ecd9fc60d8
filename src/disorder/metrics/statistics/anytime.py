"""Confidence sequences: an interval for a mean that holds at every moment at once.

The hedged betting sequence of Waudby-Smith & Ramdas (2024) for values in [0, 1]: a gambler bets
against each candidate mean; candidates that would have made him rich are out. Peeking after every
example costs no validity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np

from disorder.errors import DisorderError
from disorder.types import Floats

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


@dataclass(frozen=True)
class StopRule:
    """`width(metric) < number`."""

    metric: str
    width: float

    @classmethod
    def parse(cls, text: str) -> StopRule:
        """The rule that a user typed."""
        match = re.fullmatch(r"\s*width\(\s*([\w@.]+)\s*\)\s*<\s*(\d*\.?\d+)\s*", text)
        if not match or not 0 < float(match[2]) < 1:
            raise DisorderError(f'--stop-when {text!r}: write it as "width(p_c) < 0.02"')
        return cls(match[1], float(match[2]))
