"""BLEU of reordered words with their text, from word positions.

Sentence BLEU with one reference, uniform weights and no smoothing, cased, as NLTK's `sentence_bleu`
defines it; an n without a matching n-gram gives 0. Our own, since all variants of a text are scored
at once, without making strings.
"""

from __future__ import annotations

import numpy as np

from disorder.types import Floats, Ints, Sentence

MAX_ORDER = 4


def bleu(
    sentence: Sentence, positions: Ints, *, n: int = MAX_ORDER, is_reference: bool = False
) -> Floats:
    """BLEU-1 … BLEU-n of each row of positions with its sentence (rows × n); `is_reference` takes
    the row as the reference, as UNLI's released code does.
    """
    kinds = cased_kinds(sentence)
    matches = _matches(kinds, kinds[positions], n)
    reference, candidate = len(kinds), positions.shape[1]
    if is_reference:
        reference, candidate = candidate, reference
    totals = np.maximum(candidate - np.arange(n), 1)
    with np.errstate(divide="ignore"):
        logs = np.cumsum(np.log(matches / totals), axis=1) / np.arange(1, n + 1)
    penalty = 0.0 if candidate >= reference else 1 - reference / max(candidate, 1)
    return np.asarray(np.exp(logs + penalty))


def cased_kinds(sentence: Sentence) -> Ints:
    """A number for each distinct word, case and all."""
    words = np.array(sentence.words, dtype=object).astype(str)
    _, kinds = np.unique(words, return_inverse=True)
    return kinds.astype(np.int64)


def _matches(kinds: Ints, rows: Ints, n: int) -> Ints:
    """How many n-grams of each row match one of the text, each used once (rows × n)."""
    found = np.zeros((len(rows), n), dtype=np.int64)
    base = int(kinds.max(initial=0)) + 1
    old = np.zeros(len(kinds) + 1, dtype=np.int64)
    new = np.zeros((len(rows), rows.shape[1] + 1), dtype=np.int64)
    for order in range(min(n, len(kinds), rows.shape[1])):
        # an n-gram is the number of its first n−1 words, and its last word; −1 is not in the text
        old = old[: len(kinds) - order] * base + kinds[order:]
        before = new[:, : rows.shape[1] - order]
        new = np.where(before < 0, -1, before * base + rows[:, order:])
        known, old, counts = np.unique(old, return_inverse=True, return_counts=True)
        place = np.minimum(np.searchsorted(known, new), len(known) - 1)
        new = np.where(known[place] == new, place, -1)
        found[:, order] = np.minimum(_counts(new, len(known)), counts).sum(axis=1)
    return found


def _counts(numbers: Ints, size: int) -> Ints:
    """How often each row holds each number from 0 on."""
    row, column = np.nonzero(numbers >= 0)
    flat = np.bincount(row * size + numbers[row, column], minlength=len(numbers) * size)
    return flat.reshape(len(numbers), size)
