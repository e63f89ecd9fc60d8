"""Which texts do people see? An even, seeded draw: in turn from every cell, until there are enough
or none are left.

A cell is a combination such as (D_c, neutral, long). Cells with too few give all they have, and the
others go on in turn, so the draw is as even as the data allow.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from disorder.randomness import digest

Cell = TypeVar("Cell", bound=Hashable)
Drawn = TypeVar("Drawn")


def in_turn(cells: Mapping[Cell, Iterable[Drawn]], n: int) -> dict[Cell, list[Drawn]]:
    """Take one from each cell in turn until n are taken.

    >>> in_turn({"a": "123", "b": "4", "c": "567"}, 6)
    {'a': ['1', '2', '3'], 'b': ['4'], 'c': ['5', '6']}
    """
    taken: dict[Cell, list[Drawn]] = {name: [] for name in cells}
    waiting: dict[Cell, Iterator[Drawn]] = {name: iter(cell) for name, cell in cells.items()}
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


def shares(n: int, n_parts: int) -> list[int]:
    """n cut into parts that differ by one at most.

    >>> shares(200, 3)
    [67, 67, 66]
    """
    return [n // n_parts + (i < n % n_parts) for i in range(n_parts)]


def shuffled(names: Iterable[str], seed: int, *key: str) -> list[str]:
    """Names in an order that depends on the seed and the key alone, not on the order they come in."""
    return sorted(names, key=lambda name: (digest(seed, "human sample", *key, name), name))


def lengths(n_words: Sequence[int]) -> list[str]:
    """Which texts are short and which long: cut at the median."""
    median = float(np.median(n_words)) if n_words else 0.0
    return ["short" if n <= median else "long" for n in n_words]
