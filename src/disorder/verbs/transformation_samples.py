"""The samples of one transformation as an array: examples × variants × labels, filled part by part
as an audit predicts them, or as a run folder holds them.

In memory, or in a temporary file where it would be large; so only one transformation is ever held.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from disorder.errors import BadData, DisorderError, DoesNotApply, option
from disorder.safe_io import one_line
from disorder.store.samples import no_answers_of, predictions_of, storable
from disorder.transformations import Transformation
from disorder.transformations.surface_control import SAME_AS_ORIGINAL
from disorder.types import (
    ORIGINAL,
    Bools,
    Example,
    Floats,
    Ints,
    Outcomes,
    Task,
    Variants,
    shows_probabilities,
)
from disorder.types.predictions import predicted_label
from disorder.verbs.outcomes import OutcomeFacts, build_outcomes, gold_of

LARGE = 64 * 1024**2  # bytes above which predictions are kept in a file
GB = 1024**3
PART = 256  # examples moved at a time


@dataclass(frozen=True)
class ExampleNumbers:
    """Examples, with their numbers by id as samples name them, and their gold labels."""

    examples: Sequence[Example]
    by_id: Mapping[str, int]
    gold: Floats | Ints
    n_labels: int  # 0: the gold labels are numbers

    @classmethod
    def of(cls, task: Task, examples: Sequence[Example]) -> ExampleNumbers:
        """Those of some examples."""
        by_id = {storable(example.id): i for i, example in enumerate(examples)}
        return cls(examples, by_id, gold_of(task, examples), len(task.labels))

    def __len__(self) -> int:
        return len(self.examples)

    def places(self, ids: Sequence[str]) -> Ints:
        """The numbers of the examples that samples name."""
        try:
            return np.array([self.by_id[name] for name in ids], dtype=np.int64)
        except KeyError as error:
            name = one_line(error.args[0])
            raise BadData(
                f"the samples name example {name!r}, which is not in examples.parquet"
            ) from None


@dataclass
class TransformationSamples:
    """What was predicted under one transformation (None: of the original texts) so far."""

    transformation: Transformation | None
    numbers: ExampleNumbers
    values: Floats  # examples × variants × labels, NaN where there is none
    used: Bools
    n_failed: Ints  # variants of each example that got no answer
    n_variants: Ints  # of each example, also those that were not predicted; 0 where unknown
    skips: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    n_done: int = 0
    n_predicted: int = 0
    n_right: int = 0
    has_probabilities: bool = False  # some prediction is neither 0 nor 1, or is no share at all

    @classmethod
    def empty(
        cls, transformation: Transformation | None, count: int, numbers: ExampleNumbers
    ) -> TransformationSamples:
        """Room for `count` variants of each example."""
        n = len(numbers)
        return cls(
            transformation,
            numbers,
            empty_array((n, count, max(1, numbers.n_labels))),
            np.zeros(n, dtype=bool),
            np.zeros(n, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.used)

    @property
    def spec(self) -> str:
        """The transformation as run files name it."""
        return ORIGINAL if self.transformation is None else self.transformation.spec

    def add(self, table: pa.Table, skips: Mapping[str, int], n_examples: int) -> Ints:
        """Enter the samples of some examples; gives the numbers of those that were answered."""
        places, values = self._enter(table)
        is_answered = ~np.isnan(values[:, 0])
        self.used[places[is_answered]] = True
        np.add.at(self.n_failed, places[~is_answered], 1)
        self.n_variants[places] = table["n_variants"].fill_null(0).to_numpy()
        self.failures.update(no_answers_of(table))
        self.skips.update(skips)
        self.n_done += n_examples
        self.n_predicted += int(is_answered.sum())
        if not self.has_probabilities:
            self.has_probabilities = self.numbers.n_labels < 2 or shows_probabilities(values)
        if self.numbers.n_labels:
            gold = self.numbers.gold[places]
            self.n_right += int((predicted_label(values) == gold).sum())
        return np.unique(places[is_answered])

    def _enter(self, table: pa.Table) -> tuple[Ints, Floats]:
        """The rows of a table, put where they belong."""
        ids, variants, values = predictions_of(table)
        places = self.numbers.places(ids)
        self.values[places, variants] = values
        return places, values

    def release(self) -> None:
        """Forget the predictions, which are on disk; counts stay."""
        self.values = np.empty((0, *self.values.shape[1:]), dtype=np.float32)

    def restore(self, tables: Iterable[pa.Table]) -> None:
        """Enter the predictions again."""
        self.values = empty_array((len(self), *self.values.shape[1:]))
        for table in tables:
            self._enter(table)

    def cut(self, numbers: ExampleNumbers) -> None:
        """Leave out all examples but the first ones."""
        n = len(numbers)
        self.numbers = numbers
        self.values = self.values[:n]
        self.used = self.used[:n]
        self.n_failed = self.n_failed[:n]
        self.n_variants = self.n_variants[:n]

    def enter_unchanged(
        self, original: Floats, perturbed: Callable[[Example], Variants], start: int = 0
    ) -> None:
        """Enter, in samples of surface controls, the prediction for the original text where the two
        texts are the same, so that nothing was predicted again; from example number `start` on.
        """
        is_open = np.isnan(self.values[start:, 0, 0]) & ~np.isnan(original[start:, 0])
        for i in (start + np.flatnonzero(is_open)).tolist():
            try:
                perturbed(self.numbers.examples[i])
            except DoesNotApply as reason:
                if str(reason) == SAME_AS_ORIGINAL:
                    self.values[i, 0] = original[i]
                    self.used[i] = True

    def outcomes(
        self,
        original: Floats,
        chosen: Ints,
        facts: OutcomeFacts,
        *,
        is_last: bool = False,
        n_skipped: int = 0,
        gives_probabilities: bool | None = None,
        control: Floats | None = None,
    ) -> Outcomes:
        """The outcomes of the examples with these numbers; `original` holds the predictions for
        the original texts of all, `control` those for their surface controls. `is_last` says that
        the array is not needed any more.
        """
        values = compacted(self.values, chosen) if is_last else self.values[chosen]
        n_planned = self.n_variants[chosen] - self.n_failed[chosen]
        return build_outcomes(
            facts,
            [self.numbers.examples[i] for i in chosen.tolist()],
            original[chosen],
            values,
            self.transformation,
            n_skipped=n_skipped,
            n_planned=n_planned if facts.is_curtailed and self.transformation else None,
            gives_probabilities=gives_probabilities,
            control=None if control is None else control[chosen],
            n_failed=self.n_failed[chosen],
        )

    @property
    def running_accuracy(self) -> str:
        """The accuracy so far, for the progress bar."""
        if not self.n_predicted or not self.numbers.n_labels:
            return ""
        return f"accuracy so far {self.n_right / self.n_predicted:.3f}"


def empty_array(shape: tuple[int, ...]) -> Floats:
    """An array for predictions, NaN so far."""
    n_bytes = 4 * int(np.prod(shape, dtype=np.int64))
    if n_bytes <= LARGE:
        return np.full(shape, np.nan, dtype=np.float32)
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if n_bytes > free:
        raise no_room(n_bytes, folder, f"there are {free / GB:.1f} free")
    try:
        with tempfile.TemporaryFile() as file:  # the mapping keeps the file alive
            _reserve(file.fileno(), n_bytes)
            array: Floats = np.memmap(file, dtype=np.float32, shape=shape)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise no_room(n_bytes, folder, str(why)) from None
    array[:] = np.nan
    return array


def _reserve(descriptor: int, n_bytes: int) -> None:
    """Take the room now: a mapped file that runs out of it later ends the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)
    else:
        os.truncate(descriptor, n_bytes)


def no_room(n_bytes: int, folder: str, why: str) -> DisorderError:
    """The line for predictions that there is no room for."""
    return DisorderError(
        f"the predictions of one transformation need {n_bytes / GB:.1f} GB in {folder} ({why}); "
        f"use fewer examples ({option('limit')}), a smaller {option('q')}, or set TMPDIR to a "
        "larger disk"
    )


def compacted(predictions: Floats, rows: Ints) -> Floats:
    """Some rows, in ascending order, moved up in place: a copy could be too large.

    >>> compacted(np.array([[1.0], [2.0], [3.0]]), np.array([0, 2])).tolist()
    [[1.0], [3.0]]
    """
    if len(rows) < len(predictions):
        # rows only move up, so that none is overwritten before it has moved
        for start in range(0, len(rows), PART):
            part = rows[start : start + PART]
            predictions[start : start + len(part)] = predictions[part]
    return predictions[: len(rows)]
