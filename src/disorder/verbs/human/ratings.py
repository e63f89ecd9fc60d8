"""Who answered what? Answers and key as arrays: items × annotators, and which items belong to which
group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from disorder.errors import BadData, NothingToMeasure
from disorder.types import Bools, Floats, Ints
from disorder.verbs.human.agreement import MIN_VOTES, NO_ANSWER, majority
from disorder.verbs.human.store import Answer, Store
from disorder.verbs.human.task import WHOLE, HumanTask, Key, read_annotators, read_key, read_task

ALL, MAJORITY, MODEL, BROKEN = "all", "majority", "model", "perturbed"


@dataclass(frozen=True, eq=False)
class Ratings:
    """The answers that count, as label numbers: one row an item, one column an annotator, −1 where
    there is none.
    """

    task: HumanTask
    key: list[Key]
    annotators: list[str]
    answers: list[Answer]
    table: Ints

    @cached_property
    def gold(self) -> Ints:
        """What the items should get."""
        return np.array([self.task.labels.index(entry.gold) for entry in self.key])

    @cached_property
    def model(self) -> Ints | None:
        """What the model said to the same texts; None where no model was asked this."""
        if self.task.kind != "label" or any(entry.model_answer is None for entry in self.key):
            return None
        return np.array([self.task.labels.index(str(entry.model_answer)) for entry in self.key])

    @cached_property
    def votes(self) -> Ints:
        """The majority of each item; see `agreement.majority`."""
        return majority(self.table, self.n_labels)

    @property
    def n_labels(self) -> int:
        """How many answers there are to choose from."""
        return len(self.task.labels)

    @property
    def evaluators(self) -> list[str]:
        """Each annotator; all together and their majority where there are enough."""
        n = len(self.annotators)
        return [
            *self.annotators,
            *([ALL] if n > 1 else []),
            *([MAJORITY] if n >= MIN_VOTES else []),
        ]

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
        """SampleParts of the items that scores are split by: transformation, group, and which items are
        in it.
        """
        names = np.array([entry.transformation for entry in self.key])
        everything = np.ones(len(self.key), dtype=bool)
        yield ALL, "all", everything
        for column in ("set", "length"):
            values = np.array([str(getattr(entry, column)) for entry in self.key])
            for value in sorted(set(values.tolist()) - {"None"}):
                yield ALL, f"{column}={value}", values == value
        if len(set(names.tolist())) > 1:
            for name in sorted(set(names.tolist()), key=lambda name: (name != WHOLE, name)):
                yield name, "all", names == name
            if WHOLE in names:
                yield BROKEN, "all", names != WHOLE


def read_ratings(folder: Path) -> Ratings:
    """The answers of a task folder beside its key."""
    task, key, answers = read_task(folder), read_key(folder), Store(folder).answers()
    if not answers:
        raise NothingToMeasure(
            f"{folder} holds no answers yet; collect some with: disorder human serve {folder}"
        )
    _check(folder, task, key)
    invited = [annotator.name for annotator in read_annotators(folder)]
    gave = {answer.annotator for answer in answers}
    names = [name for name in invited if name in gave] + sorted(gave - set(invited))
    rows, columns = (
        {name: i for i, name in enumerate(x)} for x in ([entry.item for entry in key], names)
    )
    table = np.full((len(key), len(names)), NO_ANSWER, dtype=np.int64)
    for answer in answers:
        if answer.item not in rows or answer.answer not in task.labels:
            raise BadData(
                f"{folder}: the answer {answer.answer!r} to {answer.item!r} does not belong to this task"
            )
        table[rows[answer.item], columns[answer.annotator]] = task.labels.index(answer.answer)
    return Ratings(task, key, names, answers, table)


def _check(folder: Path, task: HumanTask, key: list[Key]) -> None:
    for entry in key:
        if (
            not {entry.gold, entry.model_answer or entry.gold} <= set(task.labels)
            and task.kind == "label"
        ):
            raise BadData(
                f"{folder}: the key of {entry.item} names a label that task.json does not have"
            )
    if len({entry.item for entry in key}) != task.n_items:
        raise BadData(f"{folder}: the key has {len(key):,} items, task.json says {task.n_items:,}")


def right_share(answers: Ints, gold: Ints) -> tuple[Floats, Bools]:
    """For each item the share of its answers that are right, and whether it has any answer."""
    given = answers >= 0
    n = given.sum(axis=1)
    return ((answers == gold[:, None]).sum(axis=1) / np.maximum(n, 1)), n > 0
