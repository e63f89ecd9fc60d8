"""Dataset card: a section in Markdown to paste into the card of a dataset, with front matter."""

from __future__ import annotations

import json
from collections.abc import Iterator

from disorder.results.grid import as_markdown
from disorder.results.markup import markdown_code, markdown_text, yaml_value
from disorder.results.writing import score_row, with_interval
from disorder.verbs.sanity.result import Sanity, Verdict, verdict_grid

METRICS = {
    "spearman": "Spearman's rank correlation",
    "balanced_accuracy": "Accuracy with every label counting the same",
}


def card(result: Sanity) -> str:
    """Front matter in YAML, then the section."""
    return "\n".join([*_front_matter(result), "", *_section(result)]) + "\n"


def _front_matter(result: Sanity) -> Iterator[str]:
    yield "---"
    yield "disorder_sanity:"
    yield f"  data: {yaml_value(result.data)}"
    yield f"  model: {yaml_value(result.model)}"
    yield f"  version: {json.dumps(result.version)}"
    yield f"  metric: {json.dumps(result.metric)}"
    yield f"  language: {json.dumps(result.language)}"
    yield f"  role: {json.dumps(result.settings['role'])}"
    yield f"  margin: {result.settings['margin']}"
    yield f"  seed: {result.settings['seed']}"
    yield f"  hash: {json.dumps(result.hashes['data'])}"
    if result.original:
        yield f"  original: {json.dumps(score_row(result.original))}"
    yield "  verdicts:" if result.verdicts else "  verdicts: []"
    for verdict in result.verdicts:
        yield f"    - {yaml_value(_entry(verdict))}"
    yield "---"


def _entry(verdict: Verdict) -> dict[str, object]:
    entry: dict[str, object] = {
        "question": verdict.question,
        "group": verdict.group,
        "answer": verdict.answer,
    }
    if verdict.score:
        entry |= score_row(verdict.score)
    if verdict.original:
        entry["original"] = score_row(verdict.original)
    return entry


def _section(result: Sanity) -> Iterator[str]:
    yield "## Sanity check"
    yield ""
    yield (
        f"What this data needs of a model, measured by disorder {result.version} with the model "
        f"{markdown_code(result.model)};"
    )
    yield f"{markdown_text(result.design)}."
    if result.original:
        yield ""
        yield (
            f"{METRICS.get(result.metric, result.metric)}: {with_interval(result.original)}; "
            f"chance is {result.chance:.3f}. Costs are differences to that, in points of a"
        )
        yield (
            "hundred, with 95 % intervals over rows; "
            f"up to {100 * result.settings['margin']:g} points count as none."
        )
    yield ""
    yield from as_markdown(verdict_grid(result))
    if result.command:
        yield ""
        yield f"Run it again: {markdown_code(result.command)}"
