"""Word order: does the data need it? Words, pairs and threes of both texts are shuffled.

Out of Order (Pham et al., 2021) shuffles the test rows; here the training rows are shuffled too, so
that a model can make the best of a bag of words.
"""

from __future__ import annotations

from functools import partial

from disorder.errors import NothingToMeasure, option
from disorder.languages import UNSPACED_LANGUAGES, language_name
from disorder.registry import check
from disorder.results.writing import with_interval
from disorder.types import Ints
from disorder.verbs.sanity.pictures import cost_figure
from disorder.verbs.sanity.trials import CheckInput, Trial, Trials
from disorder.verbs.sanity.verdicts import (
    NEARLY_PERFECT,
    NOT_NEEDED,
    UNDECIDED,
    CheckResult,
    Verdict,
    reason,
)

SIZES = (1, 2, 3)
FIX = "add rows that order decides: the same words in another order, with another label"
CHINESE = "zh"  # the default model sees its characters, which stay the same


@check(asks="Does the data need word order?", paper="OOO Table 2, NDSC", position=10)
def order(given: CheckInput) -> CheckResult:
    """Shuffle both texts in training and test, and measure the cost for all rows and each group."""
    trials = given.trials
    if given.task.language in UNSPACED_LANGUAGES - {CHINESE} and trials.model.name == "linear":
        raise NothingToMeasure(
            f"shuffled texts in {language_name(given.task.language)}, written without spaces, are "
            f"not cut into the same words again; use a {option('model')} with a tokenizer of its "
            "own"
        )
    found, reasons = trials.try_each([shuffle_spec(n) for n in SIZES])
    if not found or found[0].spec != shuffle_spec(1):
        raise NothingToMeasure(reasons[0])
    words = found[0]
    uses_order = trials.uses_order(words)
    verdicts, unjudged = trials.by_group(partial(order_verdict, trials, words, uses_order))
    scores, unscored = trials.records("order", found)
    skips = [note for trial in found for note in trial.perturbed.skip_notes]
    notes = dict.fromkeys([*reasons, *unjudged, *unscored, *skips])
    figures = [cost_figure("order", trials, found)]
    return CheckResult(verdicts, scores, figures, notes=list(notes))


def shuffle_spec(n: int) -> str:
    """The transformation that shuffles runs of n words of both texts."""
    return f"shuffle_ngrams:n={n},side=both"


def order_verdict(
    trials: Trials, trial: Trial, uses_order: bool, group: str, rows: Ints
) -> Verdict:
    """The verdict on order for some rows; a model that made no use of order cannot show that it is
    not needed, unless it is nearly perfect without.
    """
    cost = trials.cost(trial.predictions["corrupt-both"], rows)
    original = trials.score(trials.original, rows)
    chance = trials.chance(rows)
    answer, trouble = trials.rule.decide(cost, original, chance)
    # so little is left to gain that what the model did not use cannot be needed
    is_nearly_perfect = original.low >= chance + NEARLY_PERFECT * (1 - chance)
    has_looked = uses_order or is_nearly_perfect
    if answer == NOT_NEEDED and not has_looked:
        answer = UNDECIDED
        trouble = f"The model made no use of order; it scores {with_interval(original)}"
    because = reason("Shuffling", cost, trouble)
    return Verdict("order", answer, because, cost, group, original, fix=FIX, urgency=2)
