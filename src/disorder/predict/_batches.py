"""Which inputs go through the model together? Only those of equal length, so that nothing is padded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from disorder.types import Ints

TOKEN_BUDGET = 16384  # tokens in a batch: enough to keep a CPU or a small GPU busy


def by_length(lengths: Sequence[int], *, batch_size: int | None = None) -> Iterator[Ints]:
    """Index arrays of inputs of one length, each batch within the token budget (or of the size asked for)."""
    groups: dict[int, list[int]] = defaultdict(list)
    for i, length in enumerate(lengths):
        groups[length].append(i)
    for length, members in sorted(groups.items()):
        size = batch_size or max(1, TOKEN_BUDGET // max(length, 1))
        for start in range(0, len(members), size):
            yield np.array(members[start : start + size])
