"""What goes on the dataset's own page? A section of a dataset card in Markdown, with front matter
for a hub.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from disorder.report.markdown import as_text as _text
from disorder.report.page import visible
from disorder.verbs.sanity.result import Sanity, bounds, said


def card(result: Sanity, command: str) -> str:
    """Front matter in YAML, then the section."""
    return "\n".join([*_front(result), "", *_section(result, command)]) + "\n"


def _front(result: Sanity) -> Iterator[str]:
    """Values are written as JSON, which is YAML too, so that nothing in a name can break it."""
    yield "---"
    yield "disorder_sanity:"
    yield f"  data: {_value(result.data)}"
    yield f"  model: {_value(result.model)}"
    yield f"  version: {json.dumps(result.version)}"
    yield f"  metric: {json.dumps(result.metric)}"
    yield f"  margin: {result.settings['margin']}"
    yield f"  seed: {result.settings['seed']}"
    yield f"  hash: {json.dumps(result.hashes['data'])}"
    if result.whole:
        yield f"  whole: {json.dumps(bounds(result.whole))}"
    yield f"  verdicts:{'' if result.verdicts else ' []'}"
    for verdict in result.verdicts:
        number = bounds(verdict.score) if verdict.score else {}
        whole = {"whole": bounds(verdict.whole)} if verdict.whole else {}
        entry = (
            {"question": verdict.question, "group": verdict.group, "answer": verdict.answer}
            | number
            | whole
        )
        yield f"    - {_value(entry)}"
    yield "---"


def _value(value: object) -> str:
    """JSON that is YAML too: characters that YAML does not allow, or that one cannot see, are
    escaped.
    """
    text = json.dumps(value, ensure_ascii=False)
    return "".join(
        char if char.isprintable() and char != "\ufffe" else _escaped(char) for char in text
    )


def _escaped(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _section(result: Sanity, command: str) -> Iterator[str]:
    yield "## Sanity check"
    yield ""
    yield f"What this data asks of a model, measured by disorder {result.version} with the model `{_code(result.model)}`; "
    yield f"{_text(result.design)}."
    if result.whole:
        yield ""
        named = (
            "Spearman's rank correlation"
            if result.metric == "spearman"
            else "Accuracy with every label counting the same"
        )
        margin = f"up to {100 * result.settings['margin']:g} points count as none"
        yield f"{named}: {said(result.whole)}; chance is {result.chance:.3f}. Costs are differences to that, in points of a"
        yield f"hundred, with 95 % intervals over rows; {margin}."
    yield ""
    yield "| question | answer | why |"
    yield "| --- | --- | --- |"
    for verdict in result.verdicts:
        where = "" if verdict.group == "all" else f" ({_text(verdict.group)})"
        yield f"| {_text(verdict.question)}{where} | **{verdict.answer}** | {_text(verdict.because)} |"
    for section in result.sections:
        if section.found is None:
            yield f"| {section.name} | not done | {_text(section.reason)} |"
    yield ""
    yield f"Run it again: `{_code(command)}`"


def _code(text: str) -> str:
    return visible(text).replace("`", "'").replace("\n", " ")
