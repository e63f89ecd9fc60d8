"""Drawings of texts, as SVG: word importance as boxes, words tied by attention heads, words that
moved.

Vega-Lite cannot lay out running text, so these drawings are written by hand: where each word of a
text stands, how wide it is, and frames around words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate

import numpy as np

from disorder.safe_io import visible
from disorder.types import Bools, Floats, Ints, Pair, Sentence
from disorder.verbs.explain.chart_style import BLUE, FONT, GREY, ORANGE

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
    """Words set in as many rows as they need; each text (`sides`) begins one."""
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
    return size * sum(
        FULL_WIDTH if ord(letter) >= FIRST_FULL else LETTER_WIDTH.get(letter, USUAL_WIDTH)
        for letter in printable(shown)
    )


HEADING = 11  # letter size of headings
PENS = ((BLUE, ""), (ORANGE, "7 3"), (INK, "2 2"))  # colour and dashes: told apart in grey too
BETWEEN = 34  # height between the two texts of a pair
LINE = "#d0d7de"
WORD_GAP = 13
ROW_GAP = 80  # height between two versions of a text
LEFT = 122  # room for what a version is
RIGHT = 18  # room before its prediction
LETTER = 15
PILL_LETTER = 13


@dataclass(frozen=True, eq=False)
class WeighedLine:
    """A heading, and words with what each carries; `sides` says which text of a pair a word stands
    in, `frames` which of PENS frames a word, by its place.
    """

    heading: str
    words: Sequence[str]
    sides: Sequence[str]
    scores: Floats
    frames: Mapping[int, int] = field(default_factory=dict)


def importance_drawing(lines: Sequence[WeighedLine]) -> str:
    """Lines of words whose boxes show what they carry, dashed where it is against the label."""
    parts = []
    y = 4.0
    most = max((float(np.abs(line.scores).max()) for line in lines), default=0.0) or 1.0
    for line in lines:
        y += 18
        parts.append(text(1, y, shortened(line.heading), size=HEADING, colour=GREY))
        places = list(placed(line.words, line.sides, y + ROW))
        for i, (place, score) in enumerate(zip(places, line.scores.tolist(), strict=True)):
            if i in line.frames:
                parts.append(_frame(place, line.frames[i]))
            parts.append(boxed(place, _weight_style(score / most)))
        y = places[-1].y + 12
    return drawing(parts, y + 4)


def _frame(place: PlacedWord, pen: int) -> str:
    """A thick frame around the box of a word."""
    colour, dashes = PENS[pen]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    style = f'rx="4" fill="none" stroke="{colour}" stroke-width="2.5"{dashed}'
    return box(place.x - 5, place.y - 17, place.width + 10, 24, style)


def _weight_style(share: float) -> str:
    colour = BLUE if share >= 0 else ORANGE
    dashes = "" if share >= 0 else ' stroke-dasharray="3 2"'
    fill = f'fill="{colour}" fill-opacity="{0.75 * abs(share):.3f}"'
    return f'{fill} stroke="{colour}" stroke-opacity="{min(1, 2 * abs(share)):.3f}"{dashes}'


@dataclass(frozen=True, eq=False)
class TiedPair:
    """A pair of texts, and places of words tied across it, counted without punctuation."""

    heading: str
    first: Sentence
    second: Sentence
    ties: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, heading: str, pair: Pair, ties: Sequence[tuple[int, int]]) -> TiedPair:
        """The two texts of a pair with their ties."""
        first, second = pair.sides
        return cls(heading, first, second, ties)


def ties_drawing(pairs: Sequence[TiedPair]) -> str:
    """Pairs of texts, one text above the other; tied words are framed and joined by a line."""
    parts = []
    y = 4.0
    for pair in pairs:
        y += 18
        parts.append(text(1, y, shortened(pair.heading), size=HEADING, colour=GREY))
        above = _set(pair.first, y + ROW)
        below = _set(pair.second, above[-1].y + ROW + BETWEEN)
        parts += _tied(pair, above, below)
        y = below[-1].y + 16
    return drawing(parts, y + 4)


def _set(sentence: Sentence, y: float) -> list[PlacedWord]:
    is_glued = [False, *(sentence.starts[1:] == sentence.ends[:-1]).tolist()]
    return list(placed(sentence.words, "a" * len(sentence), y, is_glued=is_glued))


def _tied(pair: TiedPair, above: list[PlacedWord], below: list[PlacedWord]) -> list[str]:
    lines = []
    frames: dict[PlacedWord, str] = {}
    for (i, j), (colour, dashes) in zip(pair.ties, PENS, strict=True):
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        pen = f'stroke="{colour}" stroke-width="2"{dashed}'
        start = above[int(pair.first.movable[i])]
        end = below[int(pair.second.movable[j])]
        lines.append(curve(start.middle, start.y + 5, end.middle, end.y - 15, pen))
        for place in (start, end):
            frames[place] = boxed(place, f'fill="white" {pen}')
    words = [frames.get(place) or plain(place) for place in above + below]
    return lines + words


@dataclass(frozen=True, eq=False)
class TextVersion:
    """One order of the words of a text: which places hold moved words, and the prediction."""

    order: Ints
    is_moved: Bools
    label: str
    probability: float

    @property
    def prediction(self) -> str:
        """Label and probability."""
        return f"{self.label} {self.probability:.2f}"


@dataclass(frozen=True, eq=False)
class ReorderingCard:
    """A text with a large reordering that leaves the prediction unchanged and a small one that
    flips it; `beside` is a line about the other text of its pair.
    """

    words: Sequence[str]
    beside: str
    original: TextVersion
    unchanged: TextVersion | None
    flipped: TextVersion | None


@dataclass(frozen=True)
class VersionStyle:
    """How a version of a text is drawn."""

    title: str
    colour: str
    weight: str
    moved_weight: str
    pill: tuple[str, str, str]  # fill, letters, edge


ORIGINAL_STYLE = VersionStyle("the text", ORANGE, "600", "600", (INK, "white", INK))
UNCHANGED = VersionStyle("unchanged", BLUE, "400", "400", ("white", INK, BLUE))
FLIPPED = VersionStyle("flipped", ORANGE, "400", "700", (ORANGE, "black", ORANGE))


def reorderings_drawing(cards: Sequence[ReorderingCard]) -> str:
    """Each text in the middle, reorderings above and below, lines from words to places."""
    width = float(WIDTH)
    for card in cards:
        versions = filter(None, (card.original, card.unchanged, card.flipped))
        pill = max(text_width(each.prediction, PILL_LETTER) for each in versions)
        width = max(width, LEFT + _length(card.words) + RIGHT + pill + 50)
    top = 14.0
    parts = []
    for number, card in enumerate(cards):
        drawn, height = _card(card, top, width, is_first=number == 0)
        parts.append(drawn)
        top += height
    return drawing(parts, top, width=width)


def _card(card: ReorderingCard, top: float, width: float, *, is_first: bool) -> tuple[str, float]:
    parts = []
    y = top + 20
    if not is_first:
        parts.append(f'<path d="M16 {top:.0f}H{width - 16:.0f}" stroke="{LINE}"/>')
        y += 14
    if card.beside:
        line = shortened(card.beside, int(width / 6.8))
        parts.append(text(16, y, line, size=13, colour=GREY, style='font-style="italic"'))
    y += 38 if card.beside else 14
    if card.unchanged is not None:
        parts.append(_version(card.words, card.unchanged, y, UNCHANGED))
        parts.append(_threads(card.words, card.unchanged, card.original, y, BLUE))
        y += ROW_GAP
    parts.append(_version(card.words, card.original, y, ORIGINAL_STYLE))
    if card.flipped is not None:
        parts.append(_threads(card.words, card.original, card.flipped, y, ORANGE))
        y += ROW_GAP
        parts.append(_version(card.words, card.flipped, y, FLIPPED))
    return "".join(parts), y + 32 - top


def _version(words: Sequence[str], version: TextVersion, y: float, style: VersionStyle) -> str:
    """A row of words with frames around those that moved, its title and its prediction."""
    parts = [text(16, y - 2, style.title, size=13, style='font-weight="600"')]
    n_moved = int(version.is_moved.sum())
    if style is not ORIGINAL_STYLE:
        count = f"{n_moved} word{'s' if n_moved > 1 else ''} moved"
        parts.append(text(16, y + 13, count, size=11, colour=GREY))
    starts = _starts(words, version.order)
    for place, word in enumerate(version.order.tolist()):
        width = text_width(words[word], LETTER)
        weight = style.weight
        if version.is_moved[place]:
            frame = f'rx="5" fill="white" stroke="{style.colour}" stroke-width="1.8"'
            parts.append(box(starts[place] - 4, y - 15, width + 8, 22, frame))
            weight = style.moved_weight
        bold = f'font-weight="{weight}"'
        parts.append(text(starts[place], y, words[word], size=LETTER, width=width, style=bold))
    return "".join(parts) + _pill(version, LEFT + _length(words) + RIGHT, y, style)


def _pill(version: TextVersion, x: float, y: float, style: VersionStyle) -> str:
    """The prediction: filled where it changed, outlined where it did not."""
    fill, letters, edge = style.pill
    width = text_width(version.prediction, PILL_LETTER)
    frame = f'rx="12" fill="{fill}" stroke="{edge}" stroke-width="1.8"'
    inside = text(
        x + 11,
        y,
        version.prediction,
        size=PILL_LETTER,
        colour=letters,
        width=width,
        style='font-weight="600"',
    )
    return box(x, y - 16, width + 22, 24, frame) + inside


def _threads(
    words: Sequence[str], above: TextVersion, below: TextVersion, y: float, colour: str
) -> str:
    """A line from each word to its place in the other version; moved words stand out."""
    starts = dict(zip(above.order.tolist(), _starts(words, above.order), strict=True))
    ends = dict(zip(below.order.tolist(), _starts(words, below.order), strict=True))
    moved = {int(word) for each in (above, below) for word in each.order[each.is_moved]}
    strong = f'stroke="{colour}" stroke-width="2.2" stroke-opacity="0.85"'
    faint = f'stroke="{LINE}" stroke-width="1.2"'
    paths = []
    for word in sorted(starts, key=lambda word: word in moved):
        half = text_width(words[word], LETTER) / 2
        pen = strong if word in moved else faint
        paths.append(curve(starts[word] + half, y + 10, ends[word] + half, y + ROW_GAP - 19, pen))
    return "".join(paths)


def _starts(words: Sequence[str], order: Ints) -> list[float]:
    widths = [text_width(words[i], LETTER) + WORD_GAP for i in order.tolist()]
    return [LEFT + before for before in accumulate(widths[:-1], initial=0.0)]


def _length(words: Sequence[str]) -> float:
    return sum(text_width(word, LETTER) + WORD_GAP for word in words)
