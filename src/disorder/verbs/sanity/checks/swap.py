"""Swapped texts: does it matter which text is which?

NLI Data Sanity Check (Talman et al., 2021): under a swap entailment should change, contradiction
and neutral mostly hold, so each gold label is also looked at on its own.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from disorder.registry import check
from disorder.results.result import Figure, Row, Table
from disorder.results.writing import score_row
from disorder.types import Ints
from disorder.verbs.sanity.pictures import forest
from disorder.verbs.sanity.scoring import clustered_share
from disorder.verbs.sanity.trials import CheckInput, Trial, Trials
from disorder.verbs.sanity.verdicts import CheckResult, Verdict, reason

SPEC = "swap_texts"


@check(asks="Does it matter which text is which?", paper="NDSC", pairs=True, position=30)
def swap(given: CheckInput) -> CheckResult:
    """Swap the two texts in the test rows only, because nothing is lost when training rows are
    swapped too.
    """
    trials = given.trials
    [trial] = trials.run([SPEC])
    verdicts, unjudged = trials.by_group(partial(_verdict, trials, trial))
    scores, unscored = trials.records("swap", [trial])
    notes = list(dict.fromkeys([*unjudged, *unscored]))
    if trials.task.is_regression:
        notes.append("the data has no labels to look at one by one")
        return CheckResult(verdicts, scores, notes=notes)
    rows = by_label(trials, trial)
    table = Table("swap_labels", "Swapped texts, by gold label", rows)
    return CheckResult(verdicts, scores, [_figure(rows)], [table], notes)


def _verdict(trials: Trials, trial: Trial, group: str, rows: Ints) -> Verdict:
    cost = trials.cost(trial.predictions["corrupt-test"], rows)
    original = trials.score(trials.original, rows)
    answer, trouble = trials.rule.decide(cost, original, trials.chance(rows))
    because = reason("Swapping them in the test data", cost, trouble)
    return Verdict("roles of the texts", answer, because, cost, group, original)


def by_label(trials: Trials, trial: Trial) -> list[Row]:
    """One row per gold label: how often predictions stay, and are gold before and after."""
    found = []
    tested = trials.rows.tested
    for number, label in enumerate(trials.task.labels):
        rows = np.asarray(tested[trials.gold[tested] == number])
        if not len(rows):
            continue
        before = trials.original.balanced[rows].argmax(axis=1)
        after = trial.predictions["corrupt-test"].balanced[rows].argmax(axis=1)
        unchanged = clustered_share(before == after, trials.rows.cluster[rows])
        gold = {
            "gold_before": round(float((before == number).mean()), 4),
            "gold_after": round(float((after == number).mean()), 4),
        }
        found.append({"label": label} | score_row(unchanged) | gold)
    return found


def _figure(rows: list[Row]) -> Figure:
    drawn = [
        {"name": row["label"], **{key: row[key] for key in ("value", "low", "high", "n")}}
        for row in rows
    ]
    caption = (
        "Share of rows whose prediction is unchanged when their texts are swapped, by gold label, "
        "with 95 % intervals."
    )
    names = [row["label"] for row in rows]
    drawing = forest(names, "unchanged after the swap", lines=(0.0, 1.0))
    return Figure("swap_by_label", caption, drawn, drawing)
