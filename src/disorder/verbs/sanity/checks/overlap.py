"""Word overlap: does accuracy depend on how many words the texts share?

NLI Data Sanity Check (Talman et al., 2021), Figure 2, after Zhou and Bansal (2020): by the overlap
of each row, and for every perturbed test set as a whole.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.registry import check
from disorder.results.result import Figure, Row
from disorder.results.writing import score_row, with_interval
from disorder.types import Bools, Floats, Ints, Score
from disorder.verbs.sanity.pictures import curve, number, scatter, short_name
from disorder.verbs.sanity.scoring import clustered_share, weighted_means
from disorder.verbs.sanity.trials import CheckInput, Trials
from disorder.verbs.sanity.verdicts import UNDECIDED, CheckResult, Verdict

N_BINS = 10
FEWEST = 10  # rows that a bin must have to be shown
FIX = "show accuracy on rows that share few words apart"


@check(
    asks="Does accuracy depend on how many words the texts share?",
    paper="NDSC Fig. 2",
    pairs=True,
    position=60,
)
def overlap(given: CheckInput) -> CheckResult:
    """Compare the model's accuracy on rows whose texts share few words with that on rows whose
    texts share many.
    """
    trials = given.trials
    if trials.task.is_regression:
        raise NothingToMeasure("labels are numbers: there is no accuracy to set beside overlap")
    tested = trials.rows.tested
    shared = trials.overlaps(trials.texts, tested)
    is_right = trials.is_right(trials.original, tested)
    clusters = trials.rows.cluster[tested]
    low, high = np.quantile(shared, (1 / 3, 2 / 3))
    few = shared <= low
    many = shared >= high
    if np.ptp(shared) == 0:
        raise NothingToMeasure(same_overlap(float(low)))
    if low == high:
        part = float((shared == low).mean())
        raise NothingToMeasure(
            f"in {part:.2f} of the rows text_a has the same share of text_b's words ({low:.3f}): "
            "there are no thirds to compare"
        )
    least = with_interval(clustered_share(is_right[few], clusters[few]))
    most = with_interval(clustered_share(is_right[many], clusters[many]))
    gap = accuracy_gap(is_right, few, many, clusters)
    because = (
        f"Of the third of rows that share least {least} are predicted right, "
        f"of those that share most {most}"
    )
    margin = given.rule.margin
    answer = UNDECIDED
    if gap.low > margin or gap.high < -margin:
        answer = "differs"
    elif max(abs(gap.low), abs(gap.high)) < margin:
        answer = "does not differ"
    verdict = Verdict("accuracy by overlap", answer, because, gap, fix=FIX)
    figures = [_bins_figure(shared, is_right, clusters, trials), _sets_figure(shared, trials)]
    return CheckResult([verdict], figures=figures)


def same_overlap(overlap: float) -> str:
    """The sentence on rows that all share the same part of their words."""
    return f"in every row text_a has the same share of text_b's words ({overlap:.3f})"


def accuracy_gap(is_right: Bools, few: Bools, many: Bools, clusters: Ints) -> Score:
    """How much larger the share predicted right is among `many` than among `few`, by cluster."""
    chosen = few | many
    strata = many[chosen].astype(np.int64)
    values = is_right[chosen].astype(float)
    weights = {0: -1.0, 1: 1.0}
    value, half = weighted_means(values, strata, weights, (0.0, 1.0), clusters[chosen])
    return Score(value, max(-1.0, value - half), min(1.0, value + half), int(chosen.sum()))


def _bins_figure(shared: Floats, is_right: Bools, clusters: Ints, trials: Trials) -> Figure:
    """Accuracy by the overlap of each row."""
    bins = np.minimum((shared * N_BINS).astype(int), N_BINS - 1)
    rows: list[Row] = []
    for place in range(N_BINS):
        inside = bins == place
        if inside.sum() >= FEWEST:
            row = {
                "from": place / N_BINS,
                "to": (place + 1) / N_BINS,
                "middle": (place + 0.5) / N_BINS,
            }
            rows.append(row | score_row(clustered_share(is_right[inside], clusters[inside])))
    x = number("middle", "share of text_b's words that text_a has", domain=[0, 1], nice=False)
    y = number("value", "predicted right", domain=[0, 1])
    caption = (
        "Share of rows predicted right, by the share of the words of text_b that text_a has; 95 % "
        f"intervals, bins of {FEWEST} rows or more. Dotted: chance."
    )
    drawing = curve(x, y, line=trials.chance(trials.rows.tested))
    return Figure("overlap_accuracy", caption, rows, drawing)


def _sets_figure(shared: Floats, trials: Trials) -> Figure:
    """Original and perturbed test sets: mean overlap, and score of the model of original texts."""
    tested = trials.rows.tested
    original = {"name": "original texts", "overlap": round(float(np.mean(shared)), 4)}
    rows: list[Row] = [original | score_row(trials.score(trials.original, tested))]
    for trial in trials.done:
        if trial.overlap is not None and not trial.spec.startswith("drop_text"):
            row = {"name": short_name(trial.spec), "overlap": round(trial.overlap, 4)}
            score = trials.score(trial.predictions["corrupt-test"], tested)
            rows.append(row | score_row(score))
    x = number("overlap", "mean share of text_b's words that text_a has")
    y = number("value", trials.metric.replace("_", " "))
    caption = (
        "The model trained on original texts, tested on original and perturbed texts, by how many "
        "words the texts share; 95 % intervals."
    )
    return Figure("overlap_sets", caption, rows, scatter(x, y))
