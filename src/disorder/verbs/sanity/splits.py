"""What is trained on, and what is asked? A training split where there is one, else parts of the
data in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from disorder import data as data_stage
from disorder.errors import BadData, BadSetting
from disorder.metrics.statistics.intervals import Z
from disorder.randomness import digest
from disorder.runs.settings import Settings
from disorder.types import Dataset, Example, Ints
from disorder.verbs.selected_data import selected_data

FOLDS = 5
LIMIT = 5000
SHARE = 0.4  # of the training rows are asked, if they are enough
LARGEST = (
    0.2  # share of the rows that may have one first text before these rows are dealt out one by one
)
TRAIN_ONLY = -1
Key = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that models are trained on and asked: row i is asked by the model that never saw
    part `fold[i]`.

    Rows of part −1 are only trained on. `data` and `train` are all that was read, before any limit.
    """

    data: Dataset
    train: Dataset | None
    examples: Sequence[Example]
    fold: Ints
    design: str
    notes: Sequence[str]

    @property
    def asked(self) -> Ints:
        """The rows that are asked."""
        return np.flatnonzero(self.fold != TRAIN_ONLY)

    @property
    def folds(self) -> list[int]:
        """The parts that are asked, one after the other."""
        return [int(part) for part in np.unique(self.fold[self.asked])]

    @cached_property
    def cluster(self) -> Ints:
        """A number for each row that is asked, the same for rows that are not independent; −1 for
        the others.
        """
        asked = self.asked
        numbers: dict[Key, int] = {}
        keys = _keys([self.examples[i] for i in asked.tolist()])
        found = np.full(len(self.examples), TRAIN_ONLY)
        found[asked] = [numbers.setdefault(key, len(numbers)) for key in keys]
        return found


def rows_of(
    data: Any,
    train: Any,
    *,
    folds: int | None,
    limit: int | None,
    margin: float,
    settings: Settings,
) -> Rows:
    """Read the data, find its training split, and deal out the rows."""
    if folds is not None and folds < 2:
        raise BadSetting("sanity", folds=folds, need="2 or more")
    asked = selected_data(data, settings)
    found = train if train is not None else data_stage.train_spec(data, settings.data_dir)
    learned = None if found is None else selected_data(found, settings)
    if learned is not None:
        _check_same_task(learned, asked)
    limit = LIMIT if limit is None else limit
    enough = ceil(
        (Z / margin) ** 2
    )  # so many that the interval of any share is no wider than the margin
    if (
        learned is not None
        and folds is None
        and (train is not None or len(asked.examples) >= enough)
    ):
        return _split(asked, learned, limit, enough, settings.seed)
    notes = []
    if learned is not None and folds is None:
        notes = [
            f"{asked.name} has {len(asked.examples):,} rows; for intervals as narrow as the margin {enough:,} are needed: "
            f"it is cross-fitted together with {learned.name}"
        ]
    return _dealt(asked, learned, folds or FOLDS, limit, settings.seed, notes)


def _check_same_task(train: Dataset, data: Dataset) -> None:
    """Raise unless one can be learned from the other."""
    if (
        set(data.task.labels) - set(train.task.labels)
        or train.task.is_regression != data.task.is_regression
    ):
        theirs, ours = (", ".join(each.task.labels) or "numbers" for each in (train, data))
        raise BadData(f"--train {train.name} has other labels ({theirs}) than {data.name} ({ours})")
    if (train.examples[0].text_b is None) != (data.examples[0].text_b is None):
        raise BadData(
            f"--train {train.name} and {data.name}: one has pairs of texts, the other single texts"
        )


def _split(data: Dataset, train: Dataset, limit: int, enough: int, seed: int) -> Rows:
    data = replace(data, task=train.task)
    learned, asked = (
        _drawn(train.examples, limit, seed),
        _drawn(data.examples, max(enough, ceil(SHARE * limit)), seed),
    )
    fold = np.array([TRAIN_ONLY] * len(learned) + [0] * len(asked))
    examples = [replace(e, id=f"train {e.id}") for e in learned] + list(asked)
    design = f"trained on {len(learned):,} rows of {train.name}, asked {len(asked):,} rows of {data.name}"
    return Rows(data, train, examples, fold, design, [])


def _dealt(
    data: Dataset, train: Dataset | None, folds: int, limit: int, seed: int, notes: Sequence[str]
) -> Rows:
    both = list(data.examples)
    if train is not None:
        data = replace(data, task=train.task)
        both += [replace(e, id=f"train {e.id}") for e in train.examples]
    examples = _drawn(both, limit, seed)
    keys = _keys(examples)
    folds = max(1, min(folds, len(set(keys))))
    fold = _parts(keys, folds, seed)
    with_train = f" and {train.name}" if train is not None else ""
    drawn = f"{len(examples):,} rows of {data.name}{with_train}"
    design = f"cross-fitted: {drawn} in {folds} parts, each asked by a model of the others"
    return Rows(data, train, examples, fold, design, [*notes, *_frequent_notes(examples)])


def _keys(examples: Sequence[Example]) -> list[Key]:
    """What rows must share to stay together: their first text, unless it is so frequent that it
    tells nothing of them.
    """
    frequent = _frequent(examples)
    return [("row", e.id) if e.text_a in frequent else ("text", e.text_a) for e in examples]


def _frequent(examples: Sequence[Example]) -> dict[str, int]:
    """First texts that more than a fifth of the rows have, with how many."""
    counts = Counter(e.text_a for e in examples)
    return {text: n for text, n in counts.items() if n > max(1, LARGEST * len(examples))}


def _frequent_notes(examples: Sequence[Example]) -> list[str]:
    """A line for each text that does not keep its rows together."""
    return [
        f"{n:,} rows have the first text {text[:40]!r}: they count as independent, in training and test"
        for text, n in _frequent(examples).items()
    ]


def _parts(keys: Sequence[Key], folds: int, seed: int) -> Ints:
    """Rows that share a key stay together, so that no premise is learned and asked: most rows
    first, to the smallest part.
    """
    sizes, filled, part = Counter(keys), [0] * folds, {}
    for key in sorted(sizes, key=lambda key: (-sizes[key], digest(seed, "sanity", "fold", *key))):
        part[key] = filled.index(min(filled))
        filled[part[key]] += sizes[key]
    return np.array([part[key] for key in keys])


def _drawn(examples: Sequence[Example], limit: int, seed: int) -> list[Example]:
    """At most so many, drawn by seed whatever the order of the rows."""
    if len(examples) <= limit:
        return list(examples)
    return sorted(examples, key=lambda example: digest(seed, "limit", example.id))[:limit]
