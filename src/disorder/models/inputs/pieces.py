"""Pieces of a text: which tokens a tokenizer cuts it into, and which tokens are whole words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disorder.types import TokenUnit

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
