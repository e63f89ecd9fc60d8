"""Does the data repeat itself, or leak from training to test? Equal texts, equal after normalising, and nearly equal ones.

Nearly equal rows are found by MinHash in bands (Broder, 1997): rows that agree in a band are compared, each with the first and
the one before it only, so the cost grows with the number of rows and not with its square.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from disorder.measure import share
from disorder.rng import generator
from disorder.sanity._features import GOLDEN, WORD, Hashes, distinct, hashes
from disorder.sanity._result import Checked, Row, Table, Verdict, exact
from disorder.types import Dataset, Example, Ints

ASKS = "Does the data repeat itself, or leak from training to test?"
PAPER = ""
NEAR = 0.8  # Jaccard similarity of words and neighbouring words from which rows are nearly equal
BANDS, DEPTH = 10, 4
SHOWN = 50
KINDS = {"exact": "equal to the letter", "normalised": "equal but for case, spaces and punctuation", "near": "nearly equal"}
Match = tuple[int, int]  # a row and an earlier one that it repeats


def duplicates(data: Dataset, train: Dataset | None) -> Checked:
    """How many rows repeat an earlier one, how many test rows are in the training data, and how often the labels differ."""
    learned = list(train.examples) if train is not None else []
    examples = [*learned, *data.examples]
    found = matches(examples)
    inside = {kind: [m for m in pairs if m[1] >= len(learned)] for kind, pairs in found.items()}
    across = {kind: [m for m in pairs if m[1] < len(learned) <= m[0]] for kind, pairs in found.items()}
    notes = _repeated(data) + (_repeated(train) if train else [])
    rows = _counted("repeats in the data", inside, examples, len(data.examples))
    verdicts = [_verdict("duplicates", "repeat another", inside, examples, len(data.examples))]
    if train is not None:
        rows += _counted("test rows in the training data", across, examples, len(data.examples))
        rows += list(_single_texts(learned, data.examples))
        verdicts.append(_verdict("leakage", "are in the training data", across, examples, len(data.examples)))
    shown = [row for name, pairs in (("repeat", inside), ("leak", across)) for row in _shown(name, pairs, examples)]
    tables = [Table("duplicates", "Repeated rows", rows)]
    tables += [Table("duplicate_rows", "Some of the rows that repeat another", shown)] if shown else []
    return Checked(verdicts, tables=tables, notes=notes)


def matches(examples: Sequence[Example]) -> dict[str, list[Match]]:
    """For each kind, the rows that repeat an earlier one in that way and in no stricter one."""
    found: dict[str, list[Match]] = {"exact": [], "normalised": [], "near": []}
    taken: set[int] = set()
    for kind, key in (("exact", lambda e: e.texts), ("normalised", _normal)):
        first: dict[object, int] = {}
        for i, example in enumerate(examples):
            earlier = first.setdefault(key(example), i)
            if earlier != i and i not in taken:
                found[kind].append((i, earlier))
        taken |= {i for i, _ in found[kind]}
    left = np.array([i for i in range(len(examples)) if i not in taken], dtype=np.int64)
    found["near"] = near([shingles(examples[i]) for i in left.tolist()], left)
    return found


def shingles(example: Example) -> Hashes:
    """The distinct words and neighbouring words of a row, each text's its own."""
    parts = []
    for side, text in enumerate(example.texts):
        words = hashes(text or "")
        with np.errstate(over="ignore"):
            single = (words + np.uint64(1 + side)) * GOLDEN
            parts += [single, (single[:-1] ^ (single[1:] >> np.uint64(7))) * GOLDEN]
    return np.asarray(distinct(np.concatenate(parts)))


def near(rows: Sequence[Hashes], names: Ints) -> list[Match]:
    """Rows whose shingles are mostly those of an earlier one, with the earliest such row that was found."""
    kept = np.array([i for i, row in enumerate(rows) if len(row)], dtype=np.int64)
    if len(kept) < 2:
        return []
    signatures = _signatures([rows[i] for i in kept.tolist()])
    best: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    for band in range(BANDS):
        for later, earlier in _neighbours(signatures[:, band * DEPTH : (band + 1) * DEPTH]):
            i, j = int(kept[later]), int(kept[earlier])
            if (i, j) in seen or best.get(i, i) <= j:
                continue
            seen.add((i, j))
            if _similarity(rows[i], rows[j]) >= NEAR:
                best[i] = j
    return [(int(names[i]), int(names[j])) for i, j in sorted(best.items())]


def _signatures(rows: Sequence[Hashes]) -> Hashes:
    """The least of each row's shingles under forty hash functions."""
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])[:-1]])
    together = np.concatenate(rows)
    rng = generator(0, "sanity", "minhash")
    factors = rng.integers(1, 2**63, size=BANDS * DEPTH, dtype=np.uint64) | np.uint64(1)
    found = np.empty((len(rows), len(factors)), dtype=np.uint64)
    for column, factor in enumerate(factors):
        with np.errstate(over="ignore"):
            mixed = together * factor
            mixed = (mixed ^ (mixed >> np.uint64(31))) * GOLDEN
        found[:, column] = np.minimum.reduceat(mixed, starts)
    return found


def _neighbours(band: Hashes) -> Iterator[tuple[int, int]]:
    """Rows that agree in a band: each with the first of them and with the one before."""
    order = np.lexsort((np.arange(len(band)), *band.T[::-1]))
    same = (band[order[1:]] == band[order[:-1]]).all(axis=1)
    first = 0
    for place, is_same in enumerate(same.tolist(), start=1):
        if not is_same:
            first = place
            continue
        yield int(order[place]), int(order[first])
        if place - 1 > first:
            yield int(order[place]), int(order[place - 1])


def _similarity(a: Hashes, b: Hashes) -> float:
    """Jaccard: shared shingles among all."""
    if min(len(a), len(b)) < NEAR * max(len(a), len(b)):
        return 0.0
    both = len(np.intersect1d(a, b, assume_unique=True))
    return both / (len(a) + len(b) - both)


def _normal(example: Example) -> tuple[str, str]:
    """The words alone, in lower case; the text itself where it has none."""
    first, second = (_plain(text or "") for text in example.texts)
    return first, second


def _plain(text: str) -> str:
    return " ".join(word for word in WORD.findall(text.casefold()) if word[0].isalnum()) or text


def _counted(where: str, found: dict[str, list[Match]], examples: Sequence[Example], n: int) -> list[Row]:
    return [
        {"what": where, "kind": KINDS[kind], "rows": len(pairs), "share": exact(len(pairs) / n),
         "other_label": sum(examples[i].label != examples[j].label for i, j in pairs)}
        for kind, pairs in found.items()
    ]  # fmt: skip


def _single_texts(train: Sequence[Example], data: Sequence[Example]) -> Iterator[Row]:
    """Test rows one of whose texts stands in the training data, with whatever other text."""
    if data[0].text_b is None:
        return
    normal_train, normal = [_normal(e) for e in train], [_normal(e) for e in data]
    for side, name in enumerate(("text_a", "text_b")):
        known = {pair[side] for pair in normal_train}
        n = sum(pair[side] in known for pair in normal)
        yield {"what": f"test rows whose {name} is in the training data", "kind": KINDS["normalised"], "rows": n,
               "share": exact(n / len(data)), "other_label": None}  # fmt: skip


def _verdict(question: str, do: str, found: dict[str, list[Match]], examples: Sequence[Example], n: int) -> Verdict:
    pairs = [match for matched in found.values() for match in matched]
    if not pairs:
        return Verdict(question, "none found", f"No row of {n:,} seems to {do.replace('are', 'be')}")
    claims = np.zeros(n, dtype=bool)
    claims[: len(pairs)] = True
    kinds = ", ".join(f"{len(matched):,} {KINDS[kind]}" for kind, matched in found.items() if matched)
    other = sum(examples[i].label != examples[j].label for i, j in pairs)
    because = f"{len(pairs):,} of {n:,} rows {do} ({kinds}); {other:,} of them with another label"
    return Verdict(question, "found", because, share(claims))


def _repeated(data: Dataset) -> list[str]:
    """Rows that were dropped when the data was read."""
    n = data.skipped.get("repeated row", 0)
    line = f"{data.name}: {n:,} more rows were dropped on reading: they repeat another to the letter, label and all"
    return [line] if n else []


def _shown(name: str, found: dict[str, list[Match]], examples: Sequence[Example]) -> Iterator[Row]:
    """The first rows of each kind, those with another label first."""
    for kind, pairs in found.items():
        for i, j in sorted(pairs, key=lambda match: examples[match[0]].label == examples[match[1]].label)[:SHOWN]:
            row, other = examples[i], examples[j]
            yield {"what": name, "kind": kind, "id": row.id, "of": other.id, "label": row.label, "of_label": other.label,
                   "text_a": row.text_a[:200], "text_b": (row.text_b or "")[:200]}  # fmt: skip
