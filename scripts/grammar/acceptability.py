"""Acceptability of sentences: half is decided by a word form, half by the order of the words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from . import acceptability_lexicon as lex
from .draw import Draw
from .lexicon import NAMES
from .made_example import MadeExample, MadeGroup, Maker
from .surface import join, n_words, sentence

MIN_WORDS = 8
LABELS = ("acceptable", "unacceptable")

# A sentence as (phrase, tag): determiner D, adjective J, noun N, auxiliary X, verb V, adverb R,
# preposition P, time T.
Tagged: TypeAlias = list[tuple[str, str]]


def makers(block: int) -> list[Maker]:
    """One text per label that a word form decides, and one pair of anagrams; errors take turns."""
    forms, orders = tuple(FORMS), tuple(MISORDERS)
    by_form: list[Maker] = [
        partial(form, label=label, phenomenon=forms[block % len(forms)]) for label in LABELS
    ]
    return [*by_form, partial(anagrams, phenomenon=orders[block % len(orders)])]


def form(draw: Draw, *, label: str, phenomenon: str) -> MadeGroup:
    """One text with a right or a wrong word form."""
    while True:
        text = sentence(FORMS[phenomenon](draw, LABELS.index(label)))
        if n_words(text) >= MIN_WORDS:
            return [MadeExample(text, None, label, "words", phenomenon)]


def anagrams(draw: Draw, *, phenomenon: str) -> MadeGroup:
    """An acceptable sentence and a misordered one of the same words."""
    while True:
        tagged = _tagged(draw)
        misordered = MISORDERS[phenomenon](draw, tagged)
        texts = [sentence(join(*(phrase for phrase, _ in each))) for each in (tagged, misordered)]
        if n_words(texts[0]) >= MIN_WORDS and misordered != tagged:
            pairs = zip(texts, LABELS, strict=True)
            return [MadeExample(text, None, label, "order", phenomenon) for text, label in pairs]


def _person(draw: Draw) -> str:
    if draw.chance(0.4):
        return draw.pick(NAMES)
    return join("the", draw.pick(lex.KINDS) if draw.chance(0.5) else "", draw.pick(lex.WHO))


def _scene(draw: Draw) -> str:
    return join(draw.pick(lex.WHERE), draw.pick(lex.WHEN))


# Each form takes wrong = 0 or 1 and writes the sentence with the right or the wrong form.


def _past(draw: Draw, wrong: int) -> str:
    *forms, rest = draw.pick(lex.PASTS)
    return join(_person(draw), forms[wrong], rest, _scene(draw))


def _plural(draw: Draw, wrong: int) -> str:
    noun = draw.pick(lex.PLURALS)[wrong]
    return join(
        draw.pick(lex.NUMBERS[:-1]),
        draw.pick(("", *lex.KINDS)),
        noun,
        draw.pick(lex.CROWD_ACTS),
        _scene(draw),
    )


def _number(draw: Draw, wrong: int) -> str:
    things = join(draw.pick(lex.NUMBERS), draw.pick(lex.LOOKS), draw.pick(lex.COUNTED)[wrong])
    return join(_person(draw), draw.pick(lex.GETTING), things, _scene(draw))


def _comparison(draw: Draw, wrong: int) -> str:
    this, that = draw.distinct(lex.COMPARED, 2)
    verb = draw.pick(("is", "was", "looked", "seemed"))
    return join(
        this, verb, draw.pick(lex.COMPARISONS)[wrong], "than", that, draw.pick(lex.VERDICTS)
    )


def _agreement(draw: Draw, wrong: int) -> str:
    one = draw.below(2)
    who = join(
        draw.pick(("this", "that") if one else ("these", "those")),
        draw.pick(lex.KINDS),
        draw.pick(lex.WHO),
    )
    verb = draw.pick(lex.ACTIONS)[1 - one if wrong else one]
    return join(who if one else who + "s", verb, draw.pick(lex.WHERE), draw.pick(lex.HABITS))


def _auxiliary(draw: Draw, wrong: int) -> str:
    *forms, rest = draw.pick(lex.FORMS)
    return join(_person(draw), draw.pick(lex.AUXILIARIES), forms[wrong], rest, draw.pick(lex.WHERE))


def _pronoun(draw: Draw, wrong: int) -> str:
    things = join("the", draw.pick(lex.LOOKS), draw.pick(lex.COUNTED)[draw.below(2)])
    deed = join(draw.pick(lex.PRONOUNS)[wrong], draw.pick(lex.GETTING), things)
    return join(draw.pick(lex.WHEN) + ",", deed, draw.pick(lex.WHERE))


def _amount(draw: Draw, wrong: int) -> str:
    verb = draw.pick(("saw", "noticed", "expected", "needed", "found", "wanted"))
    return join(_person(draw), "never", verb, draw.pick(lex.AMOUNTS)[wrong], _scene(draw))


FORMS: dict[str, Callable[[Draw, int], str]] = {
    "past_form": _past,
    "plural_form": _plural,
    "number": _number,
    "comparison_form": _comparison,
    "agreement": _agreement,
    "auxiliary_form": _auxiliary,
    "pronoun_case": _pronoun,
    "amount": _amount,
}


def _tagged(draw: Draw) -> Tagged:
    base, past, objects = draw.pick(lex.EVENTS)
    auxiliary, verb = draw.pick((("", past), ("will", base), ("must", base), ("should", base)))
    subject = (
        [(draw.pick(NAMES), "N")]
        if draw.chance(0.3)
        else _noun(draw, draw.pick(lex.WHO), lex.KINDS)
    )
    thing = _noun(draw, draw.pick(objects.split()), lex.LOOKS)
    place = [(draw.pick(lex.PREPOSITIONS), "P"), ("the", "D"), (draw.pick(lex.SPOTS), "N")]
    how = [(draw.pick(lex.HOW), "R")] if draw.chance(0.5) else []
    when = [(draw.pick(lex.WHEN), "T")] if not auxiliary else []
    return [
        *subject,
        *([(auxiliary, "X")] if auxiliary else []),
        *how,
        (verb, "V"),
        *thing,
        *place,
        *when,
    ]


def _noun(draw: Draw, noun: str, adjectives: tuple[str, ...]) -> Tagged:
    adjective = [(draw.pick(adjectives), "J")] if draw.chance(0.5) else []
    return [(draw.pick(lex.DETERMINERS), "D"), *adjective, (noun, "N")]


def _move(tagged: Tagged, start: int, end: int) -> Tagged:
    rest = tagged[:start] + tagged[start + 1 :]
    return [*rest[:end], tagged[start], *rest[end:]]


def _positions(tagged: Tagged, tag: str) -> list[int]:
    return [i for i, (_, each) in enumerate(tagged) if each == tag]


def _noun_before_determiner(draw: Draw, tagged: Tagged) -> Tagged:
    start = draw.pick(_positions(tagged, "D"))
    end = next(i for i in _positions(tagged, "N") if i > start)
    return _move(tagged, start, end)


def _verb_first(draw: Draw, tagged: Tagged) -> Tagged:
    return _move(tagged, _positions(tagged, "V")[0], 0)


def _verb_last(draw: Draw, tagged: Tagged) -> Tagged:
    return _move(tagged, _positions(tagged, "V")[0], len(tagged) - 1)


def _preposition_last(draw: Draw, tagged: Tagged) -> Tagged:
    start = _positions(tagged, "P")[0]
    return _move(tagged, start, start + 2)


def _verb_in_object(draw: Draw, tagged: Tagged) -> Tagged:
    start = _positions(tagged, "V")[0]
    return _move(tagged, start, start + 1)


def _scramble(draw: Draw, tagged: Tagged) -> Tagged:
    # A determiner before anything but an adjective or a noun is what makes sure of the damage.
    while True:
        mixed = draw.distinct(tagged, len(tagged))
        following = zip(mixed, [*mixed[1:], ("", "")], strict=True)
        if any(tag == "D" and after not in ("J", "N") for (_, tag), (_, after) in following):
            return mixed


MISORDERS: dict[str, Callable[[Draw, Tagged], Tagged]] = {
    "noun_before_determiner": _noun_before_determiner,
    "verb_first": _verb_first,
    "preposition_last": _preposition_last,
    "verb_in_object": _verb_in_object,
    "scramble": _scramble,
    "verb_last": _verb_last,
}
