"""The spread of scores over several prompts, beside their intervals over examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disorder.runs import Run


def spread_over(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """For each score that all prompts have: its smallest and largest value over the prompts."""
    first, *others = runs
    found = []
    for record in first.scores:
        key = (record.transformation, record.metric, record.group)
        rest = [run.score(*key) for run in others]
        values = [record.value, *(each.value for each in rest if each is not None)]
        if len(values) == len(runs):
            found.append(
                {
                    "transformation": record.transformation,
                    "metric": record.metric,
                    "group": record.group,
                    "low": min(values),
                    "high": max(values),
                    "values": values,
                }
            )
    return found
