"""Label words: which words give a label away?

By smoothed pointwise mutual information, as Gururangan et al. (2018) rank the words of SNLI's
hypotheses. Rows of one family count as one, shared among their labels: a premise that stands once
with each label says nothing. Thousands of words are looked at, so every interval is widened until
all of them hold together (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2

import numpy as np

from disorder.data.word_hashes import words_of
from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import wilson
from disorder.registry import check
from disorder.results.result import Row, Table
from disorder.results.writing import rounded
from disorder.types import TEXT_NAMES, Bools, Example, Floats, Ints
from disorder.verbs.sanity.trials import CheckInput
from disorder.verbs.sanity.verdicts import CheckResult, Verdict, VerdictRule, joint_z

SMOOTHING = 10.0  # imagined rows with the word, whose labels are as frequent as in all the data
FEWEST = 10  # independent rows that a word must be in to be looked at
SIDES = TEXT_NAMES
SHOWN = 100


@dataclass(frozen=True, eq=False)
class SideWords:
    """The words of one text of every row: `row[i]` has the word numbered `word[i]`, once."""

    side: str
    words: Sequence[str]
    row: Ints
    word: Ints
    family: Ints
    label: Ints
    n_labels: int

    @cached_property
    def by_word(self) -> tuple[Ints, Floats]:
        """How many families each word is in, and the share of each label among them."""
        return self._weighed(self.word, self.row, len(self.words))

    @property
    def is_looked_at(self) -> Bools:
        """Which words are in enough families."""
        return self.by_word[0] >= FEWEST

    @cached_property
    def priors(self) -> Floats:
        """The share of each label among all families that have such a text."""
        rows = np.unique(self.row)
        return np.asarray(self._weighed(np.zeros_like(rows), rows, 1)[1][0])

    def _weighed(self, word: Ints, row: Ints, n_words: int) -> tuple[Ints, Floats]:
        """Families per word, and shares of labels in which each family weighs the same."""
        family = self.family[row]
        inside, family_of = np.unique(word * (family.max() + 1) + family, return_inverse=True)
        word_of = inside // (family.max() + 1)
        cells, n_rows = np.unique(family_of * self.n_labels + self.label[row], return_counts=True)
        weights = n_rows / np.bincount(family_of)[cells // self.n_labels]
        places = word_of[cells // self.n_labels] * self.n_labels + cells % self.n_labels
        sums = np.bincount(places, weights=weights, minlength=n_words * self.n_labels)
        counts = np.bincount(word_of, minlength=n_words)
        shares = sums.reshape(n_words, self.n_labels) / np.maximum(1, counts)[:, None]
        return counts, np.clip(np.round(shares, 12), 0.0, 1.0)


@check(
    asks="Which words give a label away?",
    paper="Gururangan et al. 2018; NDSC",
    trains=False,
    position=70,
)
def words(given: CheckInput) -> CheckResult:
    """Find words whose rows have a label more often than all rows do, by more than the margin."""
    examples = given.examples
    if given.task.is_regression:
        raise NothingToMeasure("labels are numbers: no word can give one away")
    present = {example.label for example in examples}
    labels = [label for label in given.task.labels if label in present]
    if len(labels) < 2:
        raise NothingToMeasure(f"every row has the label {examples[0].label!r}")
    sides = _sides(given, labels)
    n_tests = len(labels) * sum(int(side.is_looked_at.sum()) for side in sides)
    if not n_tests:
        raise NothingToMeasure(
            f"no word is in {FEWEST} rows (those that share a text or most words count as one)"
        )
    rows = [row for side in sides for row in _giveaways(side, labels, n_tests, given.rule.margin)]
    rows.sort(key=lambda row: (-row["low"], row["text"], row["word"], labels.index(row["label"])))
    covered = _share_with_giveaway(rows, sides, len(examples))
    unit = "rows" if given.families.n == len(examples) else "independent rows"
    verdict = _verdict(rows, n_tests, covered, given.rule, unit)
    n_families = given.families.n
    counted = ""
    if n_families < len(examples):
        counted = f"; those that share a text or most words of one count as one: {n_families:,}"
    note = (
        f"{len(examples):,} rows{counted}; {n_tests:,} words and labels looked at (words in "
        f"{FEWEST} rows or more); intervals hold for all together at 95 %; PMI is smoothed by "
        f"{SMOOTHING:g} imagined rows"
    )
    caption = "Words that give a label away, by the lower bound of their PMI (bits)"
    if len(rows) > SHOWN:
        caption += f"; the first {SHOWN} of {len(rows):,}"
    table = Table("label_words", caption, rows[:SHOWN])
    return CheckResult([verdict], tables=[table], notes=[note])


def _sides(given: CheckInput, labels: Sequence[str]) -> list[SideWords]:
    """The words of the first texts, and of the second where there are some."""
    label = np.array([labels.index(example.label) for example in given.examples])
    found = []
    for side in SIDES:
        numbers: dict[str, int] = {}
        row, word = _numbered(given.examples, side, numbers)
        if numbers:
            family = given.families.number
            found.append(SideWords(side, list(numbers), row, word, family, label, len(labels)))
    return found


def _numbered(examples: Sequence[Example], side: str, numbers: dict[str, int]) -> tuple[Ints, Ints]:
    """Row and word number of each distinct word of each text; new words go into `numbers`."""
    word: list[int] = []
    lengths = []
    for example in examples:
        text = example.texts[SIDES.index(side)]
        found = dict.fromkeys(words_of(text or ""))
        word += [numbers.setdefault(each, len(numbers)) for each in found]
        lengths.append(len(found))
    row = np.repeat(np.arange(len(examples)), lengths)
    return row, np.array(word, dtype=np.int64)


def _giveaways(
    side: SideWords, labels: Sequence[str], n_tests: int, margin: float
) -> Iterator[Row]:
    """One row per word of this side and label that it gives away."""
    counts, shares = side.by_word
    is_above = (shares > side.priors + margin) & side.is_looked_at[:, None]
    for word, column in np.argwhere(is_above).tolist():
        n = int(counts[word])
        share = float(shares[word, column])
        prior = float(side.priors[column])
        low, high = wilson(share, n, joint_z(n_tests))  # so wide that all hold together at 95 %
        if low > prior + margin:
            yield {
                "word": side.words[word],
                "text": side.side,
                "label": labels[column],
                "pmi": _smoothed_pmi(share, n, prior),
                "low": _smoothed_pmi(low, n, prior),
                "high": _smoothed_pmi(high, n, prior),
                "rows": n,
                "share": rounded(share),
                "share_low": rounded(low),
                "share_high": rounded(high),
                "prior": rounded(prior),
            }


def _smoothed_pmi(share: float, n: int, prior: float) -> float:
    smoothed = (share * n + SMOOTHING * prior) / (n + SMOOTHING)
    return rounded(log2(smoothed / prior))


def _share_with_giveaway(rows: Sequence[Row], sides: Sequence[SideWords], n_rows: int) -> float:
    """The share of the data's rows that have a word which gives a label away."""
    has_one = np.zeros(n_rows, dtype=bool)
    for side in sides:
        found = {row["word"] for row in rows if row["text"] == side.side}
        gives = np.array([word in found for word in side.words])
        has_one[side.row[gives[side.word]]] = True
    return float(has_one.mean())


def _verdict(
    rows: Sequence[Row], n_tests: int, covered: float, rule: VerdictRule, unit: str
) -> Verdict:
    margin = rule.in_points
    if not rows:
        because = (
            f"None of {n_tests:,} words and labels is shown to be above its label's frequency by "
            f"{margin}"
        )
        return Verdict("label words", "none found", because)
    top = rows[0]
    interval = f"{top['share']:.3f} [{top['share_low']:.3f}, {top['share_high']:.3f}]"
    most = (
        f"most of all {top['word']!r} in {top['text']}: {top['label']} in {interval} "
        f"of {top['rows']:,} {unit}, {top['prior']:.3f} of all"
    )
    n = len({(row["text"], row["word"]) for row in rows})
    found = f"{n:,} words give" if n > 1 else "1 word gives"
    because = (
        f"{found} a label away by more than {margin}, {most}; "
        f"{covered:.2f} of the rows have one of them"
    )
    fix = "rewrite rows with these words, or balance their labels (label_words.csv)"
    return Verdict("label words", "found", because, is_learned=True, fix=fix, urgency=2)
