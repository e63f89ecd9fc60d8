"""First token: the likeliest first tokens of a chat reply, matched with the options.

It tells options apart only where their first tokens differ, and sees only as many tokens as the
server lists (20); the share of the probability that the options got is kept beside the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from disorder.errors import option
from disorder.models.prompting import Question
from disorder.models.servers.client import Rejected
from disorder.models.servers.endpoint import Endpoint, Unusable, first_choice
from disorder.models.servers.replies import Answer, Unfit
from disorder.types.predictions import UNLIKELY_LABELS

N_TOPS = (20, 5)  # the most that OpenAI's API allows; the most of some others
N_TOP_PLAIN = 5  # of plain continuations
LEAST_MASS = 0.01  # share of the probability below which the options are not what is answered


class FirstToken:
    """The probability of each option's first token."""

    name = "first-token"
    gives_probabilities = True
    reads_once = True
    chats: tuple[str, ...] = ("auto", "on", "off")

    def __init__(self, *, is_plain: bool = False) -> None:
        self.is_plain = is_plain
        self.n_top = N_TOPS[0]

    async def probe(self, endpoint: Endpoint, questions: Sequence[Question]) -> None:
        """Whether likeliest tokens are listed, and the options are told apart by them."""
        await _check_first_tokens(endpoint, questions[0].options)
        answers = [await self._read_as_many(endpoint, question) for question in questions]
        mass = max(sum(found) for found in answers)
        if mass < LEAST_MASS:
            raise Unfit(
                f"the options get {mass:.3f} of the probability of the first token: the model "
                "begins its reply with something else"
            )

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The probabilities of the options among the likeliest first tokens."""
        found = await self._read(endpoint, question)
        mass = sum(found)
        if mass <= 0:
            return Answer.none(UNLIKELY_LABELS, len(found))
        return Answer.of_probabilities(found, mass=min(1.0, mass))

    async def _read_as_many(self, endpoint: Endpoint, question: Question) -> list[float]:
        """The same with fewer of the likeliest tokens, where the server lists no more."""
        try:
            return await self._read(endpoint, question)
        except Rejected as refusal:
            if self.n_top == N_TOPS[-1] or not refusal.names("top_logprobs"):
                raise
        self.n_top = N_TOPS[-1]
        return await self._read(endpoint, question)

    async def _read(self, endpoint: Endpoint, question: Question) -> list[float]:
        if self.is_plain:
            reply = await endpoint.complete([question.text], max_tokens=1, logprobs=N_TOP_PLAIN)
            return matched(_top_of_completion(first_choice(reply)), question.options)
        reply = await endpoint.chat(
            question.messages, limit=1, logprobs=True, top_logprobs=self.n_top
        )
        return matched(_top(first_choice(reply)), question.options)


def _top_of_completion(choice: dict[str, Any]) -> list[tuple[str, float]]:
    """The same of a plain continuation; some servers use the shape of chat replies there."""
    found = choice.get("logprobs")
    tops = found.get("top_logprobs") if isinstance(found, dict) else None
    if isinstance(tops, list) and tops and isinstance(tops[0], dict):
        pairs = [{"token": token, "logprob": value} for token, value in tops[0].items()]
        return _top({"logprobs": {"content": [{"top_logprobs": pairs}]}})
    return _top(choice)


def _top(choice: dict[str, Any]) -> list[tuple[str, float]]:
    """The likeliest first tokens with their log-probabilities."""
    found = choice.get("logprobs")
    content = found.get("content") if isinstance(found, dict) else None
    if not isinstance(content, list) or not content or not isinstance(content[0], dict):
        raise Unusable("top_logprobs are not returned")
    top = content[0].get("top_logprobs")
    if not isinstance(top, list) or not top:
        raise Unusable("top_logprobs are not returned")
    try:
        pairs = {str(each["token"]): float(each["logprob"]) for each in top}
    except (KeyError, TypeError, ValueError):
        raise Unusable("top_logprobs cannot be read") from None
    if any(map(math.isnan, pairs.values())):
        raise Unusable("a log-probability is no number")
    if max(pairs.values()) > 1e-3 or math.fsum(map(math.exp, pairs.values())) > 1.01:
        raise Unusable("top_logprobs are no log-probabilities")
    return list(pairs.items())


def matched(top: Sequence[tuple[str, float]], options: Sequence[str]) -> list[float]:
    """The probability of each option: of all tokens that begin it and no other option, whatever
    their case and the space before them.

    >>> matched([(" Yes", -0.5), ("yes", -1.5), ("n", -3.0), ("<", -4.0)], ("yes", "no"))
    [0.8296608198610632, 0.049787068367863944]
    """
    found = [0.0] * len(options)
    for token, value in top:
        start = token.strip().casefold()
        fitting = [i for i, option in enumerate(options) if option.casefold().startswith(start)]
        if start and len(fitting) == 1:
            found[fitting[0]] += math.exp(value)
    return found


async def _check_first_tokens(endpoint: Endpoint, options: Sequence[str]) -> None:
    """Raise where two options begin with the same token, or letters where tokens are not shown."""
    firsts: list[Any] = [await _first_token(endpoint, option) for option in options]
    if any(first is None for first in firsts):
        firsts = [option.casefold()[:1] for option in options]
        shared = _repeated(firsts, options)
        starts = "letter"
    else:
        shared = _repeated(firsts, options)
        starts = "token"
    if shared:
        raise Unfit(
            f"{shared[0]!r} and {shared[1]!r} begin with the same {starts}; other words can be "
            f"given with {option('label_words')}"
        )


def _repeated(firsts: Sequence[Any], options: Sequence[str]) -> tuple[str, str] | None:
    for i, first in enumerate(firsts):
        if first in firsts[:i]:
            return options[firsts.index(first)], options[i]
    return None


async def _first_token(endpoint: Endpoint, option: str) -> int | None:
    """The first token of an option, from a server that shows its tokens; None from others."""
    body = {"content": option, "prompt": option, "model": endpoint.model}  # llama.cpp; vLLM
    body["add_special_tokens"] = False  # type: ignore[assignment]
    try:
        reply = await endpoint.client.post("/tokenize", body)
    except Rejected:
        return None
    tokens = reply.get("tokens")
    is_list = isinstance(tokens, list) and bool(tokens) and isinstance(tokens[0], int)
    return int(tokens[0]) if is_list and tokens is not None else None
