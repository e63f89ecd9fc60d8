"""A function of yours that chooses among the options of a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.types import Segments, Texts, listed_segment
from disorder.types.predictions import ABSTAINS, ANSWERED, Predictions

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
