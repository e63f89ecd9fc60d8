"""Batches of rows of similar length, drawn again for every epoch, so that little is padded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from disorder.randomness import generator
from disorder.types import Ints

# batches that are sorted by length together; a larger pool means less padding and less chance
POOL = 64


def epoch_batches(lengths: Ints, batch_size: int, seed: int, *key: str) -> list[Ints]:
    """The batches of one epoch; the same for the same seed and key, whatever was drawn before."""
    rng = generator(seed, "batches", *key)
    order = rng.permutation(len(lengths))
    batches: list[Ints] = []
    for start in range(0, len(order), batch_size * POOL):
        pool = order[start : start + batch_size * POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def group_by_step(batches: Sequence[Ints], size: int) -> list[Sequence[Ints]]:
    """Batches by the step they belong to, `size` per step."""
    return [batches[i : i + size] for i in range(0, len(batches), size)]


def share_batches(batches: Sequence[Ints], rank: int, n_processes: int) -> list[tuple[Ints, bool]]:
    """The batches of one process, each with whether it counts.

    Every process takes part in every step, so where batches do not divide evenly some processes
    run one that counts for nothing.
    """
    padded = [(batch, True) for batch in batches]
    padded += [(batches[i % len(batches)], False) for i in range(-len(batches) % n_processes)]
    return padded[rank::n_processes]


def batches_by_length(lengths: Ints, batch_size: int) -> list[Ints]:
    """Batches for prediction: sorted by length."""
    order = np.argsort(lengths, kind="stable")
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def to_tensors(arrays: Mapping[str, Any], device: Any) -> dict[str, Any]:
    """Arrays as tensors on a device."""
    import torch

    return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
