"""What did a gate decide? Its records, a line a rule, JUnit XML for CI, and a Markdown summary for
a pull request.

Names in a run are untrusted: they come out as text everywhere.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from pydantic import BaseModel

from disorder.report.page import visible

SCHEMA_VERSION = 1
MARKDOWN = re.compile(
    r"[\\`*_{}\[\]()#+\-.!|~:/@$^=\"']"
)  # what Markdown may read as more than a character
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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

    @property
    def score(self) -> str:
        """The score in full, as a rule would name it."""
        return (
            f"{self.transformation}:{self.metric}{'' if self.group == 'all' else f'[{self.group}]'}"
        )

    @property
    def found(self) -> str:
        """The value with its interval."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}], n = {self.n:,}"

    @property
    def outcome(self) -> str:
        """PASS or FAIL, and whether the interval leaves that open."""
        return f"{'PASS' if self.passed else 'FAIL'}{'' if self.is_sure else ' (not sure)'}"


class Decision(BaseModel):
    """All rulings on a run."""

    schema_version: int = SCHEMA_VERSION
    run: str
    model: str
    data: str
    on: str
    passed: bool
    rulings: list[Ruling]


def lines(decision: Decision) -> Iterator[str]:
    """One line a rule, then what to do about rules that the run cannot decide for sure."""
    for r in decision.rulings:
        yield f"{r.outcome:<15} {one_line(f'{r.score} is {r.found}; fails if {r.operator} {r.limit:g}')}"
    if advice := _advice(decision):
        yield advice


def _advice(decision: Decision) -> str:
    unsure = sum(not r.is_sure for r in decision.rulings)
    if not unsure:
        return ""
    what = "1 rule is" if unsure == 1 else f"{unsure} rules are"
    return f"{what} not sure: the limit lies in the interval. More examples narrow it; --on says how to decide till then."


def one_line(text: str) -> str:
    """A text that can neither break a line nor disturb a terminal."""
    return " ".join(visible(text).split())


def junit_xml(decision: Decision) -> str:
    """A test case a rule, as CI systems read it."""
    failures = sum(not r.passed for r in decision.rulings)
    counts = {"tests": str(len(decision.rulings)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "disorder gate", **counts})
    title = _xml(f"{decision.model} on {decision.data}")
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": title, **counts, "skipped": "0", "time": "0"}
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
    """A Markdown table, a row a rule."""
    n_failed = sum(not r.passed for r in decision.rulings)
    head = (
        "all rules hold" if not n_failed else f"{n_failed} of {len(decision.rulings)} rules failed"
    )
    rows = [
        f"| {'✅' if r.passed else '❌'} {r.outcome} | {code(f'{r.score} {r.operator} {r.limit:g}')} | {r.value:.3f} "
        f"| {r.low:.3f} to {r.high:.3f} | {r.n:,} |"
        for r in decision.rulings
    ]
    table = [
        "| | fail if | value | 95 % interval | n |",
        "| --- | --- | ---: | ---: | ---: |",
        *rows,
    ]
    about = f"{code(decision.model)} on {code(decision.data)}, decided on {decision.on}."
    advice = [_advice(decision), ""] if _advice(decision) else []
    return "\n".join([f"### disorder gate: {head}", "", about, "", *table, "", *advice])


def code(text: str) -> str:
    """A text that Markdown shows as it is: no markup, no table cell, no link, no one mentioned."""
    escaped = html.escape(one_line(text), quote=True)
    return f"<code>{MARKDOWN.sub(_entity, escaped)}</code>"


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
