"""Answers and key as arrays: items × annotators, and which items belong to which group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from disorder.errors import BadData, NothingToMeasure
from disorder.types import ORIGINAL, Bools, Floats, Ints
from disorder.verbs.human.agreement import MIN_VOTES, NO_ANSWER, majority
from disorder.verbs.human.answer_store import AnswerStore, HumanAnswer
from disorder.verbs.human.task_folder import (
    HumanTask,
    ItemKey,
    read_annotators,
    read_key,
    read_task,
)

ALL = "all"
MAJORITY = "majority"
MODEL = "model"
PERTURBED = "perturbed"


@dataclass(frozen=True, eq=False)
class Ratings:
    """The answers that count, as label numbers: one row per item, one column per annotator, −1
    where there is none.
    """

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
        """The answers of one evaluator: items × 1, or × annotators for all of them; negative where
        there is none.
        """
        if evaluator == ALL:
            return self.table
        if evaluator == MAJORITY:
            return self.votes[:, None]
        if evaluator == MODEL:
            assert self.model is not None
            return self.model[:, None]
        return self.table[:, [self.annotators.index(evaluator)]]

    def groups(self) -> Iterator[tuple[str, str, Bools]]:
        """The parts of the task that scores are split by: transformation, group, and which items
        are in it.
        """
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
    annotators = _annotators(folder, answers)
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


def _annotators(folder: Path, answers: Sequence[HumanAnswer]) -> list[str]:
    """Who answered: those with a personal link in their order, then the others by name."""
    invited = [annotator.name for annotator in read_annotators(folder)]
    answered = {answer.annotator for answer in answers}
    return [name for name in invited if name in answered] + sorted(answered - set(invited))


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
