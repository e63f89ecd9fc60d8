"""Replies as text: what of it is meant for the reader, which options it names, and why none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
OPENED = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
CLOSED = re.compile(r"^.*</(think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
REFUSAL = re.compile(
    r"\b(i\s+(cannot|can't|can’t|am\s+unable|won't|won’t)|i'm\s+(sorry|unable)|i’m\s+(sorry|unable)"
    r"|as\s+an\s+ai)\b",
    re.IGNORECASE,
)


def visible_reply(content: str, ended: str) -> tuple[str, bool]:
    """The reply without what the model thought aloud, and whether it ended at its limit, or still
    thinking, before anything was said. Thoughts may be hidden: only the limit shows then.

    >>> visible_reply("<think>yes? no?</think> no", "stop")
    ('no', False)
    >>> visible_reply("<think>is it yes", "length")
    ('', True)
    """
    text = THINKING.sub("", content)
    if OPENED.search(text):
        return OPENED.split(text)[0].strip(), True
    text = CLOSED.sub("", text).strip()  # some templates open the tag in the prompt
    return text, not text and ended == "length"


def named_options(text: str, options: Sequence[str]) -> list[int]:
    """Which options stand in a text as words of their own; a longer option hides one inside it.

    >>> named_options("Not entailment.", ("entailment", "not entailment"))
    [1]
    """
    left = text.casefold()
    found = []
    for number in sorted(range(len(options)), key=lambda i: -len(options[i])):
        pattern = rf"(?<!\w){re.escape(options[number].casefold())}(?!\w)"
        left, n = re.subn(pattern, "\0", left)
        if n:
            found.append(number)
    return sorted(found)


def is_refusal(text: str, message: Mapping[str, Any], ended: str) -> bool:
    """Whether a reply that names no option says that there will be none."""
    is_said = message.get("refusal") or ended == "content_filter" or REFUSAL.search(text)
    return bool(is_said)
