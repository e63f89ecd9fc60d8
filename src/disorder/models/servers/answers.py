"""What a way to answer gives for one question: scores of the options, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from disorder.models.prompting import Question
from disorder.models.servers.endpoint import Endpoint
from disorder.types import Floats


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
        """Raise `Unfit` where the server does not do this, or does it wrong."""

    async def ask(self, endpoint: Endpoint, question: Question) -> Answer:
        """The answer to a question."""
