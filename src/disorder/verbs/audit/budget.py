"""The budget of an audit: how many questions, tokens and how much money it may cost.

Examples are taken in portions, each with all of its transformations, and the next portion is left
out when it might go over, judged by the dearest question so far. What was measured by then is a
random part of the data, whose size depends on costs and not on predictions: its intervals hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from disorder.errors import BadSetting, DisorderError, option
from disorder.requests.settings import Settings
from disorder.verbs.audit.watching import Watcher

MARGIN = 2.0  # by which the next questions may be dearer than the dearest portion so far
MILLION = 1_000_000  # prices are for so many tokens


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, sent and received."""

    price_in: float | None = None
    price_out: float | None = None

    def __bool__(self) -> bool:
        return self.price_in is not None or self.price_out is not None

    def cost(self, spent: Mapping[str, float]) -> float:
        """What was spent, in money.

        >>> Prices(2.0, 8.0).cost({"tokens_in": 500_000, "tokens_out": 1000})
        1.008
        """
        sent = (self.price_in or 0.0) * spent.get("tokens_in", 0.0)
        received = (self.price_out or 0.0) * spent.get("tokens_out", 0.0)
        return (sent + received) / MILLION


@dataclass
class Budget(Watcher):
    """Limits of an audit and what it has spent; `before` is what earlier sessions of it spent.

    Of what is left after `elsewhere`, the runs under other prompts before this one, it may spend
    one part in `n_sharing`.
    """

    max_questions: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Prices = field(default_factory=Prices)
    before: Mapping[str, float] = field(default_factory=dict)
    elsewhere: Mapping[str, float] = field(default_factory=dict)
    n_sharing: int = 1
    _dearest: dict[str, float] = field(default_factory=dict)  # per question
    _last: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        settings: Settings,
        before: Mapping[str, float],
        *,
        elsewhere: Mapping[str, float],
        n_sharing: int,
    ) -> Budget:
        """The budget that the settings of a run allow."""
        prices = Prices(settings.price_in, settings.price_out)
        if settings.max_cost is not None and not prices:
            raise BadSetting(
                "audit",
                max_cost=settings.max_cost,
                need=f"prices beside it ({option('price_in')}, {option('price_out')})",
            )
        return cls(
            max_questions=settings.max_questions,
            max_tokens=settings.max_tokens,
            max_cost=settings.max_cost,
            prices=prices,
            before=before,
            elsewhere=elsewhere,
            n_sharing=n_sharing,
        )

    @property
    def limits(self) -> dict[str, float]:
        """The limits that were given, by option."""
        given = {"questions": self.max_questions, "tokens": self.max_tokens, "cost": self.max_cost}
        return {name: float(limit) for name, limit in given.items() if limit is not None}

    def spent(self, costs: Mapping[str, float]) -> dict[str, float]:
        """Questions, tokens and money of all sessions of a run."""
        names = ("questions", "tokens_in", "tokens_out")
        found = {name: self.before.get(name, 0.0) + _of(costs, name) for name in names}
        found["tokens"] = found["tokens_in"] + found["tokens_out"]
        found["cost"] = self.prices.cost(found)
        return found

    def to_record(self, costs: Mapping[str, float]) -> dict[str, float]:
        """What was spent, for run files; empty where there are no tokens and no limits."""
        spent = self.spent(costs)
        if not spent["tokens"] and not self.limits:
            return {}
        return {name: round(amount, 6) for name, amount in spent.items()}

    def take_up(self, spent: Mapping[str, float]) -> None:
        """Count what the parts of a killed session say it spent, which it could not add up."""
        names = {*self.before, *spent}
        self.before = {
            name: max(self.before.get(name, 0.0), spent.get(name, 0.0)) for name in names
        }

    def so_far(self, costs: Mapping[str, float]) -> str:
        """What was spent so far, for models that count tokens; for the progress bar."""
        spent = self.spent(costs)
        if not spent["tokens"]:
            return ""
        cost = f", cost {spent['cost']:.4g}" if self.prices else ""
        return f"{int(spent['questions']):,} questions, {int(spent['tokens']):,} tokens{cost}"

    def room(self, costs: Mapping[str, float]) -> tuple[float, str]:
        """How many further questions surely fit, and the option that allows no more."""
        spent = self.spent(costs)
        self._learn(spent)
        found = [(math.inf, "")]
        for name, limit in self.limits.items():
            each = 1.0 if name == "questions" else MARGIN * self._dearest.get(name, 0.0)
            own = (limit - self.elsewhere.get(name, 0.0)) / self.n_sharing
            left = max(0.0, own - spent[name])
            if each or not left:
                found.append((left // each if left else 0.0, f"--max-{name}"))
        return min(found)

    def _learn(self, spent: dict[str, float]) -> None:
        """The dearest portion so far, per question."""
        n = spent["questions"] - self._last.get("questions", 0.0)
        if n > 0:
            for name in ("tokens", "cost"):
                each = (spent[name] - self._last.get(name, 0.0)) / n
                self._dearest[name] = max(each, self._dearest.get(name, 0.0))
        self._last = dict(spent)

    def check(self, costs: Mapping[str, float]) -> None:
        """Raise where a limit is on something that the model does not count."""
        if not _of(costs, "questions"):  # all came from disk so far
            return
        if ("tokens" in self.limits or "cost" in self.limits) and not (
            costs.get("tokens_in") or costs.get("cached") or self.before.get("tokens_in")
        ):
            limit = option("max_tokens" if "tokens" in self.limits else "max_cost")
            raise DisorderError(
                f"{limit}: this model does not count tokens; {option('max_questions')} works for "
                "every model"
            )


def _of(costs: Mapping[str, float], name: str) -> float:
    """A cost; predictions are the questions of a model that does not count its own."""
    if name == "questions":
        return costs.get("questions") or costs.get("predicted", 0.0)
    return costs.get(name, 0.0)
