"""An endpoint: one model of one server, what is sent to it and what comes back, with its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from disorder.models.servers.client import Client, Rejected
from disorder.types import Costs

CHARACTERS = 4  # in a token, where a server does not count tokens
Reply = dict[str, Any]


class Unusable(Exception):
    """A reply that does not hold what was asked for; the message says what is wrong with it."""


@dataclass
class Endpoint:
    """A model of a server; `spent` counts questions and tokens."""

    client: Client
    model: str
    spent: Costs = field(default_factory=Costs)
    limit_name: str = "max_tokens"  # newer hosted models call it max_completion_tokens

    async def chat(self, messages: Sequence[Mapping[str, str]], limit: int, **more: Any) -> Reply:
        """One reply to some messages, of at most `limit` tokens, as likely as possible."""
        body = {"messages": list(messages), "temperature": 0, **more}
        sent = sum(len(message["content"]) for message in messages)
        try:
            return await self._post("chat/completions", {**body, self.limit_name: limit}, sent)
        except Rejected as refusal:
            if "max_completion_tokens" not in str(refusal):
                raise
            self.limit_name = "max_completion_tokens"
        return await self._post("chat/completions", {**body, self.limit_name: limit}, sent)

    async def complete(self, prompts: Sequence[str], **more: Any) -> Reply:
        """Continuations of some plain prompts, one choice each."""
        prompt = list(prompts) if len(prompts) > 1 else prompts[0]  # not every server takes a list
        body = {"prompt": prompt, "temperature": 0, **more}
        return await self._post("completions", body, sum(map(len, prompts)))

    async def decide(self, path: str, body: Mapping[str, Any], n_characters: int) -> Reply:
        """Probabilities from a decision endpoint."""
        return await self._post(path, body, n_characters)

    async def _post(self, path: str, body: Mapping[str, Any], n_characters: int) -> Reply:
        reply = await self.client.post(path, {"model": self.model, **body})
        self._count(reply, n_characters)
        return reply

    def _count(self, reply: Reply, n_characters: int) -> None:
        """Add what a reply cost; a server that does not say gets an estimate."""
        usage = reply.get("usage")
        found = usage if isinstance(usage, dict) else {}
        n_in = _count_of(found, "prompt_tokens", "input_tokens")
        n_out = _count_of(found, "completion_tokens", "output_tokens")
        # no token is shorter than a byte: a larger count is no count of this prompt
        is_wrong = n_in is None or n_out is None or n_in > 4 * n_characters + 4096
        if is_wrong:
            self.spent["tokens_estimated"] += 1
            n_in = n_characters // CHARACTERS + 1
            n_out = 1
        self.spent["questions"] += 1
        self.spent["tokens_in"] += n_in or 0
        self.spent["tokens_out"] += n_out or 0


def _count_of(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def first_choice(reply: Reply) -> dict[str, Any]:
    """The first choice of a reply."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unusable("the reply has no choices")
    return choices[0]


def content_of(reply: Reply) -> tuple[str, dict[str, Any], str]:
    """The text of a chat reply, its whole message, and why it ended."""
    choice = first_choice(reply)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unusable("the reply has no message")
    content = message.get("content")
    return (
        content if isinstance(content, str) else "",
        message,
        str(choice.get("finish_reason") or ""),
    )
