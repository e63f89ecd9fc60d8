"""A parsed transformation, and how it perturbs examples.

Texts are cut into words, given what the transformation must know of them (word classes,
importance), and perturbed step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from disorder.errors import BadSetting, DisorderError, DoesNotApply
from disorder.languages import language_name
from disorder.transformations.applying.chain import enough, then, where_one_can_move
from disorder.transformations.positions.orders_within_groups import items_sentence, shots_sentence
from disorder.transformations.rendering import NO_TEXT
from disorder.transformations.surface_control import control_of
from disorder.transformations.tags import named_or_usual, tagged_units
from disorder.transformations.words import (
    BREAKING_WORDS,
    LONGER,
    NATURAL,
    PIECES,
    PUNKT,
    TOKENS,
    default_splitter,
    fits,
    is_for_another,
    sentence_of,
    split,
    token_sentence,
)
from disorder.transformations.words.punkt import LANGUAGES
from disorder.types import (
    CONTROL_OF,
    SHOTS,
    TEXT_NAMES,
    Context,
    Example,
    Floats,
    Pair,
    Segment,
    Sentence,
    Task,
    Texts,
    TokenUnit,
    Variants,
)

if TYPE_CHECKING:
    from disorder.transformations.applying.parsing import Step

PROBE = ("one two three four five six.", "seven eight nine ten eleven twelve.")
OF_MODEL = (PIECES, TOKENS)


@dataclass(frozen=True)
class Transformation:
    """A chain of one or more steps.

    `usual_words` is the splitter for texts where neither user nor paper names one, if it shall not
    be that of the language: a run that is read again has the one it began with. `is_control` makes
    of its first variant the surface control: the words in their order, with the damage that moving
    them does.
    """

    steps: tuple[Step, ...]
    usual_words: str = ""
    is_control: bool = False

    @cached_property
    def spec(self) -> str:
        """The canonical name, as run files record it."""
        chain = "+".join(step.spec for step in self.steps)
        return f"{CONTROL_OF}{chain}" if self.is_control else chain

    @cached_property
    def needs(self) -> frozenset[str]:
        """What it must know besides the text."""
        cut = {step.splitter for step in self.steps} & set(OF_MODEL)
        return frozenset().union(cut, *(step.needs for step in self.steps))

    @property
    def needs_context(self) -> bool:
        """Whether its texts cannot be drawn again from the original text and the seed alone."""
        return bool(self.needs - {"tags"})

    def check_makes_texts(self) -> None:
        """Raise where it moves the token numbers of a model, so that there is no perturbed text."""
        if TOKENS in self.needs:
            raise DisorderError(f"{self.spec}: {NO_TEXT}")

    @property
    def is_copy(self) -> bool:
        """Whether it copies one text into the other: agreement is then with the default label."""
        return any(step.part.copies for step in self.steps)

    @property
    def keeps_words(self) -> bool:
        """Whether it changes nothing but order, so that word-order sensitivity can be measured."""
        return not self.is_control and all(
            step.part.keeps_words and step.unit not in BREAKING_WORDS for step in self.steps
        )

    @property
    def is_deterministic(self) -> bool:
        """Whether it has a single variant."""
        return self.is_control or all(step.part.deterministic for step in self.steps)

    @property
    def is_natural(self) -> bool:
        """Whether all that is glued to a word moves with it, and white space stays."""
        is_named = any(step.settings.get("fidelity") == NATURAL for step in self.steps)
        return is_named or self.usual_words.endswith(NATURAL)

    def splitter_for(self, task: Task) -> str:
        """How texts are cut: as the user says, as a step that needs more wants, or as the first."""
        named = [step for step in self.steps if step.words or step.unit]
        particular = [step for step in self.steps if step.needs & {"tags", "importance"}]
        first = (named or particular or self.steps)[0]
        name = first.splitter
        language = task.language
        if name in OF_MODEL:
            return name
        if name == PUNKT:
            if language not in LANGUAGES:
                known = f"sentences=icu for {language_name(language)}: Punkt does not know it"
                raise BadSetting(named[0].part.name, sentences=name, need=known)
            return f"{name}:{language}"
        if named and is_for_another(name, language):
            raise BadSetting(
                named[0].part.name,
                words=name,
                need=f"a splitter for {language_name(language)}, such as words=icu "
                "(disorder list words)",
            )
        if first.unit in LONGER and self.is_natural:
            return f"{name}:{NATURAL}"
        is_own = not self.is_natural or first.moves != "word"
        if name and (named or (fits(name, language) and is_own)):
            return name
        if language == "zh" and "tags" in self.needs:
            return default_splitter(language, for_tags=True)
        if self.is_natural:
            return NATURAL
        return self.usual_words or default_splitter(language)

    def tagger_for(self, task: Task) -> str:
        """The tagger of word classes: the one named or the usual one; raises on none."""
        step = next(step for step in self.steps if "tags" in step.needs)
        return named_or_usual(step.tagger or "", task.language, step.part.tagger)

    def tried(self, language: str | None = None) -> Transformation:
        """Itself, after a try on one example: a bad setting or a missing package shows before any
        data is read.

        Without a language (None: it is found out when data is read) no tagger is tried.
        """
        if language is None and "tags" in self.needs:
            a, b = map(split, PROBE)  # without a tagger every word is a noun
            a, b = (replace(each, tags=np.full(len(each), "NOUN")) for each in (a, b))
            with suppress(DoesNotApply):
                self._perturbed("probe", Pair(a, b), Task("probe"), 1, 0, "use", _Trial())
            return self
        names = TEXT_NAMES if self.steps[0].is_on_texts else self.steps[0].on
        probe = Example("probe", dict(zip(names, PROBE, strict=False)), "", on=names)
        with suppress(DoesNotApply):
            self.apply(
                probe, task=Task("probe", language=language or "en"), q=1, seed=0, context=_Trial()
            )
        return self

    def perturbed_sides(self, task: Task, *, is_pair: bool) -> tuple[str, ...]:
        """Which texts of an example it perturbs."""
        if task.kind == "pair":
            return ("a", "b")
        named = {"both": ("a", "b"), "task": (task.breaks,), "last": ("b",)}
        sides = {side for step in self.steps for side in named.get(step.side, (step.side,))}
        return tuple(sorted(sides)) if is_pair else ("a",)

    def count(self, q: int) -> int:
        """How many variants per example it makes in a run with q of them."""
        return 1 if self.is_control else self._n_drawn(q)

    def _n_drawn(self, q: int) -> int:
        return max(step.count(q) for step in self.steps)

    def apply(
        self,
        example: Example,
        *,
        task: Task,
        q: int,
        seed: int,
        short: str = "skip",
        context: Context | None = None,
    ) -> Variants:
        """Perturb one example; raises `DoesNotApply` with the reason where it cannot be done."""
        [perturbed] = self.apply_all(
            [example], task=task, q=q, seed=seed, short=short, context=context
        )
        if isinstance(perturbed, DoesNotApply):
            raise perturbed
        return perturbed

    def apply_all(
        self,
        examples: Sequence[Example],
        *,
        task: Task,
        q: int,
        seed: int,
        short: str = "skip",
        context: Context | None = None,
    ) -> Iterator[Variants | DoesNotApply]:
        """Perturb many examples, their needs found at once; or the reason why one cannot be."""
        for example, pair in zip(examples, self._pairs(examples, task, context), strict=True):
            try:
                if isinstance(pair, DoesNotApply):
                    raise pair
                found = self._perturbed(example.id, pair, task, q, seed, short, context)
                yield replace(found, segments=example.segments, on=pair.names)
            except DoesNotApply as reason:
                yield reason

    def _perturbed(
        self,
        key: str,
        pair: Pair,
        task: Task,
        q: int,
        seed: int,
        short: str,
        context: Context | None,
    ) -> Variants:
        count = self._n_drawn(q)

        def cut(text: str) -> Sentence:
            return self._cut(text, self.splitter_for(task), context)

        variants = self.steps[0].apply(pair, task, self.steps[0].count(q), seed, key, context)
        if self.is_natural:
            variants = where_one_can_move(variants)
        for number, step in enumerate(self.steps[1:], start=1):
            wanted = count if len(variants) == 1 else 1

            def apply(
                view: Pair, k: int, step: Step = step, number: int = number, wanted: int = wanted
            ) -> Variants:
                return step.apply(view, task, wanted, seed, f"{key}\0{number}\0{k}", context)

            variants = then(variants, apply, cut)
        units = f"{self.steps[0].moves}s".replace("char", "character")
        found = enough(variants, count, short, units)
        return control_of(found) if self.is_control else found

    def _cut(self, text: str, words: str, context: Context | None) -> Sentence:
        if words != PIECES:
            return split(text, words=words)
        return sentence_of(text, self._given(context).pieces(text))

    def _pairs(
        self, examples: Sequence[Example], task: Task, context: Context | None
    ) -> Sequence[Pair | DoesNotApply]:
        """The examples cut into words, with word classes and importance where a step needs them;
        the reason where a model does not show its tokens of one.
        """
        words = self.splitter_for(task)
        if words == TOKENS:
            return [self._token_pair(example, context) for example in examples]
        cut = partial(self._cut, words=words, context=context)
        found = [self._pair(example, cut) for example in examples]
        pairs = iter(self._informed([p for p in found if isinstance(p, Pair)], task, context))
        return [next(pairs) if isinstance(each, Pair) else each for each in found]

    def _informed(
        self, pairs: Sequence[Pair], task: Task, context: Context | None
    ) -> Sequence[Pair]:
        """The same with word classes and importance, where a step needs them."""
        if "tags" in self.needs:
            sentences = [side for pair in pairs for side in pair.sides]
            tags = iter(tagged_units(sentences, tagger=self.tagger_for(task)))
            pairs = [
                replace(pair, a=next(tags), b=None if pair.b is None else next(tags))
                for pair in pairs
            ]
        if "importance" in self.needs:
            weights = self._given(context).importance(pairs)
            pairs = [_weighed(pair, found) for pair, found in zip(pairs, weights, strict=True)]
        return pairs

    def segment_names(self, example: Example) -> tuple[str, ...]:
        """The one or two segments of an example that it looks at; raises where one is not there."""
        named = self.steps[0].on
        if self.steps[0].is_on_texts and (not named or example.on == TEXT_NAMES):
            return tuple(name for name in example.on if name in example.segments)
        for name in named:
            if name not in example.segments:
                raise DoesNotApply(f"it has no {name}")
        return named

    def _pair(self, example: Example, cut: Callable[[str], Sentence]) -> Pair | DoesNotApply:
        """The segments that it looks at as sentences: words of texts, or items of lists."""
        try:
            names = self.segment_names(example)
            a, *b = [self._sentence(name, example.segments[name], cut) for name in names]
        except DoesNotApply as reason:
            return reason
        return Pair(a, b[0] if b else None, example.label, names)

    def _sentence(self, name: str, given: Segment, cut: Callable[[str], Sentence]) -> Sentence:
        if isinstance(given, str):
            return cut(given)
        if self.needs & {"tags", "importance"}:
            raise DoesNotApply(f"{name} is a list: its items have no word classes or importance")
        if name == SHOTS:
            return shots_sentence(tuple(zip(given[::2], given[1::2], strict=True)))
        return items_sentence(given)

    @property
    def moves_options(self) -> bool:
        """Whether it draws the order of options anew for each variant, the original one among all:
        what an answer follows is known from such orders only, not from deranged ones.
        """
        return len(self.steps) == 1 and self.steps[0].part.perturbs == "options"

    def applied_on(self, names: Sequence[str]) -> Transformation:
        """The same on these segments, unless it names its own."""
        return replace(self, steps=tuple(step.applied_on(names) for step in self.steps))

    def _token_pair(self, example: Example, context: Context | None) -> Pair | DoesNotApply:
        texts = [text for text in example.texts if text is not None]
        try:
            units = self._given(context).token_units(example.texts)
        except DoesNotApply as reason:
            return reason
        a, *b = map(token_sentence, texts, units)
        return Pair(a, b[0] if b else None, example.label, example.on)

    def _given(self, context: Context | None) -> Context:
        if context is None:
            raise DisorderError(
                f"{self.spec} needs a model, for its tokens or for which words matter, and none is "
                "given"
            )
        return context


def _weighed(pair: Pair, importance: Sequence[Floats]) -> Pair:
    a, *b = [
        replace(side, importance=found) for side, found in zip(pair.sides, importance, strict=True)
    ]
    return replace(pair, a=a, b=b[0] if b else None)


class _Trial:
    """The context of a transformation that is only tried."""

    def token_units(self, texts: Texts) -> list[list[TokenUnit]]:
        return [
            [(*span, (i,)) for i, span in enumerate(self.pieces(text))]
            for text in texts
            if text is not None
        ]

    def pieces(self, text: str) -> list[tuple[int, int]]:
        sentence = split(text)
        return list(zip(sentence.starts.tolist(), sentence.ends.tolist(), strict=True))

    def importance(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        return [[np.arange(len(side), dtype=np.float64) for side in pair.sides] for pair in pairs]

    def vocabulary(self) -> Sequence[str]:
        return ["word"]

    def training(self, spec: str) -> Iterator[Example]:
        raise DoesNotApply("it is only tried")
