"""The spread of scores over several prompts, beside their intervals over examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from disorder.results.run import Run
from disorder.types import ORIGINAL
from disorder.verbs.compare import FinishedRun
from disorder.verbs.outcomes import in_groups, measure

Key = tuple[str, str, str]  # transformation, metric, group


@dataclass(frozen=True)
class PromptShare:
    """The share of one prompt among several, which share a budget and are resumed together."""

    n_left: int = 1  # prompts without a run, this one included
    spent: Mapping[str, float] = field(default_factory=dict)  # under the prompts before
    resume_with: str = ""


def total_spent(runs: Sequence[Run]) -> dict[str, float]:
    """Questions, tokens and money of several runs."""
    found: Counter[str] = Counter()
    for run in runs:
        found.update(run.spent)
    return dict(found)


def spread_over(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """For each score that all prompts have: its smallest and largest value over the prompts, on the
    examples that were reached under all of them.
    """
    found = []
    by_run = _measured(runs)
    for key, value in by_run[0].items():
        values = [value, *(rest[key] for rest in by_run[1:] if key in rest)]
        if len(values) == len(runs):
            found.append(
                {
                    "transformation": key[0],
                    "metric": key[1],
                    "group": key[2],
                    "low": min(values),
                    "high": max(values),
                    "values": values,
                }
            )
    return found


def _measured(runs: Sequence[Run]) -> list[dict[Key, float]]:
    """The scores of each run, measured again where a limit let one reach fewer examples."""
    if len({run.n_examples for run in runs}) == 1:
        return [
            {(r.transformation, r.metric, r.group): r.value for r in run.scores} for run in runs
        ]
    opened = [FinishedRun.open(run) for run in runs]
    shared = reduce(set.intersection, ({e.id for e in each.examples} for each in opened))
    return [dict(_on_shared(each, shared)) for each in opened]


def _on_shared(finished: FinishedRun, shared: set[str]) -> Iterator[tuple[Key, float]]:
    """The scores of a run on some of its examples."""
    by_id = {example.id: example for example in finished.examples}
    names: dict[str, set[str]] = {}
    for record in finished.run.scores:
        names.setdefault(record.transformation, set()).add(record.metric)
    for spec in (ORIGINAL, *finished.run.transformations):
        outcomes = finished.outcomes(spec)
        if outcomes is None:
            continue
        kept = outcomes.take(np.array([str(name) in shared for name in outcomes.example]))
        used = [by_id[str(name)] for name in kept.example]
        for group, part, _ in in_groups(kept, used, finished.examples) if used else ():
            keeps_words = spec in finished.run.breaks_order
            records, _ = measure(part, group, keeps_words=keeps_words, only=names.get(spec, ()))
            for record in records:
                yield (spec, record.metric, group), record.value
