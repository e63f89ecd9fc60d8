"""Minimal pairs: how little must move to flip a prediction, how much may move without flipping it?

The smallest reordering that flips a prediction shows what order the model does read; the largest
that does not shows what it never looked at. Punctuation stays in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import share
from disorder.randomness import digest, generator
from disorder.registry import explanation
from disorder.transformations.words import split
from disorder.types import Floats, Ints
from disorder.types.predictions import ABSTAINED, with_abstention
from disorder.verbs.explain.neighbour_exhibits import (
    MinimalPair,
    MovableText,
    flips_figure,
    pairs_figure,
    pairs_table,
)
from disorder.verbs.explain.neighbour_search import (
    Search,
    SearchResult,
    largest,
    smallest,
    together,
)
from disorder.verbs.explain.result import Explained, said
from disorder.verbs.explain.subject import Subject

SHORTEST = 3  # words that a text must have


@explanation(
    asks="How little must move to flip the prediction, and how much may move without?", usual=False
)
def neighbours(
    subject: Subject,
    *,
    n: int = 100,
    budget: int = 300,
    shown: int = 4,
    side: Literal["task", "a", "b"] = "task",
) -> Explained:
    """Search for the smallest reordering that flips the prediction and the largest that does not,
    for `n` examples.

    Every move of one word is tried, nearest first, then every swap, then moves on top of those that
    lowered the probability most, within `budget` model calls per example and search. The figure has
    `shown` of them.
    """
    if min(n, budget, shown) < 1:
        raise BadSetting("neighbours", n=n, budget=budget, shown=shown, need="1 or more of each")
    texts = _drawn(subject, n, subject.task.breaks if side == "task" else side)
    flips = _searched(subject, texts, smallest, budget)
    unchanged = _searched(subject, texts, largest, budget)
    pairs = [MinimalPair(*each) for each in zip(texts, flips, unchanged, strict=True)]
    found = [pair.flip.found for pair in pairs]
    one_word = [each is not None and each.size[0] == 1 for each in found]
    backwards = [pair.text.is_backwards(pair.unchanged.found) for pair in pairs]
    scores = {
        "flipped by one word": share(np.array(one_word)),
        "flipped within the budget": share(np.array([each is not None for each in found])),
        "unchanged backwards": share(np.array(backwards)),
    }
    finding = (
        f"moving one word flips {said(scores['flipped by one word'])} of {len(texts):,} "
        f"predictions, a search of {budget:,} model calls "
        f"{said(scores['flipped within the budget'])}; read backwards, "
        f"{said(scores['unchanged backwards'])} are unchanged"
    )
    skips = {}
    if len(texts) < len(subject.examples):
        reason = f"fewer than {SHORTEST} words, or not among the {n:,} that are searched"
        skips[reason] = len(subject.examples) - len(texts)
    return Explained(
        finding,
        [pairs_figure(pairs, shown), flips_figure(found)],
        [pairs_table(pairs)],
        scores,
        _notes(flips, budget),
        skips,
    )


def _notes(flips: Sequence[SearchResult], budget: int) -> list[str]:
    """What the budget left open."""
    n_open = sum(not each.is_thorough for each in flips)
    if not n_open:
        return []
    return [
        f"for {n_open:,} of {len(flips):,} predictions the budget of {budget:,} model calls ended "
        "before every move of one word was tried, so shares of predictions flipped are lower "
        "bounds; budget=N allows more"
    ]


def _drawn(subject: Subject, n: int, side: str) -> list[MovableText]:
    """Examples drawn by seed whose text has words enough."""
    if side == "b" and not subject.is_pairs:
        raise NothingToMeasure("there is no second text")
    found = []
    labels = (*subject.task.labels, ABSTAINED)
    predictions = with_abstention(subject.original)
    for example, probabilities in zip(subject.examples, predictions, strict=True):
        sentence = split(str(example.text_a if side == "a" else example.text_b))
        if len(sentence.movable) >= SHORTEST:
            found.append(MovableText(example, side, sentence, probabilities, labels))
    if not found:
        raise NothingToMeasure(f"no text has {SHORTEST} words")
    seed = subject.settings.seed
    drawn = sorted(found, key=lambda text: digest(seed, "neighbours", text.example.id))[:n]
    return sorted(drawn, key=lambda text: text.example.id)


def _searched(
    subject: Subject, texts: Sequence[MovableText], search: Search, budget: int
) -> list[SearchResult]:
    seed = subject.settings.seed
    name = search.__name__
    started = [
        search(text.kinds, text.label, budget=budget, rng=generator(seed, name, text.example.id))
        for text in texts
    ]

    def predict(wanted: list[tuple[int, Ints]]) -> list[Floats]:
        reordered = [each for i, orders in wanted for each in texts[i].texts(orders)]
        subject.progress(f"{name} reordering", len(texts) - len(wanted), len(texts), "")
        cuts = np.cumsum([len(orders) for _, orders in wanted])[:-1]
        return np.split(with_abstention(subject.predict(reordered)), cuts)

    return together(started, predict)
