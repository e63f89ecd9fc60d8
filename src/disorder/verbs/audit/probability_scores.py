"""What a run says of confidence: only where the model gives probabilities, which is decided once
for the whole run.

A model can be certain of all texts of a group or a transformation; only one that is certain of all
texts gives labels. Until a prediction is neither 0 nor 1, what needs probabilities is kept back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from disorder.metrics import LABELS_ONLY, Metric
from disorder.runs import Omitted, Record, Run

HOLDERS = ("scores", "omitted", "references", "figures", "telling")
FIGURES = ("confidence", "reliability")


@dataclass
class ProbabilityScores:
    """Keeps back what a run holds of probabilities as long as none was seen."""

    run: Run
    kept: dict[str, Any] = field(default_factory=dict)  # the run's values before they were cut

    @contextmanager
    def judged(self, *, is_shown: bool) -> Iterator[None]:
        """Inside this a stage is measured as one of probabilities; `is_shown` says whether some
        prediction of the stage is neither 0 nor 1.
        """
        for name, value in self.kept.items():
            setattr(self.run, name, value)
        is_known = self.run.has_probabilities or self.run.prompt.get("gives_probabilities", False)
        self.run.has_probabilities = bool(is_known) or is_shown
        try:
            yield
        finally:
            self.kept = {}
            if not self.run.has_probabilities:
                self.kept = {name: getattr(self.run, name) for name in HOLDERS}
                _cut(self.run)


def _cut(run: Run) -> None:
    """Take out what needs probabilities; nothing is changed in place."""
    entries: list[Record | Omitted] = [*run.scores, *run.omitted]
    gone = [_omitted(entry) for entry in entries if _needs(entry.metric)]
    run.omitted = [*(each for each in run.omitted if not _needs(each.metric)), *gone]
    run.scores = _without(run.scores)
    run.references = {name: _without(records) for name, records in run.references.items()}
    run.figures = {
        spec: {name: table for name, table in tables.items() if name not in FIGURES}
        for spec, tables in run.figures.items()
    }
    run.telling = [_unsure(told) for told in run.telling]


def _needs(metric: str) -> bool:
    return Metric.named(metric).part.needs_probabilities


def _omitted(score: Record | Omitted) -> Omitted:
    return Omitted(
        transformation=score.transformation,
        metric=score.metric,
        group=score.group,
        reason=LABELS_ONLY,
    )


def _without(records: list[Record]) -> list[Record]:
    return [record for record in records if not _needs(record.metric)]


def _unsure(told: Mapping[str, Any]) -> dict[str, Any]:
    """A telling example without confidences."""
    variants = [{**variant, "confidence": None} for variant in told["variants"]]
    return {**told, "confidence": None, "variants": variants}
