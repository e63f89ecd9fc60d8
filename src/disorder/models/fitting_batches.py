"""Batches that fit: side by side on the threads of a CPU, halved where memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.devices import is_out_of_memory
from disorder.types import Floats

Feed = dict[str, Any]
Run = Callable[[Feed], Floats]


class FittingBatches:
    """What all networks of transformers share: how their batches are run."""

    batch_size: int | None
    budget: int  # tokens in a batch
    notes: list[str]
    pool: ThreadPoolExecutor | None

    def each(self, run: Run, feeds: Sequence[Feed]) -> Iterator[Floats]:
        """What `run` makes of every batch, side by side on a CPU."""
        return self.pool.map(run, feeds) if self.pool else map(run, feeds)

    def fitting(self, run: Run, feed: Feed) -> Floats:
        """What `run` makes of one batch; one that does not fit in memory is halved, and so are
        those to come.
        """
        try:
            return run(feed)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error) or len(feed["input_ids"]) == 1:
                raise
        except IndexError as error:
            raise BadModel(
                "a token or place has no row in the model's embeddings: its tokenizer belongs to "
                "another model"
            ) from error
        # not inside `except`, where the tensors of the batch that failed are still held
        return self._in_halves(run, feed)

    def _in_halves(self, run: Run, feed: Feed) -> Floats:
        n, length = feed["input_ids"].shape
        self.notes.append(f"a batch of {n} texts did not fit in memory; smaller ones are used")
        if self.batch_size:
            self.batch_size = min(self.batch_size, n // 2)
        self.budget = min(self.budget, n * length // 2)
        halves = [
            {name: array[part] for name, array in feed.items()}
            for part in (slice(n // 2), slice(n // 2, n))
        ]
        return np.concatenate([self.fitting(run, half) for half in halves])
