"""Truncation: does a model read its texts to the end?

What a model does not read cannot be moved away: words that leave the part that it sees look like
order. Where we tokenise, a text is cut at a word before it is perturbed, so that original, control
and variants hold the same words. A model that we do not tokenise for is probed: the last third of
some long texts is replaced by that of another text, then the first third.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from disorder.languages import segments
from disorder.types import Floats, Texts

N_PROBED = 20
FEWEST_WORDS = 100  # of a text; no model is known to read less
PARTS = 3
N_TEXTS = PARTS * N_PROBED  # that are predicted at most

LONGEST_WORD = 24  # mean letters between spaces; more is a script without them
SAME = 1e-4  # by which a probability moves with its batch alone

Predict = Callable[[Sequence[Texts]], Floats]
CountTokens = Callable[[str], tuple[int, int]]  # of a word at the start of a text, and later


def readable(texts: Texts, count: CountTokens, room: int, *, from_start: bool = False) -> Texts:
    """The texts, cut at a word so that a model with room for so many tokens reads all of them in
    whatever order their words stand; the longer one is cut first, at its end or `from_start`.
    """
    if sum(len((text or "").encode("utf-8", "surrogatepass")) for text in texts) <= room:
        return texts  # no token is shorter than a byte
    counted = [_CountedText.of(text, count) for text in texts if text is not None]
    while sum(each.n_tokens for each in counted) > room:
        longest = max(counted, key=lambda each: each.n_tokens)
        if longest.n_left == 1:
            break
        longest.drop()
    first, *second = [each.cut(from_start=from_start) for each in counted]
    return first, second[0] if second else None


@dataclass
class _CountedText:
    """A text with the tokens of its words; `n_left` of them are kept."""

    text: str
    spans: list[tuple[int, int]]
    sizes: list[int]
    n_left: int
    n_tokens: int

    @classmethod
    def of(cls, text: str, count: CountTokens) -> _CountedText:
        spans = _word_spans(text) or [(0, len(text))]
        both = [count(text[start:end]) for start, end in spans]
        sizes = [later for _, later in both]
        more_at_start = max(first - later for first, later in both)  # any word may come first
        return cls(text, spans, sizes, len(spans), sum(sizes) + max(0, more_at_start))

    def drop(self) -> None:
        """Keep one word less."""
        self.n_left -= 1
        self.n_tokens -= self.sizes[self.n_left]

    def cut(self, *, from_start: bool) -> str:
        """What is kept of the text."""
        if self.n_left == len(self.spans):
            return self.text
        if from_start:
            return self.text[self.spans[-self.n_left][0] :]
        return self.text[: self.spans[self.n_left - 1][1]]


def _word_spans(text: str) -> list[tuple[int, int]]:
    """What stands between spaces; the words of a script without spaces."""
    found = [match.span() for match in re.finditer(r"\S+", text)]
    if len(text) <= LONGEST_WORD * len(found):
        return found
    pieces = pairwise(segments(text, "word"))
    return [(start, end) for start, end in pieces if not text[start:end].isspace()]


def reads_beginning_only(predict: Predict, texts: Sequence[Texts], gold: Sequence[str]) -> bool:
    """Whether no prediction for the longest texts moves with their last third, and some do with
    their first; False where no text is long. Only the longer text of a pair is looked at.
    """
    longest = sorted(range(len(texts)), key=lambda i: -_n_words(texts[i]))[:N_PROBED]
    probed = [i for i in longest if _n_words(texts[i]) >= FEWEST_WORDS]
    if len(probed) < 2:
        return False
    donors = [_donor(i, probed, gold) for i in probed]
    given = [texts[i] for i in probed]
    other_end, other_start = (
        [
            _with_part_of(texts[donor], texts[i], part)
            for i, donor in zip(probed, donors, strict=True)
        ]
        for part in (PARTS - 1, 0)
    )
    found = predict([*given, *other_end, *other_start])
    before, ends, starts = np.split(found, [len(given), 2 * len(given)])
    moves_at_end, moves_at_start = (
        not np.allclose(before, after, rtol=0, atol=SAME, equal_nan=True)
        for after in (ends, starts)
    )
    return moves_at_start and not moves_at_end


def _donor(i: int, probed: Sequence[int], gold: Sequence[str]) -> int:
    """Another of the texts, with another gold label if there is one."""
    at = probed.index(i)
    others = [*probed[at + 1 :], *probed[:at]]
    return next((other for other in others if gold[other] != gold[i]), others[0])


def _with_part_of(donor: Texts, texts: Texts, part: int) -> Texts:
    """The texts with one of three parts of the longer one replaced by that of another text."""
    is_second = _is_second_longer(texts)
    own = _longer(texts).split()
    others = _longer(donor).split()
    start, end = part * len(own) // PARTS, (part + 1) * len(own) // PARTS
    from_other = others[part * len(others) // PARTS : (part + 1) * len(others) // PARTS]
    # as many words as there were, so that what stands behind them is where it was
    filled = (from_other * (1 + (end - start) // max(1, len(from_other))))[: end - start]
    changed = " ".join([*own[:start], *filled, *own[end:]])
    return (texts[0], changed) if is_second else (changed, texts[1])


def _longer(texts: Texts) -> str:
    return str(texts[1]) if _is_second_longer(texts) else texts[0]


def _is_second_longer(texts: Texts) -> bool:
    return texts[1] is not None and len(texts[1].split()) > len(texts[0].split())


def _n_words(texts: Texts) -> int:
    return len(_longer(texts).split())
