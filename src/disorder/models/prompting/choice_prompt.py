"""Prompts for multiple choice: every question has options of its own.

By letter the options are listed and the answer is a letter; by likelihood they are not listed, and
the likeliest continuation is the answer, per letter where the length of an option shall not count
(the `acc` and `acc_norm` of EleutherAI's lm-evaluation-harness).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from disorder.errors import BadSetting, option
from disorder.models.prompting.choosing import template_of
from disorder.models.prompting.prompt import Prompt, Question
from disorder.types import Choice, Floats, Shots, Task, Texts

By = Literal["letter", "likelihood", "normalised"]
PROMPTS = {"letter": "choice", "likelihood": "continuation", "normalised": "continuation"}


@dataclass(frozen=True)
class ChoiceShot:
    """One question that is shown with its answer."""

    choice: Choice
    label: str


@dataclass(frozen=True)
class ChoicePrompt(Prompt):
    """A prompt whose questions have options of their own; labels are the letters of places."""

    by: By = "letter"
    choice_shots: tuple[ChoiceShot, ...] = ()

    @property
    def contents(self) -> list[Any]:
        """All that can change a prediction."""
        shown = [
            [shot.choice.question, *shot.choice.options, shot.label] for shot in self.choice_shots
        ]
        return [*super().contents, self.by, shown]

    def questions(self, texts: Sequence[Texts]) -> list[Question]:
        """One question per text, for a probe: the options are the letters themselves."""
        return self.questions_about([Choice(a, self.words) for a, _ in texts])

    def questions_about(self, choices: Sequence[Choice]) -> list[Question]:
        """One question per choice."""
        instruction = self.template.instruction(self.words)
        shots = self._shown_choices()
        return [
            Question(instruction, shots, self._item(each), self._answers(each)) for each in choices
        ]

    def _shown_choices(self) -> Shots:
        return tuple(
            (self._item(shot.choice), self._answers(shot.choice)[self.labels.index(shot.label)])
            for shot in self.choice_shots
        )

    def _item(self, choice: Choice) -> str:
        listed: Sequence[str] = ()
        if self.by == "letter":
            pairs = zip(self.words, choice.options, strict=False)
            listed = [f"{letter}. {text}" for letter, text in pairs]
        return self.template.item((choice.question, None), listed, ask=choice.ask)

    def _answers(self, choice: Choice) -> tuple[str, ...]:
        return self.words[: len(choice.options)] if self.by == "letter" else choice.options

    def row_of(self, question: Question, scores: Floats) -> Floats:
        """The scores of a question's options, one for each letter; −∞ where there is no option."""
        row = np.full(len(self.words), -np.inf)
        lengths = np.array([len(text) for text in question.options], dtype=np.float64)
        row[: len(scores)] = scores / lengths if self.by == "normalised" else scores
        return row


def choice_prompt(
    task: Task,
    *,
    by: By = "letter",
    name: str | None = None,
    shots: Sequence[ChoiceShot] = (),
    option_orders: int = 1,
    calibrate: str | None = None,
    chat: str = "auto",
) -> ChoicePrompt:
    """The prompt for a multiple-choice task."""
    if option_orders != 1:
        raise BadSetting(
            option("option_orders"),
            orders=option_orders,
            need=f"1, since every question has options of its own; {option('on', 'options')} "
            "measures their order",
        )
    if calibrate is not None:
        raise BadSetting(option("calibrate"), calibrate=calibrate, need="fixed labels")
    template = template_of(name or PROMPTS[by])
    return ChoicePrompt(
        template,
        task.labels,
        task.labels,
        is_pair=False,
        chat=chat,
        by=by,
        choice_shots=tuple(shots),
    )
