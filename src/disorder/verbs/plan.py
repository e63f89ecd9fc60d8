"""Plan: how many examples and permutations an audit needs for the interval one wants, and what they
cost, from a small pilot.

The width of an interval over n examples with q permutations each is 3.92 √((A + B/q) ÷ n): A is the
variance between examples, B that within them. Both are fitted to the pilot, at 1, 2, … of its
permutations; then q is what makes n (1 + q) smallest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from disorder.errors import DisorderError, NothingToMeasure, option
from disorder.metrics import Metric, metric_names
from disorder.requests.audit import AuditOptions
from disorder.requests.fields import PlanFields
from disorder.requests.keywords import takes_options
from disorder.requests.option import changed, command_line
from disorder.requests.plan import PlanOptions
from disorder.requests.settings import Settings
from disorder.types import Outcomes, Score
from disorder.verbs.audit import Pilot, Prices, pilot

MOST_PERMUTATIONS = 20  # a pilot with a few does not say what a hundred would
WIDTHS = 2 * 1.959964  # standard errors in a 95 % interval
FEWEST_EXAMPLES = 50  # that an interval can rest on
USUAL = ("skill_kept", "p_c")  # the first of these that is there


@dataclass(frozen=True)
class Plan:
    """What an audit needs for an interval of the wanted width, and what it would cost.

    `between` and `within` are the variances per example and per permutation that the pilot shows;
    `tokens_in`, `tokens_out` and `cost` are None for models that do not count tokens, `seconds`
    where all answers of the pilot came from the cache.
    """

    model: str
    data: str
    score: str
    width: float
    examples: int
    permutations: int
    questions: int
    tokens_in: int | None
    tokens_out: int | None
    seconds: float | None
    cost: float | None
    available: int
    expected_width: float
    between: float
    within: float
    pilot_examples: int
    pilot_permutations: int
    pilot_value: float
    pilot_low: float
    pilot_high: float
    command: str

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """The plan in words."""
        found = [
            f"{self.score} to within {self.width:g} (the whole interval), {self.model} on "
            f"{self.data}:",
            f"  {self.examples:,} examples, {_counted(self.permutations, 'permutation')} of each: "
            f"{self.questions:,} questions",
            *self._costs(),
            f"  from a pilot of {self.pilot_examples} examples with {self.pilot_permutations} "
            f"permutations each: {self.score} {self.pilot_value:.2f} "
            f"[{self.pilot_low:.2f}, {self.pilot_high:.2f}], variance {self.between:.3g} between "
            f"examples and {self.within:.3g} within them",
        ]
        if self.expected_width > self.width * 1.001:
            found.append(
                f"  the data has {self.available:,} examples only: expect an interval of about "
                f"{self.expected_width:.2g}"
            )
        return [*found, f"  {self.command}"]

    def _costs(self) -> Iterator[str]:
        if self.tokens_in is not None and self.tokens_out is not None:
            cost = "" if self.cost is None else f", cost {self.cost:.4g}"
            yield (f"  {self.tokens_in:,} tokens sent, {self.tokens_out:,} tokens received{cost}")
        if self.seconds is not None:
            yield f"  about {_duration(self.seconds)} at the pace of the pilot"
        else:
            yield (
                "  tokens, time and cost are not known: all predictions of the pilot came from the "
                "cache (--cache off makes them again)"
            )

    def __repr__(self) -> str:
        return "\n".join(self.lines())


@takes_options(PlanOptions)
def plan(model: Any = "builtin", data: Any = "builtin", **options: Unpack[PlanOptions]) -> Plan:
    """How many examples and permutations an audit needs for an interval of this width, and what
    they cost, from a small pilot.

    model: as for `disorder.audit`.
    data: as for `disorder.audit`.
    """
    asked = PlanFields.of(options)
    name = Metric.named(asked.score or next(each for each in USUAL if each in metric_names())).name
    settings = Settings.among(
        asked,
        transformations=[asked.transformation],
        score=(),
        q=min(asked.q or asked.pilot_permutations, asked.pilot_permutations),
        limit=asked.pilot_examples,
        short="use",
    )
    tried = pilot(model, data, settings)
    try:
        found = Metric.named(name).score(tried.outcomes)
    except NothingToMeasure as reason:
        raise DisorderError(
            f"plan: a pilot of {asked.pilot_examples} examples says nothing on {name} ({reason}); "
            f"try a larger one ({option('pilot_examples')}), or another {option('score')}"
        ) from None
    return _planned(model, data, name, asked, tried, found, settings)


def _planned(
    model: Any,
    data: Any,
    name: str,
    asked: PlanFields,
    tried: Pilot,
    found: Score,
    settings: Settings,
) -> Plan:
    between, within = variances(name, tried.outcomes)
    permutations = asked.q or cheapest_q(between, within)
    spread = between + within / permutations
    n_wanted = math.ceil(spread * (WIDTHS / asked.width) ** 2)
    usable = len(tried.outcomes) / tried.n_examples
    n_wanted = max(n_wanted, FEWEST_EXAMPLES)
    examples = min(tried.n_available, math.ceil(n_wanted / usable))
    questions = examples * (1 + permutations) * tried.n_questions
    spent = tried.spent
    n_questions = spent.get("questions") or spent.get("predicted", 0.0)
    each = (
        {key: spent.get(key, 0.0) / n_questions for key in ("tokens_in", "tokens_out")}
        if n_questions
        else {}
    )
    counts_tokens = bool(each.get("tokens_in"))
    tokens = {key: round(value * questions) for key, value in each.items()}
    prices = Prices(settings.price_in, settings.price_out)
    limit = None if examples == tried.n_available else examples
    final = replace(settings, q=permutations, limit=limit)
    return Plan(
        model=str(model),
        data=str(data) if isinstance(data, str | Path) else type(data).__name__,
        score=name,
        width=asked.width,
        examples=examples,
        permutations=permutations,
        questions=questions,
        tokens_in=tokens["tokens_in"] if counts_tokens else None,
        tokens_out=tokens["tokens_out"] if counts_tokens else None,
        seconds=tried.seconds / n_questions * questions if n_questions else None,
        cost=prices.cost(tokens) if prices and counts_tokens else None,
        available=tried.n_available,
        expected_width=WIDTHS * math.sqrt(spread / (examples * usable)),
        between=between,
        within=within,
        pilot_examples=len(tried.outcomes),
        pilot_permutations=tried.outcomes.predictions.shape[1],
        pilot_value=found.value,
        pilot_low=found.low,
        pilot_high=found.high,
        command=_command(model, data, final),
    )


def variances(name: str, outcomes: Outcomes) -> tuple[float, float]:
    """A and B of variance · n = A + B/q, by least squares over the pilot's first 1, 2, …
    permutations (all choices of neighbouring ones, averaged); neither is below 0.
    """
    most = outcomes.predictions.shape[1]
    points = [(1 / k, _mean_square(name, outcomes, k)) for k in range(1, most + 1)]
    known = [(x, y) for x, y in points if y is not None]
    if not known:
        raise DisorderError(f"plan: the pilot gives no interval of {name}; try a larger one")
    x = np.array([point[0] for point in known])
    y = np.array([point[1] for point in known], dtype=np.float64)
    if len(known) == 1:
        return float(y[0]), 0.0
    slope, base = np.polyfit(x, y, 1)
    if slope < 0:
        return float(y.mean()), 0.0
    if base < 0:
        return 0.0, float((x @ y) / (x @ x))
    return float(base), float(slope)


def _mean_square(name: str, outcomes: Outcomes, k: int) -> float | None:
    """The variance of the score at k permutations, from its interval, times the examples."""
    found = []
    for start in range(outcomes.predictions.shape[1] - k + 1):
        part = replace(outcomes, predictions=outcomes.predictions[:, start : start + k])
        kept = np.asarray(part.is_predicted.any(axis=1))
        try:
            score = Metric.named(name).score(part.take(kept))
        except NothingToMeasure:
            continue
        found.append(((score.high - score.low) / WIDTHS) ** 2 * int(kept.sum()))
    return float(np.mean(found)) if found else None


def cheapest_q(between: float, within: float) -> int:
    """The number of permutations that makes n (1 + q) smallest: √(B/A), at least 1.

    >>> cheapest_q(0.1, 0.9), cheapest_q(0.5, 0.1), cheapest_q(0.0, 1.0)
    (3, 1, 20)
    """
    if between <= 0:
        return MOST_PERMUTATIONS if within > 0 else 1
    options: Sequence[int] = range(1, MOST_PERMUTATIONS + 1)
    return min(options, key=lambda q: (between + within / q) * (1 + q))


def _command(model: Any, data: Any, settings: Settings) -> str:
    """What to type for the audit; empty where model or data are no specs."""
    if not isinstance(model, str) or not isinstance(data, str | Path):
        return ""
    return command_line("audit", model, data, *changed(AuditOptions, asdict(settings)))


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever reads best."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
