"""Decisions: a decision endpoint gives the probability of every option, and writes no text.

Two shapes are spoken: `/systemone` (transformers serve, vLLM, Ollama, LiteLLM) and OpenAI's
`/decisions`. The state or input is the prompt; the options are listed by the server in its own
words, after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.models.prompting import Question
from disorder.models.servers.client import Rejected
from disorder.models.servers.endpoint import Endpoint, Reply, Unusable
from disorder.models.servers.replies import Answer, Unfit
from disorder.types.predictions import REFUSED

NAME = "label"
SHAPES = ("systemone", "decisions")
SUM_ERROR = 0.02  # by which probabilities may miss 1
SPREAD = 1e-6  # below which two answers are the same


class Decisions:
    """Probabilities per option from a decision endpoint."""

    name = "decisions"
    gives_probabilities = True
    reads_once = True
    chats: tuple[str, ...] = ("auto", "on")

    def __init__(self) -> None:
        self.shape = SHAPES[0]

    async def probe(self, endpoint: Endpoint, questions: Sequence[Question]) -> None:
        """Whether there is such an endpoint, and whether its probabilities depend on the text."""
        reasons = []
        for shape in SHAPES:
            self.shape = shape
            try:
                found = [await self._probabilities(endpoint, question) for question in questions]
                break
            except Rejected as refusal:
                is_there = refusal.status not in (404, 405)
                why = f"HTTP {refusal.status}" + (f": {refusal}" if is_there else "")
                reasons.append((not is_there, f"/{shape}: {why}"))
            except Unusable as error:
                raise Unfit(f"/{shape}: {error}") from None
        else:
            raise Unfit(f"no decision endpoint ({min(reasons)[1]})")
        again = await self._probabilities(endpoint, questions[0])
        if np.abs(again - found[0]).max() > 0.1:
            raise Unfit("the same question got other probabilities the second time")
        if all(np.abs(each - found[0]).max() < SPREAD for each in found[1:]):
            raise Unfit("every text gets the same probabilities")

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The probabilities that the server gives for the options."""
        body, n_characters = self._body(question)
        reply = await endpoint.decide(self.shape, body, n_characters)
        if self._answer(reply).get("type") == "refusal":
            return Answer.none(REFUSED, len(question.options))
        return Answer.of_probabilities(self._read(reply, question).tolist())

    async def _probabilities(self, endpoint: Endpoint, question: Question) -> Any:
        body, n_characters = self._body(question)
        return self._read(await endpoint.decide(self.shape, body, n_characters), question)

    def _body(self, question: Question) -> tuple[dict[str, Any], int]:
        """The request in the shape of the endpoint."""
        instructions = question.told or "Which option fits the text?"
        state = question.without_instruction
        options = question.listing or question.options
        n_characters = len(instructions) + len(state) + sum(map(len, options))
        if self.shape == "systemone":
            choice = {
                "type": "choice",
                "instructions": instructions,
                "criteria": dict.fromkeys(options),
            }
            return {"state": state, "questions": {NAME: choice}}, n_characters
        listed = {
            "type": "choice",
            "name": NAME,
            "instructions": instructions,
            "choices": [{"value": option} for option in options],
        }
        return {"input": state, "questions": [listed]}, n_characters

    def _answer(self, reply: Reply) -> dict[str, Any]:
        answers = reply.get("answers")
        found = answers.get(NAME) if isinstance(answers, dict) else None
        if isinstance(answers, list) and answers:
            found = answers[0]
        if not isinstance(found, dict):
            raise Unusable("the reply holds no answer")
        return found

    def _read(self, reply: Reply, question: Question) -> Any:
        """The probabilities in the order of the question's options, checked."""
        given = self._answer(reply).get("probabilities")
        if isinstance(given, list):
            entries = [each for each in given if isinstance(each, dict)]
            given = {str(each.get("value")): each.get("probability") for each in entries}
        if not isinstance(given, dict) or set(given) != set(question.options):
            raise Unusable("the reply has no probability for each option")
        try:
            found = np.array([float(given[option]) for option in question.options])
        except (TypeError, ValueError):
            raise Unusable("the probabilities are no numbers") from None
        if not np.isfinite(found).all() or found.min() < 0 or abs(found.sum() - 1) > SUM_ERROR:
            raise Unusable("the probabilities do not sum to 1")
        return found
