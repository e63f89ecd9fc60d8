"""Untrusted text in Markdown: escaped, so that it stays in its cell and line and is no markup."""

from __future__ import annotations

import re

from disorder.visible_text import one_line, visible

MARKUP = "|`*"
# brackets make a link, a footnote or a box to tick only before these, or at the ends of a text
BRACKET = re.compile(r"^\[|\](?=[(\[:]|$)")


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
    """A text that Markdown shows as it is: no markup, no table cell, no link, no one mentioned.

    >>> print(code("disorder list"), code("a`b"))
    `disorder list` ``a`b``
    """
    shown = one_line(text) or " "
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if shown.startswith("`") or shown.endswith("`") else ""
    if in_table:
        shown = shown.replace("|", "\\|")
    return f"{fence}{edge}{shown}{edge}{fence}"
