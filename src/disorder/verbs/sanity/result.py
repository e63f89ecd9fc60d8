"""What does a check give back? Verdicts in words with their numbers, the scores behind them,
pictures and tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from disorder.report.exhibits import Figure, Row, Table
from disorder.types import Score


@dataclass(frozen=True)
class Verdict:
    """One answer: what was asked, of which group, the answer, why, the number it rests on, and how
    far the model gets.
    """

    question: str
    answer: str
    because: str
    score: Score | None = None
    group: str = "all"
    whole: Score | None = None

    @property
    def line(self) -> str:
        """The verdict as one sentence or two."""
        where = "" if self.group == "all" else f" ({self.group})"
        return f"{self.question}{where}: {self.answer}. {self.because}"


@dataclass(frozen=True)
class Checked:
    """What one check found."""

    verdicts: Sequence[Verdict]
    scores: Sequence[Row] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Section:
    """A check with what it asks: found something, or the reason why it could not be done."""

    name: str
    asks: str
    paper: str
    found: Checked | None = None
    reason: str = ""


@dataclass(frozen=True)
class Sanity:
    """All that the audit of a dataset found."""

    data: str
    train: str
    design: str
    model: str
    n_rows: Mapping[str, int]
    labels: Sequence[str]
    chance: float
    metric: str
    settings: Mapping[str, Any]
    hashes: Mapping[str, str]
    version: str
    sections: Sequence[Section]
    whole: Score | None = None
    notes: Sequence[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def verdicts(self) -> list[Verdict]:
        """Every verdict, in the order of the checks."""
        return [
            verdict
            for section in self.sections
            if section.found
            for verdict in section.found.verdicts
        ]

    def verdict(self, question: str, group: str = "all") -> Verdict:
        """The verdict on one question."""
        return next(v for v in self.verdicts if (v.question, v.group) == (question, group))


def bounds(score: Score) -> Row:
    """A number with its interval, as a row holds it."""
    return {
        "value": exact(score.value),
        "low": exact(score.low),
        "high": exact(score.high),
        "n": score.n,
    }


def exact(number: float) -> float:
    """Rounded, so that the last bits of a sum do not show."""
    return round(float(number), 6) + 0.0


def points(score: Score) -> str:
    """A cost in points of a hundred, with its interval."""
    return f"{100 * score.value:.1f} points [{100 * score.low:.1f}, {100 * score.high:.1f}]"


def said(score: Score) -> str:
    """A number with its interval, as a sentence holds it."""
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"
