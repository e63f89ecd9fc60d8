"""Writing: what a model behind a server replies, as text, with room to think where it needs any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disorder.models.servers.client import Rejected
from disorder.models.servers.endpoint import Endpoint, Reply, content_of, first_choice
from disorder.models.servers.replies import is_refusal, visible_reply
from disorder.models.servers.room import reasoning_tokens
from disorder.types.predictions import NO_LABEL, REFUSED

RAN_OUT = "output limit was reached"  # the words of an error that other servers give as a reply
EMPTY = {"choices": [{"finish_reason": "length", "message": {"content": ""}}]}


@dataclass(frozen=True)
class WrittenReply:
    """The text of a reply without what the model thought aloud; `is_cut` says that it ended at its
    limit before there was any.
    """

    text: str
    message: Mapping[str, Any]
    ended: str
    limit: int
    is_cut: bool

    @property
    def why_cut(self) -> str:
        """Why there is no text."""
        return f"no answer within {self.limit} tokens"

    @property
    def why_no_label(self) -> str:
        """Why it names no option."""
        if is_refusal(self.text, self.message, self.ended):
            return REFUSED
        return self.why_cut if self.is_cut else NO_LABEL


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
            room.stop_at(found.limit, longest)  # only the limit has changed since the last reply
            return found
        content, message, ended = content_of(reply)
        text, is_cut = visible_reply(content, ended)
        found = WrittenReply(text, message, ended, limit, is_cut)
        if not is_cut:
            room.learn(reasoning_tokens(reply))
        if not is_cut or not room.grow(limit, longest):
            return found


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
