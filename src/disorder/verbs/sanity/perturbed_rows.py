"""Perturbed rows: every row of the data under a transformation, one variant per row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.errors import DoesNotApply
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Example, Floats, Task, Texts, Variants

CHUNK = 1000  # rows perturbed in all ways before the next, so that no text is tagged twice


@dataclass(frozen=True, eq=False)
class PerturbedRows:
    """All rows under one transformation.

    `applies` says which rows were perturbed; the others keep their original texts, and `skips`
    counts them by reason. `removed` is how many words each row lost.
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
            removed[row] = _n_removed(variants)
            texts.append(variant_texts(variants)[0])
    return PerturbedRows(spec, texts, applies, removed, dict(sorted(skips.items())))


def _n_removed(variants: Variants) -> int:
    """How many words both texts lost; written texts have no positions to count."""
    return sum(
        len(rows.sentence) - rows.positions.shape[1]
        for rows in variants.sides
        if rows.written is None
    )
