"""Both texts: does the data need each of them? The hypothesis-only baseline, and its mirror.

After Gururangan et al. (2018) and Poliak et al. (2018), as NLI Data Sanity Check (Talman et al.,
2021) does for every dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from disorder.registry import check
from disorder.results.writing import in_points, with_interval
from disorder.types import TEXT_NAMES, Ints
from disorder.verbs.sanity.pictures import cost_figure
from disorder.verbs.sanity.trials import CheckInput, Trial, Trials
from disorder.verbs.sanity.verdicts import NEEDED, NOT_NEEDED, UNDECIDED, CheckResult, Verdict

DROPPED = {
    "drop_text": TEXT_NAMES,
    "drop_text:side=b": TEXT_NAMES[::-1],
}  # spec → the text that is dropped, the text that is left
FIX = "rewrite the rows that one text alone decides"


@check(asks="Does the data need both texts?", paper="NDSC", pairs=True, position=20)
def texts(given: CheckInput) -> CheckResult:
    """Drop either text in training and test; both are needed if each drop costs more than the
    margin.
    """
    trials = given.trials
    found = trials.run(list(DROPPED))
    verdicts, unjudged = trials.by_group(partial(_verdict, trials, found))
    scores, unscored = trials.records("texts", found)
    notes = dict.fromkeys([*unjudged, *unscored])
    figures = [cost_figure("texts", trials, found)]
    return CheckResult(verdicts, scores, figures, notes=list(notes))


def _verdict(trials: Trials, found: Sequence[Trial], group: str, rows: Ints) -> Verdict:
    original = trials.score(trials.original, rows)
    chance = trials.chance(rows)
    costs = []
    lines = []
    decided = []
    for trial in found:
        predictions = trial.predictions["corrupt-both"]
        cost = trials.cost(predictions, rows)
        left = with_interval(trials.score(predictions, rows))
        dropped, kept = DROPPED[trial.spec]
        costs.append(cost)
        lines.append(f"Without {dropped} it costs {in_points(cost)}; {kept} alone scores {left}")
        decided.append(trials.rule.decide(cost, original, chance, together=len(found)))
    # both texts are needed if each is, and not needed if either is not
    answers = {each for each, _ in decided}
    answer = NOT_NEEDED if NOT_NEEDED in answers else UNDECIDED
    if answers == {NEEDED}:
        answer = NEEDED
    because = f"{'. '.join(lines)} (chance {chance:.3f})"
    troubles = [trouble for each, trouble in decided if trouble and each == answer]
    if troubles:
        because += f". {troubles[0]}"
    cheapest = min(costs, key=lambda cost: cost.value)
    return Verdict("both texts", answer, because, cheapest, group, original, fix=FIX, urgency=2)
