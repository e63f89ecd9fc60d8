"""Selection: which examples are used, in which order and groups, whatever the order of the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from disorder.data.reading import read_data
from disorder.errors import DisorderError
from disorder.randomness import digest
from disorder.runs.settings import Settings
from disorder.types import Bools, Dataset, Example

MAX_GROUPS = 100
ENOUGH = 20  # examples before a label counts as rare


def select(data: Any, settings: Settings) -> Dataset:
    """The dataset that an audit was asked for, limited and in order."""
    dataset = _limited(_ordered(data, settings), settings)
    _check_groups(dataset)
    return dataset


def vocabulary(dataset: Dataset) -> list[str]:
    """The words of the data in alphabetical order (characters, where words are not set apart)."""
    word = re.compile(r"[^\W\d_]" if dataset.task.language == "zh" else r"[^\W\d_]+")
    texts = (text for example in dataset.examples for text in example.texts if text)
    return sorted({found.lower() for text in texts for found in word.findall(text)})


def rare_labels(dataset: Dataset) -> list[str]:
    """A line for each label that so few examples have that it may be a typo."""
    counts, n = Counter(example.label for example in dataset.examples), len(dataset.examples)
    if dataset.task.is_regression or n < ENOUGH:
        return []
    return [
        f"label {label!r} stands in {count} of {n:,} examples only; typo?"
        for label, count in sorted(counts.items())
        if count <= max(1, n // 200)
    ]


def _ordered(data: Any, settings: Settings) -> Dataset:
    """The dataset, sorted by id; in random order where any part of it must be a random one."""
    dataset = (
        data
        if isinstance(data, Dataset)
        else read_data(
            data,
            columns=settings.columns,
            data_dir=settings.data_dir,
            task=settings.task,
            group_by=settings.group_by,
        )
    )

    def key(example: Example) -> bytes | str:
        return digest(settings.seed, "order", example.id) if settings.stop_when else example.id

    return replace(dataset, examples=sorted(dataset.examples, key=key))


def drawing_key(seed: int, id: str) -> bytes:
    """Examples are drawn in the order of this key, whatever the order of the rows."""
    return digest(seed, "limit", id)


def _limited(dataset: Dataset, settings: Settings) -> Dataset:
    """A random part of the data, the same whatever the order of its rows."""
    if settings.limit is None or settings.limit >= len(dataset.examples):
        return dataset
    drawn = sorted(dataset.examples, key=lambda example: drawing_key(settings.seed, example.id))[
        : settings.limit
    ]
    kept = {example.id for example in drawn}
    skipped = {**dataset.skipped, "not drawn (--limit)": len(dataset.examples) - len(drawn)}
    return replace(dataset, examples=[e for e in dataset.examples if e.id in kept], skipped=skipped)


def _check_groups(dataset: Dataset) -> None:
    """Refuse to split scores by a column with too many values."""
    for column in dataset.examples[0].groups:
        n_values = len({example.groups[column] for example in dataset.examples})
        if n_values > MAX_GROUPS:
            raise DisorderError(
                f"--group-by {column}: it has {n_values:,} values; {MAX_GROUPS} at most"
            )


def groups(
    used: Sequence[Example], everything: Sequence[Example]
) -> Iterator[tuple[str, Bools, int]]:
    """Each group with which used examples are in it, and how many examples it has in all."""
    yield "all", np.ones(len(used), dtype=bool), len(everything)
    for column in everything[0].groups:
        counts = Counter(example.groups[column] for example in everything)
        for value in sorted(counts):
            mask = np.array([example.groups[column] == value for example in used], dtype=bool)
            if mask.any():
                yield f"{column}={value}", mask, counts[value]
