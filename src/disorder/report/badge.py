"""What does a gate's decision look like in a README? A small SVG that says it in words, drawn
without any network.
"""

from __future__ import annotations

from html import escape

from disorder.runs.decision import Decision

GREEN, RED, GREY = "#1a7f37", "#b3261e", "#444c56"  # each with white text at more than 4.5 : 1
LETTER, MARGIN, HEIGHT = 6.0, 7, 20
LABEL = "word order"


def svg(decision: Decision) -> str:
    """The badge: what is gated on the left, how it went on the right."""
    n, failed = len(decision.rulings), sum(not r.passed for r in decision.rulings)
    message = f"{n} of {n} hold" if not failed else f"{failed} of {n} failed"
    left, right = (_width(text) for text in (LABEL, message))
    title = escape(f"{LABEL}: {message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f'<clipPath id="round"><rect width="{left + right}" height="{HEIGHT}" rx="3"/></clipPath>\n'
        f'<g clip-path="url(#round)"><rect width="{left}" height="{HEIGHT}" fill="{GREY}"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{RED if failed else GREEN}"/></g>\n'
        f'<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">{_text(LABEL, 0, left)}'
        f"{_text(message, left, right)}</g>\n"
        "</svg>\n"
    )


def _width(text: str) -> int:
    return round(len(text) * LETTER) + 2 * MARGIN


def _text(text: str, start: int, width: int) -> str:
    """A text squeezed to its width, so that it fits whatever font there is."""
    return (
        f'<text x="{start + MARGIN}" y="14" textLength="{width - 2 * MARGIN}">{escape(text)}</text>'
    )
