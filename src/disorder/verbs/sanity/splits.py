"""Splits: which rows are trained on and which are tested.

A training split where there is one; otherwise the rows are dealt into parts, and each part is
predicted by a model trained on the others. scikit-learn's GroupKFold also keeps groups together,
but deals by the order of rows; here the seed and the texts alone decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from disorder.data import train_spec
from disorder.errors import BadData
from disorder.metrics.statistics.intervals import Z
from disorder.randomness import digest
from disorder.runs.settings import Settings
from disorder.types import Dataset, Example, Ints
from disorder.verbs.selected_data import selected_data

FOLDS = 5
LIMIT = 5000
TEST_SHARE = 0.4  # test rows per training row, if those are enough
FREQUENT = 0.2  # share of rows with one first text from which they are dealt out one by one
TRAIN_ONLY = -1
ClusterKey = tuple[str, str]


@dataclass(frozen=True, eq=False)
class DatasetRows:
    """The rows that models are trained and tested on.

    Row i is predicted by the model that never saw part `fold[i]`; rows of part −1 are only trained
    on. `data` and `train` are all that was read, before any limit; `design` says in words which
    rows are used how.
    """

    data: Dataset
    train: Dataset | None
    examples: Sequence[Example]
    fold: Ints
    design: str
    notes: Sequence[str]

    @property
    def tested(self) -> Ints:
        """The numbers of the rows that are tested."""
        return np.flatnonzero(self.fold != TRAIN_ONLY)

    @property
    def folds(self) -> list[int]:
        """The parts that are tested."""
        return [int(part) for part in np.unique(self.fold[self.tested])]

    @cached_property
    def cluster(self) -> Ints:
        """A number per tested row, the same for rows that are not independent; else −1."""
        tested = self.tested
        numbers: dict[ClusterKey, int] = {}
        keys = _cluster_keys([self.examples[row] for row in tested.tolist()])
        found = np.full(len(self.examples), TRAIN_ONLY)
        found[tested] = [numbers.setdefault(key, len(numbers)) for key in keys]
        return found


def read_rows(
    data: Any,
    train: Any,
    *,
    folds: int | None,
    limit: int | None,
    margin: float,
    settings: Settings,
) -> DatasetRows:
    """Read the data, find its training split, and decide which rows are trained on and tested."""
    test_set = selected_data(data, settings)
    train_source = train_spec(data, settings.data_dir) if train is None else train
    train_set = None if train_source is None else selected_data(train_source, settings)
    limit = LIMIT if limit is None else limit
    if train_set is None:
        return _deal(test_set, None, folds or FOLDS, limit, settings.seed)
    _check_same_task(train_set, test_set)
    # With so many rows the interval of any share is no wider than the margin.
    enough = ceil((Z / margin) ** 2)
    if folds is None and (train is not None or len(test_set.examples) >= enough):
        return _split(test_set, train_set, limit, enough, settings.seed)
    dealt = _deal(test_set, train_set, folds or FOLDS, limit, settings.seed)
    if folds is not None:
        return dealt
    note = (
        f"{test_set.name} has {len(test_set.examples):,} rows; for intervals as narrow as the "
        f"margin {enough:,} are needed: it is cross-fitted together with {train_set.name}"
    )
    return replace(dealt, notes=[note, *dealt.notes])


def _check_same_task(train: Dataset, data: Dataset) -> None:
    """Raise unless a model of one can be tested on the other."""
    is_known = set(data.task.labels) <= set(train.task.labels)
    if not is_known or train.task.is_regression != data.task.is_regression:
        theirs, ours = (", ".join(each.task.labels) or "numbers" for each in (train, data))
        raise BadData(f"--train {train.name} has other labels ({theirs}) than {data.name} ({ours})")
    if (train.examples[0].text_b is None) != (data.examples[0].text_b is None):
        raise BadData(
            f"--train {train.name} and {data.name}: one has pairs of texts, the other single texts"
        )


def _split(data: Dataset, train: Dataset, limit: int, enough: int, seed: int) -> DatasetRows:
    """Train on one split, test on the other."""
    data = replace(data, task=train.task)
    learned = _draw(train.examples, limit, seed)
    tested = _draw(data.examples, max(enough, ceil(TEST_SHARE * limit)), seed)
    fold = np.array([TRAIN_ONLY] * len(learned) + [0] * len(tested))
    design = (
        f"trained on {len(learned):,} rows of {train.name}, "
        f"tested on {len(tested):,} rows of {data.name}"
    )
    return DatasetRows(data, train, [*_marked(learned), *tested], fold, design, [])


def _deal(data: Dataset, train: Dataset | None, folds: int, limit: int, seed: int) -> DatasetRows:
    """Deal all rows into parts, each predicted by a model trained on the others."""
    everything = list(data.examples)
    names = data.name
    if train is not None:
        data = replace(data, task=train.task)
        everything += _marked(train.examples)
        names = f"{data.name} and {train.name}"
    examples = _draw(everything, limit, seed)
    keys = _cluster_keys(examples)
    folds = max(1, min(folds, len(set(keys))))
    design = (
        f"cross-fitted: {len(examples):,} rows of {names} in {folds} parts, "
        "each predicted by a model trained on the others"
    )
    fold = _parts(keys, folds, seed)
    return DatasetRows(data, train, examples, fold, design, _frequent_notes(examples))


def _marked(examples: Sequence[Example]) -> list[Example]:
    """Training rows under ids that no test row has."""
    return [replace(example, id=f"train {example.id}") for example in examples]


def _cluster_keys(examples: Sequence[Example]) -> list[ClusterKey]:
    """What rows must share to stay together: their first text, unless it is very frequent."""
    frequent = _frequent_texts(examples)
    return [
        ("row", example.id) if example.text_a in frequent else ("text", example.text_a)
        for example in examples
    ]


def _frequent_texts(examples: Sequence[Example]) -> dict[str, int]:
    """First texts that more than a fifth of the rows have, with how many."""
    counts = Counter(example.text_a for example in examples)
    most = max(1, FREQUENT * len(examples))
    return {text: n for text, n in counts.items() if n > most}


def _frequent_notes(examples: Sequence[Example]) -> list[str]:
    """A line for each text that does not keep its rows together."""
    return [
        f"{n:,} rows have the first text {text[:40]!r}: they count as independent, in training "
        "and test"
        for text, n in _frequent_texts(examples).items()
    ]


def _parts(keys: Sequence[ClusterKey], folds: int, seed: int) -> Ints:
    """A part for each row: the most frequent key first, each to the smallest part.

    Rows that share a key stay together, so that no premise is both trained on and tested.
    """
    sizes = Counter(keys)
    filled = [0] * folds
    part_of: dict[ClusterKey, int] = {}
    for key in sorted(sizes, key=lambda key: (-sizes[key], digest(seed, "sanity", "fold", *key))):
        smallest = filled.index(min(filled))
        part_of[key] = smallest
        filled[smallest] += sizes[key]
    return np.array([part_of[key] for key in keys])


def _draw(examples: Sequence[Example], limit: int, seed: int) -> list[Example]:
    """At most so many rows, drawn by seed whatever their order."""
    if len(examples) <= limit:
        return list(examples)
    return sorted(examples, key=lambda example: digest(seed, "limit", example.id))[:limit]
