"""Rows: which are trained on and which are tested, and each of them under a transformation.

A training split where there is one; otherwise the rows are dealt into parts, and each part is
predicted by a model trained on the others. Rows of one family stay together: scikit-learn's
GroupKFold does that too, but deals by the order of rows; here the seed and the texts alone decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from disorder.data import train_spec
from disorder.data.families import Families, find_families
from disorder.errors import BadData, DoesNotApply, option
from disorder.metrics.statistics.intervals import Z
from disorder.randomness import digest
from disorder.requests.settings import Settings
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Dataset, Example, Floats, Ints, Task, Texts, Variants
from disorder.verbs.selected_data import check_has_labels, selected_data

FOLDS = 5
LIMIT = 5000
TEST_SHARE = 0.4  # test rows per training row, if those are enough
TRAIN_ONLY = -1


@dataclass(frozen=True, eq=False)
class DatasetRows:
    """The rows that models are trained and tested on.

    Row i is predicted by the model that never saw part `fold[i]`; rows of part −1 are only trained
    on. `cluster` is the family of each tested row, which is what counts as independent; −1 for the
    others. `data` and `train` are all that was read; `design` says in words which rows are used
    how.
    """

    data: Dataset
    train: Dataset | None
    examples: Sequence[Example]
    fold: Ints
    cluster: Ints
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

    @property
    def n_families(self) -> int:
        """How many families the tested rows are of."""
        return len(np.unique(self.cluster[self.tested]))


def read_rows(
    data: Any,
    train: Any,
    *,
    folds: int | None,
    margin: float,
    settings: Settings,
    limit: int | None = None,
    train_limit: int | None = None,
) -> DatasetRows:
    """Read the data, find its training split, and decide which rows are trained on and tested."""
    test_set = selected_data(data, replace(settings, limit=limit))
    check_has_labels(test_set, "sanity")
    train_source = train_spec(data, settings.data_dir) if train is None else train
    train_set = None if train_source is None else selected_data(train_source, settings)
    most = LIMIT if train_limit is None else train_limit
    if train_set is None:
        said = [each for each in (limit, train_limit) if each is not None]
        return _deal(test_set, None, folds or FOLDS, min(said, default=LIMIT), settings.seed)
    _check_same_task(train_set, test_set)
    # With so many rows the interval of any share is no wider than the margin.
    enough = ceil((Z / margin) ** 2)
    is_said = train is not None or limit is not None
    if folds is None and (is_said or len(test_set.examples) >= enough):
        most_tested = limit or max(enough, ceil(TEST_SHARE * most))
        return _split(test_set, train_set, most_tested, most, settings.seed)
    dealt = _deal(test_set, train_set, folds or FOLDS, most, settings.seed)
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
        raise BadData(
            f"{option('train', train.name)} has other labels ({theirs}) than {data.name} ({ours})"
        )
    if train.examples[0].is_pair != data.examples[0].is_pair:
        raise BadData(
            f"{option('train', train.name)} and {data.name}: one has pairs of texts, the other "
            "single texts"
        )


def _split(
    data: Dataset, train: Dataset, most_tested: int, most_trained: int, seed: int
) -> DatasetRows:
    """Train on one split, test on the other."""
    data = replace(data, task=train.task)
    learned = _draw(train.examples, most_trained, seed)
    tested = _draw(data.examples, most_tested, seed)
    families = find_families(tested)
    only_trained = np.full(len(learned), TRAIN_ONLY)
    design = (
        f"trained on {len(learned):,} rows of {train.name}, "
        f"tested on {len(tested):,} rows of {data.name}{_in_families(families)}"
    )
    return DatasetRows(
        data,
        train,
        [*_marked(learned), *tested],
        np.append(only_trained, np.zeros(len(tested), dtype=np.int64)),
        np.append(only_trained, families.number),
        design,
        families.notes,
    )


def _deal(data: Dataset, train: Dataset | None, folds: int, most: int, seed: int) -> DatasetRows:
    """Deal rows into parts, each predicted by a model of the others; training rows fill up."""
    examples = _draw(data.examples, most, seed)
    names = data.name
    if train is not None:
        data = replace(data, task=train.task)
        examples += _draw(_marked(train.examples), most - len(examples), seed)
        names = f"{data.name} and {train.name}"
    families = find_families(examples)
    folds = max(1, min(folds, families.n))
    fold = _parts(families, examples, folds, seed)
    design = (
        f"cross-fitted: {len(examples):,} rows of {names} in {folds} parts, each predicted by a "
        f"model trained on the others{_in_families(families)}"
    )
    return DatasetRows(data, train, examples, fold, families.number, design, families.notes)


def _in_families(families: Families) -> str:
    """How many of the rows are independent, where not all are."""
    if families.n == len(families.number):
        return ""
    return f"; rows that share a text or most words of one count as one: {families.n:,} families"


def _marked(examples: Sequence[Example]) -> list[Example]:
    """Training rows under ids that no test row has."""
    return [replace(example, id=f"train {example.id}") for example in examples]


def _parts(families: Families, examples: Sequence[Example], folds: int, seed: int) -> Ints:
    """A part for each row: the largest family first, whole, each to the smallest part."""
    sizes = np.bincount(families.number).tolist()
    names: list[tuple[str, ...]] = [()] * families.n
    for number, example in zip(families.number.tolist(), examples, strict=True):
        name = (*(text or "" for text in example.texts), example.id)
        names[number] = min(names[number] or name, name)
    filled = [0] * folds
    part_of = [0] * families.n
    turns = sorted(
        range(families.n),
        key=lambda number: (-sizes[number], digest(seed, "sanity", "fold", *names[number])),
    )
    for number in turns:
        smallest = filled.index(min(filled))
        part_of[number] = smallest
        filled[smallest] += sizes[number]
    return np.array(part_of)[families.number]


def _draw(examples: Sequence[Example], limit: int, seed: int) -> list[Example]:
    """At most so many rows, drawn by seed whatever their order."""
    if len(examples) <= limit:
        return list(examples)
    return sorted(examples, key=lambda example: digest(seed, "limit", example.id))[:limit]


CHUNK = 1000  # rows perturbed in all ways before the next, so that no text is tagged twice


@dataclass(frozen=True, eq=False)
class PerturbedRows:
    """All rows under one transformation: `applies` says which were perturbed, `skips` why others
    were not, `removed` how many words each lost.
    """

    spec: str
    texts: Sequence[Texts]
    applies: Bools
    removed: Floats
    skips: dict[str, int]

    @property
    def skip_notes(self) -> list[str]:
        """A line for each reason why rows were left out."""
        return [
            f"{self.spec} leaves out {count:,} rows ({reason})"
            for reason, count in self.skips.items()
        ]


def perturb_rows(
    examples: Sequence[Example], specs: Sequence[str], *, task: Task, seed: int
) -> list[PerturbedRows]:
    """The rows under each transformation."""
    transformations = [parse(spec) for spec in specs]
    made: list[list[Variants | DoesNotApply]] = [[] for _ in specs]
    for start in range(0, len(examples), CHUNK):
        chunk = examples[start : start + CHUNK]
        for variants, transformation in zip(made, transformations, strict=True):
            variants += transformation.apply_all(chunk, task=task, q=1, seed=seed, short="use")
    return [_gather(spec, examples, variants) for spec, variants in zip(specs, made, strict=True)]


def _gather(
    spec: str, examples: Sequence[Example], made: Sequence[Variants | DoesNotApply]
) -> PerturbedRows:
    skips: Counter[str] = Counter()
    texts: list[Texts] = []
    applies = np.ones(len(examples), dtype=bool)
    removed = np.zeros(len(examples))
    for row, (example, variants) in enumerate(zip(examples, made, strict=True)):
        if isinstance(variants, DoesNotApply):
            skips[str(variants)] += 1
            applies[row] = False
            texts.append(example.texts)
        else:
            removed[row] = sum(  # written texts have no positions to count
                len(rows.sentence) - rows.positions.shape[1]
                for rows in variants.sides
                if rows.written is None
            )
            texts.append(variant_texts(variants)[0])
    return PerturbedRows(spec, texts, applies, removed, dict(sorted(skips.items())))
