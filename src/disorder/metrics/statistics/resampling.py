"""Bootstrap resamples of examples: the one source of resampled numbers in the package.

The unit is the example: its variants are a cluster and are never resampled on their own. All scores
of n examples share their resamples, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disorder.randomness import generator
from disorder.types import Floats, Ints


@dataclass(frozen=True)
class Bootstrap:
    """How often to resample, keyed by what for; `held` is up to how many examples counts are kept.

    Counts of how often a resample takes an example are kept for the next score: at a byte per
    example and resample, more would be seen in the memory.
    """

    key: str
    n_resamples: int
    block: int  # numbers held at once
    held: int

    def picks(self, n: int, seed: int = 0) -> Iterator[Ints]:
        """Example numbers drawn with replacement, some resamples at a time."""
        rng = generator(seed, self.key, str(n))
        left = self.n_resamples
        while left:
            size = min(left, max(1, self.block // n))
            yield rng.integers(n, size=(size, n))
            left -= size

    def weights(self, n: int, seed: int = 0) -> Iterator[Floats]:
        """How often each resample takes each example, some resamples at a time."""
        if n <= self.held:
            blocks: Iterator[NDArray[np.uint8]] = iter(_held_counts(self, n, seed))
        else:
            blocks = (_counts(picks, n) for picks in self.picks(n, seed))
        return (block.astype(np.float64) for block in blocks)


ONE_SCORE = Bootstrap("bootstrap", n_resamples=1000, block=200_000, held=1_000)
PAIRED = Bootstrap("paired bootstrap", n_resamples=2000, block=400_000, held=10_000)


@lru_cache(maxsize=6)
def _held_counts(bootstrap: Bootstrap, n: int, seed: int) -> list[NDArray[np.uint8]]:
    return [_counts(picks, n) for picks in bootstrap.picks(n, seed)]


def _counts(picks: Ints, n: int) -> NDArray[np.uint8]:
    shifted = picks + np.arange(len(picks))[:, None] * n
    counts = np.bincount(shifted.ravel(), minlength=len(picks) * n)
    return counts.reshape(len(picks), n).astype(np.uint8)
