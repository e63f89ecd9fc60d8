"""Families: rows that share a text, or most words of one, and so are not independent.

A model that is trained on one row of a family has seen most of the others. They stay in one part
when rows are dealt out, count as one in every interval, and as one where words are counted. Texts
are compared as sets of words, so that the same words in another order are one family (PAWS, HANS).
Union–find over the pairs that MinHash proposes; scipy has connected components, but rows that are
too many for one family have to be joined again by a stricter rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from disorder.data.word_hashes import Link, similar_sets, word_set
from disorder.types import Dataset, Example, Ints

FREQUENT = 0.2  # share of rows with one first text from which they do not belong together
SIMILAR = (0.8, 0.9, 1.0)  # of the words of both texts that two texts share, from loose to strict
FEWEST_WORDS = 5  # distinct words that a text must have to be compared
LARGEST = 0.05  # share of rows that words may join to one family
LARGEST_SMALL = 50  # rows that they may join in small data, if that is no more than FREQUENT
STRICTER = {
    SIMILAR[0]: "0.9 of the words in common",
    SIMILAR[1]: "the same words",
    SIMILAR[2]: "the same first text",
}  # what rows need in common that are too many to be joined by a similarity


@dataclass(frozen=True, eq=False)
class Families:
    """Which family each row is of (`number`, from 0), and which rows were not joined (`notes`)."""

    number: Ints
    notes: Sequence[str] = ()

    @property
    def n(self) -> int:
        """How many families there are."""
        return int(self.number.max()) + 1 if len(self.number) else 0


def find_families(examples: Sequence[Example]) -> Families:
    """The families of these rows, whatever their order: those that they name, else those that are
    found.
    """
    names = [example.family for example in examples]
    if any(names):
        own = [name or f"row {example.id}" for name, example in zip(names, examples, strict=True)]
        return Families(np.unique(np.array(own, dtype=object), return_inverse=True)[1])
    turns = sorted(range(len(examples)), key=lambda row: _content(examples[row]))
    ordered = [examples[row] for row in turns]
    frequent = _frequent_texts(ordered)
    first_of, cut = _joined(ordered, frequent)
    number = np.empty(len(ordered), dtype=np.int64)
    number[turns] = np.unique(first_of, return_inverse=True)[1]
    return Families(number, [*_frequent_notes(frequent), *_cut_notes(cut, len(ordered))])


def named_families(dataset: Dataset) -> Dataset:
    """The dataset with the name of its family on every example: the one it came with, else the id
    of the first example of it.
    """
    found = find_families(dataset.examples)
    first: dict[int, str] = {}
    for number, example in zip(found.number.tolist(), dataset.examples, strict=True):
        first[number] = min(first.get(number, example.id), example.id)
    examples = [
        replace(example, family=example.family or first[number])
        for number, example in zip(found.number.tolist(), dataset.examples, strict=True)
    ]
    return replace(dataset, examples=examples)


def family_numbers(examples: Sequence[Example]) -> dict[str, int]:
    """The number of each example's family, by its id."""
    found = find_families(examples).number.tolist()
    return {example.id: number for example, number in zip(examples, found, strict=True)}


def _content(example: Example) -> tuple[str, str, str]:
    """What rows are sorted by, so that nothing depends on the order they are given in."""
    return example.text_a, example.text_b or "", example.id


def _joined(examples: Sequence[Example], frequent: Counter[str]) -> tuple[Ints, dict[float, int]]:
    """For each row the first one of its family; and how many rows needed more than each similarity.

    Rows that would make too large a family are joined again by the next similarity, at last by
    their first text alone.
    """
    n = len(examples)
    by_text = list(_same_first_text(examples, frequent))
    by_words = list(_similar_texts(examples))
    first_of = np.arange(n)
    is_open = np.ones(n, dtype=bool)
    cut: dict[float, int] = {}
    for least in (*SIMILAR, None):
        links = [link for link in by_words if least is not None and link[2] >= least]
        between = [(i, j) for i, j, _ in (*by_text, *links) if is_open[i] and is_open[j]]
        roots = _components(n, between)
        sizes = np.bincount(roots, minlength=n)[roots]
        settled = is_open & ((sizes <= _largest(n)) | (least is None))
        first_of[settled] = roots[settled]
        is_open &= ~settled
        if least is not None and is_open.any():
            cut[least] = int(is_open.sum())
    return first_of, cut


def _largest(n: int) -> float:
    """How many rows words may join to one family."""
    return max(1.0, LARGEST * n, min(FREQUENT * n, LARGEST_SMALL))


def _components(n: int, links: Iterable[tuple[int, int]]) -> Ints:
    """For each row the smallest one that it is joined with, by any chain of links."""
    parent = list(range(n))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for i, j in links:
        one, other = root(i), root(j)
        parent[max(one, other)] = min(one, other)
    return np.array([root(row) for row in range(n)], dtype=np.int64)


def _frequent_texts(examples: Sequence[Example]) -> Counter[str]:
    """First texts that more than a fifth of the rows have, with how many."""
    counts = Counter(example.text_a for example in examples)
    most = max(1, FREQUENT * len(examples))
    return Counter({text: n for text, n in counts.items() if n > most})


def _same_first_text(examples: Sequence[Example], frequent: Counter[str]) -> Iterator[Link]:
    """Rows are sorted, so those with one first text are next to each other."""
    for i in range(1, len(examples)):
        text = examples[i].text_a
        if text == examples[i - 1].text_a and text not in frequent:
            yield i, i - 1, 1.0


def _similar_texts(examples: Sequence[Example]) -> Iterator[Link]:
    """Links between rows that have a text of the same, or of nearly the same, words."""
    most = _largest(len(examples))
    rows_of: dict[bytes, list[int]] = {}
    for row, example in enumerate(examples):
        for text in example.texts:
            key = word_set(text or "").tobytes()
            rows_of.setdefault(key, []).append(row)
    kept = {
        key: rows
        for key, rows in rows_of.items()
        if FEWEST_WORDS * np.dtype(np.uint64).itemsize <= len(key) and len(set(rows)) <= most
    }
    for rows in kept.values():
        yield from ((row, rows[0], 1.0) for row in rows[1:])
    texts = [np.frombuffer(key, dtype=np.uint64) for key in kept]
    firsts = [rows[0] for rows in kept.values()]
    for i, j, similarity in similar_sets(texts, SIMILAR[0]):
        yield firsts[i], firsts[j], similarity


def _frequent_notes(frequent: Counter[str]) -> list[str]:
    """A line for each first text that does not keep its rows together."""
    return [
        f"{n:,} rows have the first text {text[:40]!r}: they count as independent, in training "
        "and test"
        for text, n in frequent.items()
    ]


def _cut_notes(cut: dict[float, int], n: int) -> list[str]:
    """A line on rows that are similar to too many others to be kept together with all of them."""
    if not cut:
        return []
    strictest = max(cut)
    return [
        f"{cut[strictest]:,} of {n:,} rows share most words of a text with more than "
        f"{_largest(n):,.0f} others: only those with {STRICTER[strictest]} are kept together"
    ]
