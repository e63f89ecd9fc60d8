"""Answers and key as arrays, items × annotators, and which items belong to which group; and the
agreement of annotators beyond chance: κ of Cohen and of Fleiss, α of Krippendorff, and the
majority.

Ratings are label numbers, one row per item and one column per annotator, −1 where there is no
answer. A statistic that is undefined raises `NothingToMeasure` with the reason. Written here since
κ for several annotators and α are in no package of an extra (statsmodels and krippendorff are used
in tests only), and intervals need all resamples in one array operation.

The unit of every interval is the item: several answers to it are a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot
from pathlib import Path

import numpy as np

from disorder.errors import BadData, NothingToMeasure
from disorder.metrics import mean, resampled
from disorder.types import ORIGINAL, Bools, Floats, Ints, Score
from disorder.verbs.human.answer_store import AnswerStore, HumanAnswer
from disorder.verbs.human.task_folder import (
    HumanTask,
    ItemKey,
    read_annotators,
    read_key,
    read_task,
)


def resampled_sums(parts: Floats, statistic: Callable[[Floats], Floats]) -> tuple[float, float]:
    """A percentile interval over items for a statistic of the sum of `parts` (one row per item),
    without resamples for which it is undefined.
    """
    n_items = len(parts)
    flat = parts.reshape(n_items, -1)

    def of_resamples(items: Ints) -> Floats:
        sums = flat[items].sum(axis=1)
        return statistic(sums.reshape(len(items), *parts.shape[1:]))

    return resampled(of_resamples, n_items)


def paired_difference(first: Floats, second: Floats, *, skipped: int = 0) -> Score:
    """The mean of first − second over items, with its interval; all values are in [0, 1]."""
    halved = mean((first - second + 1) / 2, skipped=skipped)
    value = float(np.mean(first - second))
    low = 2 * halved.low - 1
    high = 2 * halved.high - 1
    return Score(value, min(low, value), max(high, value), halved.n, skipped)


def weighted_sum(scores: Sequence[Score], weights: Sequence[float]) -> Score:
    """A weighted sum of scores of different items, its interval from theirs: Zou and Donner (2008);
    for the difference of two shares, Newcombe's.
    """
    value = 0.0
    below: list[float] = []
    above: list[float] = []
    for score, weight in zip(scores, weights, strict=True):
        value += weight * score.value
        bounds = sorted((weight * score.low, weight * score.high))
        below.append(weight * score.value - bounds[0])
        above.append(bounds[1] - weight * score.value)
    n = sum(score.n for score in scores)
    skipped = sum(score.skipped for score in scores)
    return Score(value, value - hypot(*below), value + hypot(*above), n, skipped)


NO_ANSWER = -1
TIE = -2
MIN_VOTES = 3
SAME = "all answers are the same label"


def cohen_kappa(ratings: Ints, n_labels: int) -> Score:
    """Agreement of two annotators on the items that both answered, beyond chance."""
    both = (ratings >= 0).all(axis=1)
    _need(int(both.sum()), "items that both answered")
    first, second = _commonest(ratings[both], n_labels)
    imagined = np.array([[first, first], [first, second]])
    return _scored(
        _pairs(ratings[both], n_labels),
        _pairs(imagined, n_labels),
        _cohen,
        skipped=int((~both).sum()),
        same="both gave one and the same label throughout",
    )


def fleiss_kappa(ratings: Ints, n_labels: int) -> Score:
    """Agreement of several annotators on the items that got equally many answers."""
    n_answers = (ratings >= 0).sum(axis=1)
    usual = _usual(n_answers)
    used = n_answers == usual
    _need(int(used.sum()), "items that got two or more answers")
    imagined = _imagined(ratings[used], n_labels, usual)
    return _scored(
        _fleiss_parts(_counts(ratings[used], n_labels)),
        _fleiss_parts(imagined),
        _fleiss,
        skipped=int((~used).sum()),
        same=SAME,
    )


def krippendorff_alpha(ratings: Ints, n_labels: int) -> Score:
    """Agreement of several annotators on nominal labels; answers may be missing."""
    counts = _counts(ratings, n_labels)
    used = counts.sum(axis=1) >= 2
    _need(int(used.sum()), "items that got two or more answers")
    imagined = _imagined(ratings[used], n_labels, _usual((ratings >= 0).sum(axis=1)))
    return _scored(
        _coincidences(counts[used]),
        _coincidences(imagined),
        _alpha,
        skipped=int((~used).sum()),
        same=SAME,
    )


def majority(ratings: Ints, n_labels: int) -> Ints:
    """The label with the most votes for each item: `TIE` where two or more share the first place,
    `NO_ANSWER` below three votes.

    >>> majority(np.array([[0, 0, 1], [0, 1, 2], [0, 0, -1]]), 3).tolist()
    [0, -2, -1]
    """
    counts = _counts(ratings, n_labels)
    first = counts.max(axis=1)
    is_tie = (counts == first[:, None]).sum(axis=1) > 1
    winner = np.where(is_tie, TIE, counts.argmax(axis=1))
    return np.where(counts.sum(axis=1) < MIN_VOTES, NO_ANSWER, winner).astype(np.int64)


def _need(n_items: int, what: str) -> None:
    if n_items < 2:
        raise NothingToMeasure(f"{n_items} {what}; 2 or more are needed")


def _usual(n_answers: Ints) -> int:
    """The number of answers, two or more, that most items got; of equals the larger one."""
    frequent = np.bincount(n_answers[n_answers >= 2], minlength=3)
    return int(len(frequent) - 1 - frequent[::-1].argmax())


def _counts(ratings: Ints, n_labels: int) -> Floats:
    """How often each label was given, one row per item."""
    counts = [(ratings == label).sum(axis=1) for label in range(n_labels)]
    return np.stack(counts, axis=1).astype(np.float64)


def _pairs(ratings: Ints, n_labels: int) -> Floats:
    """One table (first × second annotator) per item, with a single 1 in it."""
    tables = np.zeros((len(ratings), n_labels, n_labels))
    tables[np.arange(len(ratings)), ratings[:, 0], ratings[:, 1]] = 1.0
    return tables


def _commonest(ratings: Ints, n_labels: int) -> tuple[int, int]:
    """The two labels given most often."""
    order = np.argsort(-_counts(ratings, n_labels).sum(axis=0), kind="stable").tolist()
    return order[0], order[min(1, n_labels - 1)]


def _imagined(ratings: Ints, n_labels: int, n_answers: int) -> Floats:
    """Counts of two imagined items: one that all agree on, one that they are split over."""
    first, second = _commonest(ratings, n_labels)
    split = [first] * (n_answers - n_answers // 2) + [second] * (n_answers // 2)
    return _counts(np.array([[first] * n_answers, split]), n_labels)


def _fleiss_parts(counts: Floats) -> Floats:
    """Shares of the labels and, last, the share of agreeing pairs, one row per item."""
    n = counts.sum(axis=1, keepdims=True)
    agreeing = ((counts**2).sum(axis=1, keepdims=True) - n) / (n * (n - 1))
    return np.concatenate([counts / n, agreeing], axis=1)


def _coincidences(counts: Floats) -> Floats:
    """One table (label × label) per item: the pairs of its answers, each answer counting once."""
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None])


def _scored(
    parts: Floats,
    imagined: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    skipped: int,
    same: str,
) -> Score:
    """A statistic of sums over items, with its interval (imagined items join the resampling);
    `same` is the reason if it is undefined.
    """
    value = float(statistic(parts.sum(axis=0)[None])[0])
    if np.isnan(value):
        raise NothingToMeasure(f"{same}, so agreement by chance is certain")
    low, high = resampled_sums(np.concatenate([parts, imagined]), statistic)
    return Score(value, min(low, value), max(high, value), len(parts), skipped)


def _beyond(observed: Floats, expected: Floats) -> Floats:
    """Agreement beyond chance; NaN where chance alone always agrees."""
    room = np.where(np.isclose(expected, 1.0, rtol=0, atol=1e-12), np.nan, 1 - expected)
    return np.asarray((observed - expected) / room)


def _cohen(tables: Floats) -> Floats:
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    expected = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    return _beyond(np.trace(shares, axis1=1, axis2=2), expected)


def _fleiss(parts: Floats) -> Floats:
    n_items = parts[:, :-1].sum(axis=1, keepdims=True)
    observed = (parts[:, -1:] / n_items)[:, 0]
    expected = ((parts[:, :-1] / n_items) ** 2).sum(axis=1)
    return _beyond(observed, expected)


def _alpha(coincidences: Floats) -> Floats:
    totals = coincidences.sum(axis=2)
    n = totals.sum(axis=1)
    disagreed = n - np.trace(coincidences, axis1=1, axis2=2)
    expected = (n**2 - (totals**2).sum(axis=1)) / (n - 1)
    is_zero = np.isclose(expected, 0.0, rtol=0, atol=1e-9)
    return np.asarray(1 - disagreed / np.where(is_zero, np.nan, expected))


ALL = "all"
MAJORITY = "majority"
MODEL = "model"
PERTURBED = "perturbed"


@dataclass(frozen=True, eq=False)
class Ratings:
    """The answers that count, as label numbers (items × annotators), −1 where there is none."""

    task: HumanTask
    key: list[ItemKey]
    annotators: list[str]
    answers: list[HumanAnswer]
    table: Ints

    @cached_property
    def gold(self) -> Ints:
        """The gold labels."""
        return np.array([self.task.labels.index(entry.gold) for entry in self.key])

    @cached_property
    def model(self) -> Ints | None:
        """The model's predictions for the same texts; None where there are none."""
        if self.task.kind != "label" or any(entry.model_answer is None for entry in self.key):
            return None
        return np.array([self.task.labels.index(str(entry.model_answer)) for entry in self.key])

    @cached_property
    def votes(self) -> Ints:
        """The majority label of each item; see `agreement.majority`."""
        return majority(self.table, self.n_labels)

    @property
    def n_labels(self) -> int:
        """How many answers there are to choose from."""
        return len(self.task.labels)

    @property
    def evaluators(self) -> list[str]:
        """Each annotator; all together and their majority where there are enough."""
        names = list(self.annotators)
        if len(self.annotators) > 1:
            names.append(ALL)
        if len(self.annotators) >= MIN_VOTES:
            names.append(MAJORITY)
        return names

    def of(self, evaluator: str) -> Ints:
        """The answers of one evaluator: items × 1, or × annotators for all; negative for none."""
        if evaluator == ALL:
            return self.table
        if evaluator == MAJORITY:
            return self.votes[:, None]
        if evaluator == MODEL:
            assert self.model is not None
            return self.model[:, None]
        return self.table[:, [self.annotators.index(evaluator)]]

    def groups(self) -> Iterator[tuple[str, str, Bools]]:
        """The parts that scores are split by: transformation, group, and its items."""
        names = np.array([entry.transformation for entry in self.key])
        everything = np.ones(len(self.key), dtype=bool)
        yield ALL, "all", everything
        for column in ("set", "length"):
            values = np.array([str(getattr(entry, column)) for entry in self.key])
            for value in sorted(set(values.tolist()) - {"None"}):
                yield ALL, f"{column}={value}", values == value
        if len(set(names.tolist())) > 1:
            for name in sorted(set(names.tolist()), key=lambda name: (name != ORIGINAL, name)):
                yield name, "all", names == name
            if ORIGINAL in names:
                yield PERTURBED, "all", names != ORIGINAL


def read_ratings(folder: Path) -> Ratings:
    """Read the answers of a task folder together with its key."""
    task = read_task(folder)
    key = read_key(folder)
    answers = AnswerStore(folder).answers()
    if not answers:
        raise NothingToMeasure(
            f"{folder} holds no answers yet; collect some with: disorder human serve {folder}"
        )
    _check_key(folder, task, key)
    # those with a personal link in their order, then the others by name
    invited = [annotator.name for annotator in read_annotators(folder)]
    answered = {answer.annotator for answer in answers}
    annotators = [name for name in invited if name in answered] + sorted(answered - set(invited))
    row_of = {entry.item: i for i, entry in enumerate(key)}
    table = np.full((len(key), len(annotators)), NO_ANSWER, dtype=np.int64)
    for answer in answers:
        if answer.item not in row_of or answer.answer not in task.labels:
            raise BadData(
                f"{folder}: the answer {answer.answer!r} to {answer.item!r} "
                "does not belong to this task"
            )
        column = annotators.index(answer.annotator)
        table[row_of[answer.item], column] = task.labels.index(answer.answer)
    return Ratings(task, key, annotators, answers, table)


def _check_key(folder: Path, task: HumanTask, key: Sequence[ItemKey]) -> None:
    for entry in key:
        named = {entry.gold, entry.model_answer or entry.gold}
        if task.kind == "label" and not named <= set(task.labels):
            raise BadData(
                f"{folder}: the key of {entry.item} names a label that task.json does not have"
            )
    if len({entry.item for entry in key}) != task.n_items:
        raise BadData(f"{folder}: the key has {len(key):,} items, task.json says {task.n_items:,}")


def right_share(answers: Ints, gold: Ints) -> tuple[Floats, Bools]:
    """For each item the share of its answers that are right, and whether it has any answer."""
    n_answers = (answers >= 0).sum(axis=1)
    n_right = (answers == gold[:, None]).sum(axis=1)
    return n_right / np.maximum(n_answers, 1), n_answers > 0
