"""A gate's decision: lines for a terminal, JUnit XML for CI, a Markdown summary for a pull request.

Names in a run are untrusted: they come out as text everywhere.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from disorder.report.page import visible
from disorder.runs.decision import Decision

MARKDOWN = re.compile(
    r"[\\`*_{}\[\]()#+\-.!|~:/@$^=\"']"
)  # what Markdown may read as more than a character
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
