"""Recover: can a language model put scrambled words back into order?

A model that can restore a text knows its order; whether it uses that knowledge when it predicts is
another question, which the audit asks.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import average, share
from disorder.registry import explanation
from disorder.results.result import Table
from disorder.transformations.rendering import variant_texts
from disorder.transformations.words import split
from disorder.verbs.explain.head_matching import rapidfuzz, spoken
from disorder.verbs.explain.result import Explained, said
from disorder.verbs.explain.subject import Subject

REQUEST = (
    "The words of a text are in the wrong order. Put them back into the right order, and write "
    "only the text.\n\nWords: {scrambled}\nText:"
)
ROOM = 4  # tokens that an answer may have per word


@explanation(
    asks="Can the model put the words back into order?",
    needs="a language model that writes text, rapidfuzz",
    calls=lambda subject, n: {"texts to restore": min(n, len(subject.examples))},
)
def recover(subject: Subject, *, n: int = 50) -> Explained:
    """Ask a language model to restore scrambled texts, and measure the share of the edit distance
    that it removes.
    """
    if n < 2:
        raise BadSetting("recover", n=n, need="2 or more")
    pairs = _scrambled(subject, n)
    requests = [REQUEST.format(scrambled=scrambled) for _, scrambled in pairs]
    room = [ROOM * max(1, len(original.split())) for original, _ in pairs]
    answers = subject.model.generate(requests, max_tokens=room)
    apart = np.array([distance(original, scrambled) for original, scrambled in pairs])
    left = np.array(
        [distance(original, answer) for (original, _), answer in zip(pairs, answers, strict=True)]
    )
    removed = average(1 - left / apart)
    exact = share(left == 0)
    rows = [
        {"original": original, "scrambled": scrambled, "answer": answer, "distance": int(d)}
        for (original, scrambled), answer, d in zip(pairs, answers, left, strict=True)
    ]
    finding = (
        f"of the edit distance between scrambled and original text the model removes "
        f"{said(removed)} (negative: it adds to it); {said(exact)} of the texts are restored "
        "exactly, case and punctuation aside"
    )
    table = Table(
        "recover",
        f"Texts under {subject.transformation}, and what the model makes of "
        "them; the distance is in words.",
        rows,
    )
    return Explained(finding, tables=[table], scores={"removed": removed, "exact": exact})


def _scrambled(subject: Subject, n: int) -> list[tuple[str, str]]:
    """Original and scrambled texts that differ, one per example."""
    side = 0 if subject.task.breaks == "a" or not subject.is_pairs else 1
    found: list[tuple[str, str]] = []
    made = subject.variants(subject.transformation, q=1)
    for example, variants in zip(subject.examples, made, strict=True):
        if isinstance(variants, Exception):
            continue
        original = str(example.texts[side])
        scrambled = str(variant_texts(variants)[0][side])
        if distance(original, scrambled):
            found.append((original, scrambled))
    if len(found) < 2:
        raise NothingToMeasure(f"{subject.transformation} changes the order of too few texts")
    return found[:n]


def distance(text: str, other: str) -> int:
    """Words to insert, delete or replace; case and punctuation do not count."""
    levenshtein = rapidfuzz("recover").distance.Levenshtein
    found: int = levenshtein.distance(spoken(split(text)), spoken(split(other)))
    return found
