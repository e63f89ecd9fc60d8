"""Prompts for multiple choice: every question has options of its own.

By letter the options are listed and the answer is a letter; by likelihood they are not listed, and
the likeliest continuation is the answer, per letter where the length of an option shall not count
(the `acc` and `acc_norm` of EleutherAI's lm-evaluation-harness).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from disorder.errors import BadSetting, option
from disorder.models.prompting.choosing import template_of
from disorder.models.prompting.prompt import Prompt, Question
from disorder.types import Floats, Segments, Shots, Task, Texts, listed_segment

By = Literal["letter", "likelihood", "normalised"]
PROMPTS = {"letter": "choice", "likelihood": "continuation", "normalised": "continuation"}


ChoiceShot = tuple[Segments, str]  # a question that is shown, and its label


@dataclass(frozen=True)
class ChoicePrompt(Prompt):
    """A prompt whose questions have options of their own; labels are the letters of places."""

    by: By = "letter"
    choice_shots: tuple[ChoiceShot, ...] = ()

    @property
    def contents(self) -> list[Any]:
        """All that can change a prediction."""
        shown = [
            [shot["question"], *listed_segment(shot, "options"), label]
            for shot, label in self.choice_shots
        ]
        return [*super().contents, self.by, shown]

    def questions(self, texts: Sequence[Texts]) -> list[Question]:
        """One question per text, for a probe: the options are the letters themselves."""
        return self.questions_about([{"question": a, "options": self.words} for a, _ in texts])

    @cached_property
    def openings(self) -> list[tuple[str, Shots]]:
        """Instruction and examples."""
        shots = tuple(
            (self.item(shot, ()), self.options_of(shot)[self.labels.index(label)])
            for shot, label in self.choice_shots
        )
        return [(self.template.instruction(self.words), shots)]

    def item(self, given: Segments, listing: Sequence[str]) -> str:
        """The question, with its options where they are listed."""
        listed: Sequence[str] = ()
        if self.by == "letter":
            pairs = zip(self.words, listed_segment(given, "options"), strict=False)
            listed = [f"{letter}. {text}" for letter, text in pairs]
        return self.template.item({"text_a": given["question"], **given}, listed)

    def options_of(self, given: Segments) -> tuple[str, ...]:
        """The letters of its options, or the options themselves."""
        options = listed_segment(given, "options")
        return self.words[: len(options)] if self.by == "letter" else options

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
    columns: Sequence[str] = (),
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
    template = template_of(name or PROMPTS[by], columns)
    return ChoicePrompt(
        template,
        task.labels,
        task.labels,
        is_pair=False,
        chat=chat,
        by=by,
        choice_shots=tuple(shots),
    )
