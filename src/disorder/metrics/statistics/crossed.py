"""Crossed draws: every question with every prompt, format or set of shots.

Both questions and prompts are drawn, so that both add to the variance of a mean:
V = V_questions + V_prompts − V_residual, with Satterthwaite's degrees of freedom. A bootstrap over
both is too narrow with few prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, sqrt

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import student
from disorder.types import Floats, Score

FEWEST_PROMPTS = 3  # below: a spread, no interval


@dataclass(frozen=True)
class VarianceLedger:
    """What questions, prompts and the rest add to the variance of a mean."""

    questions: float
    prompts: float
    residual: float

    @property
    def total(self) -> float:
        """The variance of the mean; never less than what either adds alone."""
        return max(self.questions + self.prompts - self.residual, self.questions, self.prompts)


def variance_ledger(values: Floats) -> VarianceLedger:
    """The parts of the variance of a mean; a row per question, a column per prompt."""
    n, k = values.shape
    rows = values.mean(axis=1)
    columns = values.mean(axis=0)
    rest = values - rows[:, None] - columns + values.mean()
    return VarianceLedger(
        questions=float(rows.var(ddof=1)) / n,
        prompts=float(columns.var(ddof=1)) / k,
        residual=float((rest**2).sum()) / ((n - 1) * (k - 1)) / (n * k),
    )


def crossed_mean(values: Floats) -> Score:
    """The mean over questions (rows) and prompts (columns), with an interval for others of both."""
    n, k = values.shape
    if k < FEWEST_PROMPTS or n < 2:
        raise NothingToMeasure(
            f"an interval over prompts needs {FEWEST_PROMPTS} of them, and two questions"
        )
    parts = variance_ledger(values)
    spent = (
        parts.questions**2 / (n - 1)
        + parts.prompts**2 / (k - 1)
        + parts.residual**2 / ((n - 1) * (k - 1))
    )
    freedom = max(1, floor(parts.total**2 / spent + 1e-9)) if spent else n - 1
    value = float(values.mean())
    half = student(freedom) * sqrt(parts.total)
    return Score(value, value - half, value + half, n)
