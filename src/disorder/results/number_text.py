"""Numbers as reports write them: a score as a row, in a sentence, and as a cell of a table."""

from __future__ import annotations

from typing import Any, Protocol

from disorder.types import Score

DIGITS = 6  # of numbers in files, so that the last bits of a sum do not show
MINUS = "−"


class Bounded(Protocol):
    """A number with its interval."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def low(self) -> float:
        """The lower end of its interval."""

    @property
    def high(self) -> float:
        """The upper end of its interval."""


def interval(score: Bounded) -> str:
    """A value with its bounds: 0.500 [−0.25, 0.75]."""
    return f"{fixed(score.value)} {bounds(score)}"


def bounds(score: Bounded, digits: int = 2) -> str:
    """The interval of a value, in brackets."""
    return f"[{fixed(score.low, digits)}, {fixed(score.high, digits)}]"


def short_bounds(score: Bounded) -> str:
    """The interval of a value, as short as it can be said: .07–1."""
    low, high = (_short(bound) for bound in (score.low, score.high))
    dash = " to " if MINUS in low + high else "–"
    return f"{low}{dash}{high}"


def _short(bound: float) -> str:
    """Two decimals without what goes without saying: .07, 1, 1.05."""
    text = f"{round(bound, 2) + 0.0:.2f}".replace("-", MINUS)
    if text in ("0.00", "1.00"):
        return text[0]
    return text.replace("0.", ".", 1) if abs(bound) < 1 else text


def rounded(number: float) -> float:
    """A number as files hold it: six digits, and no negative zero."""
    return round(float(number), DIGITS) + 0.0


def score_row(score: Score) -> dict[str, Any]:
    """Value, interval and number of examples as columns of a row."""
    return {
        "value": rounded(score.value),
        "low": rounded(score.low),
        "high": rounded(score.high),
        "n": score.n,
    }


def with_interval(score: Score) -> str:
    """A score with its interval, for a sentence.

    >>> with_interval(Score(0.5, -0.25, 0.75, 20))
    '0.500 [−0.250, 0.750]'
    """
    return f"{fixed(score.value)} {bounds(score, 3)}"


def in_points(score: Score) -> str:
    """A difference of shares with its interval, in points of a hundred.

    >>> in_points(Score(0.012, -0.006, 0.03, 20))
    '1.2 points [−0.6, 3.0]'
    """
    low, high = 100 * score.low, 100 * score.high
    return f"{100 * score.value:.1f} points [{low:.1f}, {high:.1f}]".replace("-", MINUS)


def fixed(value: float, digits: int = 3) -> str:
    """A number with so many decimals, and a true minus.

    >>> fixed(-0.25, 2), fixed(0.5)
    ('−0.25', '0.500')
    """
    return f"{value:.{digits}f}".replace("-", MINUS)


def cell_text(value: Any) -> str:
    """A value as a table on a page shows it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return fixed(value)
    if type(value) is int:  # not bool, which is a kind of int
        return f"{value:,}".replace("-", MINUS)
    return str(value)
