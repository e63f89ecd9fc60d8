"""Word classes: which of them does the data need? Each is dropped from both texts in turn.

NLI Data Sanity Check (Talman et al., 2021), Tables 2 to 4 and Figure 1; the cost is set beside the
number of words removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from disorder.errors import NothingToMeasure
from disorder.registry import check
from disorder.results.result import Figure, Row, Table
from disorder.results.writing import MINUS, score_row
from disorder.transformations import parse
from disorder.transformations.applying.parsing import SINGLE
from disorder.transformations.tags import tagger_notes
from disorder.types import Score
from disorder.verbs.sanity.pictures import COST, cost_figure, number, scatter
from disorder.verbs.sanity.trials import CheckInput, Trial, Trials
from disorder.verbs.sanity.verdicts import (
    NEEDED,
    NOT_NEEDED,
    UNDECIDED,
    CheckResult,
    Verdict,
    reason,
)


@check(asks="Which word classes does the data need?", paper="NDSC Tables 2–4, Fig. 1", position=40)
def classes(given: CheckInput) -> CheckResult:
    """Drop each word class from both texts, in training and test."""
    trials = given.trials
    specs = [f"drop_pos:tags={tag}" for tag in SINGLE]
    # raises where no tagger is installed
    tagger = parse(specs[0]).tried(trials.task.language).tagger_for(trials.task)
    tried, notes = trials.try_each(specs)
    found = [trial for trial in tried if trial.perturbed.removed.any()]
    notes += [
        f"no row has a word of the class {_class_name(trial)}"
        for trial in tried
        if trial not in found
    ]
    if not found:
        raise NothingToMeasure(notes[0])
    costs = [_cost(trials, trial, "corrupt-both") for trial in found]
    verdicts = [
        _verdict(trials, trial, cost, len(found)) for trial, cost in zip(found, costs, strict=True)
    ]
    rows = [
        _row(trials, trial, cost, verdict.answer)
        for trial, cost, verdict in zip(found, costs, verdicts, strict=True)
    ]
    scores, unscored = trials.records("classes", found)
    skips = [note for trial in found for note in trial.perturbed.skip_notes]
    return CheckResult(
        [_summary(verdicts, costs), *verdicts],
        scores,
        [cost_figure("classes", trials, found), _removed_figure(trials, rows)],
        [Table("classes", "Word classes, dropped from both texts", rows)],
        [*notes, *unscored, *skips, *tagger_notes([tagger])],
    )


def _cost(trials: Trials, trial: Trial, design: str) -> Score:
    return trials.cost(trial.predictions[design], trials.rows.tested)


def _verdict(trials: Trials, trial: Trial, cost: Score, together: int) -> Verdict:
    rows = trials.rows.tested
    original = trials.score(trials.original, rows)
    answer, trouble = trials.rule.decide(cost, original, trials.chance(rows), together=together)
    because = reason("Dropping it", cost, trouble)
    return Verdict(_class_name(trial), answer, because, cost, original=original)


def _row(trials: Trials, trial: Trial, cost: Score, answer: str) -> Row:
    tested = trials.rows.tested
    perturbed = trial.perturbed
    removed = perturbed.removed[tested][perturbed.applies[tested]]
    row: Row = {
        "class": _class_name(trial),
        "verdict": answer,
        "removed": round(float(removed.mean()), 4),
    }
    row |= score_row(cost)
    row["corrupt_test"] = round(_cost(trials, trial, "corrupt-test").value, 4)
    row["corrupt_train"] = round(_cost(trials, trial, "corrupt-train").value, 4)
    if trial.overlap is not None:
        row["overlap"] = round(trial.overlap, 4)
    return row


def _removed_figure(trials: Trials, rows: Sequence[Row]) -> Figure:
    drawn = [
        {"name": row["class"], **{key: row[key] for key in ("removed", "value", "low", "high")}}
        for row in rows
    ]
    caption = (
        "What it costs to drop a word class in training and test, by how many words that removes "
        f"per row ({len(trials.rows.tested):,} test rows, 95 % intervals)."
    )
    drawing = scatter(number("removed", "words removed per row"), number("value", COST))
    return Figure("removed", caption, drawn, drawing)


def _class_name(trial: Trial) -> str:
    return trial.spec.partition("=")[2]


def _summary(verdicts: Sequence[Verdict], costs: Sequence[Score]) -> Verdict:
    """All classes in one verdict, the costliest first."""
    order = sorted(range(len(costs)), key=lambda i: -costs[i].value)
    named: dict[str, list[str]] = {NEEDED: [], NOT_NEEDED: [], UNDECIDED: []}
    for i in order:
        named[verdicts[i].answer].append(verdicts[i].question)
    listed = "; ".join(f"{each}: {', '.join(names)}" for each, names in named.items() if names)
    answer = next(each for each in (NEEDED, UNDECIDED, NOT_NEEDED) if named[each])
    values = [100 * cost.value for cost in costs]
    because = (
        f"{listed[0].upper()}{listed[1:]}. "
        f"Costs run from {min(values):.1f} to {max(values):.1f} points".replace("-", MINUS)
    )
    return Verdict("word classes", answer, because)
