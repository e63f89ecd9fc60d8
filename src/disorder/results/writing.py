"""How numbers, metrics and specs are written: a score in a sentence and in a cell, the title and
meaning of a metric, a spec without its folders.

A metric of a plugin that is not installed any more is shown under its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Protocol

from disorder.registry import metric_named
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


def with_interval(score: Bounded) -> str:
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


LAST = 1000  # where unknown metrics stand


def title_of(metric: str) -> str:
    """How tables head a metric.

    >>> title_of("p_c"), title_of("omega@0.5"), title_of("unheard_of")
    ('P_c', 'Ω_0.5', 'unheard_of')
    """
    entry = metric_named(metric)
    if entry is None:
        return metric
    value = metric.partition("@")[2]
    return entry.title.replace("_x", f"_{value}") if value else entry.title


def named(metric: str) -> str:
    """How tables head a metric, and in brackets the name that files, options and gates take.

    >>> named("p_c"), named("accuracy")
    ('P_c (p_c)', 'accuracy')
    """
    title = title_of(metric)
    return title if title == metric else f"{title} ({metric})"


def meaning_of(metric: str) -> str:
    """What a metric says, in one line, with its unit where that is no share."""
    entry = metric_named(metric)
    if entry is None:
        return "measured by a plugin that is not installed here"
    return entry.meaning if entry.unit == "share" else f"{entry.meaning}, in {entry.unit}"


def place_of(metric: str) -> str:
    """Where a metric is shown: table, page, permutations or file."""
    entry = metric_named(metric)
    return "table" if entry is None else entry.shown


def shown(metrics: Iterable[str], *places: str) -> list[str]:
    """Those of some metrics that are shown in these places, in the order of tables."""
    names = [metric for metric in dict.fromkeys(metrics) if place_of(metric) in places]
    return sorted(names, key=_position)


def _position(metric: str) -> tuple[int, str]:
    entry = metric_named(metric)
    return (LAST if entry is None else entry.position), metric


def short_name(spec: str) -> str:
    """The name without the folders before its last part.

    >>> short_name("hf:/home/anna/models/minilm"), short_name("mnli:matched")
    ('hf:minilm', 'mnli:matched')
    >>> short_name("data/pairs.jsonl")
    'pairs.jsonl'
    """
    head, colon, rest = spec.partition(":")
    return f"{head}:{PurePath(rest).name}" if colon else PurePath(head).name


def sentence(text: str) -> str:
    """A recorded sentence as it is shown: it begins with a capital, and a minus is one.

    >>> sentence("it is -0.05 [-0.1, 0.0] beyond the bi-gram of 3-4 words")
    'It is −0.05 [−0.1, 0.0] beyond the bi-gram of 3-4 words'
    """
    return re.sub(r"(?<!\w)-(?=\d)", "−", capitalised(text))


def capitalised(text: str) -> str:
    """A text that begins with a capital letter, unless it begins with a spec or a group.

    >>> capitalised("order: needed"), capitalised("python:model.py:bag is a bag")
    ('Order: needed', 'python:model.py:bag is a bag')
    >>> capitalised("needs=order: reads it")
    'needs=order: reads it'
    """
    first = text.partition(" ")[0]
    is_spec = ":" in first[:-1] or "=" in first
    return text if is_spec else text[:1].upper() + text[1:]
