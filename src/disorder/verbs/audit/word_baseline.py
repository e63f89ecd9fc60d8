"""A bag of words trained on the audited data itself: does the data need word order at all?

Logistic regression over the words of each text, those that two texts share, and pairs of those that
they do not; cross-fitted: each example is predicted by a model that saw neither it nor any example
of its family, or with the same words in one of its texts. Written with numpy, since the core does
without scikit-learn; `disorder sanity` has stronger models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from disorder.metrics import SkillRatio
from disorder.randomness import digest
from disorder.transformations.words import split
from disorder.types import Bools, Dataset, Example, Floats, Ints

N_FOLDS = 5
FEWEST = 100  # examples to learn from
MOST = 2_000  # examples that are used
MOST_WORDS = 300_000
CROSSED = 8  # words that only one text has, set against those that only the other has
RARE = 2  # examples that a word must stand in
N_STEPS = 60
RATE = 0.5
PENALTY = 1e-3


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Which examples a cross-fitted bag of words gets right, of those it tried."""

    tried: Bools
    is_right: Bools
    family: Ints | None = None

    def beside(self, gold: Ints, model: Bools, chosen: Bools) -> SkillRatio | None:
        """Its skill (as "after") and that of a model (as "before") on some examples; None where
        they have one label.
        """
        used = self.tried & chosen
        if len(np.unique(gold[used])) < 2:
            return None
        family = None if self.family is None else self.family[used]
        right = self.is_right[used].astype(float)
        return SkillRatio.of_labels(gold[used], model[used], right, family)


def word_baseline(
    dataset: Dataset, gold: Ints, *, seed: int, family: Ints | None = None
) -> CrossFitted | None:
    """The baseline of a dataset, whose examples are of these families; None where it would not be
    cheap, or could not learn.
    """
    n = len(dataset.examples)
    keys = [digest(seed, "word baseline", example.id) for example in dataset.examples]
    drawn = sorted(range(n), key=keys.__getitem__)[:MOST]
    by_id = sorted(drawn, key=lambda i: dataset.examples[i].id)  # whatever order they come in
    chosen = np.array(by_id, dtype=np.int64)
    examples = [dataset.examples[i] for i in chosen.tolist()]
    if len(examples) < FEWEST or len(np.unique(gold[chosen])) < 2:
        return None
    words = [_words(example) for example in examples]
    if sum(map(len, words)) > MOST_WORDS:
        return None
    folds = _folds(examples, seed, None if family is None else family[chosen])
    right = np.zeros(n, dtype=bool)
    tried = np.zeros(n, dtype=bool)
    columns = Columns.of(words)
    labels = np.unique(gold[chosen], return_inverse=True)[1]
    for fold in range(N_FOLDS):
        held = folds == fold
        if not held.any() or len(np.unique(labels[~held])) < labels.max() + 1:
            continue
        answers = columns.fitted(labels, ~held, held)
        right[chosen[held]] = answers == labels[held]
        tried[chosen[held]] = True
    return CrossFitted(tried, right, family) if tried.any() else None


def _words(example: Example) -> list[str]:
    """The distinct words of each text, and those that both have."""
    first, second = (
        set() if text is None else {word.casefold() for word in split(text).words}
        for text in example.texts
    )
    found = [f"a {word}" for word in sorted(first)] + [f"b {word}" for word in sorted(second)]
    if second:
        share = round(5 * len(first & second) / len(second))
        found += [f"both {word}" for word in sorted(first & second)] + [f"share {share}"]
        apart = [sorted(first - second)[:CROSSED], sorted(second - first)[:CROSSED]]
        found += [f"{one} | {other}" for one in apart[0] for other in apart[1]]
    return found


def _folds(examples: Sequence[Example], seed: int, family: Ints | None) -> Ints:
    """Examples of one family, or that share a text or the words of one, go into the same fold."""
    parent = list(range(len(examples)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    seen: dict[str | int, int] = {}
    for i, example in enumerate(examples):
        own = () if family is None else (int(family[i]),)
        for key in (*own, *_families(example)):
            parent[root(i)] = root(seen.setdefault(key, i))
    return np.array(
        [
            int.from_bytes(digest(seed, "fold", examples[root(i)].id)[:4], "big") % N_FOLDS
            for i in range(len(examples))
        ]
    )


def _families(example: Example) -> Iterator[str]:
    for text in example.texts:
        if text:
            yield " ".join(sorted(text.casefold().split()))


@dataclass(frozen=True, eq=False)
class Columns:
    """Examples as sets of columns: a flat list of column numbers, example by example.

    Sums by example and by column are taken over runs: of the list itself, and of the list in the
    order of its columns.
    """

    flat: Ints
    rows: Ints
    starts: Ints  # where each example begins
    by_column: Ints  # places in the list in the order of columns
    column_starts: Ints

    @classmethod
    def of(cls, words: Sequence[Sequence[str]]) -> Columns:
        """Columns for all words that stand in more than one example, and one that all have."""
        rows = np.repeat(np.arange(len(words)), [len(each) for each in words])
        _, flat, counts = np.unique(
            [word for each in words for word in each], return_inverse=True, return_counts=True
        )
        used = counts[flat] >= RARE
        every = np.arange(len(words))
        rows = np.concatenate([rows[used], every])
        flat = np.concatenate([flat[used] + 1, np.zeros_like(every)])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        flat = np.unique(flat[order], return_inverse=True)[1]
        by_column = np.argsort(flat, kind="stable")
        return cls(flat, rows, _starts(rows), by_column, _starts(flat[by_column]))

    def fitted(self, labels: Ints, train: Bools, held: Bools) -> Ints:
        """Predictions for held-out examples of a model fitted to the others.

        Logistic regression with AdaGrad; labels weigh the same, as in balanced accuracy.
        """
        m = int(labels.max()) + 1
        target = np.eye(m)[labels]
        sizes = np.bincount(labels[train], minlength=m)
        weight = np.where(train, 1 / (m * sizes[labels]), 0.0)[:, None]
        scale = 1 / np.sqrt(np.bincount(self.rows))[:, None]
        weights = np.zeros((len(self.column_starts), m))
        seen = np.full_like(weights, 1e-8)
        for _ in range(N_STEPS):
            error = (_softmax(self._logits(weights) * scale) - target) * weight * scale
            slope = np.add.reduceat(error[self.rows[self.by_column]], self.column_starts)
            slope += PENALTY / len(labels) * weights
            seen += slope**2
            weights -= RATE * slope / np.sqrt(seen)
        return np.asarray(self._logits(weights)[held].argmax(axis=1))

    def _logits(self, weights: Floats) -> Floats:
        return np.asarray(np.add.reduceat(weights[self.flat], self.starts))


def _starts(numbers: Ints) -> Ints:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.diff(numbers, prepend=-1))


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
