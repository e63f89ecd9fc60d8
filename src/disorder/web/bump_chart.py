"""Where did the words go? A bump chart: the original order, then some perturbed versions; a line
follows each word.

Plain SVG with attributes only, since the pages allow no inline style. Colours are classes, and each
line carries its word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from disorder.web.perturbed_texts import Word

ROW, COLUMN, TOP, LETTER = 24, 110, 34, 7.6  # sizes in pixels
MOST_WORDS, MOST_VERSIONS, LONGEST = 60, 6, 18
N_COLOURS = 6


@dataclass(frozen=True)
class Line:
    """One word's way: its segments, its dots, and a sentence that says the same."""

    word: str
    colour: int
    segments: list[tuple[float, float, float, float]]
    dots: list[tuple[float, float]]
    places: str


def bump_chart(
    original: Sequence[Word], versions: Sequence[tuple[int, Sequence[Word]]]
) -> dict[str, Any] | None:
    """What the template draws, or None where there is nothing to follow."""
    shown = [(f"{number}", words) for number, words in versions[:MOST_VERSIONS]]
    if (
        not original
        or not shown
        or max(len(words) for _, words in [("", original), *shown]) > MOST_WORDS
    ):
        return None
    columns = [_places(words) for words in [original, *(words for _, words in shown)]]
    margin = LETTER * min(LONGEST, max(len(word) for word, _ in original)) + 16
    tallest = max(len(words) for words in [original, *(words for _, words in shown)])
    right = margin + COLUMN * len(shown)
    return {
        "width": round(right + margin),
        "height": TOP + ROW * tallest,
        "heads": [
            (margin + COLUMN * i, name)
            for i, name in enumerate(["original", *(f"version {n}" for n, _ in shown)])
        ],
        "lines": [_line(word, place, columns, margin) for word, place in original],
        "left": [(margin - 10, _y(i), _short(word)) for i, (word, _) in enumerate(original)],
        "right": [(right + 10, _y(i), _short(word)) for i, (word, _) in enumerate(shown[-1][1])],
    }


def _line(word: str, origin: int, columns: Sequence[dict[int, list[int]]], margin: float) -> Line:
    segments, dots = [], []
    for i, column in enumerate(columns):
        here = column.get(origin, [])
        dots += [(margin + COLUMN * i, _y(place)) for place in here]
        before = columns[i - 1].get(origin, []) if i else []
        if before:
            starts = [before[min(k, len(before) - 1)] for k in range(len(here))]
            segments += [
                (margin + COLUMN * (i - 1), _y(start), margin + COLUMN * i, _y(place))
                for start, place in zip(starts, here, strict=True)
            ]
    places = ", ".join(
        "+".join(str(place + 1) for place in c.get(origin, [])) or "gone" for c in columns
    )
    return Line(word, (origin - 1) % N_COLOURS, segments, dots, places)


def _places(words: Sequence[Word]) -> dict[int, list[int]]:
    """Where each original word stands now; a word can stand nowhere, or several times."""
    places: dict[int, list[int]] = {}
    for place, (_, origin) in enumerate(words):
        places.setdefault(origin, []).append(place)
    return places


def _y(place: int) -> float:
    return TOP + ROW * place + ROW / 2


def _short(word: str) -> str:
    return word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…"
