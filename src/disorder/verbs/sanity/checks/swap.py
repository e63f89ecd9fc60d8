"""Does it matter which text is which? Ask with premise and hypothesis swapped, and look at each
label on its own.

NLI Data Sanity Check (Talman et al., 2021): entailment should change, contradiction and neutral
mostly hold.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from disorder.report.exhibits import Figure, Row, Table
from disorder.types import Ints
from disorder.verbs.sanity.equivalence import reason
from disorder.verbs.sanity.pictures import forest
from disorder.verbs.sanity.result import Checked, Verdict, bounds
from disorder.verbs.sanity.scoring import clustered_share
from disorder.verbs.sanity.trials import Bench, Probe

ASKS = "Does it matter which text is which?"
PAPER = "NDSC"
SPEC = "swap_texts"


def swap(bench: Bench) -> Checked:
    """What it costs to ask a model of whole pairs about swapped ones; with both swapped nothing
    would be lost.
    """
    [probe] = bench.probes([SPEC])
    verdicts, unjudged = bench.judged(partial(_verdict, bench, probe))
    scores, unscored = bench.records("swap", [probe])
    notes = list(dict.fromkeys([*unjudged, *unscored]))
    if bench.task.is_regression:
        return Checked(
            verdicts, scores, notes=[*notes, "the data has no labels to look at one by one"]
        )
    table = by_label(bench, probe)
    names = [row["label"] for row in table]
    drawn = [
        {"name": row["label"], **{key: row[key] for key in ("value", "low", "high", "n")}}
        for row in table
    ]
    caption = "Share of rows that get the same answer when their texts are swapped, by gold label, with 95 % intervals."
    picture = Figure(
        "swap_by_label",
        caption,
        drawn,
        forest(names, "same answer after the swap", lines=(0.0, 1.0)),
    )
    return Checked(
        verdicts,
        scores,
        [picture],
        [Table("swap_labels", "Swapped texts, by gold label", table)],
        notes,
    )


def _verdict(bench: Bench, probe: Probe, group: str, rows: Ints) -> Verdict:
    cost, whole = bench.cost(probe.answers["corrupt-test"], rows), bench.score(bench.whole, rows)
    answer, trouble = bench.rule.decide(cost, whole, bench.chance(rows))
    because = reason("Swapping them in the test data", cost, trouble)
    return Verdict("roles of the texts", answer, because, cost, group, whole)


def by_label(bench: Bench, probe: Probe) -> list[Row]:
    """For each gold label: how often the answer stays, and how often the gold label is given before
    and after.
    """
    found = []
    for number, label in enumerate(bench.task.labels):
        rows = _of_label(bench, number)
        if not len(rows):
            continue
        before, after = (
            bench.whole.fair[rows].argmax(axis=1),
            probe.answers["corrupt-test"].fair[rows].argmax(axis=1),
        )
        gold = [round(float((answers == number).mean()), 4) for answers in (before, after)]
        row = {"label": label} | bounds(clustered_share(before == after, bench.rows.cluster[rows]))
        found.append(row | {"gold_before": gold[0], "gold_after": gold[1]})
    return found


def _of_label(bench: Bench, number: int) -> Ints:
    asked = bench.rows.asked
    return np.asarray(asked[bench.gold[asked] == number])
