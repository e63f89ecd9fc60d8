"""Forward passes alone: the inputs that disorder gives a network, recorded once and run again.

Recording from outside keeps the benchmarks free of disorder's inner functions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

Feed = dict[str, Any]


@contextmanager
def recorded(network: Any) -> Iterator[list[Feed]]:
    """The inputs of every forward pass of a torch network while the context lasts."""
    feeds: list[Feed] = []
    forward = network.forward

    def record(**inputs: Any) -> Any:
        feeds.append(inputs)
        return forward(**inputs)

    network.forward = record
    try:
        yield feeds
    finally:
        del network.forward  # the class's own shows again


def logits(network: Any) -> Callable[[Feed], Any]:
    """The network as a function from inputs to an array."""
    import torch

    def run(feed: Feed) -> Any:
        with torch.inference_mode():
            return network(**feed).logits.float().numpy()

    return run


def on_single_threads(run: Callable[[Feed], Any], feeds: Sequence[Feed]) -> list[Any]:
    """The results for all inputs, side by side, one thread each, as disorder runs them."""
    n_threads = int(os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0)))
    with ThreadPoolExecutor(n_threads, initializer=_use_one_thread) as pool:
        return list(pool.map(run, feeds))


def _use_one_thread() -> None:
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
