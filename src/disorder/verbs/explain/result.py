"""What does an explanation give back? One line with numbers, pictures with the data behind them,
and tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from disorder.report.exhibits import Figure, Row, Table
from disorder.types import Score


@dataclass(frozen=True)
class Explained:
    """What one explanation found.

    `finding` is one line with numbers and intervals; `scores` holds those numbers by name; `skips`
    counts examples left out.
    """

    finding: str
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    scores: Mapping[str, Score] = field(default_factory=dict)
    notes: Sequence[str] = ()
    skips: Mapping[str, int] = field(default_factory=dict)


def said(score: Score) -> str:
    """A number with its interval, as a sentence holds it."""
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def signed(score: Score, scale: float = 1.0) -> str:
    """A change with its interval, as a sentence holds it."""
    return f"{score.value * scale:+.3f} [{score.low * scale:+.3f}, {score.high * scale:+.3f}]"


def bounds(score: Score) -> Row:
    """A number with its interval, as a row holds it."""
    return {
        "value": _exact(score.value),
        "low": _exact(score.low),
        "high": _exact(score.high),
        "n": score.n,
    }


def _exact(number: float) -> float:
    return round(float(number), 6) + 0.0
