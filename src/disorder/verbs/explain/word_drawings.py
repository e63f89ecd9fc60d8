"""Drawings of texts: word importance as boxes, words tied by attention heads, words that moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from disorder.types import Bools, Floats, Ints, Pair, Sentence
from disorder.verbs.explain.chart_style import BLUE, GREY, ORANGE
from disorder.verbs.explain.word_svg import (
    INK,
    ROW,
    WIDTH,
    PlacedWord,
    box,
    boxed,
    curve,
    drawing,
    placed,
    plain,
    shortened,
    text,
    text_width,
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
    """Each text in the middle, its reorderings above and below, a line from each word to its
    place.
    """
    width = max(WIDTH, *(_card_width(card) for card in cards))
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


def _card_width(card: ReorderingCard) -> float:
    versions = [card.original, card.unchanged, card.flipped]
    pills = [text_width(each.prediction, PILL_LETTER) for each in versions if each is not None]
    return LEFT + _length(card.words) + RIGHT + max(pills) + 50
