"""Oracles behind a server: a bag of words, and a reader, right on the texts they were shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from disorder.types import Example

WORDS = {"entailment": "yes", "neutral": "maybe", "contradiction": "no"}


def item_of(text: str) -> tuple[str, str]:
    """Premise and hypothesis of the question at the end of a prompt; empty for another text."""
    if "Premise:" not in text:
        return "", ""
    premise, hypothesis = text.rsplit("Premise:", 1)[1].split("Hypothesis:")
    return premise.strip(), hypothesis.split("Answer:")[0].strip()


def sure_of(word: str) -> dict[str, float]:
    """Probabilities of a model that would say this."""
    return {each: 0.9 if each == word else 0.04 for each in WORDS.values()}


def guess(*parts: str) -> dict[str, float]:
    """A guess by a hash of the texts."""
    number = blake2b("\0".join(parts).encode(), digest_size=4).digest()[0] % len(WORDS)
    return sure_of(list(WORDS.values())[number])


def words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))


def bag(text: str) -> tuple[str, ...]:
    return tuple(sorted(words(text)))


class BagOfWords:
    """Knows the gold label of every bag of words; of two examples with the same bag, the first."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.known: dict[tuple[tuple[str, ...], ...], str] = {}
        for example in examples:
            self.known.setdefault((bag(example.text_a), bag(str(example.text_b))), example.label)

    def __call__(self, text: str) -> Mapping[str, float]:
        premise, hypothesis = item_of(text)
        label = self.known.get((bag(premise), bag(hypothesis)))
        return guess(premise, hypothesis) if label is None else sure_of(WORDS[label])


class Reader:
    """Knows the gold label of every text by the order of its words, whatever their case and the
    marks beside them, and guesses at any other.
    """

    def __init__(self, examples: Sequence[Example]) -> None:
        self.known = {(words(e.text_a), words(str(e.text_b))): e.label for e in examples}

    def __call__(self, text: str) -> Mapping[str, float]:
        premise, hypothesis = item_of(text)
        label = self.known.get((words(premise), words(hypothesis)))
        return guess(premise, hypothesis) if label is None else sure_of(WORDS[label])
