"""Words as SVG: where each word of a text stands, how wide it is, and frames around words.

Vega-Lite cannot lay out running text, so these drawings are written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from disorder.verbs.explain.chart_style import FONT
from disorder.visible_text import visible

WIDTH = 720  # of a drawing
SIZE = 14  # of letters
ROW = 27  # from one base line to the next
GAP = 10  # between words
EDGE = 4.0  # left and right of a row
INK = "#111111"
ZERO_WIDTH_JOINER = "\u200d"  # holds emoji together
LETTERS = {
    "ijl.,:;'!|’": 0.25,
    "tfrI()[]- ": 0.32,
    "mwMW%@—": 0.86,
    "ABCDEFGHJKLNOPQRSTUVXYZ&": 0.69,
    "sckvxyz": 0.5,
}  # widths as shares of the letter size
LETTER_WIDTH = {letter: width for letters, width in LETTERS.items() for letter in letters}
USUAL_WIDTH = 0.56
FULL_WIDTH = 1.0  # of Chinese, Japanese and Korean, which begin at FIRST_FULL
FIRST_FULL = 0x2E80


@dataclass(frozen=True)
class PlacedWord:
    """One word where it is drawn: its left edge, its base line, its width."""

    word: str
    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        """The middle between its left and right edge."""
        return self.x + self.width / 2


def placed(
    words: Sequence[str], sides: Sequence[str], y: float, *, is_glued: Sequence[bool] = ()
) -> Iterator[PlacedWord]:
    """Words set side by side in as many rows as they need.

    Each text of a pair (`sides`) begins a row; a word that `is_glued` follows without a gap.
    """
    x = EDGE
    for i, word in enumerate(words):
        shown = shortened(word)
        width = text_width(shown)
        if is_glued and is_glued[i]:
            x -= GAP
        begins_text = i > 0 and sides[i] != sides[i - 1]
        if x > EDGE and (x + width > WIDTH - EDGE or begins_text):
            x = EDGE
            y += ROW + (4 if begins_text else 0)
        yield PlacedWord(shown, x, y, width)
        x += width + GAP


def boxed(place: PlacedWord, style: str) -> str:
    """A word with its frame."""
    return box(place.x - 3, place.y - 15, place.width + 6, 20, f'rx="3" {style}') + plain(place)


def plain(place: PlacedWord) -> str:
    """A word without a frame."""
    return text(place.x, place.y, place.word, width=place.width)


def box(x: float, y: float, width: float, height: float, style: str) -> str:
    """A rectangle."""
    size = f'width="{width:.1f}" height="{height}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} {style}/>'


def text(
    x: float,
    y: float,
    shown: str,
    *,
    size: int = SIZE,
    colour: str = INK,
    width: float = 0,
    style: str = "",
) -> str:
    """A text, set to `width` where one is given, so that frames fit in every font."""
    fixed = f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if width else ""
    more = f" {style}" if style else ""
    look = f'font-size="{size}" fill="{colour}"{more}{fixed}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(printable(shown))}</text>'


def curve(x: float, y: float, to_x: float, to_y: float, pen: str) -> str:
    """A line from one point down to another that leaves and arrives upright."""
    middle = (y + to_y) / 2
    bend = f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    return f'<path d="M{x:.1f} {y:.1f}{bend}" fill="none" {pen}/>'


def drawing(parts: Sequence[str], height: float, *, width: float = WIDTH) -> str:
    """The SVG of these parts, on white."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    background = '<rect width="100%" height="100%" fill="white"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}">'
    return f"{head}{background}{''.join(parts)}</svg>"


def printable(shown: str) -> str:
    """A text that may stand in XML: control characters are made visible or replaced."""
    return "".join(
        letter
        if letter.isprintable() or letter == ZERO_WIDTH_JOINER
        else "\N{REPLACEMENT CHARACTER}"
        for letter in visible(shown)
    )


def shortened(shown: str, longest: int = 80) -> str:
    """A printable text, cut where it is very long."""
    whole = printable(shown)
    return whole if len(whole) <= longest else whole[: longest - 1].rstrip() + "…"


def text_width(shown: str, size: int = SIZE) -> float:
    """About how wide a text is; drawn with this width, it is just as wide in any font."""
    return size * sum(_letter_width(letter) for letter in printable(shown))


def _letter_width(letter: str) -> float:
    if ord(letter) >= FIRST_FULL:
        return FULL_WIDTH
    return LETTER_WIDTH.get(letter, USUAL_WIDTH)
