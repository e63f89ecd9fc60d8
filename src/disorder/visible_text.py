"""Visible text: what others wrote (names, labels, texts, messages), made safe to print or show.

Terminal escapes, bidirectional overrides and half characters come out as symbols one can see. Every
surface prints through this module; a test over all commands holds it.
"""

from __future__ import annotations

import re
import unicodedata

KEPT = "\n\t\u200c\u200d"  # zero-width joiners belong to emoji and to Persian, Hindi, …
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
# what JSON may hold raw although a terminal would obey it
UNSEEN_IN_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def visible(text: object) -> str:
    """Control characters and bidirectional marks as symbols one can see.

    >>> visible("a\\x1b]52;c;aGk=\\x07b")
    'a␛]52;c;aGk=␇b'
    """
    found = str(text)
    if found.isprintable() and found.isascii():
        return found
    return "".join(_shown(char) for char in found)


def one_line(text: object) -> str:
    """A text that can neither break a line nor disturb a terminal."""
    return " ".join(visible(text).split())


def visible_json(text: str) -> str:
    """JSON in which characters that a terminal would obey are escaped; it means the same."""
    return UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _shown(char: str) -> str:
    if char in KEPT or unicodedata.category(char) not in UNSEEN:
        return char
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))
    return f"⟨U+{ord(char):04X}⟩"
