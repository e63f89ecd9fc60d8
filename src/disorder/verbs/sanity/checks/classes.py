"""Which word classes does the data need? Drop every noun, every verb and so on, and set the cost
beside the words removed.

NLI Data Sanity Check (Talman et al., 2021), Tables 2 to 4 and Figure 1.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.report.exhibits import Figure, Row, Table
from disorder.transformations import parse
from disorder.transformations.applying.suites import SINGLE
from disorder.transformations.tags import tagger_notes
from disorder.verbs.sanity.checks.order import figure, skipped
from disorder.verbs.sanity.equivalence import NEEDED, NOT_NEEDED, UNDECIDED, reason
from disorder.verbs.sanity.pictures import number, scatter
from disorder.verbs.sanity.result import Checked, Verdict, bounds
from disorder.verbs.sanity.trials import Bench, Probe

ASKS = "Which word classes does the data need?"
PAPER = "NDSC Tables 2–4, Fig. 1"


def classes(bench: Bench) -> Checked:
    """What it costs to drop each word class from both texts, in training and in test."""
    specs = [f"drop_pos:tags={tag}" for tag in SINGLE]
    tagger = parse(specs[0]).tried(bench.task.language).tagger_for(bench.task)
    tried, notes = bench.tried(specs)
    probes = [probe for probe in tried if probe.perturbed.removed.any()]
    notes += [
        f"no row has a word of the class {_class(probe)}" for probe in tried if probe not in probes
    ]
    if not probes:
        raise NothingToMeasure(notes[0])
    asked = bench.rows.asked
    verdicts = [_verdict(bench, probe, len(probes)) for probe in probes]
    table = [_row(bench, probe, verdict) for probe, verdict in zip(probes, verdicts, strict=True)]
    scores, unscored = bench.records("classes", probes)
    x = number("removed", "words removed, a row")
    drawn = [
        {"name": row["class"], **{key: row[key] for key in ("removed", "value", "low", "high")}}
        for row in table
    ]
    caption = (
        "What it costs to drop a word class in training and test, by how many words that removes from a row "
        f"({len(asked):,} rows asked, 95 % intervals)."
    )
    drawing = scatter(x, number("value", "cost (0.05 is five points)"))
    pictures = [figure("classes", probes, bench), Figure("removed", caption, drawn, drawing)]
    return Checked(
        [_together(verdicts), *verdicts],
        scores,
        pictures,
        [Table("classes", "Word classes, dropped from both texts", table)],
        [*notes, *unscored, *skipped(probes), *tagger_notes([tagger])],
    )


def _verdict(bench: Bench, probe: Probe, together: int) -> Verdict:
    rows = bench.rows.asked
    cost = bench.cost(probe.answers["corrupt-both"], rows)
    whole = bench.score(bench.whole, rows)
    answer, trouble = bench.rule.decide(cost, whole, bench.chance(rows), together=together)
    return Verdict(_class(probe), answer, reason("Dropping it", cost, trouble), cost, whole=whole)


def _row(bench: Bench, probe: Probe, verdict: Verdict) -> Row:
    asked = bench.rows.asked
    removed = probe.perturbed.removed[asked][probe.perturbed.applies[asked]]
    assert verdict.score is not None
    row = {
        "class": _class(probe),
        "verdict": verdict.answer,
        "removed": round(float(removed.mean()), 4),
    }
    test, train = (
        bench.cost(probe.answers[design], asked) for design in ("corrupt-test", "corrupt-train")
    )
    shared = {} if probe.overlap is None else {"overlap": round(probe.overlap, 4)}
    return (
        row
        | bounds(verdict.score)
        | {"corrupt_test": round(test.value, 4), "corrupt_train": round(train.value, 4)}
        | shared
    )


def _class(probe: Probe) -> str:
    return probe.spec.partition("=")[2]


def _together(verdicts: list[Verdict]) -> Verdict:
    """All classes in one line, the costliest first."""
    ordered = sorted(verdicts, key=lambda v: -(v.score.value if v.score else 0.0))
    named = {
        answer: [v.question for v in ordered if v.answer == answer]
        for answer in (NEEDED, NOT_NEEDED, UNDECIDED)
    }
    because = "; ".join(f"{answer}: {', '.join(names)}" for answer, names in named.items() if names)
    answer = NEEDED if named[NEEDED] else UNDECIDED if named[UNDECIDED] else NOT_NEEDED
    costs = np.array([v.score.value for v in ordered if v.score])
    return Verdict(
        "word classes",
        answer,
        f"{because[0].upper()}{because[1:]}. Costs run from {100 * costs.min():.1f} to "
        f"{100 * costs.max():.1f} points",
    )
