"""Untrusted text in Markdown: escaped, so that it stays in its cell and line and is no markup."""

from __future__ import annotations

from disorder.visible_text import visible

MARKUP = "|`*[]"


def as_text(text: str) -> str:
    r"""A text that cannot leave its cell, nor be markup.

    >>> print(as_text("a | <b>"))
    a \| &lt;b>
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
    return safe
