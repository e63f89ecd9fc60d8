"""Which words give a label away? Smoothed pointwise mutual information of a word and a label, with
intervals.

After Gururangan et al. (2018), who rank words of SNLI's hypotheses so. Thousands of words are
looked at, so every interval is widened until all of them hold together (Bonferroni).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2, sqrt
from statistics import NormalDist

from disorder.errors import NothingToMeasure
from disorder.report.exhibits import Row, Table
from disorder.types import Example, Task
from disorder.verbs.sanity.equivalence import Rule
from disorder.verbs.sanity.features import WORD
from disorder.verbs.sanity.result import Checked, Verdict, exact

ASKS = "Which words give a label away?"
PAPER = "Gururangan et al. 2018; NDSC"
SMOOTHING = 10.0  # imagined texts with the word, whose labels are as frequent as in all the data
FEWEST = 10  # distinct texts that a word must stand in to be looked at
LEVEL = 0.05
SIDES = ("text_a", "text_b")
SHOWN = 100


def words(examples: Sequence[Example], task: Task, rule: Rule) -> Checked:
    """Every word and label whose share of that label is above the label's frequency by more than
    the margin, surely.
    """
    if task.is_regression:
        raise NothingToMeasure("labels are numbers: no word can give one away")
    labels = Counter(example.label for example in examples)
    if len(labels) < 2:
        raise NothingToMeasure(f"every row has the label {next(iter(labels))!r}")
    sides = {side: _labelled(examples, side) for side in SIDES}
    kept = {
        (side, word): count
        for side in SIDES
        for word, count in _counts(sides[side]).items()
        if count.texts >= FEWEST
    }
    n_tests = len(kept) * len(labels)
    if not n_tests:
        raise NothingToMeasure(f"no word stands in {FEWEST} texts")
    priors = {side: _priors(texts) for side, texts in sides.items()}
    rows = [
        row
        for key, count in kept.items()
        for row in _rows(key, count, priors[key[0]], n_tests, rule.margin)
    ]
    rows.sort(key=lambda row: (-row["low"], row["text"], row["word"]))
    giveaways = {(row["text"], row["word"]) for row in rows}
    covered = sum(any((s, w) in giveaways for s, w in _of(example)) for example in examples) / len(
        examples
    )
    return Checked(
        [_verdict(rows, n_tests, covered, rule)],
        tables=[_table(rows)],
        notes=_notes(n_tests, len(examples)),
    )


@dataclass
class Count:
    """In how many distinct texts a word stands, and how many of them have each label in some row."""

    texts: int = 0
    labels: Counter[str] = field(default_factory=Counter)


def _labelled(examples: Sequence[Example], side: str) -> dict[str, set[str]]:
    """The distinct texts of a side, with the labels that they have."""
    found: dict[str, set[str]] = {}
    for example in examples:
        text = example.text_a if side == "text_a" else example.text_b
        if text is not None:
            found.setdefault(text, set()).add(example.label)
    return found


def _counts(texts: Mapping[str, set[str]]) -> dict[str, Count]:
    """For each word, the texts that it stands in: a text counts once, however many rows have it."""
    counts: dict[str, Count] = {}
    for text, labels in texts.items():
        for word in set(WORD.findall(text.lower())):
            count = counts.setdefault(word, Count())
            count.texts += 1
            count.labels.update(labels)
    return counts


def _of(example: Example) -> Iterator[tuple[str, str]]:
    """The distinct words of each text of a row."""
    for side, text in zip(SIDES, example.texts, strict=True):
        if text is not None:
            yield from ((side, word) for word in set(WORD.findall(text.lower())))


def _priors(texts: Mapping[str, set[str]]) -> dict[str, float]:
    """How large a share of the distinct texts has each label in some row."""
    counts = Counter(label for labels in texts.values() for label in labels)
    return {label: count / len(texts) for label, count in counts.items()}


def _rows(
    key: tuple[str, str], found: Count, priors: Mapping[str, float], n_tests: int, margin: float
) -> Iterator[Row]:
    """The labels that this word gives away."""
    n = found.texts
    for label, count in found.labels.items():
        prior = priors[label]
        low, high = joint_interval(count / n, n, n_tests)
        if low > prior + margin:
            smooth = [
                log2((share * n + SMOOTHING * prior) / (n + SMOOTHING) / prior)
                for share in (count / n, low, high)
            ]
            pmi, least, most = (exact(each) for each in smooth)
            yield {
                "word": key[1],
                "text": key[0],
                "label": label,
                "pmi": pmi,
                "low": least,
                "high": most,
                "texts": n,
                "share": exact(count / n),
                "share_low": exact(low),
                "share_high": exact(high),
                "prior": exact(prior),
            }


def joint_interval(share: float, n: int, n_tests: int) -> tuple[float, float]:
    """Wilson's interval for a share of n, wide enough that so many of them hold together at 95 %."""
    z = NormalDist().inv_cdf(1 - LEVEL / (2 * n_tests))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def _verdict(rows: Sequence[Row], n_tests: int, covered: float, rule: Rule) -> Verdict:
    points = f"{100 * rule.margin:g} points"
    if not rows:
        because = f"None of {n_tests:,} words and labels is above its label's frequency by {points}"
        return Verdict("label words", "none found", because)
    top = rows[0]
    most = (
        f"most of all {top['word']!r} in {top['text']}: {top['label']} in {top['share']:.3f} [{top['share_low']:.3f}, "
        f"{top['share_high']:.3f}] of {top['texts']:,} texts, {top['prior']:.3f} of all"
    )
    n = len({(row["text"], row["word"]) for row in rows})
    words = f"{n:,} words give" if n > 1 else "1 word gives"
    because = f"{words} a label away by more than {points}, {most}; {covered:.2f} of the rows have one of them"
    return Verdict("label words", "found", because)


def _table(rows: Sequence[Row]) -> Table:
    more = f"; the first {SHOWN} of {len(rows):,}" if len(rows) > SHOWN else ""
    return Table(
        "label_words",
        f"Words that give a label away, by the lower end of their PMI (bits){more}",
        rows[:SHOWN],
    )


def _notes(n_tests: int, n: int) -> list[str]:
    looked = f"{n:,} rows, {n_tests:,} words and labels looked at (words in {FEWEST} texts or more; a text counts once)"
    return [
        f"{looked}; intervals hold for all together at 95 %; PMI is smoothed by {SMOOTHING:g} imagined texts"
    ]
