"""The badge of a gate: a small SVG for a README that says the decision in words.

Drawn here, so that no badge service is called.
"""

from __future__ import annotations

from html import escape

from disorder.results.decision import Decision
from disorder.results.verdict import NAMES

# white text has a contrast of more than 4.5 : 1 on each
GREEN = "#1a7f37"
RED = "#b3261e"
AMBER = "#8a5a00"
GREY = "#444c56"
MARGIN = 7
# widths of the letters in Verdana at 11 pixels; DejaVu Sans is as wide
WIDTHS = {
    **dict.fromkeys("ijl'.,:;|! ", 3.4),
    **dict.fromkeys("frt()[]-", 4.7),
    **dict.fromkeys("mwMW%", 10.0),
}
WIDTH = 7.0
HEIGHT = 20
LABEL = "word order"


def svg(decision: Decision) -> str:
    """The badge: what is gated on the left, how it went on the right."""
    n = len(decision.rulings)
    failed = sum(ruling.state == "failed" for ruling in decision.rulings)
    undecided = sum(ruling.is_undecided for ruling in decision.rulings)
    counts = [f"{failed} of {n} failed"] if failed else []
    counts += [f"{undecided} of {n} undecided"] if undecided else []
    message = ", ".join(counts) or f"{n} of {n} hold"
    colour = RED if not decision.passed else AMBER if undecided else GREEN
    left = _width(LABEL)
    right = _width(message)
    size = f'width="{left + right}" height="{HEIGHT}"'
    said = "" if decision.conclusion is None else f" ({NAMES[decision.conclusion.kind]})"
    title = escape(f"{LABEL}: {message}{said}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f'<clipPath id="round"><rect {size} rx="3"/></clipPath>\n'
        f'<g clip-path="url(#round)"><rect width="{left}" height="{HEIGHT}" fill="{GREY}"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{colour}"/></g>\n'
        '<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">'
        f"{_text(LABEL, 0, left)}{_text(message, left, right)}</g>\n"
        "</svg>\n"
    )


def _width(text: str) -> int:
    return round(sum(WIDTHS.get(letter, WIDTH) for letter in text)) + 2 * MARGIN


def _text(text: str, start: int, width: int) -> str:
    """A text in the middle of its field, neither stretched nor squeezed."""
    middle = start + width / 2
    return f'<text x="{middle:g}" y="14" text-anchor="middle">{escape(text)}</text>'
