"""Parsing: from a spec such as `drop_pos:tags=NOUN+reverse` to a transformation.

A transformation is one registered part with its settings, or a chain of them joined by `+`. Every
part also takes `on=` (the segments that it perturbs; `side=` as of old), `words=` and `q=` (and
`tagger=` where it needs word classes, `unit=` and `sentences=` where it moves words about), which
are decided here and not in the parts. A suite is a named set of specs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

from disorder.errors import BadSetting, DoesNotApply, UnknownName
from disorder.randomness import generator
from disorder.registry import SplitterPart, TaggerPart, TransformationPart, part, parts
from disorder.specs import format_part, parse_part, spec_name, split_chain
from disorder.transformations.applying.transformation import Transformation
from disorder.transformations.positions.orders import unchanged
from disorder.transformations.words import NATURAL, PIECES, PUNKT, UNITS
from disorder.types import (
    CONTROL_OF,
    OF_SIDES,
    ORIGINAL,
    TEXT_NAMES,
    Context,
    Fidelity,
    Pair,
    PositionRows,
    Sentence,
    Task,
    Variants,
)

SINGLE_SIDES = ("a", "b")
SIDES = (*SINGLE_SIDES, "both", "task", "last")
SIDES_OF = {on: side for side, on in OF_SIDES.items()}
SHARED = ("on", "side", "words", "q", "tagger", "unit", "sentences")
SENTENCES = ("icu", PUNKT)
FROM_CONTEXT = {"vocabulary", "training data"}  # needs that a function takes from its context
# NLI Data Sanity Check (Talman et al., 2021): the classes that are dropped one by one, and what
# else is dropped or kept
SINGLE = ("NOUN", "VERB", "PRON", "ADJ", "ADV", "CONJ", "NUM", "DET")
KEPT = ("NOUN+PRON+VERB", "NOUN+ADV+VERB", "NOUN+VERB", "NOUN+VERB+ADJ", "NOUN+VERB+ADV+ADJ")
CLASSES = [
    *(f"drop_pos:tags={tag}" for tag in (*SINGLE, "NOUN+PRON")),
    *(f"keep_pos:tags={tags}" for tags in KEPT),
]
DOSES = [f"derange:share={share}" for share in (0.25, 0.5, 0.75)]
DECLARED = {
    "classes": CLASSES,
    "full": CLASSES,
    "alldrop": [ORIGINAL, *CLASSES[: len(SINGLE)]],
    "ladder": DOSES,
}


def parse(spec: str, *, fidelity: Fidelity | None = None, usual_words: str = "") -> Transformation:
    """The transformation that a spec names; `fidelity` is the one of every part whose spec does not
    say, `usual_words` the splitter where neither the spec nor a paper names one.

    A run that is natural has specs without a word of it: they say what is done, and the splitter
    that the run keeps says how texts are cut and written.
    """
    if spec.startswith(CONTROL_OF):
        chosen = parse(spec.removeprefix(CONTROL_OF), fidelity=fidelity, usual_words=usual_words)
        return replace(chosen, is_control=True)
    segments = split_chain(spec, parts(TransformationPart))
    steps = tuple(_step(segment, fidelity) for segment in segments)
    for before, after in combinations(steps, 2):
        if before.needs & FROM_CONTEXT and after.needs & {"tags", "importance"}:
            raise BadSetting(
                after.part.name,
                after=before.part.name,
                need="to come first: it is about the words of the original text",
            )
    if (
        len({step.on for step in steps if not step.is_on_texts})
        + any(step.is_on_texts for step in steps)
        > 1
    ):
        raise BadSetting(spec, need="steps on the same segment: on= with each of them")
    if len({step.moves for step in steps}) > 1:
        units = ", ".join(step.moves for step in steps)
        raise BadSetting(spec, units=units, need="steps that move the same unit")
    is_released = any(step.settings.get("fidelity") == "released" for step in steps)
    is_natural = fidelity == NATURAL and not is_released
    return Transformation(steps, usual_words or (NATURAL if is_natural else ""))


def _step(segment: str, fidelity: Fidelity | None) -> Step:
    name, given = parse_part(segment, kind="transformation")
    found = part(TransformationPart, name)
    shared = {key: given.pop(key, None) for key in SHARED}
    if shared["words"] and shared["words"] != PIECES:
        part(SplitterPart, shared["words"])
    if tagger := shared["tagger"]:
        part(TaggerPart, spec_name(tagger))
        if "tags" not in found.needs:
            need = "no tagger: it does not look at word classes"
            raise BadSetting(name, tagger=tagger, need=need)
    q = shared["q"]
    if q is not None and (not q.isdecimal() or int(q) < 1):
        raise BadSetting(name, q=q, need="a whole number of variants, 1 or more")
    if "fidelity" in found.settings and fidelity:  # of a run, where the spec does not say
        if fidelity != NATURAL:
            given.setdefault("fidelity", fidelity)
        elif given.get("fidelity") == NATURAL:
            del given["fidelity"]
        elif given.get("fidelity") == "paper":
            # its name would be that of the natural one
            raise BadSetting(name, fidelity="paper", need="a run of its own with --fidelity paper")
    settings = found.bind(given)
    on = _on(found, shared["on"], shared["side"])
    return Step(
        found,
        settings=settings,
        side=_side(found, SIDES_OF.get(on) or shared["side"]),
        on=on,
        words=shared["words"],
        q=None if q is None else int(q),
        tagger=shared["tagger"],
        unit=_unit(found, shared["unit"], shared["words"]),
        sentences=_sentences(found, shared["unit"], shared["sentences"]),
    )


def _on(found: TransformationPart, given: str | None, side: str | None) -> tuple[str, ...]:
    """The segments that a spec names; none where it leaves that to the part, or says `side=`."""
    if given is None:
        return () if found.perturbs == "words" else (found.perturbs,)
    names = tuple(
        sorted(given.split("+")) if set(given.split("+")) <= set(TEXT_NAMES) else given.split("+")
    )
    if side is not None:
        raise BadSetting(found.name, on=given, side=side, need="one of the two")
    if not 0 < len(set(names)) == len(names) <= 2 or not all(names):
        raise BadSetting(found.name, on=given, need="one segment, or two joined by +")
    if found.scope == "pair" and names not in SIDES_OF:
        raise BadSetting(found.name, on=given, need="no such segment: it is about a pair of texts")
    return () if SIDES_OF.get(names) == found.side else names


def _side(found: TransformationPart, given: str | None) -> str:
    side: str = given or found.side
    allowed = SINGLE_SIDES if found.name == "drop_text" else SIDES
    if side not in allowed:
        raise BadSetting(found.name, side=side, need=" or ".join(allowed))
    if given and found.scope == "pair" and "side" not in found.settings:
        raise BadSetting(found.name, side=side, need="no side: it always takes both texts")
    return side


def _unit(found: TransformationPart, given: str | None, words: str | None) -> str | None:
    """The unit that is moved; None for words."""
    if given is None or given == "word":
        return None
    if given not in UNITS:
        raise BadSetting(found.name, unit=given, need=" or ".join(["word", *UNITS]))
    if not found.units:
        raise BadSetting(found.name, unit=given, need="no unit: it is about words")
    if words:
        raise BadSetting(found.name, unit=given, words=words, need="one of the two")
    return given


def _sentences(found: TransformationPart, unit: str | None, given: str | None) -> str | None:
    """Who finds sentences, where they are moved; None for Unicode's rules."""
    if given is None:
        return None
    if unit != "sentence":
        raise BadSetting(found.name, sentences=given, need="unit=sentence beside it")
    if given not in SENTENCES:
        raise BadSetting(found.name, sentences=given, need=" or ".join(SENTENCES))
    return None if given == SENTENCES[0] else given


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
    on: tuple[str, ...] = ()  # the segments that the user names; none: as `side` says

    def applied_on(self, names: Sequence[str]) -> Step:
        """The same on these segments, unless it names its own."""
        if self.on or self.side != self.part.side:
            return self
        on = _on(self.part, "+".join(names), None)
        return replace(self, on=on, side=_side(self.part, SIDES_OF.get(on)))

    @property
    def is_on_texts(self) -> bool:
        """Whether it is about the texts that the task perturbs."""
        return not self.on or self.on in SIDES_OF

    @cached_property
    def spec(self) -> str:
        """Its canonical name: settings that differ from the defaults, in alphabetical order."""
        usual = () if self.part.perturbs == "words" else (self.part.perturbs,)
        on = "+".join(self.on) if self.on != usual else ""
        return self._written(self.part.name, {"on": on} if on else {"side": self._unusual_side})

    @cached_property
    def drawn_as(self) -> str:
        """The name that its draws are keyed by: settings that do not change them are left out."""
        where = {"side": self._unusual_side}
        return self._written(self.part.drawn_as or self.part.name, where, self.part.nested)

    @property
    def _unusual_side(self) -> str | None:
        return None if self.side == self.part.side else self.side

    def _written(
        self, name: str, where: Mapping[str, str | None], without: Sequence[str] = ()
    ) -> str:
        usual = self.part.settings
        shown = self.part.shows
        own = {
            name: value
            for name, value in self.settings.items()
            if (value != usual[name] or name in shown) and name not in without
        }
        own |= {name: usual[name] for name in shown if name not in own}
        elsewhere = ("on", "side")
        shared = {name: getattr(self, name) for name in SHARED if name not in elsewhere}
        shared |= dict(where)
        own |= {name: value for name, value in shared.items() if value is not None}
        return format_part(name, own)

    @property
    def splitter(self) -> str:
        """The splitter that was named, or that of the unit, or the paper's; else empty."""
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
        settings = dict(self.settings)
        more = (context,) if self.needs & FROM_CONTEXT else ()

        def drawn(given: Pair | Sentence | None, *side: str) -> Any:
            rng = generator(seed, self.drawn_as, key, *side)
            return self.part.function(given, rng, count, *more, **settings)

        if self.part.scope == "pair":
            if "side" in self.part.settings:
                settings["side"] = self.side
            perturbed: Variants = drawn(pair)
            return replace(perturbed, label=pair.label)
        sides = self.sides(pair, task)
        # a better and a worse text of as many units get the same orders: what differs between
        # them is then what differed before
        is_alike = task.kind == "pair" and len(sides) == 2 and len(pair.a) == len(pair.b or ())
        rows: dict[str, PositionRows] = {}
        for side in sides:
            rows[side] = drawn(pair.a if side == "a" else pair.b, side)
            is_first = side == "a" and rows[side].written is None
            if is_alike and is_first and pair.b is not None:
                return Variants(rows["a"], replace(rows["a"], sentence=pair.b), pair.label)
        second = None if pair.b is None else rows.get("b", unchanged(pair.b))
        return Variants(rows.get("a", unchanged(pair.a)), second, pair.label)

    def sides(self, pair: Pair, task: Task) -> tuple[str, ...]:
        """Which texts of this example are perturbed."""
        if not self.is_on_texts:
            return ("a", "b")[: len(pair.sides)]
        if pair.b is None:
            if self.side == "b":
                raise DoesNotApply("there is no second text")
            return ("a",)
        if task.kind == "pair" and self.side in ("task", "last"):
            return ("a", "b")
        return {"both": ("a", "b"), "task": (task.breaks,), "last": ("b",)}.get(
            self.side, (self.side,)
        )


def suites() -> list[str]:
    """The names of all suites."""
    return sorted(
        {name for entry in parts(TransformationPart).values() for name in entry.suites}
        | set(DECLARED)
    )


def suite(name: str) -> list[str]:
    """The transformations of a suite, as specs."""
    if name not in suites():
        raise UnknownName("suite", name, suites())
    specs = []
    for key, entry in parts(TransformationPart).items():
        if name in entry.suites:
            specs += [f"{key}:{setting}" for setting in entry.sweep] or [key]
    return specs + DECLARED.get(name, [])
