"""Rows with the same words: where does order alone decide?

Rows whose texts hold the same words, case and punctuation aside, in another order and with another
label: a bag of words gives all rows of such a group one answer, whatever it learned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from disorder.data.word_hashes import words_of
from disorder.registry import check
from disorder.results.result import Row, Table
from disorder.results.writing import rounded, with_interval
from disorder.types import Example
from disorder.verbs.sanity.scoring import clustered_share
from disorder.verbs.sanity.trials import CheckInput
from disorder.verbs.sanity.verdicts import NEEDED, NONE_FOUND, CheckResult, Verdict

QUESTION = "order alone"
SHOWN = 50
Words = tuple[tuple[str, ...], tuple[str, ...]]  # of the first and the second text


@check(asks="Are there rows that order alone decides?", position=15)
def bag_identical(given: CheckInput) -> CheckResult:
    """Find rows with the same words, another order and another label, and score them apart."""
    trials = given.trials
    examples = trials.rows.examples
    groups = same_words(examples)
    if not groups:
        because = "No two rows have the same words in another order and another label"
        return CheckResult([Verdict(QUESTION, NONE_FOUND, because)])
    # those whose rows are all predicted by one model that saw none of them
    fold = trials.rows.fold
    tested = set(trials.rows.folds)
    scored = [
        rows
        for rows in groups
        if int(fold[rows[0]]) in tested and bool((fold[rows] == fold[rows[0]]).all())
    ]
    n_rows = sum(map(len, groups))
    because = (
        f"{len(groups):,} groups of rows ({n_rows:,} of {len(examples):,} rows) have the same "
        "words in another order and another label: a bag of words gives each group one answer"
    )
    score = None
    if scored:  # the share of groups in which every row gets its gold label
        is_right = [bool(trials.is_right(trials.original, np.array(g)).all()) for g in scored]
        clusters = trials.rows.cluster[[rows[0] for rows in scored]]
        score = clustered_share(np.array(is_right), clusters)
        because += f"; the model gets all rows of a group right in {with_interval(score)} of them"
    notes = []
    if len(scored) < len(groups):
        notes.append(
            f"{QUESTION}: {len(groups) - len(scored):,} groups are not scored, since some of their "
            "rows are trained on"
        )
    verdict = Verdict(QUESTION, NEEDED, because, score)
    return CheckResult([verdict], tables=[_table(groups, examples)], notes=notes)


def same_words(examples: Sequence[Example]) -> list[list[int]]:
    """Groups of rows with the same words, of which two differ in order and in label."""
    written = [_words(example) for example in examples]
    by_bag: dict[Words, list[int]] = defaultdict(list)
    for row, (first, second) in enumerate(written):
        by_bag[tuple(sorted(first)), tuple(sorted(second))].append(row)
    return [
        rows
        for rows in by_bag.values()
        if any(
            label != other and order != another
            for (label, order), (other, another) in combinations(
                {(examples[row].label, written[row]) for row in rows}, 2
            )
        )
    ]


def _words(example: Example) -> Words:
    """The words of both texts in their order, without case and punctuation."""
    first, second = (
        tuple(word for word in words_of((text or "").casefold()) if word[0].isalnum())
        for text in example.texts
    )
    return first, second


def _table(groups: Sequence[Sequence[int]], examples: Sequence[Example]) -> Table:
    rows: list[Row] = []
    for number, group in enumerate(groups[:SHOWN], 1):
        members = [examples[row] for row in group]
        as_written = {tuple(sorted(" ".join(filter(None, each.texts)).split())) for each in members}
        rows += [
            {
                "group": number,
                "id": each.id,
                "label": each.label,
                "same_as_written": len(as_written) == 1,
                **each.shown(200),
            }
            for each in members
        ]
    share = rounded(sum(map(len, groups)) / len(examples))
    caption = f"Rows with the same words in another order and another label ({share} of all rows)"
    if len(groups) > SHOWN:
        caption += f"; the first {SHOWN} of {len(groups):,} groups"
    return Table("bag_identical", caption, rows)
