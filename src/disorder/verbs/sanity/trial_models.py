"""Models for trials: anything that encodes texts, learns from some rows and predicts others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disorder.models import load
from disorder.types import Dataset, Example, Floats, Ints, Task, Texts


class TrialModel(Protocol):
    """Encodes texts once, then learns from some of the rows and predicts others."""

    name: str

    def encode(self, texts: Sequence[Texts]) -> Any:
        """Texts in the form that it learns from."""

    def fit(self, encoded: Any, rows: Ints, targets: NDArray[Any], key: str, fold: int) -> Any:
        """A model trained on these rows.

        `targets` are their gold values, `key` names how texts are perturbed, `fold` the part left
        out.
        """

    def predict(self, fitted: Any, encoded: Any, rows: Ints) -> Floats:
        """Probabilities of the labels (or numbers, in one column) for these rows."""


@dataclass
class TrainedByRecipe:
    """Any model that `disorder train` takes, trained again each time, in folders below `folder`."""

    name: str
    task: Task
    folder: Path
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    device: str | None = None

    def encode(self, texts: Sequence[Texts]) -> Sequence[Texts]:
        """Texts as they are."""
        return texts

    def fit(
        self, encoded: Sequence[Texts], rows: Ints, targets: NDArray[Any], key: str, fold: int
    ) -> Any:
        """Train by the recipe `plain`."""
        from disorder.verbs.train import train

        examples = [
            Example(f"{row:07d}", encoded[row][0], encoded[row][1], self._label(target))
            for row, target in zip(rows.tolist(), targets.tolist(), strict=True)
        ]
        name = f"{key} {fold}"
        trained = train(
            "plain",
            Dataset(name, self.task, examples),
            out=self.folder / "".join(char if char.isalnum() else "-" for char in name),
            model=self.name,
            seed=self.seed,
            settings=self.settings,
            device=self.device,
        )
        return load(trained.spec, task=self.task)

    def _label(self, target: Any) -> str:
        return str(target) if self.task.is_regression else self.task.labels[target]

    def predict(self, fitted: Any, encoded: Sequence[Texts], rows: Ints) -> Floats:
        """Predictions of the trained model."""
        return np.asarray(fitted([encoded[row] for row in rows.tolist()]))
