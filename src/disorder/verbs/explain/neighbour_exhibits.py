"""Figures and tables of minimal pairs: the smallest reordering that flips, the largest that does
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from disorder.metrics import share
from disorder.results.result import Figure, Row, Table
from disorder.transformations.rendering import render
from disorder.types import Example, Floats, Ints, Sentence, Texts
from disorder.verbs.explain.bleu import cased_kinds
from disorder.verbs.explain.chart_style import domain, intervals, number
from disorder.verbs.explain.neighbour_search import Reordering, SearchResult
from disorder.verbs.explain.reorderings import picked_up
from disorder.verbs.explain.result import bounds
from disorder.verbs.explain.word_drawings import ReorderingCard, TextVersion, reorderings_drawing

SMALLEST = "smallest that flips"
LARGEST = "largest that does not"
ROOM = 78  # letters of a text that a figure has room for
NEVER = 10**6  # words moved, for a prediction that no reordering flipped


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

    def is_backwards(self, found: Reordering | None) -> bool:
        """Whether this is the text read backwards."""
        return found is not None and bool((self.kinds[found.order] == self.kinds[::-1]).all())

    def positions(self, order: Ints) -> Ints:
        """The positions of all words of the text when those that may move stand in this order."""
        positions = np.arange(len(self.sentence))
        positions[self.sentence.movable] = self.sentence.movable[order]
        return positions

    def texts(self, orders: Ints) -> list[Texts]:
        """The reordered texts, one entry per order."""
        made = render(self.sentence, np.array([self.positions(order) for order in orders]))
        if self.side == "a":
            return [(text, self.example.text_b) for text in made]
        return [(self.example.text_a, text) for text in made]


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


def pairs_table(pairs: Sequence[MinimalPair]) -> Table:
    """Both reorderings of every example."""
    rows = [_row(pair.text, kind, each) for pair in pairs for kind, each in pair.searches]
    return Table("neighbours_pairs", "What was found for each example", rows)


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
    """The most striking examples: smallest flips and largest reorderings, with predictions of high
    probability.
    """
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
    if text.example.text_b is not None and text.side == "b":
        beside = f"first text: {text.example.text_a}"
    elif text.example.text_b is not None:
        beside = f"second text: {text.example.text_b}"
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


def flips_figure(flips: Sequence[Reordering | None]) -> Figure:
    """How many predictions a reordering of at most so many words flips."""
    sizes = np.array([NEVER if found is None else found.size[0] for found in flips])
    most = max(2, *sizes[sizes < NEVER].tolist(), 2)
    counts = range(1, most + 1)
    rows = [{"words moved": k, **bounds(share(sizes <= k))} for k in counts]
    axis = {
        "axis": {"values": list(counts), "format": "d"},
        "scale": {"domain": [0.5, most + 0.5]},
    }
    x = number("words moved", "words moved, at most", axis)
    y = number("value", "share of predictions flipped", domain(0, 1))
    caption = (
        "Share of predictions that a reordering of at most so many words flips, with Wilson's 95 % "
        "intervals. For one word it is exact where the budget allowed every move; for more it is "
        "what the search found, a lower bound."
    )
    return Figure("neighbours_curve", caption, rows, {"layer": intervals(x, y)})
