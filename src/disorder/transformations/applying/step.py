"""Steps of a transformation: one part of it each, with its settings bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from disorder.errors import DoesNotApply
from disorder.randomness import generator
from disorder.registry import TransformationPart
from disorder.specs import format_part
from disorder.transformations.positions.single_rows import unchanged
from disorder.types import (
    Context,
    Pair,
    PositionRows,
    Task,
    Variants,
)

PIECES = "pieces"  # the words are the audited model's own tokens
TOKENS = "tokens"  # the units are token numbers, which reach the model without becoming a text
UNITS = {
    "char": "characters",
    "subword": PIECES,
    "token": TOKENS,
    "sentence": "sentences",
    "line": "lines",
}  # what is moved → the splitter that finds it
PUNKT = "punkt"  # the other way to find sentences
BREAKING_WORDS = ("char", "subword", "token")  # units that leave no word whole
LONGER = ("sentence", "line")  # units of whole words, with white space between them
FROM_CONTEXT = {"vocabulary", "training data"}  # needs that a function takes from its context


@dataclass(frozen=True)
class Step:
    """One part with its settings bound."""

    part: TransformationPart
    settings: Mapping[str, Any]
    side: str
    words: str | None
    q: int | None
    tagger: str | None = None
    unit: str | None = None
    sentences: str | None = None

    @cached_property
    def spec(self) -> str:
        """Its canonical name: settings that differ from the defaults, in alphabetical order."""
        return self._written(self.part.name)

    @cached_property
    def drawn_as(self) -> str:
        """The name that its draws are keyed by: settings that do not change them are left out."""
        return self._written(self.part.drawn_as or self.part.name, without=self.part.nested)

    def _written(self, name: str, *, without: Sequence[str] = ()) -> str:
        usual = self.part.settings
        shown = self.part.shows
        own = {
            name: value
            for name, value in self.settings.items()
            if (value != usual[name] or name in shown) and name not in without
        }
        own |= {name: usual[name] for name in shown if name not in own}
        usual_side = None if self.side == self.part.side else self.side
        shared = {
            "side": usual_side,
            "words": self.words,
            "q": self.q,
            "tagger": self.tagger,
            "unit": self.unit,
            "sentences": self.sentences,
        }
        own |= {name: value for name, value in shared.items() if value is not None}
        return format_part(name, own)

    @property
    def splitter(self) -> str:
        """The splitter the user named, or the one of the unit, or the paper's own; empty for that
        of the language.
        """
        if self.unit:
            return self.sentences or UNITS[self.unit]
        fidelity = self.settings.get("fidelity", "paper")
        return self.words or self.part.words.get(fidelity, "")

    @cached_property
    def needs(self) -> frozenset[str]:
        """What it must know besides the text."""
        return frozenset(self.part.needs)

    @property
    def moves(self) -> str:
        """The unit that it is about: char, subword, token, sentence, line or word."""
        return self.unit or ("char" if self.splitter == UNITS["char"] else "word")

    def count(self, q: int) -> int:
        """How many variants it draws in a run with q variants per example."""
        if self.part.deterministic:
            return 1
        return self.q or min(q, self.part.draws or q)

    def apply(
        self, pair: Pair, task: Task, count: int, seed: int, key: str, context: Context | None
    ) -> Variants:
        """Perturb one example."""
        function = self.part.function
        settings = dict(self.settings)
        if self.needs & FROM_CONTEXT:
            function = partial(_call_with_context, function, context)
        if self.part.scope == "pair":
            if "side" in self.part.settings:
                settings["side"] = self.side
            rng = generator(seed, self.drawn_as, key)
            perturbed: Variants = function(pair, rng, count, **settings)
            return replace(perturbed, label=pair.label)
        rows: dict[str, PositionRows] = {}
        sides = self.sides(pair, task)
        if task.kind == "pair" and len(sides) == 2 and len(pair.sides[0]) == len(pair.sides[1]):
            return self._alike(pair, count, seed, key, function, settings)
        for side in sides:
            sentence = pair.a if side == "a" else pair.b
            rows[side] = function(
                sentence, generator(seed, self.drawn_as, key, side), count, **settings
            )
        second = None if pair.b is None else rows.get("b", unchanged(pair.b))
        return Variants(rows.get("a", unchanged(pair.a)), second, pair.label)

    def _alike(
        self,
        pair: Pair,
        count: int,
        seed: int,
        key: str,
        function: Any,
        settings: Mapping[str, Any],
    ) -> Variants:
        """Both texts of a better and a worse one in the same orders, where they have as many units:
        what differs between them is then what differed before.
        """
        first: PositionRows = function(
            pair.a, generator(seed, self.drawn_as, key, "a"), count, **settings
        )
        assert pair.b is not None
        if first.written is not None:
            rng = generator(seed, self.drawn_as, key, "b")
            return Variants(first, function(pair.b, rng, count, **settings), pair.label)
        return Variants(first, replace(first, sentence=pair.b), pair.label)

    def sides(self, pair: Pair, task: Task) -> tuple[str, ...]:
        """Which texts of this example are perturbed."""
        if pair.b is None:
            if self.side == "b":
                raise DoesNotApply("there is no second text")
            return ("a",)
        if task.kind == "pair" and self.side in ("task", "last"):
            return ("a", "b")
        return {"both": ("a", "b"), "task": (task.breaks,), "last": ("b",)}.get(
            self.side, (self.side,)
        )


def _call_with_context(
    function: Any,
    context: Context | None,
    perturbed: Any,
    rng: np.random.Generator,
    count: int,
    **settings: Any,
) -> Any:
    return function(perturbed, rng, count, context, **settings)
