"""Answers to questions: what a model writes, scored against the gold answers; and a function of
yours that chooses among the options.

A language model is asked by a prompt; a function gets the questions and returns an answer for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from disorder.errors import BadModel
from disorder.models.prompting import PromptedModel
from disorder.models.protocols import Generates
from disorder.types import Floats, Predictor, Segments, Texts, listed_segment
from disorder.types.predictions import ABSTAINS, ANSWERED, Predictions

GRADED = ("right", "wrong")
GOLD = "answers"  # the segment that no model sees
LONGEST = 32  # tokens of an answer


class Match(Protocol):
    """How far an answer is right, from 0 to 1."""

    @property
    def __name__(self) -> str:
        """What it is called."""

    def __call__(self, answer: Any, gold: Any, /) -> float:
        """The score of an answer (a text; the places of the relevant documents in a ranking)
        against what is gold (texts; the grades of these documents).
        """


class Graded:
    """Answers of a model, each with its score: a row is how far it is right, and how far wrong."""

    is_costly = False
    labels = GRADED

    def __init__(self, function: Callable[[list[dict[str, Any]]], Any], fingerprint: str) -> None:
        self.function = function
        self.fingerprint = fingerprint
        self.match: Match | None = None

    def graded_by(self, match: Match) -> Graded:
        """Itself, with the way its answers are scored."""
        self.match = match
        # what is kept is the score, which a function of the user's may give otherwise tomorrow
        self.is_costly = self.is_costly and match.__module__.startswith("disorder.")
        self.fingerprint = f"{self.fingerprint}/{match.__name__}" if self.fingerprint else ""
        return self

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """A text alone is no question."""
        raise BadModel("this model answers questions, and a text alone is none")

    def predict_segments(self, inputs: Sequence[Segments], /) -> Predictions:
        """The scores of the answers; a model that gives none abstains."""
        assert self.match is not None
        given = self.function([{k: v for k, v in each.items() if k != GOLD} for each in inputs])
        if isinstance(given, str) or len(given) != len(inputs):
            raise BadModel(
                "a function that answers questions returns a list with one text for each"
            )
        values = np.zeros((len(inputs), 2))
        outcomes = np.full(len(inputs), ANSWERED, dtype=object)
        for i, (answer, each) in enumerate(zip(given, inputs, strict=True)):
            if answer is None:
                outcomes[i] = ABSTAINS
            else:
                score = float(self.match(str(answer), listed_segment(each, GOLD)))
                if not 0 <= score <= 1:
                    raise BadModel(f"{self.match.__name__} gave {score}; a score is from 0 to 1")
                values[i] = score, 1 - score
        return Predictions(values, outcomes)


class WrittenAnswers(Graded, PromptedModel):
    """What a language model writes after its prompt."""

    is_costly = True
    labels = GRADED

    def __init__(self, writer: PromptedModel) -> None:
        Graded.__init__(self, self._written, writer.fingerprint)
        self.writer = writer
        self.prompt = writer.prompt
        self.notes = writer.notes
        self.counts = writer.counts

    def _written(self, inputs: Sequence[Segments]) -> list[str]:
        assert isinstance(self.writer, Generates)
        asked = [question.text for question in self.prompt.questions_about(inputs)]
        return self.writer.generate(asked, max_tokens=[LONGEST] * len(asked))


def graded_answers(name: str, predictor: Predictor, match: Match | None) -> Predictor:
    """A predictor of how far a model's answers are right."""
    assert match is not None
    if isinstance(predictor, Graded):
        return predictor.graded_by(match)
    if isinstance(predictor, PromptedModel) and isinstance(predictor, Generates):
        return WrittenAnswers(predictor).graded_by(match)
    raise BadModel(
        f"{name} writes no text; open answers need a language model (causal:…, openai:…), or a "
        "function that returns a text for each question"
    )


NEED = (
    "one answer per question: the place of an option from 0, its letter, its text, a list of "
    "numbers (one per option), or None"
)


@dataclass
class ChoosingFunction:
    """A function that gets a list of questions, each a dictionary with `question`, `options`,
    `ask` and what else an input has, and returns an answer for each.
    """

    function: Callable[[list[dict[str, Any]]], Any]
    labels: tuple[str, ...]
    fingerprint: str

    def __call__(self, texts: Sequence[Texts], /) -> Predictions:
        """A text alone has no options."""
        raise BadModel("this function chooses among options, and a text alone has none")

    def predict_segments(self, inputs: Sequence[Segments], /) -> Predictions:
        """A row per question, one column per letter."""
        offered = [listed_segment(each, "options") for each in inputs]
        given = self.function(
            [
                {"ask": "", **each, "options": list(options)}
                for each, options in zip(inputs, offered, strict=True)
            ]
        )
        if isinstance(given, str) or len(given) != len(inputs):
            raise BadModel(f"the function must give a list with {NEED}")
        values = np.zeros((len(inputs), len(self.labels)))
        outcomes = np.full(len(inputs), ANSWERED, dtype=object)
        for i, (answer, options) in enumerate(zip(given, offered, strict=True)):
            if answer is None:
                outcomes[i] = ABSTAINS
            else:
                values[i, : len(options)] = self._shares(answer, options)
        return Predictions(values, outcomes)

    def _shares(self, answer: Any, options: tuple[str, ...]) -> Any:
        n = len(options)
        if isinstance(answer, np.ndarray | list | tuple):
            numbers = np.asarray(answer, dtype=np.float64)
            total = numbers.sum()
            if numbers.shape == (n,) and (numbers >= 0).all() and total > 0:
                return numbers / total
        elif isinstance(answer, int | np.integer) and 0 <= int(answer) < n:
            return np.eye(n)[int(answer)]
        elif isinstance(answer, str) and answer in self.labels[:n]:
            return np.eye(n)[self.labels.index(answer)]
        elif isinstance(answer, str) and options.count(answer) == 1:
            return np.eye(n)[options.index(answer)]
        raise BadModel(f"the function answered {answer!r} to {n} options; give {NEED}")
