"""How are words drawn with a frame each? A small SVG of our own: rows of words, with boxes behind
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from disorder.types import Floats
from disorder.verbs.explain.chart_style import BLUE, FONT, GREY, ORANGE

WIDTH, SIZE, ROW, GAP = 720, 14, 27, 10
NARROW, WIDE = set("iIjltfr.,;:'!|’()[] -"), set("mwMW@%&—")


@dataclass(frozen=True, eq=False)
class Line:
    """A heading, and words with what each carries; `sides` says which text of a pair a word stands
    in.
    """

    heading: str
    words: Sequence[str]
    sides: Sequence[str]
    scores: Floats


@dataclass(frozen=True)
class Placed:
    """One word where it is drawn: its left edge, its base line, its width."""

    word: str
    x: float
    y: float
    width: float


def drawing(lines: Sequence[Line]) -> str:
    """Lines of words whose boxes show what they carry, dashed where it is against the answer."""
    parts, y = [], 4.0
    most = max((float(np.abs(line.scores).max()) for line in lines), default=0.0) or 1.0
    for line in lines:
        y += 18
        parts.append(text(1, y, plain(line.heading), size=11, colour=GREY))
        places = list(placed(line.words, line.sides, y + ROW))
        parts += [
            _weighed(each, score / most)
            for each, score in zip(places, line.scores.tolist(), strict=True)
        ]
        y = places[-1].y + 12
    return svg(parts, y + 4)


def placed(
    words: Sequence[str], sides: Sequence[str], y: float, *, is_glued: Sequence[bool] = ()
) -> Iterator[Placed]:
    """Words set side by side, in as many rows as they need; each text of a pair begins a row, marks
    may cling.
    """
    x = 4.0
    for i, word in enumerate(words):
        shown = plain(word)
        width = width_of(shown)
        x -= GAP if is_glued and is_glued[i] else 0
        if x > 4 and (x + width > WIDTH - 4 or sides[i] != sides[i - 1]):
            x, y = 4.0, y + ROW + (4 if sides[i] != sides[i - 1] else 0)
        yield Placed(shown, x, y, width)
        x += width + GAP


def _weighed(place: Placed, share: float) -> str:
    colour, dash = (BLUE, "") if share >= 0 else (ORANGE, ' stroke-dasharray="3 2"')
    size = abs(share)
    fill = f'fill="{colour}" fill-opacity="{0.75 * size:.3f}" stroke="{colour}" stroke-opacity="{min(1, 2 * size):.3f}"'
    return boxed(place, f"{fill}{dash}")


def boxed(place: Placed, style: str) -> str:
    """A word with its frame."""
    frame = f'<rect x="{place.x - 3:.1f}" y="{place.y - 15:.1f}" width="{place.width + 6:.1f}" height="20" rx="3" {style}/>'
    return frame + text(place.x, place.y, place.word, width=place.width)


def text(
    x: float, y: float, shown: str, *, size: int = SIZE, colour: str = "#111111", width: float = 0
) -> str:
    """Text of a fixed width where one is given, so that frames fit in every font."""
    fixed = f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if width else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}"{fixed}>{escape(shown)}</text>'


def svg(parts: Sequence[str], height: float) -> str:
    """The drawing with its frame and font."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}"'
    return f'{head} font-family="{FONT}"><rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'


def plain(shown: str, longest: int = 80) -> str:
    """A text that can stand in XML: no control characters, and cut where it is very long."""
    kept = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in shown
    )
    return kept if len(kept) <= longest else kept[: longest - 1] + "…"


def width_of(shown: str) -> float:
    """About how wide a word is in our font."""
    return SIZE * sum(
        0.3
        if c in NARROW
        else 0.85
        if c in WIDE
        else 0.68
        if c.isupper()
        else 1.0
        if ord(c) > 0x2E80
        else 0.55
        for c in shown
    )
