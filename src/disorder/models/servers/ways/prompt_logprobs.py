"""Prompt log-probabilities: each option is appended to the prompt and the server scores it
(`echo`).

Some servers ignore `echo` with HTTP 200, which would score every option alike; some return wrong
values. So the probe scores one token both ways: as the model writes it, and as it is read back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.models.prompting import Question
from disorder.models.servers.endpoint import Endpoint, Unusable, first_choice
from disorder.models.servers.replies import Answer, Unfit

TOLERANCE = 0.25  # in log-probability, between writing a token and reading it back


class PromptLogprobs:
    """The log-probability of each option after the plain prompt."""

    name = "prompt-logprobs"
    gives_probabilities = True
    reads_once = False
    chats: tuple[str, ...] = ("auto", "off")

    async def probe(self, endpoint: Endpoint, questions: Sequence[Question]) -> None:
        """Whether `echo` is honoured, and gives what the model itself says of the same token."""
        for question in questions:
            await self._compare(endpoint, question)
        rows = [await self._scores(endpoint, question) for question in questions]
        if len(rows) > 1 and all(np.allclose(row, rows[0], atol=1e-9) for row in rows[1:]):
            raise Unfit("every text gets the same scores")

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The log-probability of each option, and their share of the probability."""
        scores = await self._scores(endpoint, question)
        return Answer(scores, float(min(1.0, np.exp(scores).sum())))

    async def _compare(self, endpoint: Endpoint, question: Question) -> None:
        """One token scored in two ways: written, and read back."""
        prompt = question.text
        written = first_choice(await endpoint.complete([prompt], max_tokens=1, logprobs=1))
        text = str(written.get("text", ""))
        values = _values(written)
        if not values or not text:
            raise Unusable("log-probabilities are not returned")
        read = first_choice(await self._echo(endpoint, [prompt + text]))
        found = _continuation(read, prompt, prompt + text)
        if abs(found - values[0]) > TOLERANCE:
            raise Unusable(
                f"echo scores a token at {found:.2f} that the model itself writes at "
                f"{values[0]:.2f}: its values are wrong"
            )

    async def _scores(self, endpoint: Endpoint, question: Question) -> Any:
        prompt = question.text
        wholes = [f"{prompt} {option}" for option in question.options]
        reply = await self._echo(endpoint, wholes)
        choices = reply.get("choices")
        if not isinstance(choices, list) or len(choices) != len(wholes):
            raise Unusable(f"{len(wholes)} prompts did not get {len(wholes)} choices")
        by_number = sorted(choices, key=_number)
        found = [
            _continuation(choice, prompt, whole)
            for choice, whole in zip(by_number, wholes, strict=True)
        ]
        if max(found) == -np.inf:
            raise Unusable("no option has a probability")
        return np.array(found)

    async def _echo(self, endpoint: Endpoint, prompts: Sequence[str]) -> dict[str, Any]:
        return await endpoint.complete(prompts, max_tokens=1, logprobs=1, echo=True)


def _number(choice: Any) -> int:
    """The place of a choice among the prompts."""
    number = choice.get("index", 0) if isinstance(choice, dict) else None
    if not isinstance(number, int):
        raise Unusable("a choice does not say which prompt it is for")
    return number


def _values(choice: dict[str, Any]) -> list[float]:
    """The log-probability of each token of a choice; the first of a prompt has none."""
    found = choice.get("logprobs")
    if not isinstance(found, dict):
        return []
    values = found.get("token_logprobs")
    content = found.get("content")
    if not isinstance(values, list) and isinstance(content, list):  # llama.cpp: as in chat replies
        values = [each.get("logprob") for each in content if isinstance(each, dict)]
    try:
        return [0.0 if value is None else float(value) for value in values or []]
    except (TypeError, ValueError):
        raise Unusable("log-probabilities are no numbers") from None


def _continuation(choice: dict[str, Any], prompt: str, whole: str) -> float:
    """The log-probability of what follows the prompt, from the tokens that were read back."""
    text = choice.get("text")
    if not isinstance(text, str) or not text.startswith(whole):
        raise Unusable("echo is ignored: the prompt does not come back")
    values = _values(choice)
    tokens = choice["logprobs"].get("tokens") if values else None
    if not isinstance(tokens, list) or len(tokens) != len(values):
        raise Unusable("log-probabilities of the prompt are not returned")
    total = 0.0
    end = 0
    for token, value in zip(tokens, values, strict=True):
        start, end = end, end + len(str(token))
        if end > len(prompt) and start < len(whole):
            if not value <= 0:
                raise Unusable("a log-probability is above 0, or no number")
            total += value
    if end < len(whole):
        raise Unusable("the tokens that came back do not add up to the prompt")
    return total
