"""Untrusted text made visible: what could disturb a page or a terminal is shown as symbols."""

from __future__ import annotations

import unicodedata


def visible(text: object) -> str:
    """Control characters and bidirectional marks as symbols one can see, so that a text cannot
    disturb the page.
    """
    return "".join(_shown(char) for char in str(text))


def one_line(text: object) -> str:
    """A text that can neither break a line nor disturb a terminal."""
    return " ".join(visible(text).split())


def _shown(char: str) -> str:
    if char in "\n\t\u200c\u200d" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co"):
        return char
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))
    return f"⟨U+{ord(char):04X}⟩"
