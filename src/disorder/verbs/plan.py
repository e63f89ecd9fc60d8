"""Plan: how many examples and permutations an audit needs for the interval one wants, and what they
cost, from a small pilot.

The width of an interval over n examples with q permutations each is about 3.92 √((A + B/q) ÷ n): A
is the variance between examples, B that within them. Both are fitted to the pilot at 1, 2, … of its
permutations, and q is what makes n (1 + q) smallest, or more where the data has too few examples
for it. Then n is found by the interval itself, over
the examples of the pilot repeated: that of few is wider by more than their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from disorder.errors import DisorderError, NothingToMeasure, UnknownName, option
from disorder.metrics import Metric, metric_names
from disorder.requests.audit import AuditOptions
from disorder.requests.fields import PlanFields
from disorder.requests.option import changed, command_line
from disorder.requests.plan import PlanOptions
from disorder.requests.settings import Settings, takes_options
from disorder.results.result import NextStep, Result
from disorder.results.run import Run
from disorder.types import Costs, Outcomes, Score
from disorder.verbs.audit import Pilot, Prices, pilot
from disorder.verbs.compare import FinishedRun
from disorder.verbs.run_inputs import run_of_log, with_run

WIDTHS = 2 * 1.959964  # standard errors in a 95 % interval
FEWEST_EXAMPLES = 50  # that an interval can rest on
DIGITS = 8  # significant ones of a variance, which is found from an interval
LIKE_AN_AUDIT = 1000  # examples at which variances are fitted
MOST_EXAMPLES = 10**6  # where nobody says how many there are
MOST_TRIED = 5000  # examples whose interval is computed
USUAL = ("skill_kept", "p_c")  # the first of these that is there


@dataclass(frozen=True)
class Plan:
    """What an audit needs for an interval of the wanted width, and what it would cost.

    `between` and `within` are the variances per example and per permutation that the pilot shows.
    Of the `questions` (model calls) of the audit `cached` need not be made; `tokens_in`,
    `tokens_out`, `seconds` and `cost` are those of the others. Tokens and costs are None for models
    that do not count them, `seconds` where all answers of the pilot came from the cache. What the
    pilot itself took is under `pilot_…`.
    """

    model: str
    data: str
    score: str
    width: float
    examples: int
    permutations: int
    questions: int
    cached: int
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
    pilot_questions: int
    pilot_tokens_in: int | None
    pilot_tokens_out: int | None
    pilot_cost: float | None
    pilot_value: float
    pilot_low: float
    pilot_high: float
    command: str

    def as_data(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)

    @property
    def result(self) -> Result:
        """The envelope, from which terminal and record are made."""
        made = _counted(self.questions, "model call")
        if self.cached:
            left = self.questions - self.cached
            made += f", {self.cached:,} of them in the cache: {left:,} to make"
        needed = f"{self.examples:,} examples, {_counted(self.permutations, 'permutation')} of each"
        if self.expected_width > self.width * 1.001:
            needed = (
                f"{self.width:g} cannot be reached with this data; expect about "
                f"{self.expected_width:.2g} with all {needed}"
            )
        return Result(
            verb="plan",
            about=f"{self.score} to within {self.width:g} (the whole interval), {self.model} on "
            f"{self.data}",
            headline=f"{needed}: {made}",
            request={"model": self.model, "data": self.data, "width": self.width},
            body=self,
            lead=list(self._costs()),
            notes=[self._pilot()],
            next_steps=[NextStep(self.command, "the audit")] if self.command else [],
            command=self.command,
        )

    def _pilot(self) -> str:
        spent = _tokens(self.pilot_tokens_in, self.pilot_tokens_out, self.pilot_cost)
        took = ", ".join([_counted(self.pilot_questions, "model call"), *spent])
        return (
            f"from a pilot of {self.pilot_examples} examples with {self.pilot_permutations} "
            f"permutations each, which took {took}: {self.score} {self.pilot_value:.2f} "
            f"[{self.pilot_low:.2f}, {self.pilot_high:.2f}], variance {self.between:.3g} between "
            f"examples and {self.within:.3g} within them"
        )

    def _costs(self) -> Iterator[str]:
        if tokens := _tokens(self.tokens_in, self.tokens_out, self.cost):
            yield ", ".join(tokens)
        if self.seconds is not None:
            yield f"about {_duration(self.seconds)} at the pace of the pilot"
        elif not self.cached:
            yield "tokens, time and cost are not known: the predictions are those of logs"
        else:
            yield (
                "tokens, time and cost are not known: all predictions of the pilot came from the "
                "cache (--cache off makes them again)"
            )

    def __repr__(self) -> str:
        found = self.result
        steps = [step.command for step in found.next_steps]
        return "\n  ".join([f"{found.about}:", found.headline, *found.lead, *found.notes, *steps])


def _tokens(sent: int | None, received: int | None, cost: float | None) -> list[str]:
    """Tokens and their cost; none for a model that does not count them."""
    if sent is None or received is None:
        return []
    price = [] if cost is None else [f"cost {cost:.4g}"]
    return [f"{sent:,} tokens sent", f"{received:,} tokens received", *price]


@takes_options(PlanOptions)
def plan(model: Any = "builtin", data: Any = "builtin", **options: Unpack[PlanOptions]) -> Plan:
    """How many examples and permutations an audit needs for an interval of this width, and what
    they cost, from a small pilot.

    model: as for `disorder.audit`; or a run folder, for its model and data.
    data: as for `disorder.audit`.
    """
    logged = run_of_log(model)
    given = dict(options)
    if logged is None:
        model, data, given = with_run("plan", PlanOptions, model, data, options)
    asked = PlanFields.of(given)
    name = Metric.named(asked.score or next(each for each in USUAL if each in metric_names())).name
    settings = Settings.among(
        asked,
        transformations=[asked.transformation],
        score=(),
        q=min(asked.q or asked.pilot_permutations, asked.pilot_permutations),
        limit=asked.pilot_examples,
        short="use",
    )
    if logged is None:
        tried = pilot(model, data, settings)
    else:
        tried = _logged_pilot(logged, asked.transformation)
    try:
        found = Metric.named(name).score(tried.outcomes)
    except NothingToMeasure as reason:
        raise DisorderError(
            f"plan: a pilot of {asked.pilot_examples} examples says nothing on {name} ({reason}); "
            f"try a larger one ({option('pilot_examples')}), or another {option('score')}"
        ) from None
    return _planned(model, data, name, asked, tried, found, settings)


def _logged_pilot(run: Run, spec: str) -> Pilot:
    """A run of another tool's logs, which is its own pilot; the logs do not count all data."""
    if spec not in run.transformations:
        raise UnknownName("transformation in these logs", spec, run.transformations)
    found = FinishedRun.open(run).outcomes(spec)
    if found is None:
        raise DisorderError(f"plan: {run.folder} has no example with an answer under {spec}")
    return Pilot(
        found,
        n_examples=run.n_examples,
        n_available=MOST_EXAMPLES,
        n_questions=1,
        n_controls=0,
        n_again=lambda n: 0,
        spent=Costs(),
        seconds=0.0,
        n_cached=lambda n, q: 0,
    )


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
    n_tried = tried.outcomes.predictions.shape[1]
    permutations = asked.q or cheapest_q(between, within, n_tried)
    usable = len(tried.outcomes) / tried.n_examples
    most = max(1, round(tried.n_available * usable))

    def widths(q: int) -> Widths:
        tried_at = between + within / n_tried
        factor = math.sqrt((between + within / q) / tried_at) if tried_at else 1.0
        return Widths(name, tried.outcomes, factor, tried.n_independent)

    while not asked.q and permutations < n_tried and widths(permutations).of(most) > asked.width:
        permutations += 1  # examples are few: permutations have to do
    pilot_widths = widths(permutations)
    n_wanted = pilot_widths.fewest(asked.width, tried.n_available)
    examples = min(tried.n_available, math.ceil(n_wanted / usable))
    n_texts = examples * (1 + tried.n_controls + permutations) + tried.n_again(examples)
    questions = n_texts * tried.n_questions
    cached = tried.n_cached(examples, permutations) * tried.n_questions
    spent = tried.spent
    n_questions = spent.get("questions") or spent.get("predicted", 0.0)
    each = (
        {key: spent.get(key, 0.0) / n_questions for key in ("tokens_in", "tokens_out")}
        if n_questions
        else {}
    )
    counts_tokens = bool(each.get("tokens_in"))
    tokens = {key: round(value * (questions - cached)) for key, value in each.items()}
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
        cached=cached,
        tokens_in=tokens["tokens_in"] if counts_tokens else None,
        tokens_out=tokens["tokens_out"] if counts_tokens else None,
        seconds=tried.seconds / n_questions * (questions - cached) if n_questions else None,
        cost=prices.cost(tokens) if prices and counts_tokens else None,
        available=tried.n_available,
        expected_width=pilot_widths.of(max(1, round(examples * usable))),
        between=_known(between),
        within=_known(within),
        pilot_examples=len(tried.outcomes),
        pilot_permutations=n_tried,
        pilot_questions=round(n_questions),
        pilot_tokens_in=round(spent["tokens_in"]) if counts_tokens else None,
        pilot_tokens_out=round(spent["tokens_out"]) if counts_tokens else None,
        pilot_cost=prices.cost(spent) if prices and counts_tokens else None,
        pilot_value=found.value,
        pilot_low=found.low,
        pilot_high=found.high,
        command=_command(model, data, final),
    )


def _known(variance: float) -> float:
    """The variance in digits that do not depend on the processor's order of summation."""
    return float(f"{variance:.{DIGITS}g}")


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


@dataclass(frozen=True)
class Widths:
    """The widths of intervals over more examples than a pilot has, were they like the pilot's;
    `factor` says how much wider another number of permutations makes them, `n_independent` how many
    independent examples so many of the data are worth.
    """

    score: str
    outcomes: Outcomes
    factor: float
    n_independent: Callable[[int], float] = float

    def of(self, n: int) -> float:
        """The width over so many examples; from many on it narrows with the root of their
        number. What examples of the pilot share is in its outcomes; here is what more of them do.
        """
        n_tried = len(self.outcomes)
        shares = self.n_independent(n_tried) / n_tried
        worth = max(1.0, min(1.0, self.n_independent(n) / n / shares) * n)
        most = min(round(worth), MOST_TRIED)
        found = Metric.named(self.score).score(_repeated(self.outcomes, most))
        return self.factor * (found.high - found.low) * math.sqrt(most / worth)

    def fewest(self, width: float, most: int) -> int:
        """The fewest examples whose interval is no wider, by halving; `most` where none are."""
        low, high = FEWEST_EXAMPLES, max(FEWEST_EXAMPLES, most)
        if self.of(high) > width:
            return math.ceil(high * (self.of(high) / width) ** 2)
        while high - low > max(1, low // 50):
            middle = (low + high) // 2
            if self.of(middle) > width:
                low = middle
            else:
                high = middle
        return low if self.of(low) <= width else high


def _repeated(outcomes: Outcomes, n: int) -> Outcomes:
    """So many examples: those that were predicted, in turn; each time round they are families of
    their own, as further data has.
    """
    predicted = np.flatnonzero(outcomes.is_predicted.any(axis=1))
    found = outcomes.take(np.resize(predicted, n))
    if found.family is None:
        return found
    turn = np.arange(n) // len(predicted)
    return replace(found, family=found.family + turn * (int(found.family.max()) + 1))


def _mean_square(name: str, outcomes: Outcomes, k: int) -> float | None:
    """The variance of the score at k permutations, from its interval, times the examples: that of
    the pilot's examples, each counted so often that they are as many as in an audit.
    """
    found = []
    for start in range(outcomes.predictions.shape[1] - k + 1):
        part = replace(outcomes, predictions=outcomes.predictions[:, start : start + k])
        if not part.is_predicted.any():
            continue
        try:
            score = Metric.named(name).score(_repeated(part, LIKE_AN_AUDIT))
        except NothingToMeasure:
            continue
        found.append(((score.high - score.low) / WIDTHS) ** 2 * LIKE_AN_AUDIT)
    return float(np.mean(found)) if found else None


def cheapest_q(between: float, within: float, most: int) -> int:
    """The number of permutations that makes n (1 + q) smallest: √(B/A), at least 1, and no more
    than the pilot tried: of a few it cannot be known what many would add.

    >>> cheapest_q(0.1, 0.9, 8), cheapest_q(0.5, 0.1, 8), cheapest_q(0.0, 1.0, 8)
    (3, 1, 8)
    """
    options: Sequence[int] = range(1, most + 1)
    return min(options, key=lambda q: (between + within / q) * (1 + q))


def _command(model: Any, data: Any, settings: Settings) -> str:
    """What to type for the audit; empty where model or data are no specs."""
    if not isinstance(model, str) or not isinstance(data, str | Path) or run_of_log(model):
        return ""
    return command_line("audit", model, data, *changed(AuditOptions, asdict(settings)))


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever reads best."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
