"""Parse: the model writes what it likes, and the reply counts where it names exactly one option.

The last resort: no probabilities, and replies that name no option are no answers. Nothing is
guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from disorder.errors import option
from disorder.models.prompting import Question
from disorder.models.servers.endpoint import Endpoint
from disorder.models.servers.replies import Answer, Unfit, WrittenReply, named_options, written
from disorder.types.predictions import SEVERAL_LABELS

LONGEST = 24  # tokens of a reply, beside what a model thinks
VERBOSE = 512  # those of a model that reasons in its reply


class Parsed:
    """The one option that a free reply names."""

    name = "parse"
    gives_probabilities = False
    reads_once = True
    chats: tuple[str, ...] = ("auto", "on")

    def __init__(self) -> None:
        self.longest = LONGEST

    async def probe(self, endpoint: Endpoint, questions: Sequence[Question]) -> None:
        """Whether there are replies at all, within the room that there is."""
        found = [(await self._reply(endpoint, each))[0] for each in questions]
        if all(each.is_cut for each in found):
            raise Unfit(f"{found[-1].why_cut} ({option('max_answer_tokens')})")

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The option that the reply names."""
        n = len(question.options)
        found, named = await self._reply(endpoint, question)
        if len(named) == 1:
            return Answer.of_option(named[0], n)
        return Answer.none(SEVERAL_LABELS if named else found.why_no_label, n)

    async def _reply(
        self, endpoint: Endpoint, question: Question
    ) -> tuple[WrittenReply, list[int]]:
        """A reply and the options that it names, with more room once one ended before its point."""
        while True:
            longest = self.longest
            found = await written(endpoint, question.messages, longest)
            named = named_options(found.text, question.options)
            if len(named) == 1 or not found.text or not found.is_at_limit or longest == VERBOSE:
                return found, named
            self.longest = VERBOSE
