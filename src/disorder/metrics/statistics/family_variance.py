"""Variance over families: examples that share a text are one observation, not several.

One family at a time is left out and the scores, balanced over labels, are computed again. A family
with several labels enters once, with all of them. Degrees of freedom are those of the effective
number of families, 1 ÷ Σ share².
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from disorder.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class FamilyMoves:
    """How far each family moves means that are balanced over labels.

    `deviations` has a row per family, so that their variance is deviations.T @ deviations; `cells`
    the same for each family and label that it has, with `cell_label`. `effective` is the number of
    families of equal size that would count as much, `effective_by_label` the same of each label.
    """

    deviations: Floats
    cells: Floats
    cell_label: Ints
    effective: float
    effective_by_label: Floats


def moves_of_families(family: Ints, label: Ints, scores: Floats) -> FamilyMoves:
    """What leaving out each family changes; `label` numbers from 0, `scores` a column per mean."""
    groups, place = np.unique(family, return_inverse=True)
    n_groups = len(groups)
    n_labels = int(label.max()) + 1
    cell, member = np.unique(place * n_labels + label, return_inverse=True)
    cell_group, cell_label = np.divmod(cell, n_labels)
    n_cell = np.bincount(member).astype(np.float64)
    n_label = np.bincount(label, minlength=n_labels).astype(np.float64)
    sums_of_cells = _sums(member, scores, len(cell))
    sums_of_labels = _sums(label, scores, n_labels)
    others = np.maximum(n_label[cell_label] - n_cell, 1)[:, None]
    without = (sums_of_labels[cell_label] - sums_of_cells) / others
    means = (sums_of_labels / n_label[:, None])[cell_label]
    is_alone = n_label[cell_label] == n_cell  # a label of one family cannot do without it
    moved = np.where(is_alone[:, None], 0.0, without - means) / n_labels
    moved *= sqrt((n_groups - 1) / n_groups)
    shares = np.bincount(cell_group, n_cell / (n_labels * n_label[cell_label]))
    return FamilyMoves(
        deviations=_sums(cell_group, moved, n_groups),
        cells=moved,
        cell_label=cell_label,
        effective=effective_number(shares),
        effective_by_label=n_label**2 / np.bincount(cell_label, n_cell**2, minlength=n_labels),
    )


def effective_number(sizes: Floats | Ints) -> float:
    """How many families of equal size would count as much as families of these sizes.

    >>> effective_number(np.array([2, 2, 2])), effective_number(np.array([8, 1, 1]))
    (3.0, 1.5151515151515151)
    """
    return float(sizes.sum()) ** 2 / float((sizes.astype(np.float64) ** 2).sum())


def family_sizes(family: Ints) -> Ints:
    """How many examples each family has."""
    return np.unique(family, return_counts=True)[1]


def _sums(place: Ints, columns: Floats, n: int) -> Floats:
    return np.stack([np.bincount(place, column, minlength=n) for column in columns.T], axis=1)
