"""Untrusted text in Markdown: escaped, so that it stays in its cell and line and is no markup."""

from __future__ import annotations

import re

from disorder.visible_text import visible

MARKUP = "|`*"
# brackets make a link, a footnote or a box to tick only before these, or at the ends of a text
BRACKET = re.compile(r"^\[|\](?=[(\[:]|$)")
LINE_BREAKS = re.compile(r"[\n\t]+")
PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")  # all of ASCII's, which is all that can be markup


def as_text(text: str) -> str:
    r"""A text that cannot leave its cell, nor be markup.

    >>> print(as_text("a | <b> in [0.1, 0.2], [c](d)"))
    a \| &lt;b> in [0.1, 0.2], [c\](d)
    """
    safe = (
        visible(text)
        .replace("\\", "\\\\")
        .replace("\n", " ")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
    )
    for char in MARKUP:
        safe = safe.replace(char, f"\\{char}")
    return BRACKET.sub(r"\\\g<0>", safe)


def code(text: str, *, in_table: bool = False) -> str:
    """A text that Markdown shows as it is, in one line: no markup, no table cell, no one mentioned.

    >>> print(code("disorder list"), code("a`b"), code("a|b", in_table=True))
    `disorder list` ``a`b`` <code>a&#124;b</code>
    """
    shown = LINE_BREAKS.sub(" ", visible(text)) or " "
    if in_table and "|" in shown:  # renderers differ in how it is escaped between backticks
        return f"<code>{PUNCTUATION.sub(lambda found: f'&#{ord(found[0])};', shown)}</code>"
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if _loses_its_ends(shown) else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def _loses_its_ends(shown: str) -> bool:
    """Whether a text needs a space at both ends between backticks: one would be lost otherwise."""
    has_backticks = shown.startswith("`") or shown.endswith("`")
    has_spaces = shown.startswith(" ") and shown.endswith(" ") and bool(shown.strip(" "))
    return has_backticks or has_spaces
