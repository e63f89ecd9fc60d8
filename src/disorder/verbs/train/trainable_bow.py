"""A trainable bag of words: the weights of models/bow.py, by the same loop as every other model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from disorder.models.bow import N_FEATURES, Bow, _bag, features
from disorder.types import Ints, Texts
from disorder.verbs.train.trainable import label_columns


class TrainableBow:
    """One weight per feature and label, summed; blind to order by construction."""

    form = "bow"
    lr = 5e-3
    epochs = 5

    def __init__(self, address: str, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self.network = _zeros(labels)
        if address:
            self._copy_weights(Bow.load(Path(address)))

    def _copy_weights(self, trained: Bow) -> None:
        """Start from a trained bag of words, if it has the same labels."""
        import torch

        columns = label_columns(trained.labels, self.labels)
        if columns is None and trained.labels == self.labels:
            columns = [0]  # both predict a number
        if columns is not None:
            with torch.no_grad():
                self.network.weight.copy_(torch.from_numpy(trained.weights[:, columns]))

    def encode(self, texts: Sequence[Texts]) -> list[Ints]:
        """Feature numbers."""
        return [features(_bag(a), None if b is None else _bag(b)) for a, b in texts]

    def length(self, encoded: Ints) -> int:
        """The number of features."""
        return len(encoded)

    def collate(self, encoded: Sequence[Ints]) -> dict[str, Any]:
        """The features of all texts in a row, and where each text begins."""
        starts = np.cumsum([0, *[len(each) for each in encoded[:-1]]])
        return {"input": np.concatenate(encoded), "offsets": starts.astype(np.int64)}

    def logits(self, network: Any, inputs: dict[str, Any]) -> Any:
        """Logits of a batch."""
        return network(**inputs)

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Start from zeros: a bag of words is all head."""
        self.labels = labels
        self.network = _zeros(labels)

    def save(self, folder: Path) -> None:
        """Write what models/bow.py reads."""
        weights = self.network.weight.detach().cpu().double().numpy()
        Bow(self.labels, weights).save(folder, dtype=np.float32)


def _zeros(labels: tuple[str, ...]) -> Any:
    import torch

    network = torch.nn.EmbeddingBag(N_FEATURES, max(1, len(labels)), mode="sum")
    torch.nn.init.zeros_(network.weight)
    return network
