"""How well do people do, do they agree, and how far is the model from them? As UNLI Table 4 and WS
Table 4 ask it.

The unit is the item. One annotator's accuracy has Wilson's interval; that of all annotators counts
each item once and resamples items, so that more answers to the same items do not feign more
evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import numpy as np
from pydantic import BaseModel
from pydantic.dataclasses import dataclass

from disorder.errors import NothingToMeasure
from disorder.metrics import mean, share
from disorder.runs import Record
from disorder.types import Bools, Floats, Ints, Score
from disorder.verbs.human.agreement import (
    MIN_VOTES,
    TIE,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from disorder.verbs.human.interval import combined, paired_difference, resampled_sums
from disorder.verbs.human.ratings import (
    ALL,
    BROKEN,
    MAJORITY,
    MODEL,
    Ratings,
    read_ratings,
    right_share,
)
from disorder.verbs.human.task import INVALID, WHOLE, Kind

FAMILIES = {
    "lexical": ("sort", "reverse", "shuffle", "copy_sort"),
    "gradient": ("replace_least", "repeat_most", "drop_least", "copy_one"),
}
NO_MODEL = "no model answered these texts"


@dataclass(kw_only=True)
class HumanRecord(Record):
    """One score, as in run.json, and whose it is: an annotator, `all`, `majority`, `model`, or a
    pair `a & b`.
    """

    evaluator: str


class HumanOmitted(BaseModel):
    """A score that there was nothing to measure for."""

    evaluator: str
    transformation: str
    metric: str
    group: str
    reason: str


class HumanScores(BaseModel):
    """All that `disorder human score --json` prints."""

    schema_version: int = 1
    kind: Kind
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
        return next(
            (
                r
                for r in self.scores
                if (r.evaluator, r.transformation, r.metric, r.group) == wanted
            ),
            None,
        )


Measured = tuple[
    str, str, str, str, Callable[[], Score]
]  # evaluator, transformation, metric, group, how


def score(folder: Path) -> HumanScores:
    """Every score that the answers in a task folder allow, and why the others are missing."""
    ratings = read_ratings(folder)
    scores: list[HumanRecord] = []
    omitted: list[HumanOmitted] = []
    for evaluator, transformation, metric, group, measure in [
        *_performance(ratings),
        *_agreement(ratings),
    ]:
        named = {
            "evaluator": evaluator,
            "transformation": transformation,
            "metric": metric,
            "group": group,
        }
        try:
            record = Record.of(transformation, metric, group, measure())
            scores.append(HumanRecord(evaluator=evaluator, **asdict(record)))
        except NothingToMeasure as reason:
            omitted.append(HumanOmitted(**named, reason=str(reason)))
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
        median_seconds=_seconds(ratings),
        scores=scores,
        omitted=omitted,
    )


def _seconds(ratings: Ratings) -> dict[str, float]:
    """Half of each annotator's answers took longer than this."""
    spent: dict[str, list[float]] = {name: [] for name in ratings.annotators}
    for answer in ratings.answers:
        if answer.seconds is not None:
            spent[answer.annotator].append(answer.seconds)
    return {name: round(float(np.median(values)), 1) for name, values in spent.items() if values}


def _performance(ratings: Ratings) -> Iterator[Measured]:
    """Right answers, by evaluator and group."""
    evaluators = [*ratings.evaluators, *([MODEL] if ratings.model is not None else [])]
    for transformation, group, mask in ratings.groups():
        for name in evaluators:
            place = name, transformation
            yield *place, "accuracy", group, _later(accuracy, ratings, name, mask)
            if ratings.task.kind == "valid":
                yield *place, "invalid", group, _later(said_invalid, ratings, name, mask)
            else:
                yield *place, "macro_f1", group, _later(macro_f1, ratings, name, mask)
                if name != MODEL:
                    yield *place, "gap", group, _later(gap, ratings, name, mask)
    for name in evaluators:
        yield from _across(ratings, name)


def _across(ratings: Ratings, name: str) -> Iterator[Measured]:
    """Scores that join transformations: whole against perturbed texts, and the averages that WS
    prints.
    """
    masks = {
        transformation: mask for transformation, group, mask in ratings.groups() if group == "all"
    }
    if BROKEN in masks and ratings.task.kind == "label":
        yield name, ALL, "drop", "all", _later(drop, ratings, name, masks[WHOLE], masks[BROKEN])
    if ratings.task.kind == "valid":
        for family, members in FAMILIES.items():
            present = [mask for spec, mask in masks.items() if spec.split(":")[0] in members]
            if len(present) > 1:
                yield (
                    name,
                    family,
                    "invalid",
                    "all",
                    _later(average_invalid, ratings, name, present),
                )


def _agreement(ratings: Ratings) -> Iterator[Measured]:
    """How far annotators agree: each pair, and all together."""
    several = {"fleiss_kappa": fleiss_kappa, "krippendorff_alpha": krippendorff_alpha}
    if len(ratings.annotators) < 2:
        for metric in ("cohen_kappa", *several):
            yield ALL, ALL, metric, "all", _nothing("one annotator only")
        return
    for i, j in combinations(range(len(ratings.annotators)), 2):
        pair = f"{ratings.annotators[i]} & {ratings.annotators[j]}"
        yield (
            pair,
            ALL,
            "cohen_kappa",
            "all",
            _later(cohen_kappa, ratings.table[:, [i, j]], ratings.n_labels),
        )
    for transformation, group, mask in ratings.groups():
        if transformation in (ALL, WHOLE, BROKEN) and group == "all":
            for metric, statistic in several.items():
                yield (
                    ALL,
                    transformation,
                    metric,
                    group,
                    _later(statistic, ratings.table[mask], ratings.n_labels),
                )
    if len(ratings.annotators) < MIN_VOTES:
        yield MAJORITY, ALL, "accuracy", "all", _nothing(f"fewer than {MIN_VOTES} annotators")


def _later(function: Callable[..., Score], *given: object) -> Callable[[], Score]:
    return lambda: function(*given)


def _nothing(reason: str) -> Callable[[], Score]:
    def fail() -> Score:
        raise NothingToMeasure(reason)

    return fail


def accuracy(ratings: Ratings, evaluator: str, mask: Bools) -> Score:
    """Share of items given the gold label; each item counts once."""
    right, answered = right_share(ratings.of(evaluator)[mask], ratings.gold[mask])
    return _per_item(evaluator, right, answered)


def said_invalid(ratings: Ratings, evaluator: str, mask: Bools) -> Score:
    """Share of items that were called invalid, whatever they are."""
    invalid = np.full(int(mask.sum()), ratings.task.labels.index(INVALID))
    said, answered = right_share(ratings.of(evaluator)[mask], invalid)
    return _per_item(evaluator, said, answered)


def average_invalid(ratings: Ratings, evaluator: str, masks: list[Bools]) -> Score:
    """The mean over transformations, each with the same weight."""
    return combined(
        [said_invalid(ratings, evaluator, mask) for mask in masks], [1 / len(masks)] * len(masks)
    )


def drop(ratings: Ratings, evaluator: str, whole: Bools, perturbed: Bools) -> Score:
    """Accuracy on original texts minus accuracy on perturbed ones (WS: 77 % against 35 %)."""
    return combined(
        [accuracy(ratings, evaluator, whole), accuracy(ratings, evaluator, perturbed)], [1.0, -1.0]
    )


def gap(ratings: Ratings, evaluator: str, mask: Bools) -> Score:
    """The model's accuracy minus the evaluator's, on the items that the evaluator answered."""
    if ratings.model is None:
        raise NothingToMeasure(NO_MODEL)
    right, answered = right_share(ratings.of(evaluator)[mask], ratings.gold[mask])
    _need(answered)
    model = (ratings.model == ratings.gold)[mask].astype(np.float64)
    return paired_difference(model[answered], right[answered], skipped=int((~answered).sum()))


def macro_f1(ratings: Ratings, evaluator: str, mask: Bools) -> Score:
    """The mean of the labels' F1, over the labels that are gold or given; the interval resamples
    items.
    """
    answers, gold = ratings.of(evaluator)[mask], ratings.gold[mask]
    answered: Bools = np.asarray((answers >= 0).any(axis=1))
    _need(answered)
    parts = _confusions(answers[answered], gold[answered], ratings.n_labels)
    value = float(_f1(parts.sum(axis=0)[None])[0])
    commonest = int(np.bincount(gold[answered]).argmax())
    other = (commonest + 1) % ratings.n_labels
    imagined = _confusions(
        np.array([[commonest], [other]]), np.array([commonest, commonest]), ratings.n_labels
    )
    low, high = resampled_sums(np.concatenate([parts, imagined]), _f1)
    return Score(value, min(low, value), max(high, value), len(parts), int((~answered).sum()))


def _confusions(answers: Ints, gold: Ints, n_labels: int) -> Floats:
    """One table of gold × given an item, whose cells add up to one however many answers it got."""
    counts = np.stack([(answers == label).sum(axis=1) for label in range(n_labels)], axis=1)
    return np.asarray(
        np.eye(n_labels)[gold][:, :, None]
        * (counts / counts.sum(axis=1, keepdims=True))[:, None, :]
    )


def _f1(tables: Floats) -> Floats:
    hits = np.diagonal(tables, axis1=1, axis2=2)
    occurs = tables.sum(axis=1) + tables.sum(axis=2)
    f1 = np.divide(2 * hits, occurs, out=np.zeros_like(occurs), where=occurs > 0)
    return np.asarray(f1.sum(axis=1) / (occurs > 0).sum(axis=1))


def _per_item(evaluator: str, values: Floats, answered: Bools) -> Score:
    """A share over items: Wilson's interval where an item has one answer, resampled items where it
    has several.
    """
    _need(answered)
    skipped = int((~answered).sum())
    if evaluator == ALL:
        return mean(values[answered], skipped=skipped)
    return share(values[answered] == 1, skipped=skipped)


def _need(answered: Bools) -> None:
    if not answered.any():
        raise NothingToMeasure("no item of this kind has an answer")
