"""Prompts whose instruction or examples are perturbed, while the text that is asked about stays.

Such an audit takes pairs of texts: first the part of the prompt that is perturbed, then the
question about one example as it stands in the prompt. Everything else is as for any pair of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from disorder.errors import BadModel
from disorder.models.prompting.prompt import Answered, Prompt, Question
from disorder.types import AFTER_ANSWER, BEFORE_ANSWER, Texts


class InstructionPrompt(Prompt):
    """A prompt that takes (instruction, question)."""

    @property
    def part(self) -> str:
        """The instruction as it is."""
        return self.openings[0][0]

    def questions(self, texts: Sequence[Texts]) -> list[Question]:
        """One question per pair, after its instruction."""
        _, shots = self.openings[0]
        return [Question(a, shots, str(b), self.words) for a, b in texts]


class ShotsPrompt(Prompt):
    """A prompt that takes (examples with their answers, question)."""

    @property
    def part(self) -> str:
        """The examples as they are, written as one text."""
        return "\n".join(
            f"{item} {BEFORE_ANSWER} {answer} {AFTER_ANSWER}"
            for item, answer in self.openings[0][1]
        )

    def questions(self, texts: Sequence[Texts]) -> list[Question]:
        """One question per pair, after its examples."""
        instruction, _ = self.openings[0]
        return [Question(instruction, _parsed(a), str(b), self.words) for a, b in texts]


def _parsed(text: str) -> Answered:
    """The examples that a text stands for."""
    shots = []
    for written in text.split(AFTER_ANSWER)[:-1]:
        item, mark, answer = written.rpartition(BEFORE_ANSWER)
        if not mark:
            raise BadModel("the examples of a prompt were perturbed inside; use shuffle_shots")
        shots.append((item.strip(), answer.strip()))
    return tuple(shots)


KINDS: dict[str, type[InstructionPrompt | ShotsPrompt]] = {
    "instruction": InstructionPrompt,
    "shots": ShotsPrompt,
}


def perturbed_part(prompt: Prompt, part: str) -> InstructionPrompt | ShotsPrompt:
    """The same prompt with this part to be perturbed."""
    given: dict[str, Any] = {field.name: getattr(prompt, field.name) for field in fields(prompt)}
    return KINDS[part](**given)
