"""Where did the words go? A bump chart: the original order, then some perturbed versions, and a
line that follows each word.

Plain SVG with attributes only, since the pages allow no inline style. Colours are classes, and each
line carries its word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from disorder.verbs.rebuilt_texts import PlacedWord

# sizes in pixels
ROW = 24
COLUMN = 110
TOP = 34
LETTER = 7.6
MAX_WORDS = 12  # beyond that the lines are a web; the texts mark moved words in place
MAX_VERSIONS = 6
MAX_LETTERS = 18
N_COLOURS = 6

WordPlaces = dict[int, list[int]]  # original place → places now


@dataclass(frozen=True)
class WordLine:
    """The path of one word: its segments, its dots, and its places in words."""

    word: str
    colour: int
    segments: list[tuple[float, float, float, float]]
    dots: list[tuple[float, float]]
    places: str


def word_order_chart(
    original: Sequence[PlacedWord], versions: Sequence[tuple[int, Sequence[PlacedWord]]]
) -> dict[str, Any] | None:
    """What the template draws, or None where there are no words, no versions, or too many words."""
    shown = versions[:MAX_VERSIONS]
    orders = [original, *(words for _, words in shown)]
    n_rows = max(len(words) for words in orders)
    if not original or not shown or n_rows > MAX_WORDS:
        return None
    columns = [_places(words) for words in orders]
    titles = ["original", *(f"version {number}" for number, _ in shown)]
    margin = LETTER * min(MAX_LETTERS, max(len(word) for word, _ in original)) + 16
    right = margin + COLUMN * len(shown)
    return {
        "width": round(right + margin),
        "height": TOP + ROW * n_rows,
        "heads": [(margin + COLUMN * i, title) for i, title in enumerate(titles)],
        "lines": [_line(word, place, columns, margin) for word, place in original],
        "left": [(margin - 10, _y(i), _short(word)) for i, (word, _) in enumerate(original)],
        "right": [(right + 10, _y(i), _short(word)) for i, (word, _) in enumerate(orders[-1])],
    }


def _line(word: str, origin: int, columns: Sequence[WordPlaces], margin: float) -> WordLine:
    segments = []
    dots = []
    before: list[int] = []
    for i, column in enumerate(columns):
        here = column.get(origin, [])
        x = margin + COLUMN * i
        dots += [(x, _y(place)) for place in here]
        if before:
            starts = [before[min(k, len(before) - 1)] for k in range(len(here))]
            segments += [
                (x - COLUMN, _y(start), x, _y(place))
                for start, place in zip(starts, here, strict=True)
            ]
        before = here
    places = [_in_words(column.get(origin, [])) for column in columns]
    return WordLine(word, (origin - 1) % N_COLOURS, segments, dots, ", ".join(places))


def _in_words(places: Sequence[int]) -> str:
    return "+".join(str(place + 1) for place in places) or "gone"


def _places(words: Sequence[PlacedWord]) -> WordPlaces:
    """Where each original word is now: nowhere, in one place, or in several."""
    places: WordPlaces = {}
    for place, (_, origin) in enumerate(words):
        places.setdefault(origin, []).append(place)
    return places


def _y(place: int) -> float:
    return TOP + ROW * place + ROW / 2


def _short(word: str) -> str:
    return word if len(word) <= MAX_LETTERS else f"{word[: MAX_LETTERS - 1]}…"
