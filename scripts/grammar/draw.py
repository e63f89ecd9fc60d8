"""Draws for the grammar that are the same on every version of Python.

Only `Random.random()` is promised to be stable, so every choice here is made from it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of choices named by a key: the same key, the same choices."""

    def __init__(self, key: str) -> None:
        self._random = Random(zlib.crc32(key.encode()))

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self._random.random() * n)

    def chance(self, share: float) -> bool:
        """True in this share of calls."""
        return self._random.random() < share

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def distinct(self, options: Sequence[T], n: int) -> list[T]:
        """`n` different options, in random order."""
        rest = list(options)
        for i in range(n):
            j = i + self.below(len(rest) - i)
            rest[i], rest[j] = rest[j], rest[i]
        return rest[:n]
