"""What `sanity` leaves: page, record, figures and tables, and a section for a dataset card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from disorder.results.markup import markdown_code, markdown_text, yaml_value
from disorder.results.render import markdown_table
from disorder.results.result import Result, Section
from disorder.results.saving import check_folder as check_result_folder
from disorder.results.saving import write_result
from disorder.results.writing import score_row, with_interval
from disorder.store.storage import remove_files
from disorder.verbs.sanity.result import Sanity, verdict_grid
from disorder.verbs.sanity.verdicts import (
    Verdict,
)

METRICS = {
    "spearman": "a Spearman correlation",
    "balanced_accuracy": "a balanced accuracy (every label counts the same)",
}


def check_folder(folder: Path | None) -> None:
    """Raise on a folder whose report.html is another verb's."""
    check_result_folder(folder, "sanity")


def write_folder(folder: Path, found: Sanity) -> None:
    """Write report.html, result.json, card.md, and every figure and table."""
    remove_files(folder, ["sanity.json"])  # of an older version
    write_result(folder, found.result, beside={"card.md": card(found)})


def result_of(found: Sanity) -> Result:
    """The envelope of what the checks of a dataset found."""
    facts = {"data": f"{found.data} ({found.hashes['data']})"}
    if found.train:
        facts["training data"] = f"{found.train} ({found.hashes['train']})"
    facts |= {"version": f"disorder {found.version}", "time": f"{found.seconds:.0f} s"}
    return Result(
        verb="sanity",
        about=found.about,
        headline=found.headline,
        request=found.settings,
        body=found,
        conclusion=[
            {"question": each.question, "answer": each.answer} for each in found.main_verdicts
        ],
        records=found.records,
        lead=list(_lead(found)),
        grids=[verdict_grid(found)],
        sections=[*found.sections, _how(found), _overall(found)],
        notes=found.notes,
        command=found.command,
        facts=facts,
    )


def _lead(found: Sanity) -> list[str]:
    lines = [f"{found.design}."]
    if found.original:
        metric = METRICS.get(found.metric, found.metric)
        lines.append(
            f"On original texts the model has {metric} of {with_interval(found.original)}; chance "
            f"is {found.chance:.3f}. Costs are in points of a hundred below that; up to "
            f"{100 * found.settings['margin']:g} points count as none."
        )
    return lines


def _how(found: Sanity) -> Section[None]:
    margin = f"{100 * found.settings['margin']:g} points"
    skill = f"{100 * found.settings['skill']:g} %"
    terms = {
        "needed": f"the 95 % interval of the cost lies wholly above the margin of {margin}",
        "not needed": f"it lies wholly below the margin, and the model goes at least {skill} of "
        "the way from chance to perfect: as far as such a model can tell",
        "undecided": "the interval contains the margin, or the model has not learned enough of the "
        "task to have much to lose",
        "cost": "score of the model trained and tested on original texts, minus that of one "
        "trained and tested on perturbed ones (corrupt-both), over the same rows; corrupt-test "
        "and corrupt-train perturb one of the two. Swapped texts are judged by corrupt-test.",
    }
    return Section("how", "How verdicts are reached", terms=terms)


def _overall(found: Sanity) -> Section[str]:
    """Stands last, in the terminal too."""
    return Section("overall", "What to fix first", found=found.overall, notes=[found.overall])


CARD_METRICS = {
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
            f"{CARD_METRICS.get(result.metric, result.metric)}: {with_interval(result.original)}; "
            f"chance is {result.chance:.3f}. Costs are differences to that, in points of a"
        )
        yield (
            "hundred, with 95 % intervals over rows; "
            f"up to {100 * result.settings['margin']:g} points count as none."
        )
    yield ""
    yield from markdown_table(verdict_grid(result))
    if result.command:
        yield ""
        yield f"Run it again: {markdown_code(result.command)}"
