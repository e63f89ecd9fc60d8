"""Batches: which inputs go through a model together. Only those of equal length, so that nothing is
padded.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from disorder.types import Ints

# tokens in a batch on a CPU: from 512 to 8,192 no difference above noise was measured
CPU_BUDGET = 2048
GPU_BUDGETS = (2048, 32768)  # fewest and most tokens in a batch on a GPU; not tuned on one
SHARE = 4  # a batch is planned to take a quarter of the memory
# models that keep two positions for themselves
OFFSET = ("roberta", "xlm-roberta", "camembert", "longformer")


def by_length(
    lengths: Sequence[int], *, batch_size: int | None = None, budget: int = CPU_BUDGET
) -> Iterator[Ints]:
    """Index arrays of inputs of one length, each batch within the token budget (or of the size
    asked for).
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for i, length in enumerate(lengths):
        groups[length].append(i)
    for length, members in sorted(groups.items()):
        size = batch_size or max(1, budget // max(length, 1))
        for start in range(0, len(members), size):
            yield np.array(members[start : start + size])


def token_budget(config: Any, max_length: int, memory: int | None) -> int:
    """Tokens in a batch, from the size of the model and the bytes its device has free for
    activations (None on a CPU).

    Settled by arithmetic and not by a stopwatch: the last bits of a prediction can depend on the
    batch it was in, so the same model on the same device must always get the same batches.
    """
    if memory is None:
        return CPU_BUDGET
    # configurations differ in which of these they have
    hidden = int(getattr(config, "hidden_size", None) or 1024)
    inner = int(getattr(config, "intermediate_size", None) or 4 * hidden)
    heads = int(getattr(config, "num_attention_heads", None) or 16)
    # attention scores are heads × length
    per_token = 4 * (8 * hidden + 2 * inner + 2 * heads * min(max_length, 512))
    fits = memory // SHARE // per_token
    least, most = GPU_BUDGETS
    # a power of two: a few bytes change nothing
    return max(least, min(most, 1 << max(0, fits.bit_length() - 1)))


def max_input_length(config: Mapping[str, Any]) -> int:
    """The longest input a model's configuration allows (RoBERTa and its kin use two positions
    themselves).
    """
    if config.get("max_length"):
        return int(config["max_length"])
    # XLNet says −1: no limit
    positions = max(0, int(config.get("max_position_embeddings") or 0)) or 512
    return positions - 2 if config.get("model_type") in OFFSET else positions


def n_threads() -> int:
    """As many as there are cores for this process; a worker's share where it was given one."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
