"""The perturbed and original texts that a task can show, from a run folder or from data alone.

Texts of a run are rebuilt from its seed and checked against the positions that it stored: people
must see exactly what the model saw.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from disorder.data import read_data
from disorder.errors import DisorderError, DoesNotApply, UnknownName
from disorder.randomness import generator
from disorder.results.run import Run
from disorder.results.run_folder import read_run
from disorder.results.run_tables import main_transformation
from disorder.store.sample_parts import SampleParts, read_examples
from disorder.transformations import Transformation, parse, stored_texts
from disorder.transformations.rendering import variant_texts
from disorder.types import ORIGINAL, Example, Task, Texts, Variants
from disorder.verbs.selected_data import check_has_labels

SampleRow = dict[str, Any]


def rows_by_example(folder: Path, transformation: str, *columns: str) -> dict[str, list[SampleRow]]:
    """The stored variants of every example under one transformation."""
    found: dict[str, list[SampleRow]] = {}
    for row in read_samples(folder, {transformation}, ["example", "variant", *columns]):
        found.setdefault(row["example"], []).append(row)
    return found


def read_predictions(folder: Path, transformation: str) -> dict[str, list[tuple[int, str]]]:
    """The variants of every example under one transformation, with the predicted labels."""
    found = rows_by_example(folder, transformation, "label")
    return {name: [(row["variant"], row["label"]) for row in rows] for name, rows in found.items()}


def read_samples(
    folder: Path,
    transformations: Collection[str],
    columns: list[str],
    *,
    examples: Collection[str] | None = None,
) -> Iterator[SampleRow]:
    """The rows of some transformations, and of some examples if given; each part is checked."""
    parts = SampleParts.open(folder, to_write=False)
    for name in sorted(parts.known):
        table = parts.read(name)
        wanted = _is_one_of(table["transformation"], transformations)
        if examples is not None:
            wanted = pc.and_(wanted, _is_one_of(table["example"], examples))
        yield from table.filter(wanted).select(columns).to_pylist()


def _is_one_of(column: pa.ChunkedArray, names: Collection[str]) -> pa.ChunkedArray:
    return pc.is_in(column.cast(pa.string()), value_set=pa.array(sorted(names), pa.string()))


D_C = "D_c"  # examples whose original text the model predicts correctly
D_F = "D_f"  # the other examples
Length = Literal["short", "long"]
TextGroup = tuple[str, str | None]  # transformation and set (D_c, D_f, or None)


@dataclass(frozen=True)
class PooledText:
    """One text that may be shown; `variant` is None for an original one."""

    example: Example
    transformation: str
    texts: Texts
    set: str | None = None
    variant: int | None = None
    model_answer: str | None = None
    model_original: str | None = None
    length: Length = "short"


@dataclass
class TextPool:
    """Examples, and the ids of those that each group of texts can be drawn from."""

    name: str
    task: Task
    seed: int
    examples: Mapping[str, Example]
    groups: dict[TextGroup, list[str]] = field(default_factory=dict)
    model: str | None = None
    q: int = 1
    short: str = "use"
    perturb_seed: int = 0
    originals: Mapping[str, str] = field(default_factory=dict)
    variants: dict[str, dict[str, list[tuple[int, str]]]] = field(default_factory=dict)
    folder: Path | None = None
    splitters: Mapping[str, str] = field(default_factory=dict)  # of the run, by transformation
    _parsed: dict[str, Transformation] = field(default_factory=dict)
    _written: dict[str, dict[str, list[SampleRow]]] = field(default_factory=dict)

    @property
    def is_pair(self) -> bool:
        """Whether the examples have two texts."""
        return next(iter(self.examples.values())).is_pair

    def text(self, name: str, group: TextGroup) -> PooledText | None:
        """The text of one example in a group, or None where it cannot be perturbed."""
        transformation, which = group
        example = self.examples[name]
        original = self.originals.get(name)
        if transformation == ORIGINAL:
            return PooledText(example, ORIGINAL, example.texts, which, None, original, original)
        try:
            texts = self.perturbed_texts(example, transformation)
        except DoesNotApply:
            return None
        predicted = self.variants.get(transformation, {}).get(name)
        rng = generator(self.seed, "human variant", transformation, name)
        prediction: str | None = None
        if predicted:
            variant, prediction = predicted[int(rng.integers(len(predicted)))]
        else:
            variant = int(rng.choice(list(texts)))
        if variant not in texts or texts[variant] == example.texts:
            return None
        return PooledText(
            example, transformation, texts[variant], which, variant, prediction, original
        )

    def perturbed_texts(self, example: Example, transformation: str) -> Mapping[int, Texts]:
        """The perturbed texts of one example by variant: drawn again, or as stored."""
        if self.folder is None or not self.transformation(transformation).needs_context:
            return dict(enumerate(variant_texts(self.perturbed(example, transformation))))
        if transformation not in self._written:
            columns = ("positions_a", "positions_b", "written_a", "written_b")
            rows = rows_by_example(self.folder, transformation, *columns)
            self._written[transformation] = rows
        return {
            row["variant"]: stored_texts(example, row)
            for row in self._written[transformation][example.id]
        }

    def perturbed(self, example: Example, transformation: str) -> Variants:
        """All variants of one example, drawn with the seed of the run."""
        return self.transformation(transformation).apply(
            example, task=self.task, q=self.q, seed=self.perturb_seed, short=self.short
        )

    def transformation(self, spec: str) -> Transformation:
        """The transformation of a spec, parsed once."""
        if spec not in self._parsed:
            self._parsed[spec] = parse(spec, usual_words=self.splitters.get(spec, ""))
        return self._parsed[spec]

    def drop_copies(self) -> None:
        """Leave out transformations that copy one text into the other where there is only one."""
        if self.is_pair:
            return
        self.groups = {
            group: names
            for group, names in self.groups.items()
            if group[0] == ORIGINAL or not self.transformation(group[0]).is_copy
        }

    def perturbed_sides(self, transformation: str) -> tuple[str, ...]:
        """Which texts a transformation perturbs."""
        return self.transformation(transformation).perturbed_sides(self.task, is_pair=self.is_pair)

    def check(self, texts: Sequence[PooledText]) -> None:
        """Raise unless every perturbed text is the one that the model saw."""
        drawn = {
            (text.example.id, text.transformation, text.variant)
            for text in texts
            if text.variant is not None
            and not self.transformation(text.transformation).needs_context
        }
        if self.folder is None or not drawn:
            return
        names = {name for name, _, _ in drawn}
        specs = {spec for _, spec, _ in drawn}
        columns = ["example", "transformation", "variant", "positions_a", "positions_b"]
        for row in read_samples(self.folder, specs, columns, examples=names):
            if (row["example"], row["transformation"], row["variant"]) in drawn:
                self._check_row(self.folder, row)

    def _check_row(self, folder: Path, row: SampleRow) -> None:
        """Raise unless the stored positions are those that are drawn again."""
        variants = self.perturbed(self.examples[row["example"]], row["transformation"])
        drawn = list(variants.positions())[row["variant"]]
        stored = (row["positions_a"], row["positions_b"])
        if any(old is not None and old != new for old, new in zip(stored, drawn, strict=True)):
            raise DisorderError(
                f"{folder}: the words of example {row['example']} come out in another order than "
                "the run recorded; it was made by another version of disorder, so audit again"
            )


def pool_from_data(
    data: str,
    transformations: Sequence[str],
    *,
    seed: int,
    columns: Mapping[str, str],
    data_dir: str | None,
) -> TextPool:
    """Original and perturbed texts of a dataset, without predictions."""
    dataset = read_data(data, columns=columns, data_dir=data_dir)
    check_has_labels(dataset, "human")
    examples = {example.id: example for example in dataset.examples}
    pool = TextPool(dataset.name, dataset.task, seed, examples, perturb_seed=seed)
    pool.groups[ORIGINAL, None] = list(examples)
    for spec in transformations:
        pool.groups[parse(spec).tried(dataset.task.language).spec, None] = list(examples)
    return pool


def pool_from_run(
    folder: Path, transformations: Sequence[str], *, seed: int, is_accepted_only: bool
) -> TextPool:
    """Original and perturbed texts of a run; D_c: the original is predicted right, D_f: not."""
    run = read_run(folder)
    run.check_done()
    examples = {example.id: example for example in read_examples(folder)}
    pool = TextPool(
        run.data,
        run.full_task,
        seed,
        examples,
        model=run.model,
        q=int(run.settings["q"]),
        short=str(run.settings["short"]),
        perturb_seed=run.seed,
        folder=folder,
        splitters={spec: run.usual_words(spec) for spec in run.transformations},
    )
    originals = read_predictions(folder, ORIGINAL)
    pool.originals = {name: predictions[0][1] for name, predictions in originals.items()}
    pool.groups[ORIGINAL, None] = list(pool.originals)
    for spec in _chosen_transformations(run, transformations):
        _add_variants(pool, folder, spec, is_accepted_only=is_accepted_only)
    return pool


def _add_variants(pool: TextPool, folder: Path, spec: str, *, is_accepted_only: bool) -> None:
    """Add the variants of one transformation, in two groups: D_c and D_f."""
    predictions = read_predictions(folder, spec)
    if is_accepted_only:
        predictions = {
            name: [pair for pair in pairs if pair[1] == pool.examples[name].label]
            for name, pairs in predictions.items()
        }
    pool.variants[spec] = {name: pairs for name, pairs in predictions.items() if pairs}
    correct = {name for name, label in pool.originals.items() if label == pool.examples[name].label}
    pool.groups[spec, D_C] = [name for name in pool.variants[spec] if name in correct]
    pool.groups[spec, D_F] = [name for name in pool.variants[spec] if name not in correct]


def _chosen_transformations(run: Run, transformations: Sequence[str]) -> list[str]:
    """The given transformations of a run, or its main one."""
    specs = [parse(spec, fidelity=run.settings["fidelity"]).spec for spec in transformations]
    for spec in specs:
        if spec not in run.transformations:
            raise UnknownName("transformation of this run", spec, run.transformations)
    main = main_transformation(run) or next(iter(run.transformations), "")
    return specs or [main]
