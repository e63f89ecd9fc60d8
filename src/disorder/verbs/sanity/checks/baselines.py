"""Baselines: can the data be gamed without reading it?

What label frequencies, lengths, shared words and a bag of words reach, beside the model (NLI Data
Sanity Check, Talman et al., 2021). Longer texts share more words, so the overlap is judged by what
it adds to lengths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from disorder.registry import check
from disorder.results.result import Figure, Row, Table
from disorder.results.writing import in_points, score_row, with_interval
from disorder.types import Ints, Score
from disorder.verbs.sanity import features
from disorder.verbs.sanity.checks.order import FIX
from disorder.verbs.sanity.checks.overlap import same_overlap
from disorder.verbs.sanity.linear import Block, baseline_model
from disorder.verbs.sanity.pictures import forest
from disorder.verbs.sanity.result import record
from disorder.verbs.sanity.trials import CheckInput, TrialPredictions, Trials
from disorder.verbs.sanity.verdicts import (
    DOES_AS_WELL,
    FALLS_SHORT,
    NEEDED,
    NO_INFORMATION,
    NOT_NEEDED,
    CheckResult,
    Verdict,
)

LABEL_PRIOR = "label prior"
LENGTH = "length only"
OVERLAP = "overlap only"
LENGTH_AND_OVERLAP = "length and overlap"
BAG_OF_WORDS = "bag of words"
THE_MODEL = "the model"
BLOCKS: dict[str, tuple[Block, ...]] = {
    LENGTH: (features.length,),
    OVERLAP: (features.overlap,),
    LENGTH_AND_OVERLAP: (features.sizes, features.overlap),
    BAG_OF_WORDS: (features.words,),
}  # name → what the baseline sees; of two blocks the second only if it helps on held-out rows
PAIRS_ONLY = (OVERLAP, LENGTH_AND_OVERLAP)
ANSWERS = {NEEDED: FALLS_SHORT, NOT_NEEDED: DOES_AS_WELL}  # of a bag of words


@check(asks="Can the data be gamed without reading it?", paper="NDSC", position=50)
def baselines(given: CheckInput) -> CheckResult:
    """Train models on label frequencies, lengths, shared words or single words alone, beside the
    model.
    """
    trials = given.trials
    notes: dict[str, None] = {}
    blocks = dict(BLOCKS)
    if not trials.is_pairs:
        blocks = {name: block for name, block in BLOCKS.items() if name not in PAIRS_ONLY}
        notes[f"{OVERLAP}: not done, there is no second text"] = None
    predictions = {LABEL_PRIOR: _label_prior(trials)}
    predictions |= {name: _predict(trials, name, block) for name, block in blocks.items()}
    predictions[THE_MODEL] = trials.original
    rows = []
    scores = []
    for name, found in predictions.items():
        row = {"name": name} | score_row(trials.score(found, trials.rows.tested))
        accuracy = trials.plain_accuracy(found)
        rows.append(row if accuracy is None else row | {"accuracy": round(accuracy, 4)})
        records, unjudged = trials.by_group(partial(_record, trials, name, found))
        scores += records
        notes |= dict.fromkeys(unjudged)
    verdicts = [_length_verdict(trials, predictions[LENGTH])]
    if OVERLAP in blocks:
        verdicts.append(_overlap_verdict(trials, predictions))
    verdicts.append(_bag_of_words_verdict(trials, predictions[BAG_OF_WORDS]))
    table = Table("baseline_scores", "Baselines beside the model", rows)
    return CheckResult(verdicts, scores, [_figure(trials, rows)], [table], list(notes))


def _predict(trials: Trials, name: str, blocks: tuple[Block, ...]) -> TrialPredictions:
    model = baseline_model(name, blocks, trials.task, trials.seed)
    encoded = model.encode(trials.texts)
    every_row = np.ones(len(trials.texts), dtype=bool)
    return trials.predict(model, trials.fit(model, encoded, name), encoded, every_row)


def _label_prior(trials: Trials) -> TrialPredictions:
    """The most frequent label always (for numbers: the same number)."""
    width = max(1, len(trials.task.labels))
    plain = np.zeros((len(trials.texts), width))
    if not trials.task.is_regression:
        plain[:] = np.bincount(trials.gold, minlength=width) / len(trials.gold)
    balanced = np.zeros_like(plain)
    balanced[:, int(plain[0].argmax())] = 1.0
    return TrialPredictions(balanced, plain)


def _record(
    trials: Trials, name: str, predictions: TrialPredictions, group: str, rows: Ints
) -> Row:
    row: Row = {"check": "baselines", "transformation": name, "design": "plain", "group": group}
    return row | {"metric": trials.metric} | record(trials.score(predictions, rows))


def _bag_of_words_verdict(trials: Trials, predictions: TrialPredictions) -> Verdict:
    """A bag of words is compared with the model."""
    rows = trials.rows.tested
    score = trials.score(predictions, rows)
    cost = trials.cost(predictions, rows)
    original = trials.score(trials.original, rows)
    answer, trouble = trials.rule.decide(cost, original, trials.chance(rows))
    because = f"It scores {with_interval(score)}; the model scores {in_points(cost)} more"
    if trouble:
        because += f". {trouble}"
    answer = ANSWERS.get(answer, answer)
    return Verdict(BAG_OF_WORDS, answer, because, cost, original=original, fix=FIX, urgency=2)


def _length_verdict(trials: Trials, predictions: TrialPredictions) -> Verdict:
    """A baseline that sees lengths is compared with chance."""
    chance = trials.chance(trials.rows.tested)
    score = trials.score(predictions, trials.rows.tested)
    gain = Score(
        score.value - chance, score.low - chance, score.high - chance, score.n, score.skipped
    )
    because = f"It scores {with_interval(score)}, chance is {chance:.3f}"
    fix = "balance the lengths of texts over labels"
    return Verdict(LENGTH, trials.rule.gives_away(gain), because, gain, fix=fix, urgency=2)


def _overlap_verdict(trials: Trials, predictions: Mapping[str, TrialPredictions]) -> Verdict:
    """A baseline that sees the overlap is compared with one that sees lengths."""
    rows = trials.rows.tested
    overlaps = trials.overlaps(trials.texts, rows)
    if np.ptp(overlaps) == 0:
        because = same_overlap(float(overlaps[0]))
        return Verdict(OVERLAP, NO_INFORMATION, because[:1].upper() + because[1:])
    of_lengths = _predict(trials, "lengths", (features.sizes,))
    gain = trials.difference(predictions[LENGTH_AND_OVERLAP], of_lengths, rows)
    alone = with_interval(trials.score(predictions[OVERLAP], rows))
    because = (
        f"Added to the lengths of the texts it gains {in_points(gain)}; alone it scores {alone}, "
        f"chance is {trials.chance(rows):.3f}"
    )
    fix = "balance the share of common words over labels"
    return Verdict(OVERLAP, trials.rule.gives_away(gain), because, gain, fix=fix, urgency=2)


def _figure(trials: Trials, rows: Sequence[Row]) -> Figure:
    drawn = [{key: row[key] for key in ("name", "value", "low", "high")} for row in rows]
    metric = "Spearman" if trials.task.is_regression else "Balanced accuracy"
    caption = f"{metric} of each baseline, with 95 % intervals; the dotted line is chance."
    names = [row["name"] for row in rows]
    chance = trials.chance(trials.rows.tested)
    drawing = forest(names, trials.metric.replace("_", " "), lines=(chance,))
    return Figure("baselines", caption, drawn, drawing)
