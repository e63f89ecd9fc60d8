"""Word-order sensitivity: 0 where order is ignored, 1 where accuracy falls to chance.

Out of Order (Pham et al., 2021). Measured on dev-r: examples whose perturbed text is one sentence
of more than three words, that the model predicts right, with classes balanced by random removal.
Every step is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.languages import UNSPACED_LANGUAGES, n_words
from disorder.metrics.statistics.decomposition import Mean
from disorder.randomness import digest
from disorder.registry import metric
from disorder.types import Bools, Fidelity, Ints, Outcomes, Task

# also Arabic, Urdu, the Indic danda, Ethiopic; Han and kana need no space after
WRITTEN = re.compile(r"\S+")
MARKS = tuple(".!?…؟۔।॥።")  # that end a sentence before a space
CLOSERS = "\"'”’)]"
WIDE_MARK = re.compile(r"[。！？｡](?=.)")
ABBREVIATIONS = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "st", "prof", "rev", "gen", "gov", "sen", "rep", "jr", "sr"),
        *("vs", "etc", "inc", "co"),
    )
)
N_TOKENS = 3  # a text must have more


@metric(
    title="WOS",
    meaning="word-order sensitivity: 0 when order is ignored, 1 when accuracy falls to chance",
    better="near 1 where the task needs order",
    paper="OOO",
    of="order",
    position=30,
    least_labels=2,
    needs_skill=True,
    watched="never",
)
def wos(outcomes: Outcomes) -> Mean:
    """Word-Order Sensitivity (1 − p)/(1 − chance), with p the accuracy on perturbed texts of
    dev-r.
    """
    chance = 1 / len(outcomes.task.labels)
    if chance == 1:
        raise NothingToMeasure("the data has a single label")
    steps = dict(dev_r(outcomes))
    kept = steps["balanced"]
    found = Mean.over(outcomes.acceptance, kept, otherwise=_unbalanced(outcomes, steps["right"]))
    return replace(
        found,
        contributions=outcomes.acceptance.astype(np.float64),
        origin=1.0,
        span=chance - 1,
        classes=outcomes.gold.astype(np.int64),
        order=by_digest(outcomes, np.flatnonzero(steps["right"])),
        n_left_out=int((~kept).sum()),
    )


def is_one_sentence(text: str) -> bool:
    """Whether no mark inside the text ends a sentence; abbreviations and initials do not."""
    text = text.strip()
    for written in WRITTEN.finditer(text):
        start, end = written.span()
        token = written[0].rstrip(CLOSERS)
        if end < len(text) and token.endswith(MARKS):
            word = token[:-1].lstrip("\"'“‘([").lower()
            is_initial = len(word) == 1 and word.isalpha()
            if word not in ABBREVIATIONS and not is_initial and "." not in word:
                return False
        elif WIDE_MARK.search(text, start, end + 1):
            return False
    return True


def is_simple(
    text: str,
    *,
    task: Task,
    fidelity: Fidelity,
    is_single: Callable[[str], bool] = is_one_sentence,
) -> bool:
    """Whether a text passes the first filter: one sentence of more than three words.

    `is_single` says what one sentence is.

    The released code tests for one sentence in CoLA alone, and cuts at every single space, so that
    a trailing or double one adds a token: Table A4's counts depend on both.
    """
    is_released = fidelity == "released"
    tokens = text.split(" ") if is_released else text.split()
    if _n_tokens(text, tokens, task.language) <= N_TOKENS:
        return False
    return (is_released and task.name != "cola") or is_single(text)


def _n_tokens(text: str, tokens: list[str], language: str) -> int:
    """How many words a text has; Chinese is counted by character."""
    if language == "zh":
        return len(text)
    return n_words(text) if language in UNSPACED_LANGUAGES else len(tokens)


def dev_r(outcomes: Outcomes) -> list[tuple[str, Bools]]:
    """The three filtering steps: their names and the examples that are left after each."""
    right = outcomes.is_simple & outcomes.is_right
    return [
        ("one sentence", outcomes.is_simple),
        ("right", right),
        ("balanced", _balanced(outcomes, right)),
    ]


def step_counts(outcomes: Outcomes) -> dict[str, dict[str, int]]:
    """How many examples of each label every step leaves."""
    steps = [("used", np.ones(len(outcomes), dtype=bool)), *dev_r(outcomes)]
    return {
        step: {
            label: int((kept & (outcomes.gold == i)).sum())
            for i, label in enumerate(outcomes.task.labels)
        }
        for step, kept in steps
    }


def _balanced(outcomes: Outcomes, right: Bools) -> Bools:
    """Random removal keyed by example, so that the same examples stay whatever the order of the
    data.
    """
    classes = range(len(outcomes.task.labels))
    n_kept = min(int((right & (outcomes.gold == label)).sum()) for label in classes)
    kept = np.zeros(len(outcomes), dtype=bool)
    for label in classes:
        members = by_digest(outcomes, np.flatnonzero(right & (outcomes.gold == label)))
        kept[members[:n_kept]] = True
    return kept


def _unbalanced(outcomes: Outcomes, right: Bools) -> str:
    """Why no balanced set is left: the labels of which no text is."""
    absent = [
        label
        for i, label in enumerate(outcomes.task.labels)
        if not (right & (outcomes.gold == i)).any()
    ]
    return (
        f"no one-sentence text with the gold label {' or '.join(absent)} is predicted right, so "
        "that no balanced set is left"
    )


def by_digest(outcomes: Outcomes, members: Ints) -> Ints:
    """Example numbers in the order in which they are kept."""
    keys = [digest(outcomes.seed, "dev-r", str(outcomes.example[i])) for i in members.tolist()]
    return members[sorted(range(len(keys)), key=keys.__getitem__)]
