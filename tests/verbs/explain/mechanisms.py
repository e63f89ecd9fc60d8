"""A zoo for explanations: models whose mechanism is known, and texts on which they have skill.

Every text of one mechanism holds the words that matter for both labels, so that only what the name
says decides; a tenth of the gold labels is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from zoo import FILLERS, NO, YES, guesser

Texts = Sequence[str] | Sequence[tuple[str, str]]
GOOD = ("superb", "lovely", "brilliant")
BAD = ("dreadful", "boring", "clumsy")
N = 200
NOISE = 0.1
LONG = 10  # words from which a text is long
THINGS = (*FILLERS, *GOOD, *BAD)


@dataclass(frozen=True)
class Mechanism:
    """A model of one mechanism, and the text and label of an example of it."""

    name: str
    answer: Callable[[str], str]
    write: Callable[[np.random.Generator, str], list[str]]

    def __call__(self, texts: Texts) -> list[str]:
        return [
            self.answer(" | ".join(text) if isinstance(text, tuple) else text) for text in texts
        ]

    def rows(self, n: int = N, *, seed: int = 0) -> list[dict[str, str]]:
        """Examples of both labels by turns, a tenth of them with the wrong one."""
        rng = np.random.default_rng(seed)
        rows = []
        for i in range(n):
            label = (YES, NO)[i % 2]
            text = " ".join(self.write(rng, label))
            wrong = {YES: NO, NO: YES}[label] if i % 20 < NOISE * 20 else label
            row = {"id": str(i), "label": wrong}
            texts = text.split(" | ")
            names = ("text_a", "text_b") if len(texts) == 2 else ("text",)
            rows.append(row | dict(zip(names, texts, strict=True)))
        return rows


def words_of(text: str) -> list[str]:
    return re.findall(r"[\w|]+", text.casefold())


def fillers(rng: np.random.Generator, least: int = 8, most: int = 13) -> list[str]:
    n = int(rng.integers(least, most))
    return [FILLERS[i] for i in rng.choice(len(FILLERS), n, replace=False).tolist()]


def any_of(rng: np.random.Generator, words: Sequence[str]) -> str:
    return str(rng.choice(words))


def first_word(text: str) -> str:
    return YES if words_of(text)[:1] and words_of(text)[0] in GOOD else NO


def with_first_word(rng: np.random.Generator, label: str) -> list[str]:
    pair = [any_of(rng, GOOD), any_of(rng, BAD)]
    first, second = pair if label == YES else pair[::-1]
    words = fillers(rng)
    words.insert(int(rng.integers(3, len(words) + 1)), second)
    return [first, *words]


def bigram(text: str) -> str:
    return YES if "not boring" in " ".join(words_of(text)) else NO


def with_bigram(rng: np.random.Generator, label: str) -> list[str]:
    words = fillers(rng)
    place = int(rng.integers(0, len(words) - 4))
    apart = 0 if label == YES else int(rng.integers(2, 4))
    words.insert(place, "not")
    words.insert(place + 1 + apart, "boring")
    return words


def order_of_two(text: str) -> str:
    words = words_of(text)
    if "dog" not in words or "man" not in words:
        return NO
    return YES if words.index("dog") < words.index("man") else NO


def with_order_of_two(rng: np.random.Generator, label: str) -> list[str]:
    words = fillers(rng)
    first, second = ("dog", "man") if label == YES else ("man", "dog")
    words.insert(int(rng.integers(0, 3)), first)
    words.insert(len(words) - int(rng.integers(0, 3)), second)
    return words


def bag(text: str) -> str:
    words = words_of(text)
    return YES if sum(w in GOOD for w in words) > sum(w in BAD for w in words) else NO


def with_bag(rng: np.random.Generator, label: str) -> list[str]:
    words = fillers(rng)
    words.insert(int(rng.integers(0, len(words))), any_of(rng, GOOD if label == YES else BAD))
    return words


def length(text: str) -> str:
    return YES if len(words_of(text)) >= LONG else NO


def with_length(rng: np.random.Generator, label: str) -> list[str]:
    return fillers(rng, LONG, LONG + 5) if label == YES else fillers(rng, LONG - 5, LONG)


def overlap(text: str) -> str:
    first, second = ({*words_of(part)} for part in text.split("|"))
    return YES if 2 * len(first & second) >= len(second) else NO


def with_overlap(rng: np.random.Generator, label: str) -> list[str]:
    first = fillers(rng, 8, 11)
    others = [word for word in THINGS if word not in first]
    n_shared = 5 if label == YES else 1
    shared = [first[i] for i in rng.permutation(len(first))[:n_shared].tolist()]
    new = [others[i] for i in rng.permutation(len(others))[: 6 - n_shared].tolist()]
    second = [(shared + new)[i] for i in rng.permutation(6).tolist()]
    return [*first, "|", *second]


def noise(text: str) -> str:
    return guesser([text])[0]


MECHANISMS = {
    each.name: each
    for each in (
        Mechanism("first word", first_word, with_first_word),
        Mechanism("adjacent bigram", bigram, with_bigram),
        Mechanism("order of two words", order_of_two, with_order_of_two),
        Mechanism("bag of words", bag, with_bag),
        Mechanism("length only", length, with_length),
        Mechanism("overlap only", overlap, with_overlap),
        Mechanism("noise", noise, with_bag),
    )
}
