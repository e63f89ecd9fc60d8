"""The draw of a task: how many texts of each kind, and which ones.

Each example is shown once: an annotator who has read the original text can no longer judge a
perturbed version of it.

Texts are drawn from every cell in turn, a cell being a combination such as (D_c, neutral, long).
One with too few gives all it has and the others continue: as even as the data allow.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from disorder.errors import DisorderError, option
from disorder.randomness import digest
from disorder.types import ORIGINAL
from disorder.verbs.human.text_pool import Length, PooledText, TextGroup, TextPool

CellName = TypeVar("CellName", bound=Hashable)
Drawn = TypeVar("Drawn")
LENGTHS: tuple[Length, ...] = ("short", "long")


def draw_in_turn(cells: Mapping[CellName, Iterable[Drawn]], n: int) -> dict[CellName, list[Drawn]]:
    """Take one from each cell in turn until n are taken.

    >>> draw_in_turn({"a": "123", "b": "4", "c": "567"}, 6)
    {'a': ['1', '2', '3'], 'b': ['4'], 'c': ['5', '6']}
    """
    taken: dict[CellName, list[Drawn]] = {name: [] for name in cells}
    waiting: dict[CellName, Iterator[Drawn]] = {name: iter(cell) for name, cell in cells.items()}
    left = n
    while left and waiting:
        for name in list(waiting):
            try:
                taken[name].append(next(waiting[name]))
            except StopIteration:
                del waiting[name]
                continue
            left -= 1
            if not left:
                break
    return taken


def even_shares(n: int, n_parts: int) -> list[int]:
    """Split n into parts that differ by at most one.

    >>> even_shares(200, 3)
    [67, 67, 66]
    """
    return [n // n_parts + (i < n % n_parts) for i in range(n_parts)]


def shuffled(names: Iterable[str], seed: int, *key: str) -> list[str]:
    """Names in an order that depends on the seed and the key alone, not on their given order."""
    return sorted(names, key=lambda name: (digest(seed, "human sample", *key, name), name))


def short_or_long(n_words: Sequence[int]) -> list[str]:
    """Which texts are short and which are long, split at the median."""
    median = float(np.median(n_words)) if n_words else 0.0
    return ["short" if n <= median else "long" for n in n_words]


@dataclass(frozen=True)
class Stratum:
    """Texts that are alike in all that the draw is balanced over."""

    group: TextGroup
    label: str
    length: Length


def draw_texts(
    pool: TextPool, n: int, *, with_originals: bool
) -> tuple[list[PooledText], list[str]]:
    """Draw n texts evenly, and say where there were too few; the smallest groups draw first."""
    quotas = group_quotas(list(pool.groups), n, with_originals=with_originals)
    length_of = _length_of(pool)
    used: set[str] = set()
    drawn: list[PooledText] = []
    shortages: list[str] = []
    for group in sorted(quotas, key=lambda group: len(pool.groups[group]) / max(1, quotas[group])):
        strata = {
            stratum: _texts(pool, stratum, length_of, used) for stratum in _strata(pool, group)
        }
        taken = draw_in_turn(strata, quotas[group])
        drawn += [
            replace(text, length=stratum.length)
            for stratum, texts in taken.items()
            for text in texts
        ]
        shortages += _shortages(group, quotas[group], taken)
    if not drawn:
        raise DisorderError(
            f"nothing to draw from {pool.name}: no example fits; try {option('all')}, or another "
            f"{option('with_')}"
        )
    notes = [f"too few for an even draw: {'; '.join(shortages)}"] if shortages else []
    return drawn, notes


def group_quotas(
    groups: Sequence[TextGroup], n: int, *, with_originals: bool
) -> dict[TextGroup, int]:
    """How many texts each group gives: half original, the perturbed half evenly by group."""
    originals = [group for group in groups if group[0] == ORIGINAL]
    perturbed = [group for group in groups if group[0] != ORIGINAL]
    if not perturbed and not with_originals:
        raise DisorderError(
            "nothing to draw: original texts are left out and no transformation is named; "
            f"add {option('with_')}"
        )
    halves = [part for part in (perturbed, originals if with_originals else []) if part]
    quotas: dict[TextGroup, int] = {}
    for half, size in zip(halves, even_shares(n, len(halves)), strict=True):
        quotas |= dict(zip(half, even_shares(size, len(half)), strict=True))
    return quotas


def _length_of(pool: TextPool) -> dict[str, str]:
    """Short or long, by words of the original example; by characters in Chinese."""
    split = list if pool.task.language == "zh" else str.split
    names = sorted({name for group in pool.groups.values() for name in group})
    n_words = [
        sum(len(split(text)) for text in pool.examples[name].texts if text is not None)
        for name in names
    ]
    return dict(zip(names, short_or_long(n_words), strict=True))


def _strata(pool: TextPool, group: TextGroup) -> list[Stratum]:
    labels = [""]
    if not pool.task.is_regression:
        labels = sorted({pool.examples[name].label for name in pool.groups[group]})
    strata = {
        f"{label}\0{length}": Stratum(group, label, length)
        for label in labels
        for length in LENGTHS
    }
    return [strata[name] for name in shuffled(strata, pool.seed, *map(str, group))]


def _texts(
    pool: TextPool, stratum: Stratum, length_of: Mapping[str, str], used: set[str]
) -> Iterator[PooledText]:
    """The texts of a stratum in random order, each example once over all strata."""
    fitting = [
        name
        for name in pool.groups[stratum.group]
        if length_of[name] == stratum.length
        and (not stratum.label or pool.examples[name].label == stratum.label)
    ]
    for name in shuffled(fitting, pool.seed, stratum.group[0]):
        if name in used:
            continue
        text = pool.text(name, stratum.group)
        if text is not None:
            used.add(name)
            yield text


def _shortages(
    group: TextGroup, quota: int, taken: Mapping[Stratum, Sequence[PooledText]]
) -> list[str]:
    """Where a group, or a stratum of it, has fewer texts than an even draw needs."""
    n_taken = sum(len(texts) for texts in taken.values())
    if n_taken < quota:
        return [f"{_group_name(group)} has {n_taken:,} of the {quota:,} wanted"]
    share = quota // max(1, len(taken))
    return [
        f"{_group_name(group)} {stratum.label} {stratum.length} has fewer than {share:,}, "
        "others make up for it"
        for stratum, texts in taken.items()
        if len(texts) < share
    ]


def _group_name(group: TextGroup) -> str:
    transformation, which = group
    name = "original texts" if transformation == ORIGINAL else transformation
    return f"{name} {which}" if which else name
