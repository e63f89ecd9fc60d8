"""Memo: results by key that were computed before, for texts that a run needs again and again.

Why not `cachetools.cached`: `Memo` takes a batch of keys and computes the missing ones together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
N_KEPT = 20_000  # about 40 MB of short arrays


class Memo(Generic[K, V]):
    """The `n` results used last, by key; safe for threads. With `size_of` it is the sum of their
    sizes that stays within `n`.
    """

    def __init__(self, n: int = N_KEPT, size_of: Callable[[V], float] | None = None) -> None:
        self._results: LRUCache[K, V] = LRUCache(maxsize=n, getsizeof=size_of)
        self._lock = Lock()

    def __call__(self, keys: Sequence[K], make: Callable[[Sequence[int]], Sequence[V]]) -> list[V]:
        """One result per key; `make` gets the indices of the keys without one, each key once, and
        returns their results.
        """
        with self._lock:
            found = {key: self._results[key] for key in keys if key in self._results}
        missing = {key: i for i, key in enumerate(keys) if key not in found}
        if missing:
            made = dict(zip(missing, make(list(missing.values())), strict=True))
            with self._lock:
                self._results.update(made)
            found |= made
        return [found[key] for key in keys]
