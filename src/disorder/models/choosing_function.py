"""A function of yours that chooses among the options of a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.types import Choice, Texts
from disorder.types.predictions import ABSTAINS, ANSWERED, Predictions

NEED = (
    "one answer per question: the place of an option from 0, its letter, its text, a list of "
    "numbers (one per option), or None"
)


@dataclass
class ChoosingFunction:
    """A function that gets a list of questions, each a dictionary with `question`, `options` and
    `ask`, and returns an answer for each.
    """

    function: Callable[[list[dict[str, Any]]], Any]
    labels: tuple[str, ...]
    fingerprint: str

    def __call__(self, texts: Sequence[Texts], /) -> Predictions:
        """A text alone has no options."""
        raise BadModel("this function chooses among options, and a text alone has none")

    def predict_choices(self, choices: Sequence[Choice], /) -> Predictions:
        """A row per question, one column per letter."""
        given = self.function([{**asdict(each), "options": [*each.options]} for each in choices])
        if isinstance(given, str) or len(given) != len(choices):
            raise BadModel(f"the function must give a list with {NEED}")
        values = np.zeros((len(choices), len(self.labels)))
        outcomes = np.full(len(choices), ANSWERED, dtype=object)
        for i, (answer, choice) in enumerate(zip(given, choices, strict=True)):
            if answer is None:
                outcomes[i] = ABSTAINS
            else:
                values[i, : len(choice.options)] = self._shares(answer, choice)
        return Predictions(values, outcomes)

    def _shares(self, answer: Any, choice: Choice) -> Any:
        n = len(choice.options)
        if isinstance(answer, np.ndarray | list | tuple):
            numbers = np.asarray(answer, dtype=np.float64)
            total = numbers.sum()
            if numbers.shape == (n,) and (numbers >= 0).all() and total > 0:
                return numbers / total
        elif isinstance(answer, int | np.integer) and 0 <= int(answer) < n:
            return np.eye(n)[int(answer)]
        elif isinstance(answer, str) and answer in self.labels[:n]:
            return np.eye(n)[self.labels.index(answer)]
        elif isinstance(answer, str) and choice.options.count(answer) == 1:
            return np.eye(n)[choice.options.index(answer)]
        raise BadModel(f"the function answered {answer!r} to {n} options; give {NEED}")
