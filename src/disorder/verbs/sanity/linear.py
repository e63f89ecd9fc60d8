"""Models for trials: linear ones, and those that `disorder train` trains.

The default is linear over words and, if that helps, over the order they stand in. Whether it uses
order, and how strongly it is regularised, is chosen on a fifth of its training rows. On shuffled
texts, where order is noise, it so becomes a bag of words.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disorder.data.word_hashes import distinct
from disorder.errors import MissingPackage
from disorder.models import load
from disorder.randomness import generator
from disorder.types import Bools, Dataset, Example, Floats, Ints, Task, Texts
from disorder.verbs.sanity import features


class TrialModel(Protocol):
    """Encodes texts once, then learns from some of the rows and predicts others."""

    name: str

    def encode(self, texts: Sequence[Texts]) -> Any:
        """Texts in the form that it learns from."""

    def fit(self, encoded: Any, rows: Ints, targets: NDArray[Any], key: str, fold: int) -> Any:
        """A model trained on these rows and gold `targets`; `key` is how texts are perturbed,
        `fold` left out.
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

        task = self.task
        examples = [
            Example.of(f"{row:07d}", a, b, str(gold) if task.is_regression else task.labels[gold])
            for row, gold in zip(rows.tolist(), targets.tolist(), strict=True)
            for a, b in [encoded[row]]
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

    def predict(self, fitted: Any, encoded: Sequence[Texts], rows: Ints) -> Floats:
        """Predictions of the trained model."""
        return np.asarray(fitted([encoded[row] for row in rows.tolist()]))


Block = Callable[[Sequence[Texts]], features.RowFeatures]
SIZE = 2**features.BITS
STRENGTHS = (3.0, 20.0)
HELD_OUT = 5  # one training row in five chooses the setting
RARE = 2  # rows that a feature must stand in
UNSEEN = 1e-9  # probability of a label that the training rows do not have
LEAST = 1e-6  # probability from which the logarithm is taken


@dataclass(frozen=True)
class FittedLinear:
    """A fitted scikit-learn model, and the feature columns that it takes."""

    columns: Ints
    model: Any


# how many blocks of features are used, and how weakly the weights are regularised
LinearSetting = tuple[int, float]


@dataclass
class HashedLinear:
    """Logistic (numbers: ridge) regression over hashed features in blocks, one at least."""

    name: str
    task: Task
    blocks: Sequence[Block]
    seed: int = 0

    def encode(self, texts: Sequence[Texts]) -> Any:
        """One sparse row per text; each block has length 1, so that none outweighs the others."""
        from scipy.sparse import csr_matrix

        width = SIZE * len(self.blocks)
        places = []
        for number, block in enumerate(self.blocks):
            rows, found = block(texts)
            places.append(rows * width + SIZE * number + found.astype(np.int64))
        cells = distinct(np.concatenate(places))  # row by row, each feature once
        weights = 1 / np.sqrt(np.bincount(cells // SIZE)[cells // SIZE])
        starts = np.searchsorted(cells, np.arange(len(texts) + 1) * width)
        shape = (len(texts), width)
        return csr_matrix((weights.astype(np.float32), cells % width, starts), shape=shape)

    def fit(
        self, encoded: Any, rows: Ints, targets: NDArray[Any], key: str, fold: int
    ) -> FittedLinear:
        """The setting that is best on held-out rows, the same for all texts, trained on all."""
        shuffled = generator(self.seed, "sanity", "apart", str(fold)).permutation(len(rows))
        held_out = shuffled % HELD_OUT == 0
        settings = [
            (n_blocks, strength)
            for n_blocks in range(1, len(self.blocks) + 1)
            for strength in STRENGTHS
        ]
        best = settings[0]
        if len(np.unique(targets[~held_out])) > 1:
            losses = [self._loss(encoded, rows, targets, held_out, each) for each in settings]
            best = settings[int(np.argmin(losses))]
        return self._fitted(encoded, rows, targets, best)

    def predict(self, fitted: FittedLinear, encoded: Any, rows: Ints) -> Floats:
        """Probabilities, or numbers."""
        given = encoded[rows][:, fitted.columns]
        if self.task.is_regression:
            return np.asarray(fitted.model.predict(given), dtype=np.float64)[:, None]
        probabilities = np.full((len(rows), len(self.task.labels)), UNSEEN)
        probabilities[:, fitted.model.classes_] = fitted.model.predict_proba(given)
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))

    def _loss(
        self,
        encoded: Any,
        rows: Ints,
        targets: NDArray[Any],
        held_out: Bools,
        setting: LinearSetting,
    ) -> float:
        """Squared error, or negative log-likelihood, on the held-out rows."""
        fitted = self._fitted(encoded, rows[~held_out], targets[~held_out], setting)
        predictions = self.predict(fitted, encoded, rows[held_out])
        wanted = targets[held_out]
        if self.task.is_regression:
            return float(((predictions[:, 0] - wanted) ** 2).mean())
        of_gold = predictions[np.arange(len(predictions)), wanted]
        return float(-np.log(np.maximum(of_gold, LEAST)).mean())

    def _fitted(
        self, encoded: Any, rows: Ints, targets: NDArray[Any], setting: LinearSetting
    ) -> FittedLinear:
        from sklearn.dummy import DummyClassifier, DummyRegressor
        from sklearn.exceptions import ConvergenceWarning

        given = encoded[rows]
        counts = np.bincount(given.indices, minlength=encoded.shape[1])
        n_blocks, strength = setting
        counts = counts[: SIZE * n_blocks]
        columns = np.flatnonzero(counts >= RARE)
        if not len(columns):
            columns = np.flatnonzero(counts)
        is_regression = self.task.is_regression
        if not len(columns) or (not is_regression and len(np.unique(targets)) < 2):
            dummy = DummyRegressor() if is_regression else DummyClassifier(strategy="prior")
            return FittedLinear(columns, dummy.fit(given[:, columns], targets))
        estimator = _estimator(self.task, strength)
        with warnings.catch_warnings():
            # The last decimals of the weights do not matter here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return FittedLinear(columns, estimator.fit(given[:, columns], targets))


def default_model(texts: Sequence[Texts], task: Task, seed: int) -> HashedLinear:
    """The default model: words, then order; the texts decide which words count as grammar."""
    need_sklearn()
    order = partial(features.order, grammar=features.common(texts))
    return HashedLinear("linear", task, (features.words, order), seed)


def baseline_model(name: str, blocks: Sequence[Block], task: Task, seed: int) -> HashedLinear:
    """A baseline that has these kinds of features only."""
    need_sklearn()
    return HashedLinear(name, task, blocks, seed)


def need_sklearn() -> None:
    """Raise where scikit-learn is not installed."""
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise MissingPackage("disorder sanity", "scikit-learn", "sanity")


def _estimator(task: Task, strength: float) -> Any:
    """Dual coordinate descent, whose cost does not depend on the number of features."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.multiclass import OneVsRestClassifier

    if task.is_regression:
        return Ridge(alpha=1 / strength, solver="lsqr")
    classifier = LogisticRegression(
        C=strength, solver="liblinear", dual=True, max_iter=40, tol=0.01, random_state=0
    )
    return OneVsRestClassifier(classifier)
