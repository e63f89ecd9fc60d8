"""Duplicates and leaks: does the data repeat itself, or leak from training to test?

Rows are equal to the letter, equal after normalising, or nearly equal (MinHash in bands, Broder
1997): as similar as the less similar of their texts, since one long premise under two hypotheses is
no repeat. The same words in another order with another label are a contrast, which is made on
purpose: it is reported, and is no repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from disorder.data.word_hashes import (
    DEPTH,
    GOLDEN,
    N_BANDS,
    Hashes,
    Match,
    band_neighbours,
    distinct,
    hashes,
    signatures,
    words_of,
)
from disorder.metrics import share
from disorder.registry import check
from disorder.results.result import Row, Table
from disorder.results.writing import rounded
from disorder.types import TEXT_NAMES, Dataset, Example
from disorder.verbs.sanity.trials import CheckInput
from disorder.verbs.sanity.verdicts import CheckResult, Verdict

NEAR = 0.8  # Jaccard similarity of words and neighbouring words from which texts are nearly equal
Shingles = tuple[Hashes, Hashes]  # of the first and the second text


def shingles(example: Example) -> Shingles:
    """The distinct words and pairs of neighbouring words of each text."""
    found = []
    for text in example.texts:
        with np.errstate(over="ignore"):
            words = (hashes(text or "") + np.uint64(1)) * GOLDEN
            neighbours = (words[:-1] ^ (words[1:] >> np.uint64(7))) * GOLDEN
        found.append(np.asarray(distinct(np.concatenate([words, neighbours]))))
    return found[0], found[1]


def near_matches(
    rows: Sequence[Shingles], n_old: int, counts: Callable[[int, int], bool]
) -> list[Match]:
    """Rows whose texts are both nearly those of an earlier row (of `n_old`, where given), with the
    earliest one for which `counts` is true.
    """
    kept = np.array([i for i, (a, b) in enumerate(rows) if len(a) + len(b)], dtype=np.int64)
    if len(kept) < 2:
        return []
    # half of every band comes from either text; all from the first where there are no second ones
    first, second = ([rows[i][side] for i in kept.tolist()] for side in (0, 1))
    signed = signatures(first)
    if any(map(len, second)):
        is_second = np.arange(N_BANDS * DEPTH) % 2 == 1
        signed[:, is_second] = signatures(second)[:, is_second]
    n_old_kept = int((kept < n_old).sum())
    best: dict[int, int] = {}
    compared: set[Match] = set()
    for band in range(N_BANDS):
        columns = signed[:, band * DEPTH : (band + 1) * DEPTH]
        for later, earlier in band_neighbours(columns, n_old_kept):
            i = int(kept[later])
            j = int(kept[earlier])
            if (i, j) in compared or best.get(i, i) <= j:
                continue
            compared.add((i, j))
            if row_similarity(rows[i], rows[j]) >= NEAR and counts(i, j):
                best[i] = j
    return sorted(best.items())


def row_similarity(one: Shingles, other: Shingles) -> float:
    """The similarity of the less similar of the two texts."""
    return min(_jaccard(a, b) for a, b in zip(one, other, strict=True))


def _jaccard(a: Hashes, b: Hashes) -> float:
    """Shared shingles among all; 1 for two texts without words, 0 for lengths too far apart."""
    if min(len(a), len(b)) < NEAR * max(len(a), len(b)):
        return 0.0
    both = len(np.intersect1d(a, b, assume_unique=True))
    if not both:
        return float(len(a) == len(b) == 0)
    return both / (len(a) + len(b) - both)


SHOWN = 50  # rows of each kind in the table
KINDS = {
    "exact": "equal to the letter",
    "normalised": "equal but for case, spaces and punctuation",
    "near": "nearly equal",
}
CONTRAST = "same words in another order, another label"


@dataclass(frozen=True)
class Repeats:
    """Rows that repeat an earlier one of `n`, by kind, and contrasts, as places in `examples`."""

    examples: Sequence[Example]
    n: int
    by_kind: Mapping[str, Sequence[Match]]
    contrasts: Sequence[Match]

    def n_other_label(self, pairs: Sequence[Match]) -> int:
        """How many of these have another label than the row they repeat."""
        return sum(self.examples[i].label != self.examples[j].label for i, j in pairs)


@check(
    asks="Does the data repeat itself, or leak from training to test?", trains=False, position=80
)
def duplicates(given: CheckInput) -> CheckResult:
    """Count rows that repeat another and test rows that are in the training data."""
    data = given.data
    train = given.train
    inside = find_repeats(data.examples)
    verdicts = [_verdict("duplicates", "repeat another", "repeat another", inside)]
    counts = _count_rows("repeats in the data", inside)
    shown = list(_shown_rows("repeat", inside))
    notes = _dropped_notes(data)
    if train is not None:
        across = find_repeats([*train.examples, *data.examples], len(train.examples))
        where = "in the training data"
        verdicts.append(_verdict("leakage", f"are {where}", f"be {where}", across))
        counts += _count_rows("test rows in the training data", across)
        counts += _single_text_rows(train.examples, data.examples)
        shown += _shown_rows("leak", across)
        notes += _dropped_notes(train)
    tables = [Table("duplicates", "Repeated rows", counts)]
    if shown:
        tables.append(Table("duplicate_rows", "Some of the rows that repeat another", shown))
    return CheckResult(verdicts, tables=tables, notes=notes)


def find_repeats(examples: Sequence[Example], n_old: int = 0) -> Repeats:
    """Rows that repeat an earlier one; with `n_old`, one of the first so many rows."""
    return Repeats(
        examples, len(examples) - n_old, matches(examples, n_old), contrasts(examples, n_old)
    )


def matches(examples: Sequence[Example], n_old: int = 0) -> dict[str, list[Match]]:
    """For each kind, the rows that repeat an earlier one (of `n_old`, where given) in that way and
    in no stricter one.
    """
    exact = _equal([example.texts for example in examples], n_old, taken=set())
    taken = {i for i, _ in exact}
    normalised = _equal([_normalised(example) for example in examples], n_old, taken)
    taken |= {i for i, _ in normalised}
    left = [i for i in range(len(examples)) if i not in taken]
    near = near_matches(
        [shingles(examples[i]) for i in left],
        sum(i < n_old for i in left),
        lambda i, j: not _is_contrast(examples[left[i]], examples[left[j]]),
    )
    return {
        "exact": exact,
        "normalised": normalised,
        "near": [(left[i], left[j]) for i, j in near],
    }


def _equal(keys: Sequence[object], n_old: int, taken: set[int]) -> list[Match]:
    """Rows with the key of an earlier one, each with the first such row."""
    first: dict[object, int] = {}
    found = []
    for i, key in enumerate(keys):
        earlier = first.setdefault(key, i)
        if earlier != i and i not in taken and (not n_old or earlier < n_old <= i):
            found.append((i, earlier))
    return found


def contrasts(examples: Sequence[Example], n_old: int = 0) -> list[Match]:
    """Rows with the words of an earlier one (of `n_old`) in another order, and another label."""
    bags: dict[object, dict[tuple[str, object], int]] = {}
    found = []
    for i, example in enumerate(examples):
        texts = _normalised(example)
        seen = bags.setdefault(_bag(texts), {})
        earlier = [
            j
            for (label, other_texts), j in seen.items()
            if label != example.label and other_texts != texts
        ]
        if earlier and i >= n_old:
            found.append((i, earlier[0]))
        if not n_old or i < n_old:
            seen.setdefault((example.label, texts), i)
    return found


def _is_contrast(one: Example, other: Example) -> bool:
    first = _normalised(one)
    second = _normalised(other)
    return one.label != other.label and first != second and _bag(first) == _bag(second)


def _bag(texts: tuple[str, str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(text.split())) for text in texts)


def _normalised(example: Example) -> tuple[str, str]:
    """The words alone, in lower case; the text itself where it has none."""
    first, second = (
        " ".join(word for word in words_of(text.casefold()) if word[0].isalnum()) or text
        for text in (each or "" for each in example.texts)
    )
    return first, second


def _count_rows(what: str, repeats: Repeats) -> list[Row]:
    """One row per kind."""
    kinds = {KINDS[kind]: pairs for kind, pairs in repeats.by_kind.items()}
    kinds[CONTRAST] = repeats.contrasts
    return [
        {
            "what": what,
            "kind": kind,
            "rows": len(pairs),
            "share": rounded(len(pairs) / repeats.n),
            "other_label": repeats.n_other_label(pairs),
        }
        for kind, pairs in kinds.items()
    ]


def _single_text_rows(train: Sequence[Example], data: Sequence[Example]) -> Iterator[Row]:
    """Test rows one of whose texts is in the training data, with whatever other text."""
    if not data[0].is_pair:
        return
    train_texts = [_normalised(example) for example in train]
    texts = [_normalised(example) for example in data]
    for side, name in enumerate(TEXT_NAMES):
        known = {pair[side] for pair in train_texts}
        n = sum(pair[side] in known for pair in texts)
        yield {
            "what": f"test rows whose {name} is in the training data",
            "kind": KINDS["normalised"],
            "rows": n,
            "share": rounded(n / len(data)),
            "other_label": None,
        }


def _verdict(question: str, claim: str, infinitive: str, repeats: Repeats) -> Verdict:
    """The verdict on a claim about rows ("repeat another")."""
    contrast = ""
    if repeats.contrasts:
        n_contrasts = len(repeats.contrasts)
        contrast = (
            f". Not counted: {n_contrasts:,} with the same words in another order and another label"
        )
    pairs = [match for matched in repeats.by_kind.values() for match in matched]
    if not pairs:
        because = f"No row of {repeats.n:,} seems to {infinitive}{contrast}"
        return Verdict(question, "none found", because)
    kinds = ", ".join(
        f"{len(matched):,} {KINDS[kind]}" for kind, matched in repeats.by_kind.items() if matched
    )
    because = (
        f"{len(pairs):,} of {repeats.n:,} rows {claim} ({kinds}); "
        f"{repeats.n_other_label(pairs):,} of them with another label{contrast}"
    )
    score = share(np.arange(repeats.n) < len(pairs))
    fix = f"drop the rows that {claim}"
    return Verdict(question, "found", because, score, fix=fix, urgency=1)


def _dropped_notes(data: Dataset) -> list[str]:
    """A line on rows that were dropped when the data was read."""
    n = data.skipped.get("repeated row", 0)
    if not n:
        return []
    return [
        f"{data.name}: the {n:,} rows left out on reading are not counted here: they repeat "
        "another to the letter, label included"
    ]


def _shown_rows(what: str, repeats: Repeats) -> Iterator[Row]:
    """The first rows of each kind, those with another label first."""
    examples = repeats.examples
    for kind, pairs in {**repeats.by_kind, "contrast": repeats.contrasts}.items():
        ordered = sorted(pairs, key=lambda pair: examples[pair[0]].label == examples[pair[1]].label)
        for i, j in ordered[:SHOWN]:
            row = examples[i]
            other = examples[j]
            yield {
                "what": what,
                "kind": kind,
                "id": row.id,
                "of": other.id,
                "label": row.label,
                "of_label": other.label,
                **row.shown(200),
            }
