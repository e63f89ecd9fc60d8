"""What `sanity` shows and leaves: its verdicts as one table, and a folder with page, record, card,
figures and tables.
"""

from __future__ import annotations

from pathlib import Path

from disorder.results.result import Result, Row, Section
from disorder.results.saving import check_folder as check_result_folder
from disorder.results.saving import write_result
from disorder.results.writing import with_interval
from disorder.store.storage import remove_files
from disorder.verbs.sanity.dataset_card import card
from disorder.verbs.sanity.result import Sanity, Verdict, record, verdict_grid

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
        sections=[*found.sections, _how(found)],
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


def plain_data(found: Sanity) -> Row:
    """What was checked and found, as result.json holds it."""
    return {
        "data": found.data,
        "train": found.train,
        "design": found.design,
        "model": found.model,
        "rows": dict(found.n_rows),
        "own_words": found.own_words,
        "language": found.language,
        "labels": list(found.labels),
        "metric": found.metric,
        "chance": found.chance,
        "original": record(found.original) if found.original else None,
        "settings": dict(found.settings),
        "hashes": dict(found.hashes),
        "version": found.version,
        "seconds": found.seconds,
        "notes": list(found.notes),
        "verdicts": [
            _verdict(section.name, verdict)
            for section in found.sections
            if section.found
            for verdict in section.found.verdicts
        ],
        "not_done": {each.name: each.reason for each in found.sections if not each.found},
    }


def _verdict(check: str, verdict: Verdict) -> Row:
    row: Row = {
        "check": check,
        "question": verdict.question,
        "group": verdict.group,
        "answer": verdict.answer,
        "because": verdict.because,
    }
    if verdict.score:
        row |= record(verdict.score)
    if verdict.original:
        row["original"] = record(verdict.original)
    return row
