"""Minimal pairs: how little must move to flip a prediction, how much may move without flipping it?

The smallest reordering that flips a prediction shows what order the model does read; the largest
that does not shows what it never looked at. Punctuation stays in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import share
from disorder.randomness import digest, generator
from disorder.registry import explanation
from disorder.results.result import Figure, Row, Table
from disorder.transformations.rendering import render
from disorder.transformations.words import split
from disorder.types import Example, Floats, Ints, Sentence, Texts
from disorder.types.predictions import ABSTAINED, with_abstention
from disorder.verbs.explain.bleu import cased_kinds
from disorder.verbs.explain.neighbour_search import (
    Reordering,
    Search,
    SearchResult,
    largest,
    picked_up,
    smallest,
    together,
)
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Subject
from disorder.verbs.explain.word_drawings import ReorderingCard, TextVersion, reorderings_drawing

SHORTEST = 3  # words that a text must have
SMALLEST = "smallest that flips"
LARGEST = "largest that does not"
ROOM = 78  # letters of a text that a figure has room for
NEVER = 10**6  # words moved, for a prediction that no reordering flipped


@explanation(
    asks="How little must move to flip the prediction, and how much may move without?",
    calls=lambda subject, n, budget, **_: {
        "reordered texts": 2 * budget * min(n, len(subject.examples))
    },
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
    backwards = [
        kept is not None and bool((text.kinds[kept.order] == text.kinds[::-1]).all())
        for text, kept in ((pair.text, pair.unchanged.found) for pair in pairs)
    ]
    scores = {
        "flipped by one word": share(np.array(one_word)),
        "flipped within the budget": share(np.array([each is not None for each in found])),
        "unchanged backwards": share(np.array(backwards)),
    }
    flipped = scores["flipped within the budget"]
    finding = (
        f"moving one word flips {said(scores['flipped by one word'])} of {len(texts):,} "
        f"predictions, a search of {budget:,} model calls {said(flipped)}; read backwards, "
        f"{said(scores['unchanged backwards'])} are unchanged"
    )
    rows = [_row(pair.text, kind, each) for pair in pairs for kind, each in pair.searches]
    is_shown = flipped.low > 0.05 or not flipped.value  # some predictions flip, or none does
    skips = {}
    if len(texts) < len(subject.examples):
        reason = f"fewer than {SHORTEST} words, or not among the {n:,} that are searched"
        skips[reason] = len(subject.examples) - len(texts)
    return Explained(
        finding,
        [pairs_figure(pairs, shown)],
        [
            flips_table(found),
            Table("neighbours_pairs", "What was found for each example", rows),
        ],
        scores,
        _notes(flips, budget),
        skips,
        claims={"order": flipped.value > 0} if is_shown else {},
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
        sentence = split(example.text(side), words=subject.splitter)
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


@dataclass(frozen=True, eq=False)
class MovableText:
    """A text of an example whose words may move, with the prediction for the original text."""

    example: Example
    side: str
    sentence: Sentence
    probabilities: Floats
    labels: tuple[str, ...]

    @cached_property
    def kinds(self) -> Ints:
        """A number for each distinct word that may move, case and all."""
        return cased_kinds(self.sentence)[self.sentence.movable]

    @property
    def label(self) -> int:
        """The number of the predicted label."""
        return int(self.probabilities.argmax())

    @property
    def probability(self) -> float:
        """The probability of the predicted label."""
        return float(self.probabilities.max())

    def positions(self, order: Ints) -> Ints:
        """The positions of all words of the text when those that may move stand in this order."""
        positions = np.arange(len(self.sentence))
        positions[self.sentence.movable] = self.sentence.movable[order]
        return positions

    def texts(self, orders: Ints) -> list[Texts]:
        """The reordered texts, one entry per order."""
        made = render(self.sentence, np.array([self.positions(order) for order in orders]))
        first, second = self.example.texts
        if self.side == "a":
            return [(text, second) for text in made]
        return [(first, text) for text in made]


@dataclass(frozen=True, eq=False)
class MinimalPair:
    """What both searches found for one text."""

    text: MovableText
    flip: SearchResult
    unchanged: SearchResult

    @property
    def searches(self) -> list[tuple[str, SearchResult]]:
        """Both searches with their names."""
        return [(SMALLEST, self.flip), (LARGEST, self.unchanged)]


def _row(text: MovableText, kind: str, searched: SearchResult) -> Row:
    found = searched.found
    row: Row = {
        "example": text.example.id,
        "kind": kind,
        "words moved": None,
        "places passed": None,
        "is_proved": None,
        "model calls": searched.n_calls,
        "is_thorough": searched.is_thorough,
        "prediction before": text.labels[text.label],
        "probability before": round(text.probability, 4),
        "prediction after": None,
        "probability after": None,
        "text": text.sentence.text,
        "reordered": "not found",
    }
    if found is None:
        return row
    moved, passed = found.size
    [texts] = text.texts(found.order[None, :])
    return row | {
        "words moved": moved,
        "places passed": passed,
        "is_proved": found.is_extreme,
        "prediction after": text.labels[found.label],
        "probability after": round(found.probability, 4),
        "reordered": texts[0 if text.side == "a" else 1],
    }


def pairs_figure(pairs: Sequence[MinimalPair], shown: int) -> Figure:
    """The most striking examples: smallest flips, largest reorderings, high probabilities."""
    chosen = sorted(pairs, key=_rank)[:shown]
    rows = [
        _row(pair.text, kind, each)
        for pair in chosen
        for kind, each in pair.searches
        if each.found is not None
    ]
    caption = (
        "Each text (middle) with the smallest reordering found that flips the prediction (below) "
        "and the largest found that does not (above). Boxes mark words that were picked up and put "
        "elsewhere; beside the predictions, their probabilities."
    )
    drawn = reorderings_drawing([_card(pair) for pair in chosen])
    return Figure("neighbours", caption, rows, drawn=drawn)


def _rank(pair: MinimalPair) -> tuple[bool, int, int, float, str]:
    found = [each.found for _, each in pair.searches if each.found is not None]
    least = min([pair.text.probability, *(each.probability for each in found)])
    flip = pair.flip.found
    return (
        len(pair.text.sentence.text) > ROOM,
        2 - len(found),
        flip.size[0] if flip is not None else 0,
        -least,
        pair.text.example.id,
    )


def _card(pair: MinimalPair) -> ReorderingCard:
    text = pair.text
    n = len(text.sentence)
    beside = ""
    if text.example.is_pair and text.side == "b":
        beside = f"first text: {text.example.texts[0]}"
    elif text.example.is_pair:
        beside = f"second text: {text.example.texts[1]}"
    original = TextVersion(
        np.arange(n), np.zeros(n, dtype=bool), text.labels[text.label], text.probability
    )
    return ReorderingCard(
        words=text.sentence.words,
        beside=beside,
        original=original,
        unchanged=_version(text, pair.unchanged.found),
        flipped=_version(text, pair.flip.found),
    )


def _version(text: MovableText, found: Reordering | None) -> TextVersion | None:
    if found is None:
        return None
    is_moved = np.zeros(len(text.sentence), dtype=bool)
    is_moved[text.sentence.movable] = picked_up(found.order)
    label = text.labels[found.label]
    return TextVersion(text.positions(found.order), is_moved, label, found.probability)


def flips_table(flips: Sequence[Reordering | None]) -> Table:
    """How many predictions a reordering of at most so many words flips."""
    sizes = np.array([NEVER if found is None else found.size[0] for found in flips])
    most = max(2, *sizes[sizes < NEVER].tolist(), 2)
    rows = [{"words moved, at most": k, **bounds(share(sizes <= k))} for k in range(1, most + 1)]
    caption = (
        "Share of predictions that a reordering of so many words flips. For one word it is exact "
        "where the budget allowed every move; for more it is what the search found, a lower bound."
    )
    return Table("neighbours_flips", caption, rows)
