"""Randomness: generators keyed by what they are for, so that no draw depends on an earlier one.

The same (seed, part, example) gives the same numbers in any order and on any number of workers.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.random import Generator, Philox
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray


def generator(seed: int, *key: str) -> Generator:
    """A counter-based generator for this seed and key."""
    source: Any = _Key(np.frombuffer(digest(seed, *key), dtype=np.uint64))
    return Generator(Philox(source))


class _Key(ISeedSequence):
    """A key as a source of seeds: `Philox(key=…)` asks the system for entropy, which it then does
    not use, and takes three times as long.
    """

    def __init__(self, key: NDArray[np.uint64]) -> None:
        self.key = key

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> NDArray[np.uint64]:
        """The key itself."""
        return self.key


def digest(seed: int, *key: str) -> bytes:
    """Sixteen bytes that stand for the seed and key; equal on every machine."""
    return blake2b(
        "\0".join([str(seed), *key]).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()
