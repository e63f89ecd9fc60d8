"""Families: rows that share a text, or most words of one, and so are not independent.

A model that is trained on one row of a family has seen most of the others. They stay in one part
when rows are dealt out, count as one in every interval, and as one where words are counted. Texts
are compared as sets of words, so that the same words in another order are one family (PAWS, HANS).
Union–find over the pairs that MinHash proposes; scipy has connected components, but rows that are
too many for one family have to be joined again by a stricter rule. That rule is for a template or
one text that would join all rows; copies of a row are one family however many they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from disorder.data.word_hashes import Link, Match, hashes, similar_sets, word_set
from disorder.types import Bools, Dataset, Example, Ints

FREQUENT = 0.2  # share of rows with one first text from which they do not belong together
SIMILAR = (0.8, 0.9, 1.0)  # of the words of both texts that two texts share, from loose to strict
FEWEST_WORDS = 5  # distinct words that a text must have to be compared
SAME_ORDER = 0.6  # of the pairs of neighbours of both: one word in ten that differs is in two pairs
MOST_COPIES = 0.9  # of rows that are alike, to be copies with some noise among them
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
    copied = [(i, i - 1) for i in range(1, len(ordered)) if _is_copy(*ordered[i - 1 : i + 1])]
    frequent = _frequent_texts(ordered, copied)
    first_of, cut = _joined(ordered, copied, frequent)
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


def _is_copy(one: Example, other: Example) -> bool:
    """Whether two rows have the same texts, to the letter."""
    return one.texts == other.texts


def _joined(
    examples: Sequence[Example], copied: Sequence[Match], frequent: Counter[str]
) -> tuple[Ints, dict[float, int]]:
    """For each row the first one of its family; and how many rows needed more than each similarity.

    Rows that would make too large a family are joined again by the next similarity, at last by
    their first text alone; copies of one row stay together whatever their number.
    """
    n = len(examples)
    by_text = list(_same_first_text(examples, frequent))
    by_words = list(_similar_texts(examples, copied))
    copies = list(copied)
    first_of = np.arange(n)
    is_open = np.ones(n, dtype=bool)
    is_near = np.zeros(n, dtype=bool)
    cut: dict[float, int] = {}
    for least in (*SIMILAR, None):
        links = [(i, j) for i, j, alike in by_words if least is not None and alike >= least]
        between = [(i, j) for i, j in (*copies, *by_text, *links) if is_open[i] and is_open[j]]
        roots = _components(n, between)
        is_small = np.bincount(roots, minlength=n)[roots] <= _largest(n)
        if least == SIMILAR[0] and not is_small.all():
            near = _near_copies(examples, [link for link in links if not is_small[link[0]]])
            copies += near
            is_near[[row for link in near for row in link]] = True
        of_one = _is_one_each(_components(n, copies), roots)
        settled = is_open & (is_small | of_one | (least is None))
        first_of[settled] = roots[settled]
        is_open &= ~settled
        if least is not None and is_open.any():
            cut[least] = int((is_open & ~is_near).sum())
    return first_of, cut


def _near_copies(examples: Sequence[Example], links: Iterable[Match]) -> list[Match]:
    """Of rows that have a text in common those that are alike in every text, words in one order:
    with the first of them, not by a chain of others, and of the gold label that most of them have,
    while other rows have another. Where most rows are so, the rest are noise and stay out; of a
    template that is filled with words that decide the label, the rows differ in what matters.
    """
    alike = [(i, j) for i, j in links if _are_alike(examples[i], examples[j])]
    labels = np.unique([example.label for example in examples], return_inverse=True)[1]
    if not labels.any():
        return []
    roots = _components(len(examples), alike)
    n = len(examples)
    sizes = np.bincount(roots, minlength=n)
    of_label = Counter(zip(roots.tolist(), labels.tolist(), strict=True))
    usual = dict(sorted(of_label, key=lambda each: (of_label[each], -each[1])))
    is_good = np.array(
        [
            usual[root] == label and _are_alike(examples[root], examples[row])
            for row, (root, label) in enumerate(zip(roots.tolist(), labels.tolist(), strict=True))
        ]
    )
    n_good = np.bincount(roots[is_good], minlength=n)
    are_copies = is_good & ((sizes > 1) & (n_good >= MOST_COPIES * sizes))[roots]
    first = {root: row for row, root in reversed([*enumerate(roots.tolist())]) if is_good[row]}
    return [(row, first[roots[row]]) for row in np.flatnonzero(are_copies).tolist()]


def _are_alike(one: Example, other: Example) -> bool:
    """Whether each text of one row has nearly the words of the other's, in nearly their order."""
    return all(
        own == others or _in_one_order(own or "", others or "")
        for own, others in zip(one.texts, other.texts, strict=True)
    )


def _in_one_order(one: str, other: str) -> bool:
    words, others = (set(word_set(text).tolist()) for text in (one, other))
    if min(len(words), len(others)) < FEWEST_WORDS:
        return False
    neighbours, theirs = (set(pairwise(hashes(text).tolist())) for text in (one, other))
    are_shared = len(words & others) >= SIMILAR[0] * len(words | others)
    return are_shared and len(neighbours & theirs) >= SAME_ORDER * len(neighbours | theirs)


def _is_one_each(values: Ints, roots: Ints) -> Bools:
    """For each row, whether all rows that are joined with it have one value."""
    differs = np.zeros(len(roots), dtype=bool)
    np.logical_or.at(differs, roots, values != values[roots])
    return np.asarray(~differs[roots])


def _largest(n: int) -> float:
    """How many rows words may join to one family."""
    return max(1.0, LARGEST * n, min(FREQUENT * n, LARGEST_SMALL))


def _components(n: int, links: Iterable[Match]) -> Ints:
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


def _frequent_texts(examples: Sequence[Example], copied: Sequence[Match]) -> Counter[str]:
    """First texts that more than a fifth of the rows have, copies aside, with how many."""
    counts = Counter(example.text_a for example in examples)
    repeated = Counter(examples[i].text_a for i, _ in copied)
    most = max(1, FREQUENT * (len(examples) - len(copied)))
    return Counter({text: n for text, n in counts.items() if n - repeated[text] > most})


def _same_first_text(examples: Sequence[Example], frequent: Counter[str]) -> Iterator[Match]:
    """Rows are sorted, so those with one first text are next to each other."""
    for i in range(1, len(examples)):
        text = examples[i].text_a
        if text == examples[i - 1].text_a and text not in frequent:
            yield i, i - 1


def _similar_texts(examples: Sequence[Example], copied: Sequence[Match]) -> Iterator[Link]:
    """Links between rows that have a text of the same, or of nearly the same, words; a copy needs
    none of its own.
    """
    most = _largest(len(examples))
    is_copy = {row for row, _ in copied}
    rows_of: dict[bytes, list[int]] = {}
    for row, example in enumerate(examples):
        for text in example.texts if row not in is_copy else ():
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
    cut = {least: rows for least, rows in cut.items() if rows}
    if not cut:
        return []
    strictest = max(cut)
    return [
        f"{cut[strictest]:,} of {n:,} rows share most words of a text with more than "
        f"{_largest(n):,.0f} others: only those with {STRICTER[strictest]} are kept together"
    ]
