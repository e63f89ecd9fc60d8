"""Does the data need both texts? Take one away, in training and in test: the hypothesis-only
baseline, and its mirror.

After Gururangan et al. (2018) and Poliak et al. (2018), as NLI Data Sanity Check (Talman et al.,
2021) asks of every dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from disorder.types import Ints
from disorder.verbs.sanity.checks.order import figure
from disorder.verbs.sanity.equivalence import NEEDED, NOT_NEEDED, UNDECIDED
from disorder.verbs.sanity.result import Checked, Verdict, points, said
from disorder.verbs.sanity.trials import Bench, Probe

ASKS = "Does the data need both texts?"
PAPER = "NDSC"
DROPPED = {
    "drop_text": ("text_a", "text_b"),
    "drop_text:side=b": ("text_b", "text_a"),
}  # spec → what goes, what stays


def texts(bench: Bench) -> Checked:
    """What it costs to take either text away; both are needed if each is missed."""
    probes = bench.probes(list(DROPPED))
    verdicts, unjudged = bench.judged(partial(_verdict, bench, probes))
    scores, unscored = bench.records("texts", probes)
    return Checked(
        verdicts,
        scores,
        [figure("texts", probes, bench)],
        notes=list(dict.fromkeys([*unjudged, *unscored])),
    )


def _verdict(bench: Bench, probes: Sequence[Probe], group: str, rows: Ints) -> Verdict:
    costs = {p.spec: bench.cost(p.answers["corrupt-both"], rows) for p in probes}
    left = {p.spec: bench.score(p.answers["corrupt-both"], rows) for p in probes}
    whole, chance = bench.score(bench.whole, rows), bench.chance(rows)
    decided = {
        spec: bench.rule.decide(cost, whole, chance, together=len(costs))
        for spec, cost in costs.items()
    }
    answers = [answer for answer, _ in decided.values()]
    answer = (
        NOT_NEEDED if NOT_NEEDED in answers else NEEDED if set(answers) == {NEEDED} else UNDECIDED
    )
    cheapest = min(costs, key=lambda spec: costs[spec].value)
    lines = [
        f"without {gone} it costs {points(costs[spec])}; {stays} alone scores {said(left[spec])}"
        for spec, (gone, stays) in DROPPED.items()
    ]
    troubles = [why for each, why in decided.values() if why and each == answer]
    because = f"{lines[0][0].upper()}{lines[0][1:]}. {lines[1][0].upper()}{lines[1][1:]} (chance {chance:.3f})"
    return Verdict(
        "both texts",
        answer,
        because + (f". {troubles[0]}" if troubles else ""),
        costs[cheapest],
        group,
        whole,
    )
