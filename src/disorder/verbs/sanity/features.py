"""Features of the default model: words, how two texts share them, and the order they stand in.

Content words that both texts of a pair have are numbered by where the first text has them, so that
"who did what to whom" is a pattern of numbers, learned once for all names. All rows are handled
together: a word is a key with its row in the high half and its hash in the low half. Written here
because scikit-learn's hashing takes one text at a time and has no features across two texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.data.word_hashes import GOLDEN, Hashes, distinct, hashes
from disorder.metrics.answer_match import word_overlap
from disorder.types import Bools, Ints, Texts

RowFeatures = tuple[Ints, Hashes]  # row numbers, and a feature for each of them
BITS = 18
HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)
START = 1  # stands for the start of a text
END = 2
SHARED = 100  # stands for the first shared word; the next ones follow
COMMON = 0.05  # words in more than this share of the texts are grammar rather than content
# How many words of a row are set against each other, so that long texts stay cheap:
CROSSED = 40  # words that only one text has
PATTERN = 7  # shared words
BESIDE = 30  # other words beside shared ones
WINDOW = 12  # words apart, in single texts
SHORT_WINDOW = 4  # words apart, in pairs


def common(texts: Sequence[Texts]) -> Hashes:
    """The words that are in so many texts that they count as grammar."""
    every = [text for pair in texts for text in pair if text]
    found, counts = np.unique(_low(distinct(_keys(every))), return_counts=True)
    return np.asarray(found[counts > COMMON * len(every)])


def words(texts: Sequence[Texts]) -> RowFeatures:
    """Which words there are; for pairs also which both have, and those of only one, crossed."""
    first = distinct(_keys([a for a, _ in texts]))
    if _is_single(texts):
        return _row(first), _mixed(1, _low(first))
    second = distinct(_keys([b or "" for _, b in texts]))
    both = np.intersect1d(first, second, assume_unique=True)
    only_a = _without(first, both)
    only_b = _without(second, both)
    kinds = {1: first, 2: second, 3: only_a, 4: only_b, 6: both}
    found = [(_row(keys), _mixed(kind, _low(keys))) for kind, keys in kinds.items()]
    crossed = _crossed(5, _first_few(only_a, CROSSED), _first_few(only_b, CROSSED), len(texts))
    return _together(*found, crossed, _shared_counts(texts))


def order(texts: Sequence[Texts], grammar: Hashes) -> RowFeatures:
    """The order of the words: neighbours, which word comes before which, and where the second text
    has the words of the first; `grammar` are the words that count as grammar.
    """
    first = _keys([a for a, _ in texts], ends=True)
    if _is_single(texts):
        return _together(*_sequence(20, first, WINDOW))
    second = _keys([b or "" for _, b in texts], ends=True)
    return _together(_next(30, first), _next(31, second), *_aligned(texts, grammar))


def length(texts: Sequence[Texts]) -> RowFeatures:
    """How long the texts are, and nothing else."""
    n = np.array([len(hashes(a)) for a, _ in texts])
    m = np.array([0 if b is None else len(hashes(b)) for _, b in texts])
    ratio = np.where(n > m, np.round(10 * m / np.maximum(n, 1)).astype(int), 11)
    bins = [
        np.minimum(n, 60),
        np.minimum(m, 60),
        _bin(n),
        _bin(m),
        20 * _bin(n) + _bin(m),
        np.clip(n - m, -20, 20) + 20,
        ratio,
    ]
    return _binned(40, bins)


def sizes(texts: Sequence[Texts]) -> RowFeatures:
    """How long the texts are, and how many distinct words they have."""
    n = np.array([len(set(hashes(a).tolist())) for a, _ in texts])
    m = np.array([len(set(hashes(b or "").tolist())) for _, b in texts])
    ratio = np.round(10 * m / np.maximum(1, n)).astype(np.int64)
    bins = [np.minimum(n, 60), np.minimum(m, 60), np.clip(n - m, -20, 20) + 20, ratio]
    return _together(length(texts), _binned(70, bins))


def overlap(texts: Sequence[Texts]) -> RowFeatures:
    """The share of the second text's words that the first has: a share says nothing of lengths
    where one text has all words of the other.
    """
    share = np.array([shared_words(a, b) for a, b in texts])
    return _binned(60, [np.round(20 * share).astype(np.int64)])


def _shared_counts(texts: Sequence[Texts]) -> RowFeatures:
    """How many words the texts share, and how many only one of them has."""
    first = distinct(_keys([a for a, _ in texts]))
    second = distinct(_keys([b or "" for _, b in texts]))
    shared = np.intersect1d(first, second, assume_unique=True)
    both = np.bincount(_row(shared), minlength=len(texts))
    n = np.bincount(_row(first), minlength=len(texts))
    m = np.bincount(_row(second), minlength=len(texts))
    of_b = np.round(20 * both / np.maximum(1, m)).astype(int)
    of_all = np.round(20 * both / np.maximum(1, n + m - both)).astype(int)
    return _binned(
        47, [np.minimum(m - both, 12), _bin(n - both), of_b, of_all, np.minimum(both, 20)]
    )


def _aligned(texts: Sequence[Texts], grammar: Hashes) -> list[RowFeatures]:
    """The second text, its shared content words replaced by their number in the first."""
    first = _keys([a for a, _ in texts])
    second = _keys([b or "" for _, b in texts], ends=True)
    shared = np.intersect1d(distinct(first), distinct(second), assume_unique=True)
    shared = shared[~np.isin(_low(shared), grammar)]
    if not len(shared):
        return _sequence(60, second, SHORT_WINDOW)
    rank = _ranks(shared, first)
    places, is_shared = _places(second, shared)
    symbols = second.copy()
    row_half = second[is_shared] & ~LOW
    rank_of_word = rank[places[is_shared]]
    symbols[is_shared] = row_half | (np.uint64(SHARED) + rank_of_word)
    pattern = _first_few(row_half | rank_of_word, PATTERN)
    others = _without(distinct(np.concatenate([first, second])), shared)
    row_pattern = _row_patterns(pattern)
    pairs = [_paired(pattern, gap) for gap in range(1, PATTERN)]
    before = np.sort(np.concatenate(pairs))
    beside = _crossed(53, before, _first_few(others, BESIDE), len(texts))
    return [
        *_sequence(60, symbols, SHORT_WINDOW),
        (_row(row_pattern), _mixed(50, _low(row_pattern))),
        _crossed(51, row_pattern, others, len(texts)),
        (_row(before), _mixed(52, _low(before))),
        beside,
    ]


def _ranks(shared: Hashes, first: Hashes) -> Hashes:
    """For each shared word the number of shared words that the first text has before it."""
    places, is_shared = _places(first, shared)
    earliest = np.full(len(shared), len(first), dtype=np.int64)
    np.minimum.at(earliest, places[is_shared], np.flatnonzero(is_shared))
    turns = np.lexsort((earliest, _row(shared)))
    found = np.empty(len(shared), dtype=np.uint64)
    found[turns] = _within(_row(shared)[turns]).astype(np.uint64)
    return np.minimum(found, np.uint64(20))


def _places(keys: Hashes, known: Hashes) -> tuple[Ints, Bools]:
    """Where each key is among the known ones, and whether it is there at all."""
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return places, np.asarray(known[places] == keys)


def _without(keys: Hashes, known: Hashes) -> Hashes:
    """The keys that are not among the known ones."""
    if not len(known):
        return keys
    return np.asarray(keys[~_places(keys, known)[1]])


def _row_patterns(pattern: Hashes) -> Hashes:
    """One key per row that stands for its whole pattern."""
    rows = _row(pattern)
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    with np.errstate(over="ignore"):
        powers = GOLDEN ** (_within(rows).astype(np.uint64) + np.uint64(1))
        terms = (_low(pattern) + np.uint64(1)) * powers
        sums = np.add.reduceat(terms, starts)
    return np.asarray((pattern[starts] & ~LOW) | (sums >> HALF))


def _paired(pattern: Hashes, gap: int) -> Hashes:
    """Which shared word comes how many shared words before which."""
    left = pattern[:-gap]
    right = pattern[gap:]
    same = _row(left) == _row(right)
    return np.asarray((left[same] & ~LOW) | (_low(left[same]) * np.uint64(32) + _low(right[same])))


def _sequence(kind: int, keys: Hashes, window: int) -> list[RowFeatures]:
    """Two and three words in a row, and which word comes how soon after which."""
    left = keys[:-2]
    middle = keys[1:-1]
    right = keys[2:]
    same = _row(left) == _row(right)
    mixed = _mixed(kind + 1, _low(left[same]), _low(middle[same]), _low(right[same]))
    threes = (_row(left)[same], mixed)
    apart = [_next(kind + 2, keys, gap) for gap in range(2, window + 1)]
    return [_next(kind, keys), threes, *apart]


def _next(kind: int, keys: Hashes, gap: int = 1) -> RowFeatures:
    """Each word with the one so many places after it."""
    left = keys[:-gap]
    right = keys[gap:]
    same = _row(left) == _row(right)
    return _row(left)[same], _mixed(kind, _low(left[same]), _low(right[same]))


def _crossed(kind: int, left: Hashes, right: Hashes, n_rows: int) -> RowFeatures:
    """Every key of the left with every key of the right of the same row; both are sorted by row."""
    counts = np.bincount(_row(right), minlength=n_rows)
    starts = np.cumsum(counts) - counts
    times = counts[_row(left)]
    ones = np.repeat(left, times)
    inner = np.arange(len(ones)) - np.repeat(np.cumsum(times) - times, times)
    others = right[starts[_row(ones)] + inner] if len(ones) else right[:0]
    return _row(ones), _mixed(kind, _low(ones), _low(others))


def _keys(texts: Sequence[str], *, ends: bool = False) -> Hashes:
    """The words of all texts one after the other, as keys."""
    found = [hashes(text) for text in texts]
    if ends:
        start = np.array([START], dtype=np.uint64)
        end = np.array([END], dtype=np.uint64)
        found = [np.concatenate([start, each, end]) for each in found]
    rows = np.repeat(np.arange(len(texts), dtype=np.uint64), [len(each) for each in found])
    words = np.concatenate(found) if found else np.empty(0, dtype=np.uint64)
    return np.asarray((rows << HALF) | words)


def _row(keys: Hashes) -> Ints:
    return (keys >> HALF).astype(np.int64)


def _low(keys: Hashes) -> Hashes:
    return np.asarray(keys & LOW)


def _within(rows: Ints) -> Ints:
    """The place of each entry among those of its row; entries of a row are next to each other."""
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    lengths = np.diff(np.append(starts, len(rows)))
    return np.asarray(np.arange(len(rows)) - np.repeat(starts, lengths))


def _first_few(keys: Hashes, n: int) -> Hashes:
    """At most so many keys of each row, so that long texts stay cheap."""
    return np.asarray(keys[_within(_row(keys)) < n])


def _is_single(texts: Sequence[Texts]) -> bool:
    return bool(texts) and texts[0][1] is None


def _bin(n: Ints) -> Ints:
    """Bins of counts, finer for small ones."""
    return np.minimum(19, (2 * np.log2(n + 1)).astype(np.int64))


def _binned(kind: int, bins: Sequence[Ints]) -> RowFeatures:
    """A feature for each number and its value."""
    rows = np.arange(len(bins[0]))
    found = [(rows, _mixed(kind + i, each.astype(np.uint64))) for i, each in enumerate(bins)]
    return _together(*found)


def _together(*found: RowFeatures) -> RowFeatures:
    rows = np.concatenate([rows for rows, _ in found])
    features = np.concatenate([features for _, features in found])
    return rows, features


def _mixed(kind: int, *columns: Hashes) -> Hashes:
    """Feature numbers below 2**BITS: one for each kind and combination."""
    with np.errstate(over="ignore"):
        found: Hashes = np.asarray(np.uint64(kind) * GOLDEN)
        for column in columns:
            found = (found ^ column) * GOLDEN
            found = found ^ (found >> np.uint64(29))
        return np.asarray((found * GOLDEN) >> np.uint64(64 - BITS))


def shared_words(a: str, b: str | None) -> float:
    """The share of the distinct words of `b` that `a` has too; 0 where `b` has none."""
    return word_overlap(hashes(a).tolist(), hashes(b or "").tolist(), distinct=True) or 0.0
