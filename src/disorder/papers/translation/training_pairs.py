"""Training pairs for pbsmt: which pairs of texts the translator of a label learns from."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from disorder.papers.translation.translator import WordPair
from disorder.randomness import digest
from disorder.transformations.words import split
from disorder.types import Example, Ints, Sentence

PairKind = tuple[str, bool]  # a label, and whether its examples are pairs


@dataclass(frozen=True)
class PairSelection:
    """What translators learn from.

    `train` is a data spec, `limit` the most pairs per label (0: all), `longest` the most words per
    text; `seed` says which pairs are drawn.
    """

    train: str
    limit: int
    longest: int
    seed: int


def choose(examples: Iterator[Example], selection: PairSelection) -> dict[PairKind, list[WordPair]]:
    """The pairs of each label, drawn by their ids: whatever the order of the rows."""
    drawn: dict[PairKind, list[tuple[bytes, Example]]] = defaultdict(list)
    for example in examples:
        place = digest(selection.seed, "pbsmt", example.id)
        drawn[example.label, example.is_pair].append((place, example))
    return {kind: list(_usable(found, selection)) for kind, found in drawn.items()}


def _usable(drawn: list[tuple[bytes, Example]], selection: PairSelection) -> Iterator[WordPair]:
    n_left = selection.limit or float("inf")
    for _, example in sorted(drawn, key=lambda item: item[0]):
        source, target = sides(example.text_a, example.text_b)
        if source and target and max(len(source), len(target)) <= selection.longest:
            yield source, target
            n_left -= 1
        if not n_left:
            return


def sides(text_a: str, text_b: str | None) -> WordPair:
    """What is translated and into what: the two texts, or the halves of the only one."""
    if text_b is not None:
        return _words(split(text_a)), _words(split(text_b))
    sentence = split(text_a)
    first, second = halves(sentence)
    return _words(sentence.select(first)), _words(sentence.select(second))


def halves(sentence: Sentence) -> tuple[Ints, Ints]:
    """The positions before and after the middle; the final punctuation belongs to neither."""
    middle = (len(sentence.body) + 1) // 2
    return sentence.body[:middle], sentence.body[middle:]


def _words(sentence: Sentence) -> list[str]:
    """Lower-cased words without what Thot's files cannot hold.

    Those are control characters, half characters (surrogates) and Thot's own three bars.
    """
    words = (word.lower().replace("|", "¦") for word in sentence.words)
    return [word for word in words if not any(map(_is_unwritable, word))]


def _is_unwritable(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs")
