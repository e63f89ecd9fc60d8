"""Pairs that can only be decided by the order of their words.

Examples come in threes: one premise about A, B and C, and three hypotheses that are anagrams of one
another, one per label. Each hypothesis says something of two of the three and mentions the third in
passing, so that who stands where is all that differs, and a bag of words scores exactly one in
three.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import order_lexicon as lex
from .draw import Draw
from .made_example import MadeExample, MadeGroup
from .order_lexicon import Claim, Pattern
from .surface import n_words, sentence

MIN_WORDS = 8
MAX_PREMISE = 18
MAX_HYPOTHESIS = 15
LABELS = ("entailment", "neutral", "contradiction")


class Setup(NamedTuple):
    """What a triple is made of: three like entities, a premise, a hypothesis, and the other words
    of both.
    """

    entities: tuple[str, ...]
    premise: Pattern
    claim: Claim
    words: dict[str, str]


def triple(draw: Draw, *, phenomenon: str) -> MadeGroup:
    """Three pairs, one per label, that share their premise and the words of their hypotheses."""
    while True:
        setup = SETUPS[phenomenon](draw)
        entity = dict(zip("ABC", setup.entities, strict=True))
        premise = sentence(setup.premise.text.format(**setup.words, **entity))
        hypotheses = [_hypothesis(draw, setup, entity, label) for label in LABELS]
        if _fits(premise, MAX_PREMISE) and _fits(hypotheses[0], MAX_HYPOTHESIS):
            pairs = zip(hypotheses, LABELS, strict=True)
            return [
                MadeExample(premise, hypothesis, label, "order", phenomenon)
                for hypothesis, label in pairs
            ]


def _hypothesis(draw: Draw, setup: Setup, entity: dict[str, str], label: str) -> str:
    pattern = setup.premise.reversed() if setup.claim.opposite else setup.premise
    xy = draw.pick(pattern.reading(label))
    (z,) = set("ABC") - set(xy)
    return sentence(
        setup.claim.text.format(**setup.words, X=entity[xy[0]], Y=entity[xy[1]], Z=entity[z])
    )


def _fits(text: str, longest: int) -> bool:
    return MIN_WORDS <= n_words(text) <= longest


def _entities(draw: Draw, kind: str) -> tuple[str, ...]:
    chosen = draw.distinct(lex.ENTITIES[kind], 3)
    return tuple(chosen if kind == "names" else [f"the {noun}" for noun in chosen])


def _roles(draw: Draw) -> Setup:
    kind, verbs, places = draw.pick(lex.ROLE_WORLDS)
    words = dict(zip(("do", "did", "done"), draw.pick(verbs), strict=True))
    words |= {"when": draw.pick(lex.WHEN), "where": draw.pick(places)}
    is_human = kind in ("names", "people")
    words |= {"who": "who" if is_human else "that", "whom": "whom" if is_human else "that"}
    return Setup(
        _entities(draw, kind), draw.pick(lex.ROLE_PREMISES), draw.pick(lex.ROLE_HYPOTHESES), words
    )


def _before_after(draw: Draw) -> Setup:
    kind, verbs = draw.pick(lex.TIME_WORLDS)
    words = dict(zip(("did", "done"), draw.pick(verbs), strict=True)) | {
        "when": draw.pick(lex.WHEN)
    }
    return Setup(
        _entities(draw, kind), draw.pick(lex.TIME_PREMISES), draw.pick(lex.TIME_HYPOTHESES), words
    )


def _comparative(draw: Draw) -> Setup:
    kind, scales = draw.pick(lex.SCALE_WORLDS)
    scale = draw.pick(scales)
    words = (scale if draw.chance(0.5) else scale.opposite())._asdict() | {
        "source": draw.pick(lex.SOURCES)
    }
    return Setup(
        _entities(draw, kind), draw.pick(lex.SCALE_PREMISES), draw.pick(lex.SCALE_HYPOTHESES), words
    )


def _negation_scope(draw: Draw) -> Setup:
    return _thing_negation(draw) if draw.chance(0.5) else _deed_negation(draw)


def _deed_negation(draw: Draw) -> Setup:
    words = dict(zip(("do", "did"), draw.pick(lex.DEEDS), strict=True))
    words |= {"when": draw.pick(lex.WHEN), "where": draw.pick(lex.INDOORS)}
    entities = _entities(draw, draw.pick(lex.DOERS))
    return Setup(entities, draw.pick(lex.DEED_PREMISES), draw.pick(lex.DEED_HYPOTHESES), words)


def _thing_negation(draw: Draw) -> Setup:
    words = dict(zip(("do", "did", "done"), draw.pick(lex.HANDLINGS), strict=True))
    words |= {"when": draw.pick(lex.WHEN), "someone": draw.pick(lex.ENTITIES["names"])}
    return Setup(
        _entities(draw, "things"),
        draw.pick(lex.THING_PREMISES),
        draw.pick(lex.THING_HYPOTHESES),
        words,
    )


SETUPS: dict[str, Callable[[Draw], Setup]] = {
    "roles": _roles,
    "before_after": _before_after,
    "comparative": _comparative,
    "negation_scope": _negation_scope,
}
PHENOMENA = tuple(SETUPS)
