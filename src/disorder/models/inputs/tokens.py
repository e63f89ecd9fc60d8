"""How are many orders of the same words tokenised without tokenising each? Every word once; an
input is a gather of blocks.

Holds for tokenizers that never join letters across a space, which nearly all are; that is checked
on load against real tokenisation, and where it fails every text is tokenised as a whole. Texts too
long for the model, or with white space other than single spaces, always are, so truncation is the
tokenizer's own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from disorder.types import Texts

LONGEST = (
    24  # mean length of words worth keeping; texts in scripts without spaces would fill the memory
)
MAX_KEPT = 200_000
N_CHECKED = 200  # texts really asked that are tokenised both ways
PROBES: list[Texts] = [
    (
        "dogs the Three-legged (barked), didn't they?",
        "1,000 U.S. don't ended. dollars' it's cost \"Quotes\" end",
    ),
    (
        "was Größe naïve café, 3.5% of the élan",
        "İstanbul'da state-of-the-art ... e-mail@x.org a_b http://x.org/y?z=1",
    ),
    ("身上裹 一件工厂,发的 棉大衣。", "これは ペンです 。 한국어 문장 입니다"),
    ("👍🏽 ok 👨‍👩‍👧 !", "мама мыла раму . שלום עולם مرحبا"),
    ("Yes", "no"),
]


@dataclass(frozen=True)
class Encoded:
    """One input: token numbers, and for each whether it belongs to the second text."""

    ids: list[int]
    type_ids: list[int]


class WordTokens:
    """Tokenises texts from blocks of word tokens that are kept; `notes` says so when it cannot."""

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self.tokenizer, self.max_length = tokenizer, max_length
        self.notes: list[str] = []
        self._n_checked = 0
        self._first: dict[str, list[int]] = {}
        self._later: dict[str, list[int]] = {}
        self._frames: dict[bool, tuple[Encoded, Encoded, Encoded]] = {}
        self.is_exact = not _joins_words(tokenizer) and self._is_right_on_probes()
        if not self.is_exact:
            self._refuse()

    def encode(self, texts: Sequence[Texts]) -> list[Encoded]:
        """Token numbers of every text or pair, as the tokenizer itself would give them."""
        if self.is_exact and self._n_checked < N_CHECKED:
            self._check(texts[:N_CHECKED])
        return (
            [self._gathered(a, b) or self._whole(a, b) for a, b in texts]
            if self.is_exact
            else self._all_whole(texts)
        )

    def _check(self, texts: Sequence[Texts]) -> None:
        """Try the shortcut on the first texts that are really asked, too."""
        self._n_checked += len(texts)
        made = [(self._gathered(a, b), self._whole(a, b)) for a, b in texts]
        if any(gathered is not None and gathered != whole for gathered, whole in made):
            self._refuse()

    def _refuse(self) -> None:
        self.is_exact = False
        self.notes.append(
            "this tokenizer joins letters across spaces: every text is tokenised as a whole"
        )

    def _is_right_on_probes(self) -> bool:
        """Compare with real tokenisation, nothing cut off."""
        cut, longest = self.tokenizer.truncation, self.max_length
        self.tokenizer.no_truncation()
        self.max_length = sys.maxsize
        found = all(self._matches(texts) for pair in PROBES for texts in (pair, (pair[0], None)))
        self.max_length = longest
        if cut:
            self.tokenizer.enable_truncation(**cut)
        return found

    def _matches(self, texts: Texts) -> bool:
        """Whether gathered blocks are the tokens of the original text."""
        gathered = self._gathered(*texts)
        return gathered is not None and gathered == self._whole(*texts)

    def _gathered(self, a: str, b: str | None) -> Encoded | None:
        """The input put together from blocks; None where only the tokenizer itself can tell."""
        first, second = self._blocks(a), [] if b is None else self._blocks(b)
        frame = self._frame(b is not None)
        if first is None or second is None or frame is None:
            return None
        before, between, after = frame
        ids = [*before.ids, *first, *between.ids, *second, *after.ids]
        if len(ids) > self.max_length:
            return None
        one, two = len(first), len(second)
        first_type, second_type = self._types[b is not None]
        types = [
            *before.type_ids,
            *[first_type] * one,
            *between.type_ids,
            *[second_type] * two,
            *after.type_ids,
        ]
        return Encoded(ids, types)

    def _blocks(self, text: str) -> list[int] | None:
        words = text.split(" ")
        if not all(words) or len(words) != len(text.split()) or len(text) > LONGEST * len(words):
            return None
        if len(self._first) + len(self._later) > MAX_KEPT:
            self._first.clear()
            self._later.clear()
        found = list(self._first.get(words[0]) or self._learn_first(words[0]))
        later = self._later
        for word in words[1:]:
            found += later[word] if word in later else self._learn_later(word)
        return found

    def _learn_first(self, word: str) -> list[int]:
        self._first[word] = self._plain(word)
        return self._first[word]

    def _learn_later(self, word: str) -> list[int]:
        """The tokens of a word that stands after another."""
        lead = self._plain("a")
        self._later[word] = self._plain(f"a {word}")[len(lead) :]
        return self._later[word]

    def _plain(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    _types: dict[bool, tuple[int, int]]

    def _frame(self, is_pair: bool) -> tuple[Encoded, Encoded, Encoded] | None:
        """The special tokens before, between and after the texts, learned from one example."""
        if is_pair not in self._frames:
            whole = self._whole("a", "a" if is_pair else None)
            word, n = self._plain("a"), len(self._plain("a"))
            starts = [i for i in range(len(whole.ids) - n + 1) if whole.ids[i : i + n] == word]
            if len(starts) != 1 + is_pair:
                return None
            cuts = [0, starts[0], starts[0] + n, starts[-1], starts[-1] + n, len(whole.ids)]
            before, between, after = (
                Encoded(whole.ids[i:j], whole.type_ids[i:j]) for i, j in _gaps(cuts, is_pair)
            )
            self._frames[is_pair] = (before, between, after)
            self._types = {
                **getattr(self, "_types", {}),
                is_pair: (whole.type_ids[starts[0]], whole.type_ids[starts[-1]]),
            }
        return self._frames[is_pair]

    def _whole(self, a: str, b: str | None) -> Encoded:
        encoding = self.tokenizer.encode(a, b)
        return Encoded(encoding.ids, encoding.type_ids)

    def _all_whole(self, texts: Sequence[Texts]) -> list[Encoded]:
        encodings = self.tokenizer.encode_batch([a if b is None else (a, b) for a, b in texts])
        return [Encoded(encoding.ids, encoding.type_ids) for encoding in encodings]


def _joins_words(tokenizer: Any) -> bool:
    """Whether a token of its own may hold a space, as "new york" would."""
    return any(" " in token.content for token in tokenizer.get_added_tokens_decoder().values())


def _gaps(cuts: list[int], is_pair: bool) -> list[tuple[int, int]]:
    """Where the special tokens stand between the texts."""
    start, a, a_end, b, b_end, end = cuts
    return (
        [(start, a), (a_end, b), (b_end, end)]
        if is_pair
        else [(start, a), (a_end, a_end), (a_end, end)]
    )
