"""A prompt bound to a task: what a language model is asked about a text, and what it may answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from disorder.models.outputs import softmax
from disorder.models.prompting.template import PromptTemplate
from disorder.types import Floats, PositionRows, Shots, Texts, Variants

BETWEEN = "\n\n"  # instruction, examples and text in a plain prompt
BEFORE_ANSWER = " "


@dataclass(frozen=True)
class Shot:
    """One example that is shown with its answer before the text."""

    texts: Texts
    label: str


@dataclass(frozen=True)
class Question:
    """One prompt, ready for a model: the same for plain and for chat models.

    `instruction` and `shots` (part and answer) are the same for all questions of a prompt and an
    order of its options; `item` is the part of the text that is asked about, and stands last.
    `listing` has the options in the order in which they are listed. `lead` is how the item begins,
    up to the second text of a pair, where that can be said.
    """

    instruction: str
    shots: Shots
    item: str
    options: tuple[str, ...]
    listing: tuple[str, ...] = ()
    lead: str = ""

    @property
    def text(self) -> str:
        """The prompt as plain text; an answer follows after a space."""
        return BETWEEN.join(part for part in (self.instruction, self.without_instruction) if part)

    @property
    def without_instruction(self) -> str:
        """The plain text of examples and item, for servers that take the instruction apart."""
        answered = [f"{item}{BEFORE_ANSWER}{answer}" for item, answer in self.shots]
        return BETWEEN.join([*answered, self.item])

    @property
    def segments(self) -> list[tuple[str, str]]:
        """Its parts with their names, which tell questions apart."""
        found = [("instruction", self.instruction)]
        for item, answer in self.shots:
            found += [("shot", item), ("answer", answer)]
        return [*found, ("item", self.item)]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as messages; the instruction opens the first, since not every model has a
        system role.
        """
        turns: list[dict[str, str]] = []
        for item, answer in self.shots:
            turns.append({"role": "user", "content": item})
            turns.append({"role": "assistant", "content": answer})
        turns.append({"role": "user", "content": self.item})
        first = turns[0]["content"]
        if self.instruction:
            turns[0]["content"] = f"{self.instruction}{BETWEEN}{first}"
        return turns


@dataclass(frozen=True)
class Prompt:
    """A template with the labels of a task, the words that stand for them, examples, and the orders
    in which the options are listed.

    `numbers` holds what the options mean where the task predicts a number; `labels` is empty then.
    `chat` says whether the chat template of a model is used: "on", "off", or "auto" where it has
    one.
    """

    template: PromptTemplate
    labels: tuple[str, ...]
    words: tuple[str, ...]
    is_pair: bool
    numbers: tuple[float, ...] = ()
    shots: tuple[Shot, ...] = ()
    orders: tuple[tuple[int, ...], ...] = ()
    calibrates: bool = False
    chat: str = "auto"

    @property
    def name(self) -> str:
        """How the user calls it."""
        return self.template.name

    @property
    def empty(self) -> Texts:
        """The text that has no content, for calibration."""
        return "", "" if self.is_pair else None

    @cached_property
    def listings(self) -> tuple[tuple[str, ...], ...]:
        """The options as they are listed, once per order."""
        orders = self.orders or (tuple(range(len(self.words))),)
        return tuple(tuple(self.words[i] for i in order) for order in orders)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that can change a prediction."""
        return blake2b(json.dumps(self.contents).encode(), digest_size=16).hexdigest()

    @property
    def contents(self) -> list[Any]:
        """All that can change a prediction."""
        shots = [[*shot.texts, shot.label] for shot in self.shots]
        content: list[Any] = [type(self).__name__, self.template.source, self.labels, self.words]
        return [*content, self.numbers, shots, self.listings, self.calibrates, self.chat]

    def row_of(self, question: Question, scores: Floats) -> Floats:
        """The scores of a question's options, one for each label."""
        return scores

    def questions(self, texts: Sequence[Texts]) -> list[Question]:
        """The questions about some texts, all orders of the options of a text in turn."""
        lead_of: Callable[[str, tuple[str, ...]], str] = _no_lead
        if self.is_pair:
            lead_of = lru_cache(maxsize=None)(self.template.lead)
        return [
            Question(
                instruction,
                shots,
                self.template.item(each, listing),
                self.words,
                listing,
                lead_of(each[0], listing),
            )
            for each in texts
            for listing, (instruction, shots) in zip(self.listings, self.openings, strict=True)
        ]

    @cached_property
    def openings(self) -> list[tuple[str, Shots]]:
        """Instruction and shots, once per order of the options."""
        return [
            (self.template.instruction(listing), self._shown(listing)) for listing in self.listings
        ]

    def _shown(self, listing: Sequence[str]) -> Shots:
        return tuple(
            (self.template.item(shot.texts, listing), self.word_of(shot.label))
            for shot in self.shots
        )

    def word_of(self, label: str) -> str:
        """The word that stands for a gold label; for a number that of the nearest option."""
        if self.numbers:
            nearest = int(np.abs(np.array(self.numbers) - float(label)).argmin())
            return self.words[nearest]
        return self.words[self.labels.index(label)]

    def by_order(self, scores: Floats, empty: Floats | None = None) -> Floats:
        """Probabilities of the options from their log-probabilities: text × order × option.

        `scores` has one row per question, `empty` those of the empty text, which are subtracted.
        A row of −∞ only (an abstention) gives zeros.
        """
        found = scores.reshape(-1, len(self.listings), len(self.words))
        if empty is not None:
            found = found - empty.reshape(1, len(self.listings), len(self.words))
        rows = found.reshape(-1, len(self.words))
        is_none = np.isneginf(rows).all(axis=1, keepdims=True)
        probabilities = np.where(is_none, 0.0, softmax(np.where(is_none, 0.0, rows)))
        return probabilities.reshape(found.shape)

    def predictions(self, probabilities: Floats) -> Floats:
        """Predictions from probabilities of the options in each order: their mean over orders, as
        probabilities of the labels or as an expected number.
        """
        mean = np.asarray(probabilities.mean(axis=1))
        if not self.numbers:
            return mean
        return np.asarray(mean @ np.array(self.numbers))[:, None]


def _no_lead(first: str, options: tuple[str, ...]) -> str:
    """Single texts have nothing before them that other texts share."""
    return ""


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
