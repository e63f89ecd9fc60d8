"""Word-matching heads: which attention head ties like words of two texts? Out of Order, App. A.

In every head the 3 word pairs with the largest attention between the texts are taken; the head
whose 3 pairs are nearest in summed edit distance wins, of equals the one that attends more. Case
does not count, and punctuation and special tokens are out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disorder.errors import MissingPackage
from disorder.metrics import share
from disorder.models import Head, LoadedModel, attentions
from disorder.results.result import Figure, Row, Table
from disorder.types import Bools, Example, Floats, Ints, Pair, Sentence
from disorder.verbs.explain.chart_style import VegaLite, number
from disorder.verbs.explain.result import bounds
from disorder.verbs.explain.word_drawings import TiedPair, ties_drawing

N_PAIRS = 3  # word pairs looked at
MATCH = 4  # summed edit distance up to which they match
SHORT = 80  # letters that fit in one row of the drawing
LIMITS = (0, 1, 2, 3, 4, 15)  # of Table A1


@dataclass(frozen=True)
class TiedWords:
    """The words that a head ties together, as places among those that are no punctuation."""

    head: Head
    ties: tuple[tuple[int, int], ...]
    distance: int

    @property
    def is_match(self) -> bool:
        """Whether the tied words are the same but for small changes."""
        return self.distance <= MATCH


def has_pairs(pair: Pair) -> bool:
    """Whether two texts have as many pairs of words as a head is looked at for."""
    return int(np.prod([len(side.movable) for side in pair.sides])) >= N_PAIRS


def found_heads(
    model: LoadedModel, pairs: Sequence[Pair], heads: Sequence[Head] | None = None
) -> list[TiedWords]:
    """The winning head of every pair; or what the given one of `heads` ties together."""
    given: dict[int, TiedWords] = {}

    def look(i: int, weights: Floats) -> None:
        a, b = (side.movable for side in pairs[i].sides)
        only = None if heads is None else heads[i]
        given[i] = _best(weights[:, :, a][:, :, :, b], distances(pairs[i]), only)

    attentions(model, pairs, look)
    return [given[i] for i in range(len(pairs))]


def _best(weights: Floats, apart: Ints, only: Head | None) -> TiedWords:
    flat = weights.reshape(*weights.shape[:2], -1)
    top = np.argsort(-flat, axis=-1, kind="stable")[..., :N_PAIRS]
    sums = apart.ravel()[top].sum(axis=-1)
    strength = np.take_along_axis(flat, top, axis=-1).sum(axis=-1)
    best = only or np.unravel_index(np.lexsort((-strength.ravel(), sums.ravel()))[0], sums.shape)
    layer, head = int(best[0]), int(best[1])
    ties = [divmod(int(place), apart.shape[1]) for place in top[layer, head]]
    return TiedWords((layer, head), tuple(ties), int(sums[layer, head]))


def distances(pair: Pair) -> Ints:
    """Edit distance from each word of the first text to each of the second."""
    first, second = (spoken(side) for side in pair.sides)
    fuzz = rapidfuzz("heads")
    levenshtein = fuzz.distance.Levenshtein.distance
    return np.asarray(fuzz.process.cdist(first, second, scorer=levenshtein), dtype=np.int64)


def spoken(sentence: Sentence) -> list[str]:
    """The words that are not punctuation, ignoring case."""
    return [sentence.words[i].casefold() for i in sentence.movable.tolist()]


def rapidfuzz(part: str) -> Any:
    """The package that measures edit distances, which not everyone has."""
    try:
        import rapidfuzz
        import rapidfuzz.distance
    except ImportError as error:
        raise MissingPackage(part, "rapidfuzz", "explain") from error
    return rapidfuzz


@dataclass(frozen=True, eq=False)
class MatchedExample:
    """One example with what its head ties together, in the shuffled and in the original text."""

    place: int
    example: Example
    shuffled_pair: Pair
    original_pair: Pair
    shuffled: TiedWords
    original: TiedWords

    @property
    def is_match(self) -> bool:
        """Whether like words are tied in both."""
        return self.shuffled.is_match and self.original.is_match

    @property
    def versions(self) -> list[tuple[str, Pair, TiedWords]]:
        """Both pairs of texts with their names."""
        return [
            ("shuffled", self.shuffled_pair, self.shuffled),
            ("original", self.original_pair, self.original),
        ]

    @property
    def n_letters(self) -> int:
        """Letters of the distinct words of the first text that are tied."""
        text = self.original_pair.a
        return sum(map(len, {text.words[int(text.movable[i])] for i, _ in self.original.ties}))


def histogram(winners: Counter[Head], n_layers: int, n_heads: int) -> Figure:
    """How often each head won, as a grid of layers and heads."""
    rows: list[Row] = [
        {"layer": layer, "head": head, "examples": winners[layer, head]}
        for layer in range(n_layers)
        for head in range(n_heads)
    ]
    axis = {"labelAngle": 0, "grid": False}
    x: VegaLite = {"field": "head", "type": "ordinal", "title": "head", "axis": axis}
    y: VegaLite = {"field": "layer", "type": "ordinal", "title": "layer", "axis": axis}
    top = max(1, *winners.values(), 1)
    scale = {
        "scale": {"domain": [0, top], "range": ["#f7fbff", "#08306b"]},
        "legend": {"format": "d", "tickMinStep": 1},
    }
    colour = number("examples", "examples", scale)
    ink = {"condition": {"test": f"datum.examples > {top / 2}", "value": "white"}, "value": "black"}
    count = {"field": "examples", "type": "quantitative"}
    cells = {
        "mark": {"type": "rect", "stroke": "#cccccc"},
        "encoding": {"x": x, "y": y, "color": colour},
    }
    counts = {
        "transform": [{"filter": "datum.examples > 0"}],
        "mark": {"type": "text", "fontSize": 11},
        "encoding": {"x": x, "y": y, "text": count, "color": ink},
    }
    caption = (
        "In how many examples each head ties like words best, in the shuffled and in the original "
        "text (layers and heads counted from 0)."
    )
    size = {"width": {"step": 32}, "height": {"step": 24}}
    return Figure("heads_histogram", caption, rows, {"layer": [cells, counts], **size})


def by_layer(winners: Counter[Head], n_layers: int) -> Table:
    """Figure A1: in how many examples a head of each layer won."""
    total = sum(winners.values())
    rows: list[Row] = []
    for layer in range(n_layers):
        count = sum(n for (each, _), n in winners.items() if each == layer)
        names = ", ".join(f"({a}, {b})" for a, b in sorted(winners) if a == layer)
        score: Row = {"value": None, "low": None, "high": None, "n": 0}
        if total:
            score = bounds(share(np.arange(total) < count))
        rows.append({"layer": layer, "heads": names, "examples": count, **score})
    return Table("heads_layers", "Matching heads by layer.", rows)


def by_head(winners: Counter[Head]) -> Table:
    """In how many examples each head won."""
    rows: list[Row] = [
        {"layer": layer, "head": head, "examples": n}
        for (layer, head), n in sorted(winners.items())
    ]
    return Table("heads_winners", "Matching heads one by one.", rows)


def by_distance(examples: Sequence[MatchedExample]) -> Table:
    """Table A1: how many examples have a summed edit distance of at most so much."""
    shuffled = np.array([each.shuffled.distance for each in examples])
    original = np.array([each.original.distance for each in examples if each.shuffled.is_match])
    rows = [
        {
            "summed distance": f"≤ {limit}",
            **_counted("shuffled", shuffled <= limit),
            **_counted("original", original <= limit),
        }
        for limit in LIMITS
    ]
    total = {**_counted("shuffled", shuffled >= 0), **_counted("original", original >= 0)}
    rows.append({"summed distance": "total", **total})
    caption = (
        f"Examples by the summed edit distance of the {N_PAIRS} tied word pairs: in the shuffled "
        f"text, and in the original one (of those that match, ≤ {MATCH}, when shuffled)."
    )
    return Table("heads_distances", caption, rows)


def _counted(title: str, claims: Bools) -> Row:
    row: Row = {title: int(claims.sum())}
    score = share(claims) if len(claims) else None
    for bound in ("value", "low", "high"):
        column = "share" if bound == "value" else bound
        value = None if score is None else round(getattr(score, bound), 4)
        row[f"{title} {column}"] = value
    return row


def tied_example(examples: Sequence[MatchedExample]) -> list[Figure]:
    """Figure 4: the example with the longest words tied most exactly, preferably a short one."""
    matches = [each for each in examples if each.is_match]
    if not matches:
        return []
    short = [
        each
        for each in matches
        if max(len(side.text) for side in each.original_pair.sides) <= SHORT
    ]
    chosen = min(
        short or matches,
        key=lambda e: (e.shuffled.distance + e.original.distance, -e.n_letters, e.example.id),
    )
    layer, head = chosen.shuffled.head
    pairs = [
        TiedPair.of(f"{chosen.example.id} · {texts}", pair, found.ties)
        for texts, pair, found in chosen.versions
    ]
    caption = (
        f"The {N_PAIRS} word pairs that layer {layer}, head {head} attends to most, in a shuffled "
        "text and the original one."
    )
    return [Figure("heads_pair", caption, list(_rows(chosen)), drawn=ties_drawing(pairs))]


def all_ties(examples: Sequence[MatchedExample]) -> Table:
    """The tied words of every example."""
    rows = [row for each in examples for row in _rows(each)]
    return Table("heads_all", "The tied word pairs of every example.", rows)


def _rows(each: MatchedExample) -> Iterator[Row]:
    for texts, pair, found in each.versions:
        first, second = pair.sides
        layer, head = found.head
        for i, j in found.ties:
            yield {
                "example": each.example.id,
                "texts": texts,
                "layer": layer,
                "head": head,
                "word a": first.words[int(first.movable[i])],
                "word b": second.words[int(second.movable[j])],
                "summed distance": found.distance,
            }
