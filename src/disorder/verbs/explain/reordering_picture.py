"""How does one see what moved? A text in the middle, reorderings above and below it, and a line
from each word to its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

from disorder.report.page import visible
from disorder.types import Bools, Ints
from disorder.verbs.explain.chart_style import BLUE, FONT, GREY, ORANGE

SIZE, GAP, ROW, LEFT, RIGHT = 15, 13, 80, 122, 18
INK, LINE, WASH = "#1b1f24", "#d0d7de", "#f6f8fa"
WIDTHS = {
    "ijl.,:;'!|’": 0.25,
    "tfrI()[]- ": 0.32,
    "mwMW%@—": 0.86,
    "ABCDEFGHJKLNOPQRSTUVXYZ&": 0.69,
    "sckvxyz": 0.5,
}
WIDTH_OF = {char: width for chars, width in WIDTHS.items() for char in chars}


@dataclass(frozen=True, eq=False)
class Line:
    """One version of the words: their order, which places hold words that were picked up, and what
    the model says to it.
    """

    order: Ints
    is_moved: Bools
    answer: str
    probability: float


@dataclass(frozen=True)
class Card:
    """A text, a line about the other text of its pair, a large reordering with the same answer, a
    small one with another.
    """

    words: Sequence[str]
    beside: str
    text: Line
    same: Line | None
    flipped: Line | None


def drawing(cards: Sequence[Card]) -> str:
    """The cards as one SVG."""
    width = max(LEFT + _length(card.words) + RIGHT + _pill_width(card) for card in cards) + 20
    width, top, parts = max(width, 720.0), 14.0, list[str]()
    for number, card in enumerate(cards):
        drawn, height = _card(card, top, width, first=number == 0)
        parts.append(drawn)
        top += height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top:.0f}" viewBox="0 0 {width:.0f} {top:.0f}"'
    return f'{head} font-family="{FONT}"><rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'


def _card(card: Card, top: float, width: float, *, first: bool) -> tuple[str, float]:
    parts = [] if first else [f'<path d="M16 {top:.0f}H{width - 16:.0f}" stroke="{LINE}"/>']
    y = top + (20 if first else 34)
    if card.beside:
        parts.append(
            _text(16, y, _cut(card.beside, int(width / 6.8)), size=13, fill=GREY, style="italic")
        )
        y += 38
    else:
        y += 14
    if card.same is not None:
        parts.append(_version(card, card.same, y, "same", width))
        parts.append(_threads(card.words, card.same, card.text, y, BLUE))
        y += ROW
    parts.append(_version(card, card.text, y, "text", width))
    if card.flipped is not None:
        parts.append(_threads(card.words, card.text, card.flipped, y, ORANGE))
        y += ROW
        parts.append(_version(card, card.flipped, y, "flipped", width))
    return "".join(parts), y + 32 - top


def _version(card: Card, line: Line, y: float, kind: str, width: float) -> str:
    """A row of words with what moved in boxes, what it is on the left, the answer on the right."""
    moved, n, parts = line.is_moved, int(line.is_moved.sum()), []
    title = {"same": "same answer", "text": "the text", "flipped": "other answer"}[kind]
    parts.append(_text(16, y - 2, title, size=13, fill=INK, weight="600"))
    if kind != "text":
        parts.append(_text(16, y + 13, f"{n} word{'s' if n > 1 else ''} moved", size=11, fill=GREY))
    colour = BLUE if kind == "same" else ORANGE
    for place, (word, x) in enumerate(
        zip(line.order.tolist(), _starts(card.words, line.order), strict=True)
    ):
        text, long = card.words[word], _word_width(card.words[word])
        if moved[place]:
            parts.append(
                f'<rect x="{x - 4:.1f}" y="{y - 15:.1f}" width="{long + 8:.1f}" height="22" rx="5" fill="white" '
                f'stroke="{colour}" stroke-width="1.8"/>'
            )
        weight = "700" if moved[place] and kind == "flipped" else "600" if kind == "text" else "400"
        parts.append(_text(x, y, text, size=SIZE, fill=INK, weight=weight, length=long))
    return "".join(parts) + _pill(line, y, kind, LEFT + _length(card.words) + RIGHT)


def _pill(line: Line, y: float, kind: str, x: float) -> str:
    """The answer: filled where it changed, outlined where it did not."""
    said = f"{visible(line.answer)} {line.probability:.2f}"
    fill, ink, edge = {
        "same": ("white", INK, BLUE),
        "text": (INK, "white", INK),
        "flipped": (ORANGE, "black", ORANGE),
    }[kind]
    long = _word_width(said) * 13 / SIZE + 22
    box = f'<rect x="{x:.1f}" y="{y - 16:.1f}" width="{long:.1f}" height="24" rx="12" fill="{fill}" stroke="{edge}"'
    return f'{box} stroke-width="1.8"/>' + _text(
        x + 11, y, said, size=13, fill=ink, weight="600", length=long - 22
    )


def _threads(words: Sequence[str], above: Line, below: Line, y: float, colour: str) -> str:
    """A line from each word to where it went; those that were picked up stand out."""
    starts, ends = (
        dict(zip(line.order.tolist(), _starts(words, line.order), strict=True))
        for line in (above, below)
    )
    moved = {int(word) for line in (above, below) for word in line.order[line.is_moved]}
    paths, top, bottom = [], y + 10, y + ROW - 19
    for word in sorted(starts, key=lambda word: word in moved):
        x, to, middle = starts[word], ends[word], (top + bottom) / 2
        x, to = x + _word_width(words[word]) / 2, to + _word_width(words[word]) / 2
        curve = (
            f"M{x:.1f} {top:.1f}C{x:.1f} {middle:.1f} {to:.1f} {middle:.1f} {to:.1f} {bottom:.1f}"
        )
        pen = (colour, 2.2, 0.85) if word in moved else (LINE, 1.2, 1)
        paths.append(
            f'<path d="{curve}" fill="none" stroke="{pen[0]}" stroke-width="{pen[1]}" stroke-opacity="{pen[2]}"/>'
        )
    return "".join(paths)


def _starts(words: Sequence[str], order: Ints) -> list[float]:
    widths = [_word_width(words[i]) + GAP for i in order.tolist()]
    return [LEFT + before for before in accumulate(widths[:-1], initial=0.0)]


def _length(words: Sequence[str]) -> float:
    return sum(_word_width(word) + GAP for word in words)


def _pill_width(card: Card) -> float:
    lines = [line for line in (card.text, card.same, card.flipped) if line is not None]
    return (
        max(_word_width(f"{visible(line.answer)} {line.probability:.2f}") for line in lines)
        * 13
        / SIZE
        + 30
    )


def _word_width(text: str) -> float:
    """About how wide a word is; the drawing then sets it to just that, whatever the font."""
    return (
        sum(WIDTH_OF.get(char, 0.56 if ord(char) < 0x2E80 else 1.0) for char in visible(text))
        * SIZE
    )


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int,
    fill: str,
    weight: str = "400",
    style: str = "normal",
    length: float = 0.0,
) -> str:
    fit = f' textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"' if length else ""
    look = f'font-size="{size}" fill="{fill}" font-weight="{weight}" font-style="{style}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}{fit}>{escape(visible(text))}</text>'


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
