"""The records of a gate: one ruling per rule and score, and the decision they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, computed_field, model_validator

from disorder.results.conclusion import Conclusion

SCHEMA_VERSION = 2

State = Literal["passed", "failed", "undecided"]
NAMES: Mapping[State, str] = {"passed": "PASS", "failed": "FAIL", "undecided": "UNDECIDED"}


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
    passed: bool  # what it means for the gate; `--undecided` says so of an undecided rule
    is_sure: bool  # whether the interval excludes the limit
    more_examples: int | None = None  # about how many would decide what is undecided
    state: State
    because: str = ""  # why it is undecided

    @model_validator(mode="before")
    @classmethod
    def _of_schema_1(cls, record: Any) -> Any:
        """Rulings of before had no state."""
        if not isinstance(record, dict) or "state" in record:
            return record
        if record["passed"] and not record["is_sure"]:
            return record | {"state": "undecided"}
        return record | {"state": "passed" if record["passed"] else "failed"}

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
        """PASS, FAIL or UNDECIDED."""
        return NAMES[self.state]

    @property
    def is_undecided(self) -> bool:
        """Whether the data decides nothing."""
        return self.state == "undecided"


class Decision(BaseModel):
    """All rulings on a run."""

    schema_version: int = SCHEMA_VERSION
    run: str
    model: str
    data: str
    by: str = "interval"
    undecided: str = "pass"
    passed: bool
    rulings: list[Ruling]
    conclusion: Conclusion | None = None  # that of the run
    notes: list[str] = Field(default_factory=list)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def state(self) -> State:
        """What the rules say together: one that failed fails all, and undecided is no pass."""
        states = {ruling.state for ruling in self.rulings}
        if "failed" in states:
            return "failed"
        return "undecided" if "undecided" in states else "passed"
