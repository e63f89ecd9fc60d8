"""The records of a gate: one ruling per rule and score, and the decision they make."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from disorder.results.conclusion import Conclusion

SCHEMA_VERSION = 1


class Ruling(BaseModel):
    """One rule on one score."""

    rule: str
    transformation: str
    metric: str
    group: str
    operator: str
    limit: float
    value: float
    low: float
    high: float
    n: int
    passed: bool
    is_sure: bool
    more_examples: int | None = None  # about how many would decide what is undecided

    @property
    def score(self) -> str:
        """The score in full, as a rule would name it."""
        group = "" if self.group == "all" else f"[{self.group}]"
        return f"{self.transformation}:{self.metric}{group}"

    @property
    def found(self) -> str:
        """The value with its interval."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}], n = {self.n:,}"

    @property
    def outcome(self) -> str:
        """PASS, FAIL, or UNDECIDED where the interval includes the limit and that fails nothing."""
        if self.is_undecided:
            return "UNDECIDED"
        return "PASS" if self.passed else "FAIL"

    @property
    def is_undecided(self) -> bool:
        """Whether the data decides nothing, and the rule did not fail for that."""
        return self.passed and not self.is_sure


class Decision(BaseModel):
    """All rulings on a run."""

    schema_version: int = SCHEMA_VERSION
    run: str
    model: str
    data: str
    on: str
    passed: bool
    rulings: list[Ruling]
    conclusion: Conclusion | None = None  # that of the run
    notes: list[str] = Field(default_factory=list)

    @property
    def state(self) -> Literal["passed", "failed", "undecided"]:
        """What the rules say together; undecided is no pass."""
        if not self.passed:
            return "failed"
        return "undecided" if any(each.is_undecided for each in self.rulings) else "passed"
