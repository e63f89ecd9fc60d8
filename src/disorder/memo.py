"""What was found out about a text once is not found out again: every transformation of a run asks
about the same texts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
N_KEPT = 20_000  # about 40 MB of short arrays


class Memo(Generic[K, V]):
    """The latest results by key, at most `n` of them; safe for threads."""

    def __init__(self, n: int = N_KEPT) -> None:
        self.n, self._results, self._lock = n, OrderedDict[K, V](), Lock()

    def __call__(self, keys: Sequence[K], make: Callable[[Sequence[int]], Sequence[V]]) -> list[V]:
        """A result for every key; `make` gets the numbers of the keys without one, each key once,
        and gives theirs.
        """
        with self._lock:
            found = {key: self._results[key] for key in keys if key in self._results}
        missing = {key: i for i, key in enumerate(keys) if key not in found}
        if missing:
            fresh = dict(zip(missing, make(list(missing.values())), strict=True))
            self._keep(fresh)
            found |= fresh
        return [found[key] for key in keys]

    def _keep(self, fresh: Mapping[K, V]) -> None:
        with self._lock:
            self._results.update(fresh)
            while len(self._results) > self.n:
                self._results.popitem(last=False)
