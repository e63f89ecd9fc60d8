"""What does the loss change by when a word is left out? The importance of words for models that
show no gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from disorder.types import Floats, Pair, Sentence, Texts

if TYPE_CHECKING:
    from disorder.models.loading import LoadedModel

ASKED = 16384  # texts in one call
TINY = 1e-12  # a probability of 0 has no logarithm
WithoutEachWord = Callable[[Sentence], Iterator[str]]


def leave_one_out(
    aligned: LoadedModel, pairs: Sequence[Pair], gold: Floats, without_each_word: WithoutEachWord
) -> list[list[Floats]]:
    """Loss of the original text minus loss without the word, for every word of every text.

    `without_each_word` gives the texts to predict: without the first word, the second, and so on.
    """
    lengths = [[1, *(len(side) for side in pair.sides)] for pair in pairs]
    losses = _losses(
        aligned, _texts(pairs, without_each_word), np.repeat(gold, [sum(each) for each in lengths])
    )
    parts = iter(np.split(losses, np.cumsum([length for each in lengths for length in each])))
    found = []
    for each in lengths:
        whole, *without = [next(parts) for _ in each]
        found.append([whole[0] - side for side in without])
    return found


def _losses(aligned: LoadedModel, texts: Iterator[Texts], gold: Floats) -> Floats:
    """The loss of the gold label on each text."""
    found: list[Floats] = []
    while asked := list(islice(texts, ASKED)):
        start = sum(map(len, found))
        found.append(
            loss(
                aligned(asked),
                gold[start : start + len(asked)],
                is_regression=aligned.columns is None,
            )
        )
    return np.concatenate([np.empty(0), *found])


def loss(answers: Floats, gold: Floats, *, is_regression: bool) -> Floats:
    """Cross-entropy of the gold column, or squared error."""
    if is_regression:
        return np.asarray((answers[:, 0] - gold) ** 2)
    is_gold = np.arange(answers.shape[1]) == gold[:, None]
    right, wrong = answers[is_gold], np.where(is_gold, 0, answers).sum(axis=1)
    # Near certainty the small probabilities of the others are exact where 1 − p is not.
    return np.asarray(
        np.where(right > 0.5, -np.log1p(-np.minimum(wrong, 0.5)), -np.log(np.maximum(right, TINY)))
    )


def _texts(pairs: Sequence[Pair], without_each_word: WithoutEachWord) -> Iterator[Texts]:
    """Each pair whole, then without each word of its first text, then of its second."""
    for pair in pairs:
        second = None if pair.b is None else pair.b.text
        yield pair.a.text, second
        yield from ((text, second) for text in without_each_word(pair.a))
        if pair.b is not None:
            yield from ((pair.a.text, text) for text in without_each_word(pair.b))
