"""What does the network see of the inputs? One row a text, or one a window of a long passage;
encoded once for all epochs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.types import Bools, Ints
from disorder.verbs.train.batches import in_order, tensors
from disorder.verbs.train.learner import Learner

ANSWERED = 128  # rows in a batch when nothing is learned


@dataclass(frozen=True, eq=False)
class Rows:
    """Encoded inputs with their targets and lengths, and whether they are perturbed copies."""

    encoded: list[Any]
    targets: NDArray[Any]
    is_perturbed: Bools
    lengths: Ints

    def __len__(self) -> int:
        return len(self.encoded)


def rows_of(
    learner: Learner, encoded: list[Any], targets: NDArray[Any], is_perturbed: Bools
) -> Rows:
    """Rows, with their lengths as the learner counts them."""
    return Rows(
        encoded, targets, is_perturbed, np.array([learner.length(each) for each in encoded])
    )


def asked(learner: Learner, encoded: Sequence[Any]) -> Iterator[tuple[Ints, Any]]:
    """Logits of the network as it stands, a batch at a time, with the places of its rows."""
    import torch

    network = learner.network.eval()
    device = next(network.parameters()).device
    with torch.inference_mode():
        for batch in in_order(np.array([learner.length(each) for each in encoded]), ANSWERED):
            given = tensors(learner.feed([encoded[i] for i in batch.tolist()]), device)
            yield batch, learner.logits(network, given).float()
