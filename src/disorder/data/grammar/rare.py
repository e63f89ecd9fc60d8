"""Which word orders are rare but valid? One statement in five orders, to ask a cure whether it
refuses good English.

A model that learned to refuse broken order should refuse a passive or a cleft no more often than
the plain order.
"""

from __future__ import annotations

from functools import partial

from . import order_lexicon as lex
from . import sentiment
from .draw import Draw
from .example import Example, Group, Maker
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
    """Five reviews of one verdict, a kind one and an unkind one in turn."""
    return [partial(reviews, label=label) for label in sentiment.LABELS]


def statements(draw: Draw) -> Group:
    """A premise in plain order, and what follows from it in five orders."""
    kind = draw.pick(("people", "names"))
    first, second = draw.distinct(lex.ENTITIES[kind], 2)
    words = dict(zip(("do", "did", "done"), draw.pick(lex.HUMAN_VERBS), strict=True))
    words |= {"where": draw.pick(lex.INDOORS), "when": draw.pick(lex.WHEN)}
    words |= (
        {"A": first, "B": second}
        if kind == "names"
        else {"A": f"the {first}", "B": f"the {second}"}
    )
    premise = sentence("{A} {did} {B} {where} {when}".format_map(words))
    return [
        Example(premise, _said(order, words), "entailment", "words", name)
        for name, order in ORDERS.items()
    ]


def reviews(draw: Draw, *, label: str) -> Group:
    """One verdict in five orders."""
    words = {
        "part": draw.pick(sentiment.PARTS),
        "work": draw.pick(sentiment.WORKS),
        "time": draw.pick(sentiment.TIMES),
    }
    words["verb"] = draw.pick(sentiment.VERBS[label])
    return [
        Example(_said(order, words), None, label, "words", name)
        for name, order in REVIEW_ORDERS.items()
    ]


def _said(order: str, words: dict[str, str]) -> str:
    """The sentence, or the question and its answer, each with its capital."""
    return " ".join(
        part[0].upper() + part[1:] if part.endswith("?") else sentence(part)
        for part in order.format_map(words).replace("? ", "?\n").split("\n")
    )
