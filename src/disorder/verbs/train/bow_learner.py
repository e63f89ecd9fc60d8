"""A bag of words learns too: the weights of predict/bow.py by the same loop as every other model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from disorder.models.bow import N_FEATURES, Bow, bag, features
from disorder.types import Ints, Texts
from disorder.verbs.train.learner import same_labels


class Bag:
    """One weight a feature and label, added up; blind to order by construction."""

    form = "bow"
    lr, epochs = 5e-3, 5

    def __init__(self, address: str, labels: tuple[str, ...]) -> None:
        import torch

        self.labels = labels
        self.network = torch.nn.EmbeddingBag(N_FEATURES, max(1, len(labels)), mode="sum")
        torch.nn.init.zeros_(self.network.weight)
        before = Bow.load(Path(address)) if address else None
        if before is not None and (before.labels == labels or same_labels(before.labels, labels)):
            columns = same_labels(before.labels, labels) or [0]
            with torch.no_grad():
                self.network.weight.copy_(torch.from_numpy(before.weights[:, columns]))

    def encode(self, texts: Sequence[Texts]) -> list[Ints]:
        """Feature numbers."""
        return [features(bag(a), None if b is None else bag(b)) for a, b in texts]

    def length(self, encoded: Ints) -> int:
        """How many features."""
        return len(encoded)

    def feed(self, encoded: Sequence[Ints]) -> dict[str, Any]:
        """Features one after the other, and where each text begins."""
        starts = np.cumsum([0, *[len(each) for each in encoded[:-1]]])
        return {"input": np.concatenate(encoded), "offsets": starts.astype(np.int64)}

    def logits(self, network: Any, given: dict[str, Any]) -> Any:
        """Logits of a batch."""
        return network(**given)

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """A bag is all head: everything is forgotten."""
        self.__init__("", labels)  # type: ignore[misc]

    def save(self, folder: Path) -> None:
        """As predict/bow.py reads it."""
        Bow(self.labels, self.network.weight.detach().cpu().double().numpy()).save(
            folder, dtype=np.float32
        )
