"""How metrics are shown: titles, meanings and places, all from their own declarations.

A metric of a plugin that is not installed any more is shown under its name.
"""

from __future__ import annotations

from collections.abc import Iterable

from disorder.registry import metric_named

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
