"""How well do people do, do they agree, and how far is the model from them? After UNLI Table 4 and
WS Table 4.

The unit is the item. One annotator's accuracy has Wilson's interval; that of all annotators counts
each item once and resamples items, so that more answers to the same items are not counted as more
evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel
from pydantic.dataclasses import dataclass as checked_dataclass

from disorder.errors import NothingToMeasure
from disorder.metrics import mean, share
from disorder.results.progress import shown_progress
from disorder.results.run import Record
from disorder.types import ORIGINAL, Bools, Floats, Ints, Progress, Score
from disorder.verbs.human.ratings import (
    ALL,
    MAJORITY,
    MIN_VOTES,
    MODEL,
    PERTURBED,
    TIE,
    Ratings,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    paired_difference,
    read_ratings,
    resampled_sums,
    right_share,
    weighted_sum,
)
from disorder.verbs.human.task_folder import INVALID, TaskKind

if TYPE_CHECKING:
    from disorder.results.result import Result

FAMILIES = {
    "lexical": ("sort", "reverse", "shuffle", "copy_sort"),
    "gradient": ("replace_least", "repeat_most", "drop_least", "copy_one"),
}  # the averages in WS Table 4
OF_SEVERAL = {"fleiss_kappa": fleiss_kappa, "krippendorff_alpha": krippendorff_alpha}
NO_MODEL = "there is no model prediction for these texts"


@checked_dataclass(kw_only=True)
class HumanRecord(Record):
    """One score, and whose it is: an annotator, `all`, `majority`, `model`, or `a & b`."""

    evaluator: str


class HumanOmitted(BaseModel):
    """A score that could not be measured, and why."""

    evaluator: str
    transformation: str
    metric: str
    group: str
    reason: str


class HumanScores(BaseModel):
    """All that `disorder human score --json` prints."""

    schema_version: int = 1
    kind: TaskKind
    source: str
    model: str | None
    labels: list[str]
    chance: float
    is_accepted_only: bool
    n_items: int
    n_ties: int
    answered: dict[str, int]
    median_seconds: dict[str, float]
    scores: list[HumanRecord]
    omitted: list[HumanOmitted]

    def score(
        self, evaluator: str, metric: str, group: str = "all", transformation: str = ALL
    ) -> HumanRecord | None:
        """The record of this name, if it was measured."""
        wanted = (evaluator, transformation, metric, group)
        for record in self.scores:
            if (record.evaluator, record.transformation, record.metric, record.group) == wanted:
                return record
        return None

    @property
    def result(self) -> Result:
        """The envelope, from which terminal, page and record are made."""
        from disorder.verbs.human.score_tables import result_of

        return result_of(self)

    def as_data(self) -> dict[str, Any]:
        """All that was scored, as plain data."""
        return self.model_dump(exclude={"schema_version"})


PLACE = ("evaluator", "transformation", "metric", "group")
# one score to measure: whose, on which texts, which, of which group; and how
HumanMeasurement = tuple[tuple[str, str, str, str], Callable[[], Score]]


def score(folder: str | Path, *, progress: Progress | None = None) -> HumanScores:
    """Measure every score that the answers in a task folder allow, and why others are missing."""
    ratings = read_ratings(Path(folder))
    told = shown_progress(progress)
    scores: list[HumanRecord] = []
    omitted: list[HumanOmitted] = []
    measurements = [*_performance(ratings), *_agreement(ratings)]
    for number, (place, measure) in enumerate(measurements, start=1):
        told("scores", number, len(measurements), "")
        evaluator, transformation, metric, group = place
        try:
            record = Record.of(transformation, metric, group, measure())
        except NothingToMeasure as reason:
            about = dict(zip(PLACE, place, strict=True))
            omitted.append(HumanOmitted(**about, reason=str(reason)))
            continue
        scores.append(HumanRecord(evaluator=evaluator, **asdict(record)))
    task = ratings.task
    return HumanScores(
        kind=task.kind,
        source=task.source,
        model=task.model,
        labels=task.labels,
        chance=1 / len(task.labels),
        is_accepted_only=task.is_accepted_only,
        n_items=task.n_items,
        n_ties=int((ratings.votes == TIE).sum()),
        answered={name: int((ratings.of(name) >= 0).sum()) for name in ratings.annotators},
        median_seconds=_median_seconds(ratings),
        scores=scores,
        omitted=omitted,
    )


def _median_seconds(ratings: Ratings) -> dict[str, float]:
    """The median time that each annotator took for an answer."""
    spent: dict[str, list[float]] = {name: [] for name in ratings.annotators}
    for answer in ratings.answers:
        if answer.seconds is not None:
            spent[answer.annotator].append(answer.seconds)
    return {name: round(float(np.median(values)), 1) for name, values in spent.items() if values}


def _performance(ratings: Ratings) -> Iterator[HumanMeasurement]:
    """Right answers, by evaluator and group."""
    evaluators = ratings.evaluators
    if ratings.model is not None:
        evaluators.append(MODEL)
    for transformation, group, mask in ratings.groups():
        for name in evaluators:
            for metric, function in _metrics_of(ratings, name).items():
                measure = partial(function, ratings, name, mask)
                yield (name, transformation, metric, group), measure
    for name in evaluators:
        yield from _across_transformations(ratings, name)


def _metrics_of(ratings: Ratings, evaluator: str) -> dict[str, Callable[..., Score]]:
    """What is measured of one evaluator in every group."""
    if ratings.task.kind == "valid":
        return {"accuracy": accuracy, "invalid": called_invalid}
    if evaluator == MODEL:
        return {"accuracy": accuracy, "macro_f1": macro_f1}
    return {"accuracy": accuracy, "macro_f1": macro_f1, "gap": gap}


def _across_transformations(ratings: Ratings, name: str) -> Iterator[HumanMeasurement]:
    """Scores over several transformations: original against perturbed, and the averages of WS."""
    masks = {
        transformation: mask for transformation, group, mask in ratings.groups() if group == "all"
    }
    if ratings.task.kind == "label":
        if PERTURBED in masks:
            measure = partial(drop, ratings, name, masks[ORIGINAL], masks[PERTURBED])
            yield (name, ALL, "drop", "all"), measure
        return
    for family, members in FAMILIES.items():
        present = [mask for spec, mask in masks.items() if spec.split(":")[0] in members]
        if len(present) > 1:
            measure = partial(average_invalid, ratings, name, present)
            yield (name, family, "invalid", "all"), measure


def _agreement(ratings: Ratings) -> Iterator[HumanMeasurement]:
    """How far annotators agree: each pair, and all together."""
    annotators = ratings.annotators
    if len(annotators) < 2:
        for metric in ("cohen_kappa", *OF_SEVERAL):
            measure = partial(_not_measurable, "one annotator only")
            yield (ALL, ALL, metric, "all"), measure
        return
    for i, j in combinations(range(len(annotators)), 2):
        pair = f"{annotators[i]} & {annotators[j]}"
        measure = partial(cohen_kappa, ratings.table[:, [i, j]], ratings.n_labels)
        yield (pair, ALL, "cohen_kappa", "all"), measure
    for transformation, group, mask in ratings.groups():
        if transformation in (ALL, ORIGINAL, PERTURBED) and group == "all":
            for metric, statistic in OF_SEVERAL.items():
                measure = partial(statistic, ratings.table[mask], ratings.n_labels)
                yield (ALL, transformation, metric, group), measure
    if len(annotators) < MIN_VOTES:
        measure = partial(_not_measurable, f"fewer than {MIN_VOTES} annotators")
        yield (MAJORITY, ALL, "accuracy", "all"), measure


def _not_measurable(reason: str) -> Score:
    raise NothingToMeasure(reason)


def accuracy(ratings: Ratings, evaluator: str, mask: Bools) -> Score:
    """Share of items given the gold label; each item counts once."""
    right, answered = right_share(ratings.of(evaluator)[mask], ratings.gold[mask])
    return _per_item(evaluator, right, answered)


def called_invalid(ratings: Ratings, evaluator: str, mask: Bools) -> Score:
    """Share of items that were called invalid, whether they are or not."""
    invalid = np.full(int(mask.sum()), ratings.task.labels.index(INVALID))
    called, answered = right_share(ratings.of(evaluator)[mask], invalid)
    return _per_item(evaluator, called, answered)


def average_invalid(ratings: Ratings, evaluator: str, masks: list[Bools]) -> Score:
    """The mean of `called_invalid` over transformations, each with the same weight."""
    scores = [called_invalid(ratings, evaluator, mask) for mask in masks]
    return weighted_sum(scores, [1 / len(masks)] * len(masks))


def drop(ratings: Ratings, evaluator: str, original: Bools, perturbed: Bools) -> Score:
    """Accuracy on original texts minus accuracy on perturbed ones (WS: 77 % against 35 %)."""
    scores = [accuracy(ratings, evaluator, original), accuracy(ratings, evaluator, perturbed)]
    return weighted_sum(scores, [1.0, -1.0])


def gap(ratings: Ratings, evaluator: str, mask: Bools) -> Score:
    """The model's accuracy minus the evaluator's, on the items that the evaluator answered."""
    if ratings.model is None:
        raise NothingToMeasure(NO_MODEL)
    right, answered = right_share(ratings.of(evaluator)[mask], ratings.gold[mask])
    _need_answers(answered)
    model = (ratings.model == ratings.gold)[mask].astype(np.float64)
    return paired_difference(model[answered], right[answered], skipped=int((~answered).sum()))


def macro_f1(ratings: Ratings, evaluator: str, mask: Bools) -> Score:
    """The mean F1 over the labels that are gold or given; the interval resamples items."""
    answers = ratings.of(evaluator)[mask]
    gold = ratings.gold[mask]
    answered: Bools = np.asarray((answers >= 0).any(axis=1))
    _need_answers(answered)
    parts = _confusions(answers[answered], gold[answered], ratings.n_labels)
    value = float(_f1(parts.sum(axis=0)[None])[0])
    commonest = int(np.bincount(gold[answered]).argmax())
    other = (commonest + 1) % ratings.n_labels
    # one imagined item that is right and one that is wrong, as in `metrics.mean`
    imagined = _confusions(
        np.array([[commonest], [other]]), np.array([commonest, commonest]), ratings.n_labels
    )
    low, high = resampled_sums(np.concatenate([parts, imagined]), _f1)
    return Score(value, min(low, value), max(high, value), len(parts), int((~answered).sum()))


def _confusions(answers: Ints, gold: Ints, n_labels: int) -> Floats:
    """One table (gold × given) per item, whose cells sum to one however many answers it got."""
    counts = np.stack([(answers == label).sum(axis=1) for label in range(n_labels)], axis=1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.eye(n_labels)[gold][:, :, None] * shares[:, None, :])


def _f1(tables: Floats) -> Floats:
    hits = np.diagonal(tables, axis1=1, axis2=2)
    occurs = tables.sum(axis=1) + tables.sum(axis=2)
    f1 = np.divide(2 * hits, occurs, out=np.zeros_like(occurs), where=occurs > 0)
    return np.asarray(f1.sum(axis=1) / (occurs > 0).sum(axis=1))


def _per_item(evaluator: str, values: Floats, answered: Bools) -> Score:
    """A share over items: Wilson's interval for one answer each, resampled items for several."""
    _need_answers(answered)
    skipped = int((~answered).sum())
    if evaluator == ALL:
        return mean(values[answered], skipped=skipped)
    return share(values[answered] == 1, skipped=skipped)


def _need_answers(answered: Bools) -> None:
    if not answered.any():
        raise NothingToMeasure("no item of this kind has an answer")
