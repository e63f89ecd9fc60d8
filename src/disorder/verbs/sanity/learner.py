"""What is trained, again and again, on whole and on perturbed data? Anything that reads texts, learns,
and answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disorder.models import load
from disorder.types import Dataset, Example, Floats, Ints, Task, Texts


class Learner(Protocol):
    """Reads texts once, then learns from some of the rows and answers others."""

    name: str

    def read(self, texts: Sequence[Texts]) -> Any:
        """Texts in the form that it learns from."""

    def fit(self, read: Any, rows: Ints, targets: NDArray[Any], key: str, fold: int) -> Any:
        """What these rows teach; `targets` are theirs, `key` names how texts are perturbed, `fold` the
        part left out.
        """

    def ask(self, fitted: Any, read: Any, rows: Ints) -> Floats:
        """Probabilities of the labels (or numbers, in one column) for these rows."""


@dataclass
class Trained:
    """Any model that `disorder train` understands, trained afresh each time; its folders go when
    the audit ends.
    """

    name: str
    task: Task
    folder: Path
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    device: str | None = None

    def read(self, texts: Sequence[Texts]) -> Sequence[Texts]:
        """Texts as they are."""
        return texts

    def fit(
        self, read: Sequence[Texts], rows: Ints, targets: NDArray[Any], key: str, fold: int
    ) -> Any:
        """Train by the plain recipe."""
        from disorder.verbs.train import train

        names = [
            str(t) if self.task.is_regression else self.task.labels[t] for t in targets.tolist()
        ]
        chosen = zip(rows.tolist(), names, strict=True)
        examples = [Example(f"{i:07d}", read[i][0], read[i][1], label) for i, label in chosen]
        place = self.folder / "".join(char if char.isalnum() else "-" for char in f"{key} {fold}")
        found = train(
            "plain",
            Dataset(f"{key} {fold}", self.task, examples),
            out=place,
            model=self.name,
            seed=self.seed,
            settings=self.settings,
            device=self.device,
        )
        return load(found.spec, task=self.task)

    def ask(self, fitted: Any, read: Sequence[Texts], rows: Ints) -> Floats:
        """Ask the trained model."""
        return np.asarray(fitted([read[i] for i in rows.tolist()]))
