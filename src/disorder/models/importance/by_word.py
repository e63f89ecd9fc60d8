"""Importance of words: how much does a model's prediction depend on each?

Word Salad (Gupta et al., 2021): the word's embedding times the gradient of the loss there, L being
the loss of the gold label. That is a first-order estimate of L(text) − L(text without the word),
which is computed directly for models without gradients. So a high number marks a word that *raises*
the loss, that is, speaks against the gold label; the paper calls it important all the
same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from disorder.errors import BadData
from disorder.models.protocols import Gradients
from disorder.transformations.rendering import without_each_word
from disorder.types import Floats, Pair, Texts

if TYPE_CHECKING:
    from disorder.models.loaded_model import LoadedModel

MAX_KEPT = 20_000  # pairs whose importance is remembered: about 30 MB
BY_GRADIENT = "importance of words: embedding times gradient of the gold label's loss"
BY_LEAVING_OUT = (
    "importance of words: change of the gold label's loss when the word is left out "
    "(the model shows no gradients at its word embeddings, or none that tell words apart)"
)


def importance(loaded: LoadedModel, pairs: Sequence[Pair]) -> list[list[Floats]]:
    """A number for every word of every text: by gradient where there is one, else left out."""
    if isinstance(loaded.predictor, Gradients) and loaded.predictor.has_gradients():
        return loaded.predictor.importance(pairs, _targets(loaded, pairs))
    return leave_one_out(loaded, pairs, _gold(loaded, pairs))


def how(loaded: LoadedModel) -> str:
    """Which of the two is used, for the user to know."""
    predictor = loaded.predictor
    has_gradients = isinstance(predictor, Gradients) and predictor.has_gradients()
    return BY_GRADIENT if has_gradients else BY_LEAVING_OUT


def key_of(pair: Pair) -> tuple[object, ...]:
    """What the importance of a pair's words depends on, beside the model."""
    return pair.label, *(
        (side.text, side.starts.tobytes(), side.ends.tobytes()) for side in pair.sides
    )


def _gold(loaded: LoadedModel, pairs: Sequence[Pair]) -> Floats:
    """The column of each pair's gold label; the number itself for regression."""
    if loaded.columns is None:
        return np.array([float(pair.label) for pair in pairs])
    columns = {label: i for i, label in enumerate(loaded.labels)}
    unknown = next((pair.label for pair in pairs if pair.label not in columns), None)
    if unknown is not None:
        raise BadData(
            f"importance is that of the gold label, and {unknown!r} "
            f"is none of {', '.join(loaded.labels)}"
        )
    return np.array([float(columns[pair.label]) for pair in pairs])


def _targets(loaded: LoadedModel, pairs: Sequence[Pair]) -> Floats:
    """Which labels of the model mean the gold one (pairs × labels); the number for regression."""
    gold = _gold(loaded, pairs)
    return gold[:, None] if loaded.columns is None else loaded.columns[:, gold.astype(np.int64)].T


CALL = 16384  # texts in one call
TINY = 1e-12  # a probability of 0 has no logarithm


def leave_one_out(loaded: LoadedModel, pairs: Sequence[Pair], gold: Floats) -> list[list[Floats]]:
    """Loss of the original text minus loss without the word, for every word of every text."""
    lengths = [[1, *(len(side) for side in pair.sides)] for pair in pairs]
    losses = _losses(loaded, _texts(pairs), np.repeat(gold, [sum(each) for each in lengths]))
    parts = iter(np.split(losses, np.cumsum([length for each in lengths for length in each])))
    found = []
    for each in lengths:
        whole, *without = [next(parts) for _ in each]
        found.append([whole[0] - side for side in without])
    return found


def _losses(loaded: LoadedModel, texts: Iterator[Texts], gold: Floats) -> Floats:
    """The loss of the gold label on each text."""
    found: list[Floats] = []
    start = 0
    while given := list(islice(texts, CALL)):
        end = start + len(given)
        found.append(loss(loaded(given), gold[start:end], is_regression=loaded.columns is None))
        start = end
    return np.concatenate([np.empty(0), *found])


def loss(predictions: Floats, gold: Floats, *, is_regression: bool) -> Floats:
    """Cross-entropy of the gold column, or squared error."""
    if is_regression:
        return np.asarray((predictions[:, 0] - gold) ** 2)
    is_gold = np.arange(predictions.shape[1]) == gold[:, None]
    right = predictions[is_gold]
    wrong = np.where(is_gold, 0, predictions).sum(axis=1)
    # Near certainty the small probabilities of the others are exact where 1 − p is not.
    return np.asarray(
        np.where(right > 0.5, -np.log1p(-np.minimum(wrong, 0.5)), -np.log(np.maximum(right, TINY)))
    )


def _texts(pairs: Sequence[Pair]) -> Iterator[Texts]:
    """Each pair whole, then without each word of its first text, then of its second."""
    for pair in pairs:
        second = None if pair.b is None else pair.b.text
        yield pair.a.text, second
        yield from ((text, second) for text in without_each_word(pair.a))
        if pair.b is not None:
            yield from ((pair.a.text, text) for text in without_each_word(pair.b))
