"""Truncation: where does a text end for a model that reads so many tokens?

Words that leave the part that a model sees look like order. So where we tokenise, a text is cut at
a word before it is perturbed: original, control and variants then hold the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from disorder.languages import segments
from disorder.types import Texts

LONGEST_WORD = 24  # mean letters between spaces; more is a script without them

CountTokens = Callable[[str], tuple[int, int]]  # of a word at the start of a text, and later


def readable(texts: Texts, count: CountTokens, room: int, *, from_start: bool = False) -> Texts:
    """The texts, cut at a word so that a model with room for so many tokens reads all of them in
    whatever order their words stand; the longer one is cut first, at its end or `from_start`.
    """
    if sum(len((text or "").encode("utf-8", "surrogatepass")) for text in texts) <= room:
        return texts  # no token is shorter than a byte
    counted = [_CountedText.of(text, count, from_start) for text in texts if text is not None]
    while sum(each.n_tokens for each in counted) > room:
        longest = max(counted, key=lambda each: each.n_tokens)
        if longest.n_left == 1:
            break
        longest.drop()
    first, *second = [each.cut() for each in counted]
    return first, second[0] if second else None


@dataclass
class _CountedText:
    """A text with the tokens of its words; the first `n_left` of them are kept, or the last where
    it is cut from the start.
    """

    text: str
    spans: list[tuple[int, int]]
    sizes: list[int]
    n_left: int
    n_tokens: int
    from_start: bool

    @classmethod
    def of(cls, text: str, count: CountTokens, from_start: bool) -> _CountedText:
        spans = word_spans(text) or [(0, len(text))]
        both = [count(text[start:end]) for start, end in spans]
        sizes = [later for _, later in both]
        more_at_start = max(first - later for first, later in both)  # any word may come first
        n_tokens = sum(sizes) + max(0, more_at_start)
        return cls(text, spans, sizes, len(spans), n_tokens, from_start)

    def drop(self) -> None:
        """Keep one word less."""
        self.n_left -= 1
        last = self.n_left
        self.n_tokens -= self.sizes[-1 - last if self.from_start else last]

    def cut(self) -> str:
        """What is kept of the text."""
        if self.n_left == len(self.spans):
            return self.text
        if self.from_start:
            return self.text[self.spans[-self.n_left][0] :]
        return self.text[: self.spans[self.n_left - 1][1]]


def word_spans(text: str) -> list[tuple[int, int]]:
    """What stands between spaces; the words of a script without spaces."""
    found = [match.span() for match in re.finditer(r"\S+", text)]
    if len(text) <= LONGEST_WORD * len(found):
        return found
    pieces = pairwise(segments(text, "word"))
    return [(start, end) for start, end in pieces if not text[start:end].isspace()]
