"""What do the answers say? One file a question; every number is a `Score` with an interval by
example.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from disorder.errors import NothingToMeasure
from disorder.metrics.omega import omega_at, threshold
from disorder.metrics.reference_models import references
from disorder.metrics.statistics.anytime import Anytime, StopRule, values_of
from disorder.metrics.statistics.curtailment import CURTAILED, thresholds_of
from disorder.metrics.statistics.decomposition import by_example
from disorder.metrics.statistics.intervals import average, mean, ratio, resampled, share, widened
from disorder.metrics.statistics.paired import difference_of, holm
from disorder.metrics.wos import dev_r, is_simple, step_counts
from disorder.registry import MetricPart, parts
from disorder.types import Outcomes, Score

__all__ = [
    "CURTAILED",
    "CURVE",
    "ORIGINAL",
    "Anytime",
    "StopRule",
    "average",
    "by_example",
    "dev_r",
    "difference_of",
    "holm",
    "is_simple",
    "mean",
    "omega_at",
    "ratio",
    "references",
    "resampled",
    "scores",
    "share",
    "step_counts",
    "threshold",
    "thresholds_of",
    "values_of",
    "widened",
]

ORIGINAL = "original"
CURVE = tuple(f"0.{i}" for i in range(1, 10))


def scores(
    outcomes: Outcomes,
    *,
    keeps_words: bool = True,
    thresholds: Iterable[str] = CURVE,
    only: Collection[str] | None = None,
) -> Iterator[tuple[str, Score | str]]:
    """Every metric that applies: its name with its score, or with the reason why there is nothing
    to measure.
    """
    is_drawn = int(outcomes.n_variants.max(initial=1)) > 1
    asked = {"texts"} if outcomes.transformation == ORIGINAL else {"texts", "variants"}
    asked |= ({"permutations"} if is_drawn else set()) | (
        {"order"} if keeps_words and "variants" in asked else set()
    )
    on = "numbers" if outcomes.task.is_regression else "labels"
    for name, entry in parts(MetricPart).items():
        if entry.of in asked and entry.on == on and (only is None or name in only):
            yield name, _score(entry.function, outcomes)
    if is_drawn and on == "labels":
        for x in (
            thresholds
            if only is None
            else [name[6:] for name in sorted(only) if name.startswith("omega@")]
        ):
            yield f"omega@{x}", _score(omega_at, outcomes, x)


def _score(function: Callable[..., Score], outcomes: Outcomes, *extra: str) -> Score | str:
    try:
        return function(outcomes, *extra)
    except NothingToMeasure as reason:
        return str(reason)
