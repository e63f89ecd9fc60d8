"""Which inputs go through the model together? Only those of equal length, so that nothing is padded."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from disorder.types import Ints

TOKEN_BUDGET = 16384  # tokens in a batch: enough to keep a CPU or a small GPU busy


def by_length(
    lengths: Sequence[int], *, batch_size: int | None = None, budget: int = TOKEN_BUDGET
) -> Iterator[Ints]:
    """Index arrays of inputs of one length, each batch within the token budget (or of the size asked for)."""
    groups: dict[int, list[int]] = defaultdict(list)
    for i, length in enumerate(lengths):
        groups[length].append(i)
    for length, members in sorted(groups.items()):
        size = batch_size or max(1, budget // max(length, 1))
        for start in range(0, len(members), size):
            yield np.array(members[start : start + size])


def max_input_length(config: Mapping[str, Any]) -> int:
    """The longest input a model's configuration allows (RoBERTa and its kin keep two positions for themselves)."""
    if config.get("max_length"):
        return int(config["max_length"])
    positions = max(0, int(config.get("max_position_embeddings") or 0)) or 512  # XLNet says −1: no limit
    return positions - 2 if config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "longformer") else positions


def n_threads() -> int:
    """As many as there are cores for this process; a worker's share where it was given one."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
