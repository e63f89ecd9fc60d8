"""A gate's decision: lines for a terminal, JUnit XML for CI, a Markdown summary for a pull request.

Names in a run are untrusted: they come out as text everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from disorder.results.conclusion import Caveat
from disorder.results.decision import Decision, Ruling
from disorder.results.grid import Cell, Column, Grid, as_markdown
from disorder.results.markdown import code
from disorder.results.verdict import PAGE, sentence
from disorder.visible_text import one_line

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def lines(decision: Decision) -> Iterator[str]:
    """One line per rule, then what to do about rules that the interval leaves undecided."""
    for r in decision.rulings:
        why = f"; {r.because}" if r.because else ""
        told = one_line(f"{r.score} is {r.found}; fails if {r.operator} {r.limit:g}{why}")
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


def summary(decision: Decision) -> str:
    """A Markdown table with one row per rule."""
    table = as_markdown(_rulings(decision))
    about = f"{code(decision.model)} on {code(decision.data)}, decided by {decision.by}."
    advice = [_advice(decision), ""] if _advice(decision) else []
    notes = [line for note in decision.notes for line in (f"Note: {code(note)}", "")]
    notes += [line for each in _caveats(decision) for line in (f"Caveat: {code(each.text)}", "")]
    said = []
    if decision.conclusion is not None:
        said = [code(sentence(decision.conclusion)), "", f"How conclusions are drawn: {PAGE}", ""]
    head_lines = [f"### disorder gate: {_head(decision)}", "", about, "", *said]
    return "\n".join([*head_lines, *table, "", *advice, *notes])


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
    if ruling.is_undecided and ruling.passed:
        return "⚠"
    return "✅" if ruling.passed else "❌"
