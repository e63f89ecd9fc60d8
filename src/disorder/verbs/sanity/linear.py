"""Which model is quick and still sees order? A linear one over words and, if that helps, over the
order they stand in.

Whether it looks at order, and how strongly it is held back, is chosen on a fifth of its training
data. So what it is trained on decides: on shuffled texts, where order is noise, it becomes a bag of
words instead of a bad reader.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import MissingPackage
from disorder.randomness import generator
from disorder.types import Floats, Ints, Task, Texts
from disorder.verbs.sanity import features as see

Block = Callable[[Sequence[Texts]], see.Seen]
SIZE = 2**see.BITS
STRENGTHS = (3.0, 20.0)
APART = 5  # one training row in five chooses
RARE = 2  # rows that a feature must stand in


@dataclass(frozen=True)
class Fitted:
    """What was learned: the features that were looked at, and the scikit-learn model."""

    columns: Ints
    model: Any


@dataclass(frozen=True)
class Constant:
    """The same answer to every text: what is left to learn where there is one label, or no word."""

    classes_: Ints
    answer: Floats

    @classmethod
    def of(cls, targets: NDArray[Any], *, is_regression: bool) -> Constant:
        """The mean of numbers, or how frequent each label is."""
        if is_regression:
            return cls(np.empty(0, dtype=np.int64), np.array([targets.mean()]))
        labels, counts = np.unique(targets, return_counts=True)
        return cls(labels, counts / counts.sum())

    def predict(self, seen: Any) -> Floats:
        """The number."""
        return np.repeat(self.answer, seen.shape[0])

    def predict_proba(self, seen: Any) -> Floats:
        """The shares of the labels."""
        return np.tile(self.answer, (seen.shape[0], 1))


@dataclass
class Linear:
    """Logistic (for numbers: ridge) regression over hashed features, in blocks of which the later
    ones are optional.
    """

    name: str
    task: Task
    blocks: Sequence[Block]
    seed: int = 0

    def read(self, texts: Sequence[Texts]) -> Any:
        """A sparse row a text: each block has length 1, so that none drowns the others."""
        from scipy.sparse import csr_matrix

        width = SIZE * len(self.blocks)
        seen = [block(texts) for block in self.blocks]
        places = [
            rows * width + SIZE * i + features.astype(np.int64)
            for i, (rows, features) in enumerate(seen)
        ]
        cells = see.distinct(np.concatenate(places))  # row by row, each feature once
        weights = 1 / np.sqrt(np.bincount(cells // SIZE)[cells // SIZE])
        starts = np.searchsorted(cells, np.arange(len(texts) + 1) * width)
        return csr_matrix(
            (weights.astype(np.float32), cells % width, starts), shape=(len(texts), width)
        )

    def fit(self, read: Any, rows: Ints, targets: NDArray[Any], key: str, fold: int) -> Fitted:
        """The best of a few settings, by rows kept apart, the same however texts are perturbed; then
        trained on all.
        """
        apart = (
            generator(self.seed, "sanity", "apart", str(fold)).permutation(len(rows)) % APART == 0
        )
        settings = [(n, strength) for n in range(1, len(self.blocks) + 1) for strength in STRENGTHS]
        if len(np.unique(targets[~apart])) < 2:
            return self._fitted(read, rows, targets, settings[0])
        losses = [self._loss(read, rows, targets, apart, setting) for setting in settings]
        return self._fitted(read, rows, targets, settings[int(np.argmin(losses))])

    def ask(self, fitted: Fitted, read: Any, rows: Ints) -> Floats:
        """Probabilities, or numbers."""
        seen = read[rows][:, fitted.columns]
        if self.task.is_regression:
            return np.asarray(fitted.model.predict(seen), dtype=np.float64)[:, None]
        answers = np.full((len(rows), len(self.task.labels)), 1e-9)
        answers[:, fitted.model.classes_] = fitted.model.predict_proba(seen)
        return np.asarray(answers / answers.sum(axis=1, keepdims=True))

    def _loss(
        self, read: Any, rows: Ints, targets: NDArray[Any], apart: Any, setting: tuple[int, float]
    ) -> float:
        answers = self.ask(
            self._fitted(read, rows[~apart], targets[~apart], setting), read, rows[apart]
        )
        if self.task.is_regression:
            return float(((answers[:, 0] - targets[apart]) ** 2).mean())
        return float(
            -np.log(np.maximum(answers[np.arange(len(answers)), targets[apart]], 1e-6)).mean()
        )

    def _fitted(
        self, read: Any, rows: Ints, targets: NDArray[Any], setting: tuple[int, float]
    ) -> Fitted:
        from sklearn.exceptions import ConvergenceWarning

        n_blocks, strength = setting
        chosen = read[rows]
        counts = np.bincount(chosen.indices, minlength=read.shape[1])[: SIZE * n_blocks]
        columns = (
            np.flatnonzero(counts >= RARE) if (counts >= RARE).any() else np.flatnonzero(counts)
        )
        if not len(columns) or (not self.task.is_regression and len(np.unique(targets)) < 2):
            return Fitted(columns, Constant.of(targets, is_regression=self.task.is_regression))
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # the last decimals of the weights do not matter here
            return Fitted(columns, _estimator(self.task, strength).fit(chosen[:, columns], targets))


def quick(texts: Sequence[Texts], task: Task, seed: int) -> Linear:
    """The default model: words, then order; which words are grammar is learned from the texts."""
    need_sklearn()
    return Linear("linear", task, (see.words, partial(see.order, grammar=see.common(texts))), seed)


def shallow(name: str, block: Block, task: Task, seed: int) -> Linear:
    """A baseline that sees one thing only."""
    need_sklearn()
    return Linear(name, task, (block,), seed)


def need_sklearn() -> None:
    """Raise where scikit-learn is not installed."""
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise MissingPackage("disorder sanity", "scikit-learn", "sanity")


def _estimator(task: Task, strength: float) -> Any:
    """Dual coordinate descent: its cost does not hang on how many features there are."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.multiclass import OneVsRestClassifier

    if task.is_regression:
        return Ridge(alpha=1 / strength, solver="lsqr")
    return OneVsRestClassifier(
        LogisticRegression(
            C=strength, solver="liblinear", dual=True, max_iter=40, tol=0.01, random_state=0
        )
    )
