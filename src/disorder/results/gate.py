"""A gate's decision: its rulings, lines for a terminal, JUnit XML for CI, a Markdown summary for a
pull request, a badge.

Names in a run are untrusted: they come out as text everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Literal
from xml.etree import ElementTree

from pydantic import BaseModel, Field

from disorder.results.conclusion import NAMES, PAGE, Caveat, Conclusion, sentence
from disorder.results.grid import Cell, Column, Grid, as_markdown
from disorder.results.markup import markdown_code
from disorder.visible_text import one_line

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


NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def lines(decision: Decision) -> Iterator[str]:
    """One line per rule, then what to do about rules that the interval leaves undecided."""
    for r in decision.rulings:
        more = (
            f"; about {r.more_examples:,} more examples would decide it" if r.more_examples else ""
        )
        told = one_line(f"{r.score} is {r.found}; fails if {r.operator} {r.limit:g}{more}")
        yield f"{r.outcome:<16} {told}"
    if advice := _advice(decision):
        yield advice
    yield from (f"caveat: {one_line(caveat.text)}" for caveat in _caveats(decision))


def notes(decision: Decision) -> Iterator[str]:
    """One line for each rule that a better one should replace."""
    for note in decision.notes:
        yield f"note: {one_line(note)}"


def _caveats(decision: Decision) -> Sequence[Caveat]:
    return () if decision.conclusion is None else decision.conclusion.caveats


def _advice(decision: Decision) -> str:
    undecided = sum(not r.is_sure for r in decision.rulings)
    if not undecided:
        return ""
    what = "1 rule is" if undecided == 1 else f"{undecided} rules are"
    return (
        f"{what} undecided: the interval includes the limit. More examples narrow it; "
        "--on says which rules fail until then."
    )


def junit_xml(decision: Decision) -> str:
    """One test case per rule, as CI systems read it."""
    failures = sum(not r.passed for r in decision.rulings)
    undecided = sum(r.is_undecided for r in decision.rulings)
    counts = {"tests": str(len(decision.rulings)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "disorder gate", **counts})
    title = _xml(f"{decision.model} on {decision.data}")
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": title, **counts, "skipped": str(undecided), "time": "0"}
    )
    for r in decision.rulings:
        name = _xml(f"fail if {r.score} {r.operator} {r.limit:g}")
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": "disorder.gate", "name": name, "time": "0"}
        )
        message = _xml(f"{r.score} is {r.found}; {r.outcome} on {decision.on}")
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


def summary(decision: Decision) -> str:
    """A Markdown table with one row per rule."""
    n_failed = sum(not r.passed for r in decision.rulings)
    n_undecided = sum(r.is_undecided for r in decision.rulings)
    head = "all rules hold"
    if n_undecided:
        head = f"no rule failed, {n_undecided} of {len(decision.rulings)} undecided"
    if n_failed:
        head = f"{n_failed} of {len(decision.rulings)} rules failed"
    table = as_markdown(_rulings(decision))
    names = f"{markdown_code(decision.model)} on {markdown_code(decision.data)}"
    about = f"{names}, decided on {decision.on}."
    advice = [_advice(decision), ""] if _advice(decision) else []
    notes = [line for note in decision.notes for line in (f"Note: {markdown_code(note)}", "")]
    for each in _caveats(decision):
        notes += [f"Caveat: {markdown_code(each.text)}", ""]
    said = []
    if decision.conclusion is not None:
        concluded = markdown_code(sentence(decision.conclusion))
        said = [concluded, "", f"How conclusions are drawn: {PAGE}", ""]
    head_lines = [f"### disorder gate: {head}", "", about, "", *said]
    return "\n".join([*head_lines, *table, "", *advice, *notes])


def _rulings(decision: Decision) -> Grid:
    """One row per rule."""
    heads = ("", "fail if", "value", "95 % interval", "n")
    columns = [Column(title, "word" if i < 2 else "number") for i, title in enumerate(heads)]
    rows = [
        [
            Cell(f"{_mark(ruling)} {ruling.outcome}"),
            Cell(f"{ruling.score} {ruling.operator} {ruling.limit:g}", mark="code"),
            Cell(f"{ruling.value:.3f}"),
            Cell(f"{ruling.low:.3f} to {ruling.high:.3f}"),
            Cell(f"{ruling.n:,}"),
        ]
        for ruling in decision.rulings
    ]
    return Grid(columns, rows)


def _mark(ruling: Ruling) -> str:
    if ruling.is_undecided:
        return "⚠"
    return "✅" if ruling.passed else "❌"


# white text has a contrast of more than 4.5 : 1 on each
GREEN = "#1a7f37"
RED = "#b3261e"
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
    failed = sum(not ruling.passed for ruling in decision.rulings)
    message = f"{failed} of {n} failed" if failed else f"{n} of {n} hold"
    colour = RED if failed else GREEN
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
