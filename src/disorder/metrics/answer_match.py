"""How far texts agree: SQuAD's exact match and F1 of an answer against the gold ones, and the share
of one text's words that another has too.

Rajpurkar et al. (2016, 2018). Answers are compared in lower case, without punctuation and articles.
Where a question has no gold answer, the empty answer is correct.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Sequence

ARTICLES = re.compile(r"\b(a|an|the)\b")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """What is left to compare.

    >>> normalised("The  Norman's (castle)!")
    'normans castle'
    """
    return " ".join(ARTICLES.sub(" ", text.lower().translate(NO_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 where the answer is one of the gold ones (or none, where there is none), else 0."""
    return float(normalised(answer) in {normalised(text) for text in _counted(gold)})


def f1(answer: str, gold: Sequence[str]) -> float:
    """The F1 of the words of the answer against the gold answer that is nearest."""
    return max(
        _overlap(normalised(answer).split(), normalised(text).split()) for text in _counted(gold)
    )


def contains(answer: str, gold: Sequence[str]) -> float:
    """1 where one of the gold answers stands in the answer, word by word, else 0.

    >>> contains("It is in France.", ["France"]), contains("Frances", ["France"])
    (1.0, 0.0)
    """
    said = f" {normalised(answer)} "
    return float(any(f" {normalised(text)} " in said for text in gold if normalised(text)))


MATCHES = {"f1": f1, "exact": exact_match, "contains": contains}


def _counted(gold: Sequence[str]) -> list[str]:
    """Gold answers of which something is left; the empty answer where there is none."""
    return [text for text in gold if normalised(text)] or [""]


def _overlap(given: Sequence[str], wanted: Sequence[str]) -> float:
    if not given or not wanted:
        return float(given == wanted)
    common = (Counter(given) & Counter(wanted)).total()
    return 2 * common / (len(given) + len(wanted))


def word_overlap(
    first: Sequence[Hashable], second: Sequence[Hashable], *, distinct: bool
) -> float | None:
    """The share of the words of `second` that stand in `first`; None if `second` has no words.

    With `distinct` each different word counts once (the sanity check: a repeated word is no further
    evidence); without, each occurrence counts (NDSC's figure: what a reader of the text meets).

    >>> word_overlap("a b c".split(), "a a x".split(), distinct=False)
    0.6666666666666666
    >>> word_overlap("a b c".split(), "a a x".split(), distinct=True)
    0.5
    """
    known = set(first)
    counted = set(second) if distinct else second
    if not counted:
        return None
    return sum(word in known for word in counted) / len(counted)
