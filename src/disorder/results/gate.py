"""A gate's decision: its rulings, as a result, as JUnit XML for CI, as a badge.

Names in a run are untrusted: they come out as text everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any, Literal
from xml.etree import ElementTree

from pydantic import BaseModel, Field, computed_field, model_validator

from disorder.results.conclusion import NAMES, PAGE, Conclusion, sentence
from disorder.results.result import Cell, Column, Grid, Result
from disorder.results.writing import capitalised, fixed, with_interval
from disorder.safe_io import one_line

SCHEMA_VERSION = 2
HOW = f"How conclusions are drawn: {PAGE}"

State = Literal["passed", "failed", "undecided"]
OUTCOMES: Mapping[State, str] = {"passed": "PASS", "failed": "FAIL", "undecided": "UNDECIDED"}


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
        return f"{with_interval(self)}, n = {self.n:,}"

    @property
    def outcome(self) -> str:
        """PASS, FAIL or UNDECIDED."""
        return OUTCOMES[self.state]

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

    @property
    def result(self) -> Result:
        """The envelope, from which terminal, Markdown and record are made."""
        found = self.conclusion
        reasons = [f"{r.score} is undecided: {r.because}" for r in self.rulings if r.because]
        return Result(
            verb="gate",
            about=f"{self.model} on {self.data}, decided by {self.by}",
            headline=capitalised(_head(self)),
            request={"by": self.by, "undecided": self.undecided},
            body=self,
            conclusion=None if found is None else found.model_dump(),
            lead=[] if found is None else [f"{sentence(found)} {HOW}"],
            caveats=[] if found is None else [caveat.text for caveat in found.caveats],
            grids=[_rulings(self)],
            notes=[*reasons, *filter(None, [_advice(self)]), *self.notes],
        )

    def as_data(self) -> dict[str, Any]:
        """The decision as plain data."""
        return self.model_dump(exclude={"schema_version"})


NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _advice(decision: Decision) -> str:
    """What undecided rules mean for the gate, and which option says otherwise."""
    undecided = sum(r.is_undecided for r in decision.rulings)
    if not undecided:
        return ""
    rules = "1 rule is undecided" if undecided == 1 else f"{undecided} rules are undecided"
    if decision.undecided == "fail":
        return f"{rules}, and so the gate fails (--undecided fail)."
    return f"{rules}, which fails nothing unless you say --undecided fail."


def junit_xml(decision: Decision) -> str:
    """One test case per rule, as CI systems read it."""
    failures = sum(not r.passed for r in decision.rulings)
    skipped = sum(r.is_undecided and r.passed for r in decision.rulings)
    counts = {"tests": str(len(decision.rulings)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "disorder gate", **counts})
    title = _xml(f"{decision.model} on {decision.data}")
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": title, **counts, "skipped": str(skipped), "time": "0"}
    )
    for r in decision.rulings:
        name = _xml(f"fail if {r.score} {r.operator} {r.limit:g}")
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": "disorder.gate", "name": name, "time": "0"}
        )
        why = f" ({r.because})" if r.because else ""
        message = _xml(f"{r.score} is {r.found}; {r.outcome} by {decision.by}{why}")
        if not r.passed:
            ElementTree.SubElement(
                case, "failure", {"message": message, "type": "gate"}
            ).text = message
        elif r.is_undecided:
            ElementTree.SubElement(case, "skipped", {"message": message})
        else:
            ElementTree.SubElement(case, "system-out").text = message
    ElementTree.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + ElementTree.tostring(root, encoding="unicode")
        + "\n"
    )


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return NOT_XML.sub("\ufffd", one_line(text))


def _head(decision: Decision) -> str:
    """How many rules failed and how many are undecided."""
    total = len(decision.rulings)
    failed = sum(r.state == "failed" for r in decision.rulings)
    undecided = sum(r.is_undecided for r in decision.rulings)
    if not failed and not undecided:
        return "all rules hold"
    parts = [f"{failed} of {total} rules failed" if failed else "no rule failed"]
    if undecided:
        fails = ", which fails the gate" if decision.undecided == "fail" else ""
        parts.append(f"{undecided} of {total} undecided{fails}")
    return ", ".join(parts)


def _rulings(decision: Decision) -> Grid:
    """One row per rule."""
    heads = ("fail if", "value", "95 % interval", "n")
    columns = [
        Column("", "word"),
        *(Column(title, "number" if i else "name") for i, title in enumerate(heads)),
    ]
    rows = [
        [
            Cell(ruling.outcome, mark=_mark(ruling)),
            Cell(f"{ruling.score} {ruling.operator} {ruling.limit:g}", mark="code"),
            Cell(fixed(ruling.value)),
            Cell(f"{fixed(ruling.low)} to {fixed(ruling.high)}"),
            Cell(f"{ruling.n:,}"),
        ]
        for ruling in decision.rulings
    ]
    return Grid(columns, rows)


def _mark(ruling: Ruling) -> str:
    if ruling.is_undecided and ruling.passed:
        return "undecided"
    return "passed" if ruling.passed else "failed"


# white text has a contrast of more than 4.5 : 1 on each
GREEN = "#1a7f37"
RED = "#b3261e"
AMBER = "#8a5a00"
GREY = "#444c56"
MARGIN = 7
# widths of the letters in Verdana at 11 pixels; DejaVu Sans is as wide
WIDTHS = {
    **dict.fromkeys("ijl'.,:;|! ", 3.4),
    **dict.fromkeys("frt()[]-", 4.7),
    **dict.fromkeys("mwMW%", 10.0),
}
WIDTH = 7.0
HEIGHT = 20
LABEL = "word order"


def badge_svg(decision: Decision) -> str:
    """The badge: what is gated on the left, how it went on the right."""
    n = len(decision.rulings)
    failed = sum(ruling.state == "failed" for ruling in decision.rulings)
    undecided = sum(ruling.is_undecided for ruling in decision.rulings)
    counts = [f"{failed} of {n} failed"] if failed else []
    counts += [f"{undecided} of {n} undecided"] if undecided else []
    message = ", ".join(counts) or f"{n} of {n} hold"
    colour = RED if not decision.passed else AMBER if undecided else GREEN
    left = _width(LABEL)
    right = _width(message)
    size = f'width="{left + right}" height="{HEIGHT}"'
    said = "" if decision.conclusion is None else f" ({NAMES[decision.conclusion.kind]})"
    title = escape(f"{LABEL}: {message}{said}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f'<clipPath id="round"><rect {size} rx="3"/></clipPath>\n'
        f'<g clip-path="url(#round)"><rect width="{left}" height="{HEIGHT}" fill="{GREY}"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{colour}"/></g>\n'
        '<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">'
        f"{_text(LABEL, 0, left)}{_text(message, left, right)}</g>\n"
        "</svg>\n"
    )


def _width(text: str) -> int:
    return round(sum(WIDTHS.get(letter, WIDTH) for letter in text)) + 2 * MARGIN


def _text(text: str, start: int, width: int) -> str:
    """A text in the middle of its field, neither stretched nor squeezed."""
    middle = start + width / 2
    return f'<text x="{middle:g}" y="14" text-anchor="middle">{escape(text)}</text>'
