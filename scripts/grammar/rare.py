"""Rare but valid word orders: one statement in five orders, to see if a mitigation goes too far.

A model that learned to abstain on perturbed order should abstain on a passive or a cleft no more
often than on the plain order.
"""

from __future__ import annotations

from functools import partial

from . import order_lexicon as lex
from . import sentiment
from .draw import Draw
from .made_example import MadeExample, MadeGroup, Maker
from .surface import sentence

ORDERS = {
    "plain": "{A} {did} {B} {where}",
    "passive": "{B} was {done} by {A} {where}",
    "cleft": "it was {A} who {did} {B} {where}",
    "fronted": "{where}, {A} {did} {B}",
    "question": "who {did} {B} {where}? {A} did",
}
REVIEW_ORDERS = {
    "plain": "{part} of the {work} {verb} everyone in the hall {time}",
    "passive": "everyone in the hall was {verb} by {part} of the {work} {time}",
    "cleft": "it was {part} of the {work} that {verb} everyone in the hall {time}",
    "fronted": "{time}, {part} of the {work} {verb} everyone in the hall",
    "question": "what {verb} everyone in the hall {time}? {part} of the {work} did",
}


def nli_makers(block: int) -> list[Maker]:
    """Five pairs that share a premise; each second text says the same of it in another order."""
    return [statements]


def sentiment_makers(block: int) -> list[Maker]:
    """Five reviews with one verdict, a positive and a negative one in turn."""
    return [partial(reviews, label=label) for label in sentiment.LABELS]


def statements(draw: Draw) -> MadeGroup:
    """A premise in plain order, and what follows from it in five orders."""
    kind = draw.pick(("people", "names"))
    first, second = draw.distinct(lex.ENTITIES[kind], 2)
    words = dict(zip(("do", "did", "done"), draw.pick(lex.HUMAN_VERBS), strict=True))
    words |= {"where": draw.pick(lex.INDOORS), "when": draw.pick(lex.WHEN)}
    article = "" if kind == "names" else "the "
    words |= {"A": f"{article}{first}", "B": f"{article}{second}"}
    premise = sentence("{A} {did} {B} {where} {when}".format_map(words))
    return [
        MadeExample(premise, _said(order, words), "entailment", "words", name)
        for name, order in ORDERS.items()
    ]


def reviews(draw: Draw, *, label: str) -> MadeGroup:
    """One verdict in five orders."""
    words = {
        "part": draw.pick(sentiment.PARTS),
        "work": draw.pick(sentiment.WORKS),
        "time": draw.pick(sentiment.TIMES),
    }
    words["verb"] = draw.pick(sentiment.VERBS[label])
    return [
        MadeExample(_said(order, words), None, label, "words", name)
        for name, order in REVIEW_ORDERS.items()
    ]


def _said(order: str, words: dict[str, str]) -> str:
    """The sentence, or the question and its answer, each with its capital."""
    return " ".join(
        part[0].upper() + part[1:] if part.endswith("?") else sentence(part)
        for part in order.format_map(words).replace("? ", "?\n").split("\n")
    )
