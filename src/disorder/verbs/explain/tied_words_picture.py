"""How does one see which words a head ties together? One text above the other, tied words in a
frame, joined by a line.
"""

from __future__ import annotations

from collections.abc import Sequence

from disorder.types import Pair, Sentence
from disorder.verbs.explain.chart_style import BLUE, GREY, ORANGE
from disorder.verbs.explain.word_boxes import ROW, Placed, boxed, placed, plain, svg, text

Panel = tuple[str, Pair, Sequence[tuple[int, int]]]
PENS = (
    (BLUE, ""),
    (ORANGE, "7 3"),
    ("#111111", "2 2"),
)  # colour and dashes: told apart in grey too
BETWEEN = 34


def drawing(panels: Sequence[Panel]) -> str:
    """Pairs of texts, one panel below the other."""
    parts, y = [], 4.0
    for heading, pair, ties in panels:
        assert pair.b is not None
        y += 18
        parts.append(text(1, y, plain(heading), size=11, colour=GREY))
        first = _set(pair.a, y + ROW)
        second = _set(pair.b, first[-1].y + ROW + BETWEEN)
        parts += _panel(pair, first, second, ties)
        y = second[-1].y + 16
    return svg(parts, y + 4)


def _set(sentence: Sentence, y: float) -> list[Placed]:
    is_glued = [False, *(sentence.starts[1:] == sentence.ends[:-1]).tolist()]
    return list(placed(sentence.words, "a" * len(sentence), y, is_glued=is_glued))


def _panel(
    pair: Pair, first: list[Placed], second: list[Placed], ties: Sequence[tuple[int, int]]
) -> list[str]:
    assert pair.b is not None
    lines, boxes = [], dict[int, str]()
    for (i, j), (colour, dashes) in zip(ties, PENS, strict=True):
        pen = f'stroke="{colour}" stroke-width="2"' + (
            f' stroke-dasharray="{dashes}"' if dashes else ""
        )
        ends = first[int(pair.a.movable[i])], second[int(pair.b.movable[j])]
        lines.append(_line(*ends, pen))
        boxes |= {id(end): boxed(end, f'fill="white" {pen}') for end in ends}
    return [
        *lines,
        *(
            boxes.get(id(word)) or text(word.x, word.y, word.word, width=word.width)
            for word in first + second
        ),
    ]


def _line(above: Placed, below: Placed, pen: str) -> str:
    x, y, to_x, to_y = (
        above.x + above.width / 2,
        above.y + 5,
        below.x + below.width / 2,
        below.y - 15,
    )
    middle = (y + to_y) / 2
    curve = f"M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    return f'<path d="{curve}" fill="none" {pen}/>'
