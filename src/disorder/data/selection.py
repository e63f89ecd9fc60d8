"""Selection: which examples are used, in which order and groups, whatever the order of the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from disorder.data.reading import read_data
from disorder.errors import DisorderError, option
from disorder.languages import AUTO, UNSPACED_LANGUAGES, segments
from disorder.randomness import digest
from disorder.types import Bools, Dataset, Example

MAX_GROUPS = 100
ENOUGH = 20  # examples before a label counts as rare


def select(
    data: Any,
    *,
    columns: Mapping[str, str] | str | None = None,
    data_dir: str | Path | None = None,
    task: str | None = None,
    language: str = AUTO,
    group_by: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    is_shuffled: bool = False,
) -> Dataset:
    """A dataset, with at most `limit` of its examples, drawn at random by `seed`.

    `data` is a `Dataset`, or what `read_data` takes, with the same settings. Examples are sorted by
    id; `is_shuffled` puts them in random order, so that any first part of them is a random one.
    """
    dataset = data
    if isinstance(data, Dataset):
        named = None if language == AUTO else language
        _check_unread(columns=columns, task=task, language=named, group_by=group_by)
    else:
        dataset = read_data(
            data,
            columns=columns,
            data_dir=data_dir,
            task=task,
            language=language,
            group_by=group_by,
        )

    def key(example: Example) -> bytes | str:
        return digest(seed, "order", example.id) if is_shuffled else example.id

    ordered = replace(dataset, examples=sorted(dataset.examples, key=key))
    selected = _limited(ordered, limit, seed)
    _check_groups(selected)
    return selected


def _check_unread(**given: object) -> None:
    """Raise on a setting of reading where the data was read already."""
    for name, value in given.items():
        if value:
            raise DisorderError(
                f"{name}={value!r} is for reading data, and this is a Dataset, which was read "
                f"already: read_data(…, {name}=…)"
            )


def vocabulary(dataset: Dataset) -> list[str]:
    """The words of letters in the data, in alphabetical order; Chinese ones by character."""
    texts = (text for example in dataset.examples for text in example.texts if text)
    words = partial(_words_of, language=dataset.task.language)
    return sorted({found.lower() for text in texts for found in words(text)})


def _words_of(text: str, *, language: str) -> list[str]:
    if language == "zh":
        return re.findall(r"[^\W\d_]", text)
    if language not in UNSPACED_LANGUAGES:
        return re.findall(r"[^\W\d_]+", text)
    bounds = segments(text, "word")
    pieces = (text[i:j] for i, j in pairwise(bounds))
    return [piece for piece in pieces if piece[0].isalpha()]


def rare_labels(dataset: Dataset) -> list[str]:
    """A warning for each label that so few examples have that it may be a typo."""
    counts = Counter(example.label for example in dataset.examples)
    n = len(dataset.examples)
    if dataset.task.is_regression or n < ENOUGH:
        return []
    return [
        f"label {label!r} stands in {count} of {n:,} examples only; typo?"
        for label, count in sorted(counts.items())
        if count <= max(1, n // 200)
    ]


def drawing_key(seed: int, id: str) -> bytes:
    """Examples are drawn in the order of this key, whatever the order of the rows."""
    return digest(seed, "limit", id)


def _limited(dataset: Dataset, limit: int | None, seed: int) -> Dataset:
    """A random part of the data, the same whatever the order of its rows."""
    if limit is None or limit >= len(dataset.examples):
        return dataset
    by_key = sorted(dataset.examples, key=lambda example: drawing_key(seed, example.id))
    kept = {example.id for example in by_key[:limit]}
    examples = [example for example in dataset.examples if example.id in kept]
    n_left_out = len(dataset.examples) - limit
    skipped = {**dataset.skipped, "not drawn (--limit)": n_left_out}
    return replace(dataset, examples=examples, skipped=skipped)


def _check_groups(dataset: Dataset) -> None:
    """Raise where a column to split scores by has too many values."""
    for column in dataset.examples[0].groups:
        n_values = len({example.groups[column] for example in dataset.examples})
        if n_values > MAX_GROUPS:
            raise DisorderError(
                f"{option('group_by', column)}: it has {n_values:,} values; {MAX_GROUPS} at most"
            )


def groups(
    used: Sequence[Example], everything: Sequence[Example]
) -> Iterator[tuple[str, Bools, int]]:
    """Each group: its name, which of the used examples are in it, and its size in all the data."""
    yield "all", np.ones(len(used), dtype=bool), len(everything)
    for column in everything[0].groups:
        counts = Counter(example.groups[column] for example in everything)
        for value in sorted(counts):
            mask = np.array([example.groups[column] == value for example in used], dtype=bool)
            if mask.any():
                yield f"{column}={value}", mask, counts[value]
