"""Randomness: generators keyed by what they are for, so that no draw depends on an earlier one.

The same (seed, part, example) gives the same numbers in any order and on any number of workers.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.random import Generator, Philox


def generator(seed: int, *key: str) -> Generator:
    """A counter-based generator for this seed and key."""
    return Generator(Philox(key=np.frombuffer(digest(seed, *key), dtype=np.uint64)))


def digest(seed: int, *key: str) -> bytes:
    """Sixteen bytes that stand for the seed and key; equal on every machine."""
    return blake2b(
        "\0".join([str(seed), *key]).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()
