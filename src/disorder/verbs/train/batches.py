"""Which inputs are learned from together? Those of like length, drawn again for every epoch, so that
little is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.randomness import generator
from disorder.types import Ints

# batches that are sorted by length together; the larger, the less padding and the less chance
POOL = 64


def epoch(lengths: Ints, batch_size: int, seed: int, *key: str) -> list[Ints]:
    """The batches of one epoch; the same for the same seed and key, whatever was drawn before."""
    rng = generator(seed, "batches", *key)
    order = rng.permutation(len(lengths))
    batches: list[Ints] = []
    for start in range(0, len(order), batch_size * POOL):
        pool = order[start : start + batch_size * POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def grouped(batches: Sequence[Ints], size: int) -> list[Sequence[Ints]]:
    """Batches by the step they belong to."""
    return [batches[i : i + size] for i in range(0, len(batches), size)]


def in_order(lengths: Ints, batch_size: int) -> list[Ints]:
    """Batches for answering: sorted by length."""
    order = np.argsort(lengths, kind="stable")
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def tensors(arrays: dict[str, Any], device: Any) -> dict[str, Any]:
    """Arrays as tensors on a device."""
    import torch

    return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
