"""How little must be moved to change the answer, and how much can be moved without changing it?
Minimal pairs, found by search.

The smallest reordering that flips an answer shows what order the model does read; the largest that
does not shows what it never looked at. Punctuation stays in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from disorder.abstention import ABSTAINED, with_abstention
from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import share
from disorder.randomness import digest, generator
from disorder.registry import explanation
from disorder.report.exhibits import Figure, Row, Table
from disorder.transformations.rendering import render
from disorder.transformations.words import split
from disorder.types import Example, Floats, Ints, Sentence, Texts
from disorder.verbs.explain.bleu import cased_kinds
from disorder.verbs.explain.chart_style import domain, intervals, number
from disorder.verbs.explain.neighbour_search import (
    Found,
    Search,
    Searched,
    largest,
    picked_up,
    smallest,
    together,
)
from disorder.verbs.explain.reordering_picture import Card, Line, drawing
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Subject

SMALLEST, LARGEST = "smallest that flips", "largest that does not"
SHORTEST = 3  # words that a text must have
ROOM = 78  # letters of a text that a picture has room for


@dataclass(frozen=True, eq=False)
class Place:
    """A text of an example whose words may move."""

    example: Example
    side: str
    sentence: Sentence
    answers: Floats
    labels: tuple[str, ...]

    @cached_property
    def kinds(self) -> Ints:
        """A number for each distinct word that may move, case and all."""
        return cased_kinds(self.sentence)[self.sentence.movable]

    @property
    def answer(self) -> int:
        """The label of the original text."""
        return int(self.answers.argmax())

    def is_backwards(self, found: Found | None) -> bool:
        """Whether this is the text read backwards."""
        return found is not None and bool((self.kinds[found.order] == self.kinds[::-1]).all())

    def positions(self, order: Ints) -> Ints:
        """The original text's positions when its words stand in this order."""
        positions = np.arange(len(self.sentence))
        positions[self.sentence.movable] = self.sentence.movable[order]
        return positions

    def texts(self, orders: Ints) -> list[Texts]:
        """What the model is asked, one entry an order."""
        rows = np.array([self.positions(order) for order in orders])
        made = render(self.sentence, rows)
        return [
            (text, self.example.text_b) if self.side == "a" else (self.example.text_a, text)
            for text in made
        ]


@explanation(
    asks="How little must move to flip the answer, and how much may move without?", usual=False
)
def neighbours(
    subject: Subject,
    *,
    n: int = 100,
    budget: int = 300,
    shown: int = 4,
    side: Literal["task", "a", "b"] = "task",
) -> Explained:
    """Search for the smallest reordering that flips the answer and the largest that does not, for
    `n` examples.

    Every move of one word is asked, nearest first, then every swap, then moves on top of those that
    shook the answer most, within `budget` questions an example. The picture has `shown` of them.
    """
    if min(n, budget, shown) < 1:
        raise BadSetting("neighbours", n=n, budget=budget, shown=shown, need="1 or more of each")
    places = _places(subject, n, subject.task.breaks if side == "task" else side)
    flips, kept = (_searched(subject, places, search, budget) for search in (smallest, largest))
    scores = {
        "flipped by one word": share(
            np.array([each.found is not None and each.found.size[0] == 1 for each in flips])
        ),
        "flipped within the budget": share(np.array([each.found is not None for each in flips])),
        "kept backwards": share(
            np.array(
                [place.is_backwards(each.found) for place, each in zip(places, kept, strict=True)]
            )
        ),
    }
    figures = [_minimal_pairs(places, flips, kept, shown), _curve([each.found for each in flips])]
    finding = (
        f"moving one word flips {said(scores['flipped by one word'])} of {len(places):,} answers, a search of {budget:,} "
        f"questions {said(scores['flipped within the budget'])}; read backwards, {said(scores['kept backwards'])} keep "
        "their answer"
    )
    skips = {
        f"fewer than {SHORTEST} words, or not among the {n:,} that are searched": len(
            subject.examples
        )
        - len(places)
    }
    return Explained(
        finding,
        figures,
        [_table(places, flips, kept)],
        scores,
        _notes(flips, budget),
        {reason: count for reason, count in skips.items() if count},
    )


def _notes(flips: Sequence[Searched], budget: int) -> list[str]:
    """What the budget left open."""
    n_open = sum(not each.is_thorough for each in flips)
    if not n_open:
        return []
    return [
        f"for {n_open:,} of {len(flips):,} answers the budget of {budget:,} questions ended before every move of one word was "
        "asked, so shares of answers flipped are lower bounds; budget=N asks more"
    ]


def _places(subject: Subject, n: int, side: str) -> list[Place]:
    """Examples drawn by seed whose text has words enough."""
    if side == "b" and not subject.is_pairs:
        raise NothingToMeasure("there is no second text")
    found, answers = [], with_abstention(subject.original)
    for i, example in enumerate(subject.examples):
        sentence = split(str(example.text_a if side == "a" else example.text_b))
        if len(sentence.movable) >= SHORTEST:
            found.append(
                Place(example, side, sentence, answers[i], (*subject.task.labels, ABSTAINED))
            )
    if not found:
        raise NothingToMeasure(f"no text has {SHORTEST} words")
    seed = subject.settings.seed
    drawn = sorted(found, key=lambda place: digest(seed, "neighbours", place.example.id))[:n]
    return sorted(drawn, key=lambda place: place.example.id)


def _searched(
    subject: Subject, places: Sequence[Place], search: Search, budget: int
) -> list[Searched]:
    seed, name = subject.settings.seed, search.__name__
    started = [
        search(
            place.kinds, place.answer, budget=budget, rng=generator(seed, name, place.example.id)
        )
        for place in places
    ]

    def ask(wanted: list[tuple[int, Ints]]) -> list[Floats]:
        texts = [text for i, orders in wanted for text in places[i].texts(orders)]
        subject.progress(f"{name} reordering", len(places) - len(wanted), len(places), "")
        return np.split(
            with_abstention(subject.ask(texts)),
            np.cumsum([len(orders) for _, orders in wanted])[:-1],
        )

    return together(started, ask)


def _table(places: Sequence[Place], flips: Sequence[Searched], kept: Sequence[Searched]) -> Table:
    found = zip(places, flips, kept, strict=True)
    rows = [
        _row(place, *each)
        for place, flip, keep in found
        for each in ((SMALLEST, flip), (LARGEST, keep))
    ]
    return Table("neighbours_pairs", "What was found for each example", rows)


def _row(place: Place, kind: str, searched: Searched) -> Row:
    labels, found = place.labels, searched.found
    row: Row = {
        "example": place.example.id,
        "kind": kind,
        "words moved": None,
        "places passed": None,
        "is_proved": None,
        "questions": searched.n_asked,
        "is_thorough": searched.is_thorough,
        "answer before": labels[place.answer],
        "probability before": round(float(place.answers.max()), 4),
        "answer after": None,
        "probability after": None,
        "text": place.sentence.text,
        "reordered": "not found",
    }
    if found is None:
        return row
    moved, passed = found.size
    [texts] = place.texts(found.order[None, :])
    return row | {
        "words moved": moved,
        "places passed": passed,
        "is_proved": found.is_least,
        "answer after": labels[found.answer],
        "probability after": round(found.probability, 4),
        "reordered": texts[0 if place.side == "a" else 1],
    }


def _minimal_pairs(
    places: Sequence[Place], flips: Sequence[Searched], kept: Sequence[Searched], shown: int
) -> Figure:
    """The most striking examples: smallest flips and largest reorderings, of answers that the model
    is sure of.
    """

    def rank(i: int) -> tuple[object, ...]:
        flip, keep, place = flips[i].found, kept[i].found, places[i]
        doubt = -min(
            [
                float(place.answers.max()),
                *(found.probability for found in (flip, keep) if found is not None),
            ]
        )
        missing = (flip is None) + (keep is None)
        return (
            len(place.sentence.text) > ROOM,
            missing,
            flip.size[0] if flip else 0,
            doubt,
            place.example.id,
        )

    chosen = sorted(range(len(places)), key=rank)[:shown]
    cards = [_card(places[i], flips[i].found, kept[i].found) for i in chosen]
    found = [
        (places[i], *each) for i in chosen for each in ((SMALLEST, flips[i]), (LARGEST, kept[i]))
    ]
    rows = [_row(place, kind, each) for place, kind, each in found if each.found is not None]
    caption = (
        "Each text (middle) with the smallest reordering found that changes the answer (below) and the largest found that does "
        "not (above). Boxes mark words that were picked up and put elsewhere; beside the answers, their probabilities."
    )
    return Figure("neighbours", caption, rows, drawn=drawing(cards))


def _card(place: Place, flip: Found | None, keep: Found | None) -> Card:
    labels, n, is_pair = place.labels, len(place.sentence), place.example.text_b is not None
    beside = (
        f"first text: {place.example.text_a}"
        if place.side == "b"
        else f"second text: {place.example.text_b}"
    )
    same, flipped = (
        None if found is None else _line(place, found, labels) for found in (keep, flip)
    )
    text = Line(
        np.arange(n), np.zeros(n, dtype=bool), labels[place.answer], float(place.answers.max())
    )
    return Card(place.sentence.words, beside if is_pair else "", text, same, flipped)


def _line(place: Place, found: Found, labels: Sequence[str]) -> Line:
    is_moved = np.zeros(len(place.sentence), dtype=bool)
    is_moved[place.sentence.movable] = picked_up(found.order)
    return Line(place.positions(found.order), is_moved, labels[found.answer], found.probability)


def _curve(flips: Sequence[Found | None]) -> Figure:
    """How many answers have flipped by the time that so many words are moved."""
    sizes = np.array([found.size[0] if found is not None else 10**6 for found in flips])
    most = int(max((size for size in sizes.tolist() if size < 10**6), default=1))
    rows = [{"words moved": k, **bounds(share(sizes <= k))} for k in range(1, max(most, 2) + 1)]
    axis = {
        "axis": {"values": list(range(1, max(most, 2) + 1)), "format": "d"},
        "scale": {"domain": [0.5, max(most, 2) + 0.5]},
    }
    x, y = (
        number("words moved", "words moved, at most", axis),
        number("value", "share of answers flipped", domain(0, 1)),
    )
    caption = (
        "Share of answers that a reordering of at most so many words flips, with Wilson's 95 % intervals. For one word it is "
        "exact where the budget allowed every move; for more it is what the search found, a lower bound."
    )
    return Figure("neighbours_curve", caption, rows, {"layer": intervals(x, y)})
