"""Does the data need word order? Shuffle single words, pairs and threes of both texts, and train
and test on that.

Out of Order (Pham et al., 2021) shuffles what is asked; here what is trained on is shuffled too, so
that a model may make the best of a bag of words.
"""

from __future__ import annotations

from functools import partial

from disorder.errors import NothingToMeasure
from disorder.report.exhibits import Figure, Row
from disorder.types import Ints
from disorder.verbs.sanity.equivalence import NOT_NEEDED, UNDECIDED, reason
from disorder.verbs.sanity.pictures import designs
from disorder.verbs.sanity.result import Checked, Verdict, bounds, said
from disorder.verbs.sanity.trials import DESIGNS, Bench, Probe

ASKS = "Does the data need word order?"
PAPER = "OOO Table 2, NDSC"
SIZES = (1, 2, 3)


def spec_of(n: int) -> str:
    """How the words of both texts are shuffled."""
    return f"shuffle_ngrams:n={n},side=both"


def order(bench: Bench) -> Checked:
    """What shuffling costs, for all rows and for each group."""
    probes, notes = bench.tried([spec_of(n) for n in SIZES])
    if not probes or probes[0].spec != spec_of(1):
        raise NothingToMeasure(notes[0])
    verdicts, unjudged = bench.judged(
        partial(_verdict, bench, probes[0], bench.uses_order(probes[0]))
    )
    scores, unscored = bench.records("order", probes)
    notes = list(dict.fromkeys([*notes, *unjudged, *unscored, *skipped(probes)]))
    return Checked(verdicts, scores, [figure("order", probes, bench)], notes=notes)


def _verdict(bench: Bench, probe: Probe, uses_order: bool, group: str, rows: Ints) -> Verdict:
    """A model that never looked at order cannot say that it is not needed, unless nothing is left
    to be gained.
    """
    cost, whole, chance = (
        bench.cost(probe.answers["corrupt-both"], rows),
        bench.score(bench.whole, rows),
        bench.chance(rows),
    )
    answer, trouble = bench.rule.decide(cost, whole, chance)
    if answer == NOT_NEEDED and not uses_order and not bench.rule.is_nearly_perfect(whole, chance):
        answer, trouble = UNDECIDED, f"The model made no use of order; it scores {said(whole)}"
    return Verdict("order", answer, reason("Shuffling", cost, trouble), cost, group, whole)


def figure(check: str, probes: list[Probe], bench: Bench) -> Figure:
    """The cost of each transformation in the three designs."""
    rows: list[Row] = [
        {"name": short(probe.spec), "design": design}
        | bounds(bench.cost(probe.answers[design], bench.rows.asked))
        for probe in probes
        for design in DESIGNS
    ]
    names = [short(probe.spec) for probe in probes]
    caption = (
        f"What breaking costs ({bench.metric.replace('_', ' ')}), with 95 % intervals, when both training and test data are "
        "perturbed, or one of them. Dotted: no cost; dashed: the margin."
    )
    return Figure(
        f"{check}_cost",
        caption,
        rows,
        designs(names, "cost (0.05 is five points)", margin=bench.rule.margin),
    )


def short(spec: str) -> str:
    """A transformation as a picture names it."""
    named = {
        "drop_text": "text_b only",
        "drop_text:side=b": "text_a only",
        "swap_texts": "texts swapped",
    }
    return named.get(spec, spec.replace(",side=both", "").replace("drop_pos:tags=", "without "))


def skipped(probes: list[Probe]) -> list[str]:
    """A line for each reason why rows were left out."""
    return [
        f"{probe.spec} leaves out {count:,} rows ({reason})"
        for probe in probes
        for reason, count in probe.perturbed.skips.items()
    ]
