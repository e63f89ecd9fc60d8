"""Network rows: inputs as a network takes them, one row per text or per window of a long passage,
encoded once for all epochs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.types import Bools, Floats, Ints, Texts
from disorder.verbs.train.batches import batches_by_length, to_tensors
from disorder.verbs.train.trainable import TrainableModel

BATCH_SIZE = 128  # rows per batch when nothing is trained


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Encoded inputs with their targets and lengths, and whether they are perturbed copies."""

    encoded: list[Any]
    targets: NDArray[Any]
    is_perturbed: Bools
    lengths: Ints

    def __len__(self) -> int:
        return len(self.encoded)


def network_rows(
    model: TrainableModel, encoded: list[Any], targets: NDArray[Any], is_perturbed: Bools
) -> NetworkRows:
    """Rows, with their lengths as the model counts them."""
    return NetworkRows(encoded, targets, is_perturbed, _lengths(model, encoded))


def predict_batches(model: TrainableModel, encoded: Sequence[Any]) -> Iterator[tuple[Ints, Any]]:
    """Logits of the network as it stands, batch by batch, with the numbers of the rows."""
    import torch

    network = model.network.eval()
    device = next(network.parameters()).device
    with torch.inference_mode():
        for batch in batches_by_length(_lengths(model, encoded), BATCH_SIZE):
            arrays = model.collate([encoded[i] for i in batch.tolist()])
            yield batch, model.logits(network, to_tensors(arrays, device)).float()


def predict_rows(model: TrainableModel, encoded: Sequence[Any]) -> Floats:
    """Logits of the network as it stands, one line per encoded row."""
    logits = np.empty((len(encoded), max(1, len(model.labels))))
    for batch, part in predict_batches(model, encoded):
        logits[batch] = part.cpu().numpy()
    return logits


def predict_logits(model: TrainableModel, texts: Sequence[Texts]) -> Floats:
    """Logits of the network as it stands, one line per text."""
    return predict_rows(model, model.encode(texts))


def _lengths(model: TrainableModel, encoded: Sequence[Any]) -> Ints:
    return np.array([model.length(each) for each in encoded])
