"""Parsing: from a spec such as `drop_pos:tags=NOUN+reverse` to a transformation.

A transformation is one registered part with its settings, or a chain of them joined by `+`. Every
part also takes `side=`, `words=` and `q=` (and `tagger=` where it needs word classes, `unit=` and
`sentences=` where it moves words about), which are settled here and not in the parts.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from disorder.errors import BadSetting
from disorder.registry import SplitterPart, TaggerPart, TransformationPart, part, parts
from disorder.specs import parse_part, spec_name, split_chain
from disorder.transformations.applying.step import FROM_CONTEXT, PIECES, PUNKT, UNITS, Step
from disorder.transformations.applying.transformation import Transformation
from disorder.transformations.words import NATURAL
from disorder.types import CONTROL_OF, Fidelity

SINGLE_SIDES = ("a", "b")
SIDES = (*SINGLE_SIDES, "both", "task", "last")
SHARED = ("side", "words", "q", "tagger", "unit", "sentences")
SENTENCES = ("icu", PUNKT)


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
    if "fidelity" in found.settings and fidelity:
        _settle_fidelity(name, given, fidelity)
    return Step(
        found,
        settings=found.bind(given),
        side=_side(found, shared["side"]),
        words=shared["words"],
        q=_count(name, shared["q"]),
        tagger=_tagger(found, shared["tagger"]),
        unit=_unit(found, shared["unit"], shared["words"]),
        sentences=_sentences(found, shared["unit"], shared["sentences"]),
    )


def _settle_fidelity(name: str, given: dict[str, str], fidelity: Fidelity) -> None:
    """Fill in the fidelity of a run where the spec of a part does not say."""
    if fidelity != NATURAL:
        given.setdefault("fidelity", fidelity)
    elif given.get("fidelity") == NATURAL:
        del given["fidelity"]
    elif given.get("fidelity") == "paper":
        # its name would be that of the natural one
        raise BadSetting(name, fidelity="paper", need="a run of its own with --fidelity paper")


def _side(found: TransformationPart, given: str | None) -> str:
    side: str = given or found.side
    allowed = SINGLE_SIDES if found.name == "drop_text" else SIDES
    if side not in allowed:
        raise BadSetting(found.name, side=side, need=" or ".join(allowed))
    if given and found.scope == "pair" and "side" not in found.settings:
        raise BadSetting(found.name, side=side, need="no side: it always takes both texts")
    return side


def _tagger(found: TransformationPart, given: str | None) -> str | None:
    if given:
        part(TaggerPart, spec_name(given))
        if "tags" not in found.needs:
            raise BadSetting(
                found.name, tagger=given, need="no tagger: it does not look at word classes"
            )
    return given


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


def _count(name: str, q: str | None) -> int | None:
    if q is None:
        return None
    if not q.isdecimal() or int(q) < 1:
        raise BadSetting(name, q=q, need="a whole number of variants, 1 or more")
    return int(q)
