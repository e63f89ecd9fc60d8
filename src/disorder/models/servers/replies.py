"""Replies: the text that a model behind a server wrote, with room to think where it needs any,
which options it names and why none; and the answer that a way to ask makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from disorder.models.prompting import Question
from disorder.models.servers.client import Rejected
from disorder.models.servers.endpoint import (
    Endpoint,
    Reply,
    content_of,
    first_choice,
    reasoning_tokens,
)
from disorder.types import Floats
from disorder.types.predictions import NO_LABEL, REFUSED

AT_LIMIT = ("length", "max_tokens", "max_output_tokens")  # why a reply ended, as servers say it
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
    text = _without_thoughts(content)
    opened = OPENED.search(text)
    if opened:
        return text[: opened.start()].strip(), True
    text = CLOSED.sub("", text).strip()  # some templates open the tag in the prompt
    return text, not text and ended in AT_LIMIT


def _without_thoughts(content: str) -> str:
    """A reply without what stands between a tag and its end.

    Not by one pattern: it would look for the end of every tag of thousands to the end of the reply.
    """
    said = []
    at = 0
    while opened := OPENED.search(content, at):
        closed = re.compile(f"</{opened[1]}>", re.IGNORECASE).search(content, opened.end())
        if closed is None:
            break
        said.append(content[at : opened.start()])
        at = closed.end()
    return "".join([*said, content[at:]])


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


@dataclass(frozen=True, eq=False)
class Answer:
    """Log-probabilities of a question's options, or the reason why there are none.

    `mass` is the share of the probability that the options got together, where the way shows it.
    """

    scores: Floats
    mass: float = float("nan")
    why_not: str = ""

    @classmethod
    def none(cls, why_not: str, n_options: int) -> Answer:
        """No answer, and why."""
        return cls(np.full(n_options, np.nan), why_not=why_not)

    @classmethod
    def of_option(cls, number: int, n_options: int) -> Answer:
        """An answer that names one option and gives no probabilities."""
        scores = np.full(n_options, -np.inf)
        scores[number] = 0.0
        return cls(scores)

    @classmethod
    def of_probabilities(cls, found: Sequence[float], *, mass: float = float("nan")) -> Answer:
        """An answer by the probabilities of the options."""
        with np.errstate(divide="ignore"):
            return cls(np.log(np.asarray(found, dtype=np.float64)), mass)


class Unfit(Exception):
    """A way that a server does not offer, or does not do right; the message says why."""


class Way(Protocol):
    """A way to get an answer from a server: tried on a few questions first, then used."""

    name: str
    gives_probabilities: bool
    reads_once: bool  # whether the server reads a prompt once, or once for each option
    chats: tuple[str, ...]  # values of --chat that it can be used with

    async def probe(self, endpoint: Endpoint, questions: Sequence[Question]) -> None:
        """Raise `Unfit`, `Unusable` or `Rejected` where the server does not do this right."""

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The answer to a question."""


THOUGHTS = ("reasoning_content", "reasoning")  # where some servers put what the model thought
RAN_OUT = "output limit was reached"  # the words of an error that other servers give as a reply
EMPTY = {"choices": [{"finish_reason": "length", "message": {"content": ""}}]}


@dataclass(frozen=True)
class WrittenReply:
    """A reply without what the model thought; `is_cut`: it ended before there was any."""

    text: str
    message: Mapping[str, Any]
    ended: str
    limit: int
    is_cut: bool

    @property
    def is_at_limit(self) -> bool:
        """Whether a longer reply would say more."""
        return self.is_cut or self.ended in AT_LIMIT

    @property
    def is_filtered(self) -> bool:
        """Whether the vendor lets no answer through."""
        return bool(self.message.get("refusal")) or self.ended == "content_filter"

    @property
    def why_cut(self) -> str:
        """Why there is no text."""
        return f"no answer within {self.limit} tokens"

    @property
    def why_no_label(self) -> str:
        """Why it names no option."""
        if self.is_filtered or REFUSAL.search(self.text):
            return REFUSED
        return self.why_cut if self.is_at_limit else NO_LABEL


async def written(
    endpoint: Endpoint, messages: Sequence[Mapping[str, str]], longest: int, **more: Any
) -> WrittenReply:
    """The reply to some messages; a model that thinks gets more room, up to the most there is."""
    room = endpoint.room
    found: WrittenReply | None = None
    while True:
        limit = room.limit(longest)
        try:
            reply = await _reply(endpoint, messages, limit, more)
        except Rejected:
            if found is None:
                raise
            # only the limit has changed since the last reply
            if room.shrink(limit, found.limit, longest):
                continue
            return found
        found = _written(reply, limit)
        if not found.is_cut:
            room.learn(reasoning_tokens(reply))
        if not found.is_cut or not room.grow(limit, longest):
            return found


def _written(reply: Reply, limit: int) -> WrittenReply:
    """What was written; nothing where the model thought and said nothing, whatever the server says
    of how it ended.
    """
    content, message, ended = content_of(reply)
    ended = ended.lower()
    text, is_cut = visible_reply(content, ended)
    found = WrittenReply(text, message, ended, limit, is_cut)
    has_thought = reasoning_tokens(reply) > 0 or any(message.get(name) for name in THOUGHTS)
    if text or found.is_filtered or not has_thought:
        return found
    return replace(found, is_cut=True)


async def _reply(
    endpoint: Endpoint, messages: Sequence[Mapping[str, str]], limit: int, more: dict[str, Any]
) -> Reply:
    try:
        return await endpoint.chat(messages, limit=limit, **more)
    except Rejected as refusal:
        if RAN_OUT in str(refusal):
            return EMPTY
        raise


async def written_line(endpoint: Endpoint, request: str, limit: int) -> str:
    """The first line of a plain continuation."""
    choice = first_choice(await endpoint.complete([request], max_tokens=limit))
    return (str(choice.get("text") or "").strip().splitlines() or [""])[0].strip()
