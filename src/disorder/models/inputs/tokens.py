"""Tokens of many orders of the same words: every word is tokenised once, an input is a gather of
blocks.

Holds for tokenizers that never join letters across a space, which nearly all are. That is checked
on load and on the first real inputs against real tokenisation; where it fails, every text is
tokenised as a whole. Texts too long for the model, or with white space other than single spaces,
always are, so truncation is the tokenizer's own.

Words that leave the part that a model sees look like order. So where we tokenise, a text is cut at
a word before it is perturbed: original, control and variants then hold the same words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.languages import segments
from disorder.models.inputs.token_blocks import (
    LONGEST,
    Encoded,
    EncodedInputs,
    SpecialTokens,
    assembled,
    framed,
    put_together,
)
from disorder.models.inputs.variants import all_texts, are_tokens, take_variants, token_rows
from disorder.types import Bools, Texts, TokenUnit, Variants

MAX_KEPT = 200_000
FEW = 3  # variants per example; below that tokenising their texts is quicker
N_CHECKED = 200  # inputs of an audit that are tokenised both ways
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


class WordTokens:
    """Tokenises inputs from blocks of tokens that are kept; `notes` says so when it cannot."""

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.notes: list[str] = []
        self._n_texts_checked = 0
        self._n_variants_checked = 0
        self._first: dict[str, list[int]] = {}
        self._later: dict[str, list[int]] = {}
        self._frames: dict[bool, SpecialTokens | None] = {}
        self.is_exact = not _joins_words(tokenizer) and self._is_right_on_probes()
        if not self.is_exact:
            self._fall_back()

    def encode(self, texts: Sequence[Texts]) -> list[Encoded]:
        """Token numbers of every text or pair, as the tokenizer itself would give them."""
        if self.is_exact and self._n_texts_checked < N_CHECKED:
            self._check_texts(texts[:N_CHECKED])
        if not self.is_exact:
            return self._all_whole(texts)
        return [self._gathered(a, b) or self._whole(a, b) for a, b in texts]

    def encode_variants(self, variants: Sequence[Variants]) -> EncodedInputs:
        """Token numbers of every variant, the same as those of their texts; strings are made for
        those only that have to be tokenised as a whole.
        """
        if not variants:
            return EncodedInputs.of_lists([])
        if are_tokens(variants):
            return EncodedInputs.of_lists(
                [encoded for each in variants for encoded in self._moved(each)]
            )
        is_pair = variants[0].b is not None
        is_mixed = any((each.b is not None) != is_pair for each in variants)
        is_few = sum(map(len, variants)) < FEW * len(variants)
        frame = self._frame(is_pair)
        if not self.is_exact or frame is None or is_mixed or is_few:
            return EncodedInputs.of_lists(self.encode(all_texts(variants)))
        self._limit()
        found, is_gathered = assembled(
            variants, frame, self._first_block, self._later_block, self.max_length
        )
        if self._n_variants_checked < N_CHECKED:
            self._check_variants(variants, found, is_gathered)
            if not self.is_exact:
                return EncodedInputs.of_lists(self._all_whole(all_texts(variants)))
        others = np.flatnonzero(~is_gathered)
        if not len(others):
            return found
        texts = all_texts(take_variants(variants, others))
        return found.with_others(others, EncodedInputs.of_lists(self.encode(texts)))

    def units(self, text: str) -> list[TokenUnit]:
        """The tokens of a text, all of them, as units that can be moved."""
        with self._untruncated():
            encoding = self.tokenizer.encode(text, add_special_tokens=False)
        return token_units(text, encoding.ids, encoding.offsets)

    def readable(self, texts: Texts, n_taken: int = 0) -> Texts:
        """The texts, cut at a word where the tokenizer would cut them off; `n_taken` tokens of the
        room are needed for something else.
        """
        self._limit()
        n_special = self.tokenizer.num_special_tokens_to_add(texts[1] is not None)
        is_left = (self.tokenizer.truncation or {}).get("direction") == "left"
        room = self.max_length - n_special - n_taken
        return readable(texts, self._n_tokens, room, from_start=is_left)

    def _n_tokens(self, chunk: str) -> tuple[int, int]:
        return len(self._first_block(chunk)), len(self._later_block(chunk))

    def _moved(self, variants: Variants) -> Iterator[Encoded]:
        """Inputs whose tokens were moved: numbers all the way, special tokens where they were.

        What is too long is cut off where the tokenizer cuts off the original, which has as many
        tokens.
        """
        frame = self._frame(variants.b is not None)
        if frame is None:
            raise BadModel("this tokenizer's special tokens are not known: use unit=subword")
        rows = token_rows(variants)
        n_tokens = len(rows[0][0]) + len(rows[0][1] or ()) + frame.n_tokens
        lengths = self._kept(variants) if n_tokens > self.max_length else None
        for a, b in rows:
            first, second = (a, b or []) if lengths is None else self._cut_off(a, b or [], lengths)
            yield put_together(frame, first, second)

    def _kept(self, variants: Variants) -> tuple[int, int]:
        """How many tokens of each text the tokenizer leaves of the original."""
        a, *b = [rows.sentence.text for rows in variants.sides]
        owners = self.tokenizer.encode(a, b[0] if b else None).sequence_ids
        return owners.count(0), owners.count(1)

    def _cut_off(
        self, a: list[int], b: list[int], lengths: tuple[int, int]
    ) -> tuple[list[int], list[int]]:
        if self.tokenizer.truncation["direction"] == "left":
            return a[len(a) - lengths[0] :], b[len(b) - lengths[1] :]
        return a[: lengths[0]], b[: lengths[1]]

    def _check_texts(self, texts: Sequence[Texts]) -> None:
        """Compare with real tokenisation on the first texts of an audit, too."""
        self._n_texts_checked += len(texts)
        made = [(self._gathered(a, b), self._whole(a, b)) for a, b in texts]
        if any(gathered is not None and gathered != whole for gathered, whole in made):
            self._fall_back()

    def _check_variants(
        self, variants: Sequence[Variants], found: EncodedInputs, is_gathered: Bools
    ) -> None:
        """Compare with real tokenisation on the first variants of an audit, too."""
        members = np.flatnonzero(is_gathered)[:N_CHECKED]
        self._n_variants_checked += len(members)
        texts = all_texts(take_variants(variants, members))
        for i, (a, b) in zip(members.tolist(), texts, strict=True):
            ids, types = found.batch(np.array([i]))
            if Encoded(ids[0].tolist(), types[0].tolist()) != self._whole(a, b):
                self._fall_back()
                return

    def _fall_back(self) -> None:
        self.is_exact = False
        self.notes.append(
            "this tokenizer joins letters across spaces: every text is tokenised as a whole"
        )

    def _is_right_on_probes(self) -> bool:
        """Compare with real tokenisation, nothing cut off."""
        longest = self.max_length
        self.max_length = sys.maxsize
        with self._untruncated():
            is_right = all(
                self._matches(texts) for pair in PROBES for texts in (pair, (pair[0], None))
            )
        self.max_length = longest
        return is_right

    @contextmanager
    def _untruncated(self) -> Iterator[None]:
        """Inside this, the tokenizer cuts nothing off."""
        cut = self.tokenizer.truncation
        self.tokenizer.no_truncation()
        try:
            yield
        finally:
            if cut:
                self.tokenizer.enable_truncation(**cut)

    def _matches(self, texts: Texts) -> bool:
        """Whether gathered blocks are the tokens of the whole text."""
        gathered = self._gathered(*texts)
        return gathered is not None and gathered == self._whole(*texts)

    def _gathered(self, a: str, b: str | None) -> Encoded | None:
        """The input put together from blocks; None where only the tokenizer itself can tell."""
        first = self._blocks(a)
        second = [] if b is None else self._blocks(b)
        frame = self._frame(b is not None)
        if first is None or second is None or frame is None:
            return None
        if len(first) + len(second) + frame.n_tokens > self.max_length:
            return None
        return put_together(frame, first, second)

    def _blocks(self, text: str) -> list[int] | None:
        chunks = text.split(" ")
        if not all(chunks) or len(chunks) != len(text.split()) or len(text) > LONGEST * len(chunks):
            return None
        self._limit()
        found = list(self._first_block(chunks[0]))
        later = self._later
        for chunk in chunks[1:]:
            found += later[chunk] if chunk in later else self._later_block(chunk)
        return found

    def _limit(self) -> None:
        """Forget all blocks once they are too many."""
        if len(self._first) + len(self._later) > MAX_KEPT:
            self._first.clear()
            self._later.clear()

    def _first_block(self, chunk: str) -> list[int]:
        """The tokens of a chunk at the start of a text."""
        if chunk not in self._first:
            self._first[chunk] = self._plain(chunk)
        return self._first[chunk]

    def _later_block(self, chunk: str) -> list[int]:
        """The tokens of a chunk that stands after another."""
        if chunk not in self._later:
            lead = self._plain("a")
            self._later[chunk] = self._plain(f"a {chunk}")[len(lead) :]
        return self._later[chunk]

    def _plain(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _frame(self, is_pair: bool) -> SpecialTokens | None:
        """The special tokens around texts, learned from one example."""
        if is_pair not in self._frames:
            whole = self._whole("a", "a" if is_pair else None)
            self._frames[is_pair] = framed(whole, self._plain("a"), is_pair)
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


Spans = list[tuple[int, int]]
CONTINUES = "##"  # WordPiece marks what goes on a word; the others mark what begins one
BEGINS = ("Ġ", "▁")


def is_fast(tokenizer: Any) -> bool:
    """Whether a tokenizer says where its tokens lie; one that is not of transformers may lack the
    attribute.
    """
    return bool(getattr(tokenizer, "is_fast", False))


def token_spans(tokenizer: Any, text: str) -> Spans:
    """Where the tokens lie, white space left out; tokens that share a letter (parts of an emoji)
    are one.
    """
    given = tokenizer(
        text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
    )
    units = token_units(text, given["input_ids"], given["offset_mapping"])
    return [(start, end) for start, end, _ in units]


def token_units(text: str, ids: Sequence[int], offsets: Spans) -> list[TokenUnit]:
    """The tokens of a text as units that can be moved: nearly always one token each.

    Tokens that share a letter (parts of an emoji) are one unit, and a token of white space alone
    belongs to the unit that follows it.
    """
    units: list[TokenUnit] = []
    waiting: tuple[int, ...] = ()
    for token, span in zip(ids, offsets, strict=True):
        start, end = _trimmed(text, *span)
        waiting += (token,)
        if units and start < units[-1][1]:
            first, last, before = units[-1]
            units[-1] = (first, max(last, end), before + waiting)
        elif start < end:
            units.append((start, end, waiting))
        else:
            continue
        waiting = ()
    if units and waiting:
        first, last, before = units[-1]
        units[-1] = (first, last, before + waiting)
    return units


def whole_words(tokenizer: Any) -> list[str]:
    """The tokens that are words of letters, sorted, without the marks of tokenizers."""
    tokens: dict[str, int] = tokenizer.get_vocab()
    special = set(tokenizer.get_added_vocab()) | set(tokenizer.all_special_tokens)
    plain = [token for token in tokens if token not in special]
    if any(token.startswith(CONTINUES) and token != CONTINUES for token in plain):
        plain = [token for token in plain if not token.startswith(CONTINUES)]
    else:
        mark = max(BEGINS, key=lambda mark: sum(token.startswith(mark) for token in plain))
        plain = [token for token in plain if token.startswith(mark)] or plain
    words = (tokenizer.decode([tokens[token]]).strip() for token in plain)
    return sorted({word for word in words if word.isalpha()})


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the white space at its ends."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


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
