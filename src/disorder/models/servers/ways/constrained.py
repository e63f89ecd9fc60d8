"""Constrained: the server lets the model write nothing but one of the options (a JSON schema).

It gives a label and no probability. A server that ignores the schema is found out by asking for
something else under it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from disorder.errors import option
from disorder.models.prompting import Question
from disorder.models.servers.endpoint import Endpoint
from disorder.models.servers.replies import Answer, Unfit, WrittenReply, written

LONGEST = 64  # tokens of a reply, beside what a model thinks
TRAP = [{"role": "user", "content": "Write the word banana and nothing else."}]


class Constrained:
    """One of the options, chosen under a JSON schema."""

    name = "constrained"
    gives_probabilities = False
    reads_once = True
    chats: tuple[str, ...] = ("auto", "on")

    async def probe(self, endpoint: Endpoint, questions: Sequence[Question]) -> None:
        """Whether the schema holds even when the prompt asks for something else."""
        options = questions[0].options
        found = await self._reply(endpoint, TRAP, options)
        if found.is_cut:
            raise Unfit(f"{found.why_cut} ({option('max_answer_tokens')})")
        if _number(found.text, options) is None:
            raise Unfit("response_format is ignored: the reply is none of the options")

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The option that the model writes."""
        n = len(question.options)
        found = await self._reply(endpoint, question.messages, question.options)
        number = _number(found.text, question.options)
        return Answer.none(found.why_no_label, n) if number is None else Answer.of_option(number, n)

    async def _reply(
        self, endpoint: Endpoint, messages: Sequence[dict[str, str]], options: Sequence[str]
    ) -> WrittenReply:
        return await written(endpoint, messages, LONGEST, response_format=_format(options))


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
