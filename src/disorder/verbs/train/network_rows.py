"""Network rows: inputs as a network takes them, one row per text or per window of a long passage,
encoded once for all epochs; and batches of rows of similar length, so that little is padded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.randomness import generator
from disorder.types import Bools, Floats, Ints, Texts
from disorder.verbs.train.trainable import TrainableModel

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
