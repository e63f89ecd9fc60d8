"""How does a spec such as `drop_text:side=b+reverse` become broken texts?

A transformation is one registered part with its settings, or a chain of them joined by `+`. Every part also understands
`side=`, `words=` and `q=`, which are settled here and not in the parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from disorder.errors import BadSetting, DisorderError, DoesNotApply
from disorder.perturb._rows import untouched
from disorder.perturb.words import split
from disorder.registry import Part, part, parts
from disorder.rng import generator
from disorder.types import Example, Fidelity, Ints, Pair, Rows, Sentence, Task, Variants

NONE_EXISTS = "no other order of its words exists"
SIDES = ("a", "b", "both", "task", "last")


@dataclass(frozen=True)
class Step:
    """One part with its settings bound."""

    part: Part
    settings: Mapping[str, Any]
    side: str
    words: str | None
    q: int | None

    @property
    def spec(self) -> str:
        """Its canonical name: settings that differ from the defaults, in alphabetical order."""
        own = {name: value for name, value in self.settings.items() if value != self.part.settings[name]}
        shared = {"side": self.side, "words": self.words, "q": self.q}
        usual = {"side": self.part.facts["side"], "words": None, "q": None}
        own |= {name: value for name, value in shared.items() if value != usual[name]}
        return self.part.name + "".join(f"{':,'[i > 0]}{k}={v}" for i, (k, v) in enumerate(sorted(own.items())))

    @property
    def splitter(self) -> str:
        """The splitter it was asked for, or its paper's own, or the simple one."""
        fidelity = self.settings.get("fidelity", "paper")
        return self.words or self.part.facts["words"].get(fidelity, "simple")

    def count(self, q: int) -> int:
        """How many variants it draws when the run asks for q."""
        if self.part.facts["deterministic"]:
            return 1
        return self.q or min(q, self.part.facts["draws"] or q)

    def apply(self, pair: Pair, task: Task, count: int, seed: int, key: str) -> Variants:
        """Break one example."""
        function, settings = self.part.function, dict(self.settings)
        if self.part.facts["scope"] == "pair":
            if "side" in self.part.settings:
                settings["side"] = self.side
            broken: Variants = function(pair, generator(seed, self.spec, key), count, **settings)
            return broken
        rows: dict[str, Rows] = {}
        for side in self.sides(pair, task):
            sentence = pair.a if side == "a" else pair.b
            rows[side] = function(sentence, generator(seed, self.spec, key, side), count, **settings)
        second = None if pair.b is None else rows.get("b", untouched(pair.b))
        return Variants(rows.get("a", untouched(pair.a)), second)

    def sides(self, pair: Pair, task: Task) -> tuple[str, ...]:
        """Which texts of this example are broken."""
        if pair.b is None:
            if self.side == "b":
                raise DoesNotApply("there is no second text")
            return ("a",)
        return {"both": ("a", "b"), "task": (task.breaks,), "last": ("b",)}.get(self.side, (self.side,))


@dataclass(frozen=True)
class Transformation:
    """A chain of one or more steps."""

    steps: tuple[Step, ...]

    @cached_property
    def spec(self) -> str:
        """The canonical name, as run files record it."""
        return "+".join(step.spec for step in self.steps)

    @property
    def is_copy(self) -> bool:
        """Whether it copies one text into the other, so that agreement is with the default label."""
        return any(step.part.facts["copies"] for step in self.steps)

    @property
    def keeps_words(self) -> bool:
        """Whether it breaks nothing but order, so that word-order sensitivity can be asked."""
        return all(step.part.facts["keeps"].startswith("words") and not step.part.facts["copies"] for step in self.steps)

    @property
    def is_deterministic(self) -> bool:
        """Whether it has a single variant."""
        return all(step.part.facts["deterministic"] for step in self.steps)

    def splitter_for(self, task: Task) -> str:
        """How texts are cut into words: as the first step asks, but never at spaces where a language has none."""
        first = self.steps[0]
        return "simple" if task.language == "zh" and first.words is None and first.splitter == "spaces" else first.splitter

    def tried(self) -> Transformation:
        """Itself, after a try on one example: a bad setting shows before any data is read."""
        probe = Example("probe", "one two three four five six.", "seven eight nine ten eleven twelve.", "")
        with suppress(DoesNotApply):
            self.apply(probe, task=Task("probe"), q=1, seed=0)
        return self

    def broken_sides(self, task: Task, *, is_pair: bool) -> tuple[str, ...]:
        """Which texts of an example it breaks."""
        named = {"both": ("a", "b"), "task": (task.breaks,), "last": ("b",)}
        sides = {side for step in self.steps for side in named.get(step.side, (step.side,))}
        return tuple(sorted(sides)) if is_pair else ("a",)

    def count(self, q: int) -> int:
        """How many variants of an example it makes when the run asks for q."""
        return max(step.count(q) for step in self.steps)

    def apply(self, example: Example, *, task: Task, q: int, seed: int, short: str = "skip") -> Variants:
        """Break one example; raises `DoesNotApply` with the reason when that cannot be done."""
        words = self.splitter_for(task)
        second = None if example.text_b is None else split(example.text_b, words=words)
        pair, count = Pair(split(example.text_a, words=words), second), self.count(q)
        variants = self.steps[0].apply(pair, task, self.steps[0].count(q), seed, example.id)
        for number, step in enumerate(self.steps[1:], start=1):
            variants = _then(variants, step, task, count, seed, f"{example.id}\0{number}")
        return _enough(variants, count, short)


def _enough(variants: Variants, count: int, short: str) -> Variants:
    if len(variants) == 0:
        raise DoesNotApply(NONE_EXISTS if variants.available == 0 else "no order that keeps the rule was found")
    if len(variants) < count and short == "skip":
        known = variants.available
        how_many = f"{len(variants)} distinct variants were found" if known is None else f"{known} distinct variants exist"
        raise DoesNotApply(f"{how_many}, {count} asked for")
    return _cut(variants)


def _cut(variants: Variants) -> Variants:
    """Both sides with the same number of rows, where both have several."""
    a, *b = [rows if rows.is_shared else _replace(rows, rows.positions[: len(variants)]) for rows in variants.sides]
    return Variants(a, b[0] if b else None)


def _replace(rows: Rows, positions: Ints) -> Rows:
    return replace(rows, positions=positions)


def _then(variants: Variants, step: Step, task: Task, count: int, seed: int, key: str) -> Variants:
    """Apply a later step of a chain to every variant so far (or, if there is one so far, draw all from it)."""
    so_far = len(variants)
    if so_far == 0:
        raise DoesNotApply(NONE_EXISTS)
    broken = []
    for k in range(so_far):
        pair, a, b = _variant(variants, k)
        part_of = step.apply(pair, task, count if so_far == 1 else 1, seed, f"{key}\0{k}")
        broken.append([_compose(rows, pair, a, b) for rows in part_of.sides])
    a, *rest = [_stack(side) for side in zip(*broken, strict=True)]
    return Variants(a, rest[0] if rest else None)


def _variant(variants: Variants, k: int) -> tuple[Pair, Rows, Rows | None]:
    only = len(variants) == 1  # then it stands for every variant that a later step draws
    a, *rest = [
        replace(rows, positions=rows.positions[[0 if rows.is_shared else k]], is_shared=rows.is_shared or only)
        for rows in variants.sides
    ]
    b = rest[0] if rest else None
    return Pair(_view(a), None if b is None else _view(b)), a, b


def _view(rows: Rows) -> Sentence:
    return rows.sentence.select(rows.positions[0])


def _compose(after: Rows, pair: Pair, a: Rows, b: Rows | None) -> Rows:
    """Positions in the original sentence of what a later step chose from a view of it."""
    before = a if after.sentence is pair.a else b
    assert before is not None
    spaced, lowered = before.is_spaced_out or after.is_spaced_out, before.is_lowered or after.is_lowered
    positions = before.positions[0][after.positions]
    is_shared = before.is_shared and after.is_shared
    return Rows(before.sentence, positions, after.available, is_shared, spaced, lowered)


def _stack(rows: Sequence[Rows]) -> Rows:
    """One `Rows` of many."""
    if len({r.positions.shape[1] for r in rows}) > 1:
        raise DoesNotApply("its variants differ in length")
    first = rows[0]
    return first if first.is_shared else _replace(first, np.concatenate([r.positions for r in rows]))


def parse(spec: str, *, fidelity: Fidelity | None = None) -> Transformation:
    """The transformation a spec names; `fidelity` is used by every part that has one and was not told otherwise."""
    names = "|".join(map(re.escape, parts("transformation")))
    segments = re.split(rf"\+(?=(?:{names})(?:[:+]|$))", spec.strip())
    return Transformation(tuple(_step(segment, fidelity) for segment in segments))


def _step(segment: str, fidelity: Fidelity | None) -> Step:
    name, _, text = segment.partition(":")
    found = part("transformation", name)
    given = _settings(segment, text)
    given_names = set(given)
    shared = {key: given.pop(key, None) for key in ("side", "words", "q")}
    side = shared["side"] or found.facts["side"]
    if side not in SIDES or (name == "drop_text" and side not in "ab"):
        raise BadSetting(name, side=side, need=" or ".join(SIDES[: 2 if name == "drop_text" else None]))
    if "side" in given_names and found.facts["scope"] == "pair" and "side" not in found.settings:
        raise BadSetting(name, side=side, need="no side: it always takes both texts")
    if shared["words"]:
        part("words", shared["words"])
    if "fidelity" in found.settings and fidelity:
        given.setdefault("fidelity", fidelity)
    return Step(found, found.bind(given), side, shared["words"], _count(name, shared["q"]))


def _settings(segment: str, text: str) -> dict[str, str]:
    pairs = [item.partition("=") for item in text.split(",") if item]
    if any(not equals or not value for _, equals, value in pairs):
        raise DisorderError(f"transformation {segment!r}: write settings as name:key=value,key=value")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _count(name: str, q: str | None) -> int | None:
    if q is None:
        return None
    if not q.isdecimal() or int(q) < 1:
        raise BadSetting(name, q=q, need="a whole number of variants, 1 or more")
    return int(q)
