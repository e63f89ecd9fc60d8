"""Open answers: how they are scored, and what a guess scores."""

from __future__ import annotations

from collections.abc import Sequence

from disorder.errors import UnknownName
from disorder.metrics.answer_match import MATCHES
from disorder.models.answering import GOLD, Match
from disorder.models.python import object_named
from disorder.requests.settings import Settings
from disorder.types import Example, listed_segment

USUAL = "f1"
SHIFTS = (1, 2, 3)  # to the questions whose answers are tried


def match_of(settings: Settings) -> Match:
    """How an open answer is scored: by name, or by a function of the user's."""
    name = settings.match or USUAL
    if name in MATCHES:
        return MATCHES[name]
    if ":" not in name:
        raise UnknownName("match", name, [*MATCHES, "FILE.py:FUNCTION"])
    found: Match = object_named(name.removeprefix("python:"))
    return found


def guessed_score(examples: Sequence[Example], match: Match) -> float:
    """What the answers to other questions score: the chance of open answers."""
    gold = [listed_segment(each.segments, GOLD) for each in examples]
    n = len(gold)
    scores = [
        match(gold[(i + shift) % n][0], gold[i]) for i in range(n) for shift in SHIFTS if shift % n
    ]
    return sum(scores) / len(scores) if scores else 0.0
