"""A prompt bound to a task: what a language model is asked about a text, and what it may answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from disorder.models.outputs import softmax
from disorder.models.prompting.template import SYSTEM, PromptTemplate
from disorder.types import (
    SHOTS,
    Floats,
    Segment,
    Segments,
    Shots,
    Texts,
    listed_segment,
    text_segments,
)

BETWEEN = "\n\n"  # instruction, examples and text in a plain prompt
BEFORE_ANSWER = " "


@dataclass(frozen=True)
class Shot:
    """One example that is shown with its answer before the text."""

    texts: Texts
    label: str
    more: Segments = field(default_factory=dict)  # what else a template uses

    @property
    def segments(self) -> Segments:
        """All that a template can use."""
        return {**self.more, **text_segments(self.texts)}


@dataclass(frozen=True)
class Question:
    """One prompt, ready for a model: the same for plain and for chat models.

    `instruction` and `shots` (part and answer) are the same for all questions of a prompt and an
    order of its options; `item` is the part of the text that is asked about, and stands last.
    `listing` has the options in the order in which they are listed. `lead` is how the item begins,
    up to the second text of a pair, where that can be said. `system` is the message of the system
    role, where there is one.
    """

    instruction: str
    shots: Shots
    item: str
    options: tuple[str, ...]
    listing: tuple[str, ...] = ()
    lead: str = ""
    system: str = ""

    @property
    def opening(self) -> tuple[object, ...]:
        """What questions about many texts share."""
        return self.system, self.instruction, self.shots

    @property
    def text(self) -> str:
        """The prompt as plain text; an answer follows after a space."""
        return BETWEEN.join(part for part in (self.told, self.without_instruction) if part)

    @property
    def told(self) -> str:
        """System message and instruction as one text."""
        return BETWEEN.join(part for part in (self.system, self.instruction) if part)

    @property
    def without_instruction(self) -> str:
        """The plain text of examples and item, for servers that take the instruction apart."""
        answered = [f"{item}{BEFORE_ANSWER}{answer}" for item, answer in self.shots]
        return BETWEEN.join([*answered, self.item])

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as messages; the instruction opens the first turn of the user, since not every
        model has a system role.
        """
        turns: list[dict[str, str]] = []
        for item, answer in self.shots:
            turns.append({"role": "user", "content": item})
            turns.append({"role": "assistant", "content": answer})
        turns.append({"role": "user", "content": self.item})
        first = turns[0]["content"]
        if self.instruction:
            turns[0]["content"] = f"{self.instruction}{BETWEEN}{first}"
        return [{"role": SYSTEM, "content": self.system}, *turns] if self.system else turns

    @property
    def without_system(self) -> Question:
        """The same for a model that has no system role: its message opens the instruction."""
        return replace(self, instruction=self.told, system="")


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
        shots = [[*shot.texts, shot.label, *shot.more.items()] for shot in self.shots]
        content: list[Any] = [type(self).__name__, self.template.source, self.labels, self.words]
        return [*content, self.numbers, shots, self.listings, self.calibrates, self.chat]

    def row_of(self, question: Question, scores: Floats) -> Floats:
        """The scores of a question's options, one for each label."""
        return scores

    def questions(self, texts: Sequence[Texts]) -> list[Question]:
        """The questions about some texts, all orders of the options of a text in turn."""
        return self.questions_about([text_segments(each) for each in texts])

    def questions_about(self, inputs: Sequence[Segments]) -> list[Question]:
        """The same for inputs of named segments; one may bring another instruction or other
        examples than the prompt has, or its own part as it is to be read.
        """
        lead_of: Callable[[str, tuple[str, ...]], str] = _no_lead
        if self.is_pair:
            lead_of = lru_cache(maxsize=None)(self.template.lead)
        openings = list(zip(self.listings, self.openings, strict=True))
        return [
            replace(
                self.asked(each, instruction, shots, listing),
                lead="" if "item" in each else lead_of(str(each.get("text_a", "")), listing),
            )
            for each in inputs
            for listing, (instruction, shots) in openings
        ]

    def asked(
        self, given: Segments, instruction: str, shots: Shots, listing: tuple[str, ...]
    ) -> Question:
        """The question about one input under one order of the options."""
        return Question(
            str(given.get("instruction", instruction)),
            _pairs(given[SHOTS]) if SHOTS in given else shots,
            str(given["item"]) if "item" in given else self.item(given, listing),
            self.options_of(given),
            () if "item" in given else listing,
            system=str(given.get(SYSTEM) or self.template.system(listing)),
        )

    def item(self, given: Segments, listing: Sequence[str]) -> str:
        """What is said of one input."""
        return self.template.item(given, listing)

    def options_of(self, given: Segments) -> tuple[str, ...]:
        """What may be answered about one input."""
        return self.words

    @cached_property
    def openings(self) -> list[tuple[str, Shots]]:
        """Instruction and shots, once per order of the options."""
        return [
            (self.template.instruction(listing), self._shown(listing)) for listing in self.listings
        ]

    def _shown(self, listing: Sequence[str]) -> Shots:
        return tuple(
            (self.template.item(shot.segments, listing), self.word_of(shot.label))
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


class AnswerPrompt(Prompt):
    """A prompt whose answers are open; of an example the first gold answer is shown."""

    def _shown(self, listing: Sequence[str]) -> Shots:
        return tuple(
            (self.template.item(shot.more, listing), listed_segment(shot.more, "answers")[0])
            for shot in self.shots
        )


def _no_lead(first: str, options: tuple[str, ...]) -> str:
    """Single texts have nothing before them that other texts share."""
    return ""


def _pairs(shots: Segment) -> Shots:
    """Examples with their answers from a list in which they take turns."""
    return tuple(zip(shots[::2], shots[1::2], strict=True))
