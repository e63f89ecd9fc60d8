"""Rungs of the ladder: orders of words that keep windows of text, word classes, both or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from disorder.randomness import generator
from disorder.transformations.rendering import render
from disorder.types import Example, Floats, Ints, Sentence, Texts
from disorder.types.predictions import predicted_label
from disorder.verbs.explain.subject import Subject

First = Literal["windows", "classes"]
WINDOWS = ("+ windows", "global order")
CLASSES = ("+ word classes", "word-class order")


@dataclass(frozen=True)
class Rung:
    """What an order keeps beside the words: their window of the text, the sequence of word classes.

    `adds` names the kind of order that this rung adds to the one before.
    """

    title: str
    adds: str
    keeps_windows: bool
    keeps_classes: bool


def rungs_of(first: First) -> list[Rung]:
    """The three rungs below the original text; `first` says what the second one adds."""
    has_windows_first = first == "windows"
    one, two = (WINDOWS, CLASSES) if has_windows_first else (CLASSES, WINDOWS)
    return [
        Rung("words only", "words alone", False, False),
        Rung(one[0], one[1], has_windows_first, not has_windows_first),
        Rung(f"{one[0]} {two[0]}", two[1], True, True),
    ]


def groups_of(sentence: Sentence, window: int, *, keeps_windows: bool, keeps_classes: bool) -> Ints:
    """Which words may trade places: those of one group; each punctuation mark is its own group."""
    assert sentence.tags is not None
    groups = -1 - np.arange(len(sentence))
    places = sentence.movable
    windows = np.zeros(len(places), dtype=np.int64)
    classes = np.zeros(len(places), dtype=np.int64)
    if keeps_windows:
        windows = np.arange(len(places)) // window
    if keeps_classes:
        _, classes = np.unique(sentence.tags[places], return_inverse=True)
    groups[places] = windows * len(sentence) + classes
    return groups


def orders_of(groups: Ints, count: int, rng: Generator) -> Ints:
    """Orders drawn uniformly from all that keep every word within its group, the text's own among
    them.
    """
    _, rank = np.unique(groups, return_inverse=True)
    orders = np.empty((count, len(groups)), dtype=np.int64)
    orders[:, np.argsort(rank, kind="stable")] = np.argsort(rank + rng.random(orders.shape), axis=1)
    return orders


def share_right(
    subject: Subject, sides: Sequence[Sequence[Sentence]], rung: Rung, window: int, draws: int
) -> Floats:
    """The share of each example's draws from a rung that are predicted right; `sides` are the
    tagged texts of each example.
    """
    seed = subject.settings.seed
    texts = [
        text
        for example, sentences in zip(subject.examples, sides, strict=True)
        for text in _drawn(example, sentences, rung, window, draws, seed)
    ]
    labels = _predicted_once(subject, texts, rung.title).reshape(len(sides), draws)
    return np.asarray((labels == subject.gold[:, None]).mean(axis=1))


def _drawn(
    example: Example,
    sentences: Sequence[Sentence],
    rung: Rung,
    window: int,
    draws: int,
    seed: int,
) -> list[Texts]:
    made = []
    for side, sentence in enumerate(sentences):
        groups = groups_of(
            sentence, window, keeps_windows=rung.keeps_windows, keeps_classes=rung.keeps_classes
        )
        rng = generator(seed, "ladder", rung.title, example.id, str(side))
        made.append(render(sentence, orders_of(groups, draws, rng)))
    first, *rest = made
    second: Sequence[str | None] = rest[0] if rest else [None] * draws
    return list(zip(first, second, strict=True))


def _predicted_once(subject: Subject, texts: list[Texts], stage: str) -> Ints:
    """Label numbers, −1 where the model abstains; texts that read the same are predicted once."""
    distinct = dict.fromkeys(texts)
    labels = predicted_label(subject.predict(list(distinct), stage=stage))
    by_text = dict(zip(distinct, labels.tolist(), strict=True))
    return np.array([by_text[text] for text in texts])
