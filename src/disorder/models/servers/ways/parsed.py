"""Parse: the model writes what it likes, and the reply counts where it names exactly one option.

The last resort: no probabilities, and replies that name no option are no answers. Nothing is
guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from disorder.models.prompting import Question
from disorder.models.servers.answers import Answer, Unfit
from disorder.models.servers.client import Rejected
from disorder.models.servers.endpoint import Endpoint, Unusable, content_of
from disorder.models.servers.replies import named_options, visible_reply, why_no_label

LONGEST = 24  # tokens of a reply
LONGEST_THINKING = 2048  # of a model that thinks before it replies


class Parsed:
    """The one option that a free reply names."""

    name = "parse"
    gives_probabilities = False
    chats: tuple[str, ...] = ("auto", "on")

    def __init__(self) -> None:
        self.limit = LONGEST

    async def probe(self, endpoint: Endpoint, questions: Sequence[Question]) -> None:
        """Whether there are replies at all, and whether the model thinks first."""
        try:
            for question in questions:
                content, message, ended = content_of(
                    await endpoint.chat(question.messages, limit=self.limit)
                )
                _, is_thinking = visible_reply(content, message, ended)
                if is_thinking:
                    self.limit = LONGEST_THINKING
        except Rejected as refusal:
            raise Unfit(f"HTTP {refusal.status}: {refusal}") from None
        except Unusable as error:
            raise Unfit(str(error)) from None

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The option that the reply names."""
        reply = await endpoint.chat(question.messages, limit=self.limit)
        content, message, ended = content_of(reply)
        shown, is_thinking = visible_reply(content, message, ended)
        named = named_options(shown, question.options)
        if len(named) == 1:
            return Answer.of_option(named[0], len(question.options))
        if named:
            return Answer.none("several labels in the reply", len(question.options))
        why = why_no_label(shown, message, ended, is_thinking=is_thinking)
        return Answer.none(why, len(question.options))
