"""Pairs that can be decided by matching words, whatever their order.

The hypothesis is drawn before its label, so that it cannot give it away; the premise is then
written to fit. A premise entails by special words (poodle, dog), contradicts by one word that
excludes another (Monday, Friday), and leaves open what it does not mention. Every premise has
exactly one optional slot more than its hypothesis, whatever the label.
"""

from __future__ import annotations

from typing import NamedTuple

from . import lexicon as lex
from .draw import Draw
from .lexicon import Domain
from .made_example import MadeExample, MadeGroup
from .surface import article, join, n_words, sentence

MIN_WORDS = 8
MAX_PREMISE = 18
MAX_HYPOTHESIS = 14

ORIGIN = lex.with_preposition(lex.COUNTRIES, "in")
GOAL = lex.with_preposition(lex.COUNTRIES, "to")
CAUSE = lex.unrelated(lex.CAUSES)
HERD_FACT = lex.unrelated(lex.HERD_FACTS)

CHARACTER = (
    lex.YOUTH,
    lex.WEALTH,
    lex.FAME,
    lex.POLITENESS,
    lex.TEMPER,
    lex.COURAGE,
    lex.ENERGY,
    lex.THRIFT,
)
CALM = tuple(domain for domain in CHARACTER if domain is not lex.TEMPER)
TIME = (lex.WEEKDAY, lex.SEASON, lex.DAYPART)
EFFORT = (lex.SPEED, lex.CARE, lex.SKILL, lex.WILL, lex.SECRECY)
DEALING = (lex.SPEED, lex.WILL, lex.SECRECY)
MAKE = (lex.COLOUR, lex.SIZE, lex.NEWNESS, lex.PRICE, lex.WEIGHT, lex.BEAUTY, lex.STRENGTH)
GIFT = (lex.SIZE, lex.NEWNESS, lex.PRICE, lex.BEAUTY)
CONTENT = (lex.LENGTH, lex.EASE, lex.FUN)
INSIDE = (lex.VENUE, ORIGIN)
OUTSIDE = (lex.OUTDOORS, ORIGIN, lex.WEATHER)


class Frame(NamedTuple):
    """A kind of event: who can do it, what is done, to what, and which slots may be added."""

    verb: Domain
    thing: Domain | None
    looks: tuple[Domain, ...]
    manner: tuple[Domain, ...]
    setting: tuple[Domain, ...]
    who: tuple[Domain, ...] = (lex.PROFESSIONS, lex.FOLK)
    character: tuple[Domain, ...] = CHARACTER
    cause: tuple[Domain, ...] = (CAUSE, CAUSE, lex.COMPANY)


FRAMES = (
    Frame(lex.TRADE, lex.GOODS, MAKE, DEALING, INSIDE),
    Frame(lex.MENDING, lex.GOODS, MAKE, EFFORT, INSIDE),
    Frame(lex.LIKING, lex.SHOWS, CONTENT, (lex.SECRECY,), (ORIGIN,)),
    Frame(lex.CLEANING, lex.GOODS, MAKE, EFFORT, INSIDE),
    Frame(lex.MOVING, lex.GOODS, MAKE, EFFORT, INSIDE),
    Frame(lex.FINDING, lex.PARCELS, GIFT, (), INSIDE),
    Frame(lex.SENDING, lex.PARCELS, GIFT, (lex.WILL, lex.SECRECY), (ORIGIN,)),
    Frame(lex.BARTER, lex.PARCELS, GIFT, DEALING, INSIDE),
    Frame(lex.OPENING, lex.OPENINGS, (lex.COLOUR, lex.SIZE, lex.WEIGHT), EFFORT, INSIDE),
    Frame(lex.EATING, lex.FOODS, (lex.HEAT, lex.FRESHNESS, lex.SIZE), DEALING, INSIDE),
    Frame(
        lex.BUILDING,
        lex.BUILDINGS,
        (lex.SIZE, lex.PRICE, lex.BEAUTY, lex.STRENGTH),
        EFFORT,
        OUTSIDE,
    ),
    Frame(lex.GARDENING, lex.PLANTS, (lex.SIZE, lex.BEAUTY), EFFORT, OUTSIDE),
    Frame(lex.READING, lex.TEXTS, CONTENT, DEALING, INSIDE),
    Frame(lex.JUDGING, lex.SHOWS, CONTENT, (lex.SECRECY, lex.NOISE), (ORIGIN,)),
    Frame(lex.COMPETING, lex.CONTESTS, (lex.LENGTH, lex.EASE), (), OUTSIDE),
    Frame(lex.LEARNING, lex.STUDIES, (), (lex.WILL, lex.SECRECY), INSIDE),
    Frame(lex.PETTING, lex.PETS, (lex.COAT, lex.HUNGER), (lex.MOOD,), INSIDE, character=CALM),
    Frame(lex.TRAVELLING, GOAL, (), (lex.WILL, lex.SECRECY), (lex.WEATHER,)),
    Frame(lex.WALKING, None, (), (lex.MOOD, lex.NOISE), OUTSIDE, character=CALM),
    Frame(lex.PERFORMING, None, (), (lex.NOISE,), INSIDE),
    Frame(
        lex.GRAZING,
        None,
        (),
        (lex.NOISE,),
        OUTSIDE,
        (lex.ANIMALS,),
        (lex.COAT, lex.HUNGER, lex.YOUTH),
        (HERD_FACT,),
    ),
)
WITHOUT_ARTICLE = (lex.STUDIES, GOAL)


class Filling(NamedTuple):
    """The word in one slot, and where it stands in its domain."""

    domain: Domain
    line: int
    word: str


Scene = dict[str, Filling]
CORE = ("who", "verb", "thing")


def pair(draw: Draw, *, label: str) -> MadeGroup:
    """One pair with this label."""
    while True:
        frame, named = draw.pick(FRAMES), draw.chance(0.25)
        name = draw.pick(lex.NAMES) if named and frame.who[0] is lex.PROFESSIONS else ""
        options = _options(frame, name)
        chosen = draw.distinct(tuple(options), len(options))
        n = 2 + (len(options) > 4 and draw.chance(0.6))
        claim = _core(draw, frame, name) | {
            slot: _fill(draw, draw.pick(options[slot])) for slot in chosen[:n]
        }
        hypothesis = _write(draw, claim, name)
        if MIN_WORDS <= n_words(hypothesis) <= MAX_HYPOTHESIS:
            break
    extras = {slot: options[slot] for slot in chosen[n:]}
    premise, phenomenon = _premise(draw, claim, extras, name, label)
    return [MadeExample(premise, hypothesis, label, "words", phenomenon)]


def _options(frame: Frame, name: str) -> dict[str, tuple[Domain, ...]]:
    options = {
        "character": () if name else frame.character,
        "looks": frame.looks,
        "manner": frame.manner,
        "setting": frame.setting,
        "time": TIME,
        "cause": frame.cause,
    }
    return {slot: domains for slot, domains in options.items() if domains}


def _core(draw: Draw, frame: Frame, name: str) -> Scene:
    domains = {
        "who": None if name else draw.pick(frame.who),
        "verb": frame.verb,
        "thing": frame.thing,
    }
    return {slot: _fill(draw, domain) for slot, domain in domains.items() if domain}


def _fill(draw: Draw, domain: Domain) -> Filling:
    line = draw.below(len(domain.lines))
    head, specials = domain.lines[line]
    return Filling(domain, line, draw.pick(specials) if specials and draw.chance(0.5) else head)


def _premise(
    draw: Draw, claim: Scene, extras: dict[str, tuple[Domain, ...]], name: str, label: str
) -> tuple[str, str]:
    # Tried again for the same claim, so that a long premise is no reason to drop the hypothesis
    # with its label.
    while True:
        facts, phenomenon = _facts(draw, claim, label)
        n_extra = 2 if label == "neutral" else 1
        facts |= {
            slot: _fill(draw, draw.pick(extras[slot]))
            for slot in draw.distinct(tuple(extras), n_extra)
        }
        text = _write(draw, facts, name)
        if MIN_WORDS <= n_words(text) <= MAX_PREMISE:
            return text, phenomenon


def _facts(draw: Draw, claim: Scene, label: str) -> tuple[Scene, str]:
    facts = {slot: _specialise(draw, filling) for slot, filling in claim.items()}
    if label == "contradiction":
        slot = draw.pick([slot for slot in claim if not claim[slot].domain.unrelated])
        return facts | {slot: _exclude(draw, claim[slot])}, "exclusive"
    if label == "neutral":
        slot = draw.pick([slot for slot in claim if slot not in CORE])
        return {other: filling for other, filling in facts.items() if other != slot}, "extra"
    return facts, "dropped" if facts == claim else "hypernym"


def _specialise(draw: Draw, filling: Filling) -> Filling:
    head, specials = filling.domain.lines[filling.line]
    if filling.word != head or not specials or draw.chance(0.4):
        return filling
    return filling._replace(word=draw.pick(specials))


def _exclude(draw: Draw, filling: Filling) -> Filling:
    domain = filling.domain
    siblings = [word for word in domain.lines[filling.line][1] if word != filling.word]
    if (
        domain.specials_exclude
        and filling.word != domain.lines[filling.line][0]
        and siblings
        and draw.chance(0.5)
    ):
        return filling._replace(word=draw.pick(siblings))
    while True:
        other = _fill(draw, domain)
        if other.line != filling.line:
            return other


def _write(draw: Draw, scene: Scene, name: str) -> str:
    word = {slot: filling.word for slot, filling in scene.items()}
    who = name or _noun(draw, join(word.get("character", ""), word.get("who", "")))
    manner_first = draw.chance(0.5)
    first, last = (word.get("manner", ""), "") if manner_first else ("", word.get("manner", ""))
    front = draw.pick(("time", "setting", "", ""))
    tail = [word.get(slot, "") for slot in ("setting", "time", "cause") if slot != front]
    opening = f"{word[front]}," if front in word else ""
    return sentence(join(opening, who, first, word["verb"], _thing(draw, scene), last, *tail))


def _thing(draw: Draw, scene: Scene) -> str:
    if "thing" not in scene:
        return ""
    domain, _, noun = scene["thing"]
    if domain in WITHOUT_ARTICLE:
        return noun
    return _noun(draw, join(scene["looks"].word if "looks" in scene else "", noun))


def _noun(draw: Draw, phrase: str) -> str:
    return f"the {phrase}" if draw.chance(0.5) else article(phrase)
