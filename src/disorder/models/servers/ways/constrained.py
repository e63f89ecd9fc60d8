"""Constrained: the server lets the model write nothing but one of the options (a JSON schema).

It gives a label and no probability. A server that ignores the schema is found out by asking for
something else under it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from disorder.models.prompting import Question
from disorder.models.servers.answers import Answer, Unfit
from disorder.models.servers.client import Rejected
from disorder.models.servers.endpoint import Endpoint, Unusable, content_of
from disorder.models.servers.replies import visible_reply, why_no_label

LONGEST = 64  # tokens of a reply
TRAP = [{"role": "user", "content": "Write the word banana and nothing else."}]


class Constrained:
    """One of the options, chosen under a JSON schema."""

    name = "constrained"
    gives_probabilities = False
    chats: tuple[str, ...] = ("auto", "on")

    async def probe(self, endpoint: Endpoint, questions: Sequence[Question]) -> None:
        """Whether the schema holds even when the prompt asks for something else."""
        options = questions[0].options
        try:
            reply = await self._reply(endpoint, TRAP, options)
            content, _, _ = content_of(reply)
        except Rejected as refusal:
            raise Unfit(f"HTTP {refusal.status}: {refusal}") from None
        except Unusable as error:
            raise Unfit(str(error)) from None
        if _number(content, options) is None:
            raise Unfit("response_format is ignored: the reply is none of the options")

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The option that the model writes."""
        reply = await self._reply(endpoint, question.messages, question.options)
        content, message, ended = content_of(reply)
        number = _number(content, question.options)
        if number is None:
            shown, is_thinking = visible_reply(content, message, ended)
            why = why_no_label(shown, message, ended, is_thinking=is_thinking)
            return Answer.none(why, len(question.options))
        return Answer.of_option(number, len(question.options))

    async def _reply(
        self, endpoint: Endpoint, messages: Sequence[dict[str, str]], options: Sequence[str]
    ) -> dict[str, Any]:
        return await endpoint.chat(messages, limit=LONGEST, response_format=_format(options))


def _format(options: Sequence[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(options)}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    }


def _number(content: str, options: Sequence[str]) -> int | None:
    """Which option a reply under the schema is."""
    try:
        answer = json.loads(content).get("answer")
    except (ValueError, AttributeError, RecursionError):
        return None
    return list(options).index(answer) if answer in options else None
