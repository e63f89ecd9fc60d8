"""An even, seeded draw: one text from every cell in turn, until there are enough or none are left.

A cell is a combination such as (D_c, neutral, long). A cell with too few texts gives all it has and
the others continue in turn, so the draw is as even as the data allow.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from disorder.randomness import digest

CellName = TypeVar("CellName", bound=Hashable)
Drawn = TypeVar("Drawn")


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
