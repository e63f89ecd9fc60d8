"""Prompts whose instruction or examples are perturbed, while the text that is asked about stays.

Such an audit takes pairs of texts: first the part of the prompt that is perturbed, then the
question about one example as it stands in the prompt. Everything else is as for any pair of texts;
only the examples of a prompt are a list and no text, whose units reach the prompt as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from disorder.models.prompting.prompt import Prompt, Question
from disorder.types import PositionRows, Shots, Texts, Variants


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
    """A prompt whose examples are perturbed: a variant holds each and its answer in turn."""

    @property
    def part(self) -> str:
        """The examples as they are, for people to read."""
        return "\n".join(f"{item} {answer}" for item, answer in self.openings[0][1])

    def questions(self, texts: Sequence[Texts]) -> list[Question]:
        """One question per pair, after the examples as they are."""
        instruction, shots = self.openings[0]
        return [Question(instruction, shots, str(b), self.words) for _, b in texts]

    def perturbed_questions(self, variants: Sequence[Variants]) -> list[Question]:
        """One question per variant, after the examples that it holds."""
        instruction, _ = self.openings[0]
        return [
            Question(instruction, shots, each.b.sentence.text, self.words)
            for each in variants
            if each.b is not None
            for shots in _shots(each.a)
        ]


def _shots(rows: PositionRows) -> Iterator[Shots]:
    """The examples of each variant."""
    units = rows.sentence.words
    for positions in rows.positions.tolist():
        chosen = [units[i] for i in positions]
        yield tuple(zip(chosen[::2], chosen[1::2], strict=True))


KINDS: dict[str, type[InstructionPrompt | ShotsPrompt]] = {
    "instruction": InstructionPrompt,
    "shots": ShotsPrompt,
}


def perturbed_part(prompt: Prompt, part: str) -> InstructionPrompt | ShotsPrompt:
    """The same prompt with this part to be perturbed."""
    given: dict[str, Any] = {field.name: getattr(prompt, field.name) for field in fields(prompt)}
    return KINDS[part](**given)
