"""Whether a model reads its texts to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import zoo
from disorder.types import Floats, Texts
from disorder.verbs.audit.behaviour import reads_beginning_only

ROWS = zoo.long_rows(60)
TEXTS: list[Texts] = [(row["text"], None) for row in ROWS]
GOLD = [row["label"] for row in ROWS]


def predicting(answer: zoo.Answer) -> Callable[[Sequence[Texts]], Floats]:
    def predict(texts: Sequence[Texts]) -> Floats:
        found = answer([max((a, b or ""), key=len) for a, b in texts])
        return np.array([[label == zoo.YES, label == zoo.NO] for label in found], dtype=float)

    return predict


def test_a_model_that_sees_the_first_words_is_found() -> None:
    model = zoo.truncated(zoo.bag_of_tokens("plain"), 64)
    assert reads_beginning_only(predicting(model), TEXTS, GOLD)


def test_a_model_that_reads_on_is_not() -> None:
    def counts(texts: Sequence[str]) -> list[str]:
        return [zoo.YES if text.split().count("the") % 2 else zoo.NO for text in texts]

    assert not reads_beginning_only(predicting(counts), TEXTS, GOLD)


def test_a_model_that_never_changes_is_not() -> None:
    assert not reads_beginning_only(predicting(lambda texts: [zoo.YES] * len(texts)), TEXTS, GOLD)


def test_short_texts_are_not_probed() -> None:
    texts: list[Texts] = [(row["text"], None) for row in zoo.evidence_rows("plain", 40)]
    first_word = zoo.truncated(zoo.guesser, 1)
    assert not reads_beginning_only(predicting(first_word), texts, GOLD[:40])


def test_the_longer_text_of_a_pair_is_probed() -> None:
    pairs: list[Texts] = [("Topic", text) for text, _ in TEXTS]
    model = zoo.truncated(zoo.bag_of_tokens("plain"), 64)
    assert reads_beginning_only(predicting(model), pairs, GOLD)
