"""Does the data repeat itself, or leak from training to test? Equal texts, equal after normalising,
and nearly equal ones.

Two rows are as like as the less like of their texts: one long premise under two hypotheses is no
repeat. Nearly equal rows are found by MinHash in bands (Broder, 1997), half of each band from
either text: rows that agree in a band are compared, each with two others only, so the cost grows
with the number of rows and not with its square.

The same words in another order with another label are a contrast, which is made on purpose: it is
named, and no repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from disorder.metrics import share
from disorder.randomness import generator
from disorder.report.exhibits import Row, Table
from disorder.types import Dataset, Example
from disorder.verbs.sanity.features import GOLDEN, WORD, Hashes, distinct, hashes
from disorder.verbs.sanity.result import Checked, Verdict, exact

ASKS = "Does the data repeat itself, or leak from training to test?"
PAPER = ""
NEAR = 0.8  # Jaccard similarity of words and neighbouring words from which texts are nearly equal
BANDS, DEPTH = 10, 4
SHOWN = 50
KINDS = {
    "exact": "equal to the letter",
    "normalised": "equal but for case, spaces and punctuation",
    "near": "nearly equal",
}
CONTRAST = "same words in another order, another label"
Match = tuple[int, int]  # a row and an earlier one that it repeats
Shingles = tuple[Hashes, Hashes]


def duplicates(data: Dataset, train: Dataset | None) -> Checked:
    """How many rows repeat an earlier one, how many test rows are in the training data, and how
    often the labels differ.
    """
    n = len(data.examples)
    inside, turned = matches(data.examples), contrasts(data.examples)
    rows = _counted("repeats in the data", inside, turned, data.examples)
    verdicts = [_verdict("duplicates", "repeat another", inside, turned, data.examples, n)]
    shown = list(_shown("repeat", inside | {"contrast": turned}, data.examples))
    if train is not None:
        both, n_old = [*train.examples, *data.examples], len(train.examples)
        across, turned = matches(both, n_old), contrasts(both, n_old)
        rows += _counted("test rows in the training data", across, turned, both, n)
        rows += list(_single_texts(train.examples, data.examples))
        verdicts.append(_verdict("leakage", "are in the training data", across, turned, both, n))
        shown += _shown("leak", across | {"contrast": turned}, both)
    notes = _repeated(data) + (_repeated(train) if train else [])
    tables = [Table("duplicates", "Repeated rows", rows)]
    tables += (
        [Table("duplicate_rows", "Some of the rows that repeat another", shown)] if shown else []
    )
    return Checked(verdicts, tables=tables, notes=notes)


def matches(examples: Sequence[Example], n_old: int = 0) -> dict[str, list[Match]]:
    """For each kind, the rows that repeat an earlier one in that way and in no stricter one.

    With `n_old`, the rows after the first so many that repeat one of those, whatever they repeat
    among themselves.
    """
    found: dict[str, list[Match]] = {"exact": [], "normalised": [], "near": []}
    taken: set[int] = set()
    keys: list[tuple[str, Callable[[Example], object]]] = [
        ("exact", lambda e: e.texts),
        ("normalised", _normal),
    ]
    for kind, key in keys:
        first: dict[object, int] = {}
        for i, example in enumerate(examples):
            earlier = first.setdefault(key(example), i)
            if earlier != i and i not in taken and (not n_old or earlier < n_old <= i):
                found[kind].append((i, earlier))
        taken |= {i for i, _ in found[kind]}
    left = [i for i in range(len(examples)) if i not in taken]
    before = sum(i < n_old for i in left)
    pairs = near(
        [shingles(examples[i]) for i in left],
        before,
        lambda i, j: not _turned(examples[left[i]], examples[left[j]]),
    )
    found["near"] = [(left[i], left[j]) for i, j in pairs]
    return found


def contrasts(examples: Sequence[Example], n_old: int = 0) -> list[Match]:
    """Rows that have the words of an earlier one in another order, and another label; `n_old` as in
    `matches`.
    """
    bags: dict[object, dict[tuple[str, object], int]] = {}
    found = []
    for i, example in enumerate(examples):
        normal = _normal(example)
        seen = bags.setdefault(_bag(normal), {})
        earlier = [
            j for (label, texts), j in seen.items() if label != example.label and texts != normal
        ]
        if earlier and i >= n_old:
            found.append((i, earlier[0]))
        if not n_old or i < n_old:
            seen.setdefault((example.label, normal), i)
    return found


def _turned(one: Example, other: Example) -> bool:
    """Whether two rows are a contrast."""
    first, second = _normal(one), _normal(other)
    return one.label != other.label and first != second and _bag(first) == _bag(second)


def _bag(normal: tuple[str, str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(text.split())) for text in normal)


def shingles(example: Example) -> Shingles:
    """The distinct words and neighbouring words of each text."""
    first, second = (_shingled(text or "") for text in example.texts)
    return first, second


def _shingled(text: str) -> Hashes:
    with np.errstate(over="ignore"):
        single = (hashes(text) + np.uint64(1)) * GOLDEN
        return np.asarray(
            distinct(
                np.concatenate([single, (single[:-1] ^ (single[1:] >> np.uint64(7))) * GOLDEN])
            )
        )


def near(rows: Sequence[Shingles], n_old: int, counts: Callable[[int, int], bool]) -> list[Match]:
    """Rows whose texts are both mostly those of an earlier row, with the earliest such row that was
    found and that `counts`.
    """
    kept = np.array([i for i, (a, b) in enumerate(rows) if len(a) + len(b)], dtype=np.int64)
    if len(kept) < 2:
        return []
    signatures = _banded([rows[i] for i in kept.tolist()])
    best: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    for band in range(BANDS):
        for later, earlier in _neighbours(
            signatures[:, band * DEPTH : (band + 1) * DEPTH], int((kept < n_old).sum())
        ):
            i, j = int(kept[later]), int(kept[earlier])
            if (i, j) in seen or best.get(i, i) <= j:
                continue
            seen.add((i, j))
            if _likeness(rows[i], rows[j]) >= NEAR and counts(i, j):
                best[i] = j
    return sorted(best.items())


def _banded(rows: Sequence[Shingles]) -> Hashes:
    """Signatures in which half of every band is of either text; all of it where there are no second
    ones.
    """
    first, second = (_signatures([row[side] for row in rows]) for side in (0, 1))
    if any(len(b) for _, b in rows):
        of_b = np.arange(BANDS * DEPTH) % 2 == 1
        first[:, of_b] = second[:, of_b]
    return first


def _signatures(texts: Sequence[Hashes]) -> Hashes:
    """The least of each text's shingles under forty hash functions; 0 for a text without words."""
    held = np.array([len(text) > 0 for text in texts])
    found = np.zeros((len(texts), BANDS * DEPTH), dtype=np.uint64)
    if not held.any():
        return found
    chosen = [text for text in texts if len(text)]
    starts, together = (
        np.concatenate([[0], np.cumsum([len(text) for text in chosen])[:-1]]),
        np.concatenate(chosen),
    )
    factors = generator(0, "sanity", "minhash").integers(
        1, 2**63, size=BANDS * DEPTH, dtype=np.uint64
    ) | np.uint64(1)
    for column, factor in enumerate(factors):
        with np.errstate(over="ignore"):
            mixed = together * factor
            mixed = (mixed ^ (mixed >> np.uint64(31))) * GOLDEN
        found[held, column] = np.minimum.reduceat(mixed, starts)
    return found


def _neighbours(band: Hashes, n_old: int) -> Iterator[tuple[int, int]]:
    """Rows that agree in a band: each with the first of them and with the one before; with `n_old`,
    new with old ones only.
    """
    order = np.lexsort((np.arange(len(band)), *band.T[::-1]))
    same = (band[order[1:]] == band[order[:-1]]).all(axis=1)
    first = last = int(order[0])
    for row, is_same in zip(order[1:].tolist(), same.tolist(), strict=True):
        if not is_same:
            first = last = row
            continue
        if not n_old or first < n_old <= row:
            yield from ((row, each) for each in dict.fromkeys((first, last)))
        last = row if not n_old or row < n_old else last


def _likeness(one: Shingles, other: Shingles) -> float:
    """How like two rows are: as much as the less like of their texts."""
    return min(_similarity(a, b) for a, b in zip(one, other, strict=True))


def _similarity(a: Hashes, b: Hashes) -> float:
    """Jaccard: shared shingles among all; two texts without words are alike."""
    if min(len(a), len(b)) < NEAR * max(len(a), len(b)):
        return 0.0
    both = len(np.intersect1d(a, b, assume_unique=True))
    return both / (len(a) + len(b) - both) if both else float(len(a) == len(b) == 0)


def _normal(example: Example) -> tuple[str, str]:
    """The words alone, in lower case; the text itself where it has none."""
    first, second = (_plain(text or "") for text in example.texts)
    return first, second


def _plain(text: str) -> str:
    return " ".join(word for word in WORD.findall(text.casefold()) if word[0].isalnum()) or text


def _counted(
    where: str,
    found: dict[str, list[Match]],
    turned: Sequence[Match],
    examples: Sequence[Example],
    n: int | None = None,
) -> list[Row]:
    """A row for each kind; `n` is how many rows could have been found."""
    n = len(examples) if n is None else n
    kinds = {KINDS[kind]: pairs for kind, pairs in found.items()} | {CONTRAST: turned}
    return [
        {
            "what": where,
            "kind": kind,
            "rows": len(pairs),
            "share": exact(len(pairs) / n),
            "other_label": sum(examples[i].label != examples[j].label for i, j in pairs),
        }
        for kind, pairs in kinds.items()
    ]


def _single_texts(train: Sequence[Example], data: Sequence[Example]) -> Iterator[Row]:
    """Test rows one of whose texts stands in the training data, with whatever other text."""
    if data[0].text_b is None:
        return
    normal_train, normal = [_normal(e) for e in train], [_normal(e) for e in data]
    for side, name in enumerate(("text_a", "text_b")):
        known = {pair[side] for pair in normal_train}
        n = sum(pair[side] in known for pair in normal)
        yield {
            "what": f"test rows whose {name} is in the training data",
            "kind": KINDS["normalised"],
            "rows": n,
            "share": exact(n / len(data)),
            "other_label": None,
        }


def _verdict(
    question: str,
    do: str,
    found: dict[str, list[Match]],
    turned: Sequence[Match],
    examples: Sequence[Example],
    n: int,
) -> Verdict:
    pairs = [match for matched in found.values() for match in matched]
    apart = (
        f". Not counted: {len(turned):,} with the same words in another order and another label"
        if turned
        else ""
    )
    if not pairs:
        return Verdict(
            question, "none found", f"No row of {n:,} seems to {do.replace('are', 'be')}{apart}"
        )
    claims = np.zeros(n, dtype=bool)
    claims[: len(pairs)] = True
    kinds = ", ".join(
        f"{len(matched):,} {KINDS[kind]}" for kind, matched in found.items() if matched
    )
    other = sum(examples[i].label != examples[j].label for i, j in pairs)
    because = (
        f"{len(pairs):,} of {n:,} rows {do} ({kinds}); {other:,} of them with another label{apart}"
    )
    return Verdict(question, "found", because, share(claims))


def _repeated(data: Dataset) -> list[str]:
    """Rows that were dropped when the data was read."""
    n = data.skipped.get("repeated row", 0)
    line = f"{data.name}: {n:,} more rows were dropped on reading: they repeat another to the letter, label and all"
    return [line] if n else []


def _shown(name: str, found: dict[str, list[Match]], examples: Sequence[Example]) -> Iterator[Row]:
    """The first rows of each kind, those with another label first."""
    for kind, pairs in found.items():
        for i, j in sorted(
            pairs, key=lambda match: examples[match[0]].label == examples[match[1]].label
        )[:SHOWN]:
            row, other = examples[i], examples[j]
            yield {
                "what": name,
                "kind": kind,
                "id": row.id,
                "of": other.id,
                "label": row.label,
                "of_label": other.label,
                "text_a": row.text_a[:200],
                "text_b": (row.text_b or "")[:200],
            }
