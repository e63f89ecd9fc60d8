"""Label words: which words give a label away?

By smoothed pointwise mutual information, as Gururangan et al. (2018) rank the words of SNLI's
hypotheses. Thousands of words are looked at, so every interval is widened until all of them hold
together (Bonferroni).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import wilson
from disorder.registry import check
from disorder.report.exhibits import Row, Table
from disorder.report.number_text import rounded
from disorder.types import Example
from disorder.verbs.sanity.check_input import CheckInput
from disorder.verbs.sanity.equivalence import VerdictRule, joint_z
from disorder.verbs.sanity.features import WORD
from disorder.verbs.sanity.result import CheckResult, Verdict

SMOOTHING = 10.0  # imagined texts with the word, whose labels are as frequent as in all the data
FEWEST = 10  # distinct texts that a word must be in to be looked at
SIDES = ("text_a", "text_b")
SHOWN = 100
LabelsByText = Mapping[str, set[str]]  # distinct text → the labels that its rows have


@dataclass
class WordCount:
    """In how many distinct texts a word is, and how many of them have each label in some row."""

    texts: int = 0
    labels: Counter[str] = field(default_factory=Counter)


@check(
    asks="Which words give a label away?",
    paper="Gururangan et al. 2018; NDSC",
    trains=False,
    position=70,
)
def words(given: CheckInput) -> CheckResult:
    """Find words whose texts have a label more often than all texts do, by more than the margin."""
    examples = given.examples
    if given.task.is_regression:
        raise NothingToMeasure("labels are numbers: no word can give one away")
    labels = Counter(example.label for example in examples)
    if len(labels) < 2:
        raise NothingToMeasure(f"every row has the label {next(iter(labels))!r}")
    texts = {side: _labels_by_text(examples, side) for side in SIDES}
    counts = {
        (side, word): count
        for side in SIDES
        for word, count in _word_counts(texts[side]).items()
        if count.texts >= FEWEST
    }
    n_tests = len(counts) * len(labels)
    if not n_tests:
        raise NothingToMeasure(f"no word is in {FEWEST} texts")
    priors = {side: _label_shares(texts[side]) for side in SIDES}
    rows = [
        row
        for (side, word), count in counts.items()
        for row in _giveaways(side, word, count, priors[side], n_tests, given.rule.margin)
    ]
    rows.sort(key=lambda row: (-row["low"], row["text"], row["word"], row["label"]))
    verdict = _verdict(rows, n_tests, _share_with_giveaway(rows, examples), given.rule)
    return CheckResult([verdict], tables=[_table(rows)], notes=[_note(n_tests, len(examples))])


def _labels_by_text(examples: Sequence[Example], side: str) -> dict[str, set[str]]:
    """The distinct texts of a side, with the labels that they have."""
    found: dict[str, set[str]] = {}
    for example in examples:
        text = example.text_a if side == "text_a" else example.text_b
        if text is not None:
            found.setdefault(text, set()).add(example.label)
    return found


def _word_counts(texts: LabelsByText) -> dict[str, WordCount]:
    """The texts that each word is in: a text counts once, however many rows have it."""
    counts: dict[str, WordCount] = {}
    for text, labels in texts.items():
        for word in set(WORD.findall(text.lower())):
            count = counts.setdefault(word, WordCount())
            count.texts += 1
            count.labels.update(labels)
    return counts


def _label_shares(texts: LabelsByText) -> dict[str, float]:
    """The share of the distinct texts that have each label in some row."""
    counts = Counter(label for labels in texts.values() for label in labels)
    return {label: count / len(texts) for label, count in counts.items()}


def _giveaways(
    side: str,
    word: str,
    count: WordCount,
    priors: Mapping[str, float],
    n_tests: int,
    margin: float,
) -> Iterator[Row]:
    """One row per label that this word gives away."""
    n = count.texts
    for label, n_label in count.labels.items():
        prior = priors[label]
        share = n_label / n
        low, high = joint_interval(share, n, n_tests)
        if low > prior + margin:
            yield {
                "word": word,
                "text": side,
                "label": label,
                "pmi": _smoothed_pmi(share, n, prior),
                "low": _smoothed_pmi(low, n, prior),
                "high": _smoothed_pmi(high, n, prior),
                "texts": n,
                "share": rounded(share),
                "share_low": rounded(low),
                "share_high": rounded(high),
                "prior": rounded(prior),
            }


def _smoothed_pmi(share: float, n: int, prior: float) -> float:
    smoothed = (share * n + SMOOTHING * prior) / (n + SMOOTHING)
    return rounded(log2(smoothed / prior))


def joint_interval(share: float, n: int, n_tests: int) -> tuple[float, float]:
    """Wilson's interval for a share of n, so wide that this many hold together at 95 %."""
    return wilson(share, n, joint_z(n_tests))


def _share_with_giveaway(rows: Sequence[Row], examples: Sequence[Example]) -> float:
    """The share of the data's rows that have a word which gives a label away."""
    giveaways = {(row["text"], row["word"]) for row in rows}
    n_with = sum(any(key in giveaways for key in _words_of(example)) for example in examples)
    return n_with / len(examples)


def _words_of(example: Example) -> Iterator[tuple[str, str]]:
    """The distinct words of each text of a row."""
    for side, text in zip(SIDES, example.texts, strict=True):
        if text is not None:
            yield from ((side, word) for word in set(WORD.findall(text.lower())))


def _verdict(rows: Sequence[Row], n_tests: int, covered: float, rule: VerdictRule) -> Verdict:
    margin = rule.in_points
    if not rows:
        because = f"None of {n_tests:,} words and labels is above its label's frequency by {margin}"
        return Verdict("label words", "none found", because)
    top = rows[0]
    interval = f"{top['share']:.3f} [{top['share_low']:.3f}, {top['share_high']:.3f}]"
    most = (
        f"most of all {top['word']!r} in {top['text']}: {top['label']} in {interval} "
        f"of {top['texts']:,} texts, {top['prior']:.3f} of all"
    )
    n = len({(row["text"], row["word"]) for row in rows})
    found = f"{n:,} words give" if n > 1 else "1 word gives"
    because = (
        f"{found} a label away by more than {margin}, {most}; "
        f"{covered:.2f} of the rows have one of them"
    )
    return Verdict("label words", "found", because)


def _table(rows: Sequence[Row]) -> Table:
    caption = "Words that give a label away, by the lower bound of their PMI (bits)"
    if len(rows) > SHOWN:
        caption += f"; the first {SHOWN} of {len(rows):,}"
    return Table("label_words", caption, rows[:SHOWN])


def _note(n_tests: int, n_rows: int) -> str:
    return (
        f"{n_rows:,} rows, {n_tests:,} words and labels looked at (words in {FEWEST} texts or "
        "more; a text counts once); intervals hold for all together at 95 %; PMI is smoothed by "
        f"{SMOOTHING:g} imagined texts"
    )
