"""Polarity of the most important word: does it tell the label? Out of Order §3.4.1 and Table A3.

A lexicon is data like any other: words in `text_a`, and as labels `positive` and `negative`, or
numbers whose sign is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from disorder.data import stream
from disorder.errors import BadData
from disorder.metrics import share
from disorder.results.result import Figure, Row, Table
from disorder.types import Score
from disorder.verbs.explain.chart_style import colours, domain, intervals, name, number, offset
from disorder.verbs.explain.result import bounds, said

POLARITIES = ("positive", "negative")


def read_lexicon(spec: str, data_dir: str | None) -> dict[str, str]:
    """Polarity by word, ignoring case; words listed as both, or with the number 0, are left out."""
    found: dict[str, set[str]] = {}
    _, reader, examples = stream(spec, data_dir=data_dir)
    for example in examples:
        polarity = _polarity(spec, example.label)
        if polarity:
            found.setdefault(example.text("a").casefold(), set()).add(polarity)
    known = {word: polarity.pop() for word, polarity in found.items() if len(polarity) == 1}
    if set(known.values()) != set(POLARITIES):
        left = "".join(
            f"; left out: {count:,} ({reason})" for reason, count in reader.skipped.items()
        )
        raise BadData(
            f"lexicon={spec}: need words labelled positive and words labelled negative "
            f"(−1 counts as no label){left}"
        )
    return known


def _polarity(spec: str, label: str) -> str:
    if label.lower() in POLARITIES:
        return label.lower()
    try:
        value = float(label)
    except ValueError:
        raise BadData(
            f"lexicon={spec}: label {label!r}; need positive, negative, or a number"
        ) from None
    if value == 0:
        return ""
    return "positive" if value > 0 else "negative"


def polarities(
    title: str,
    tops: Sequence[str],
    gold: Sequence[str],
    known: Mapping[str, str],
    labels: Sequence[str],
) -> tuple[list[Figure], Table, dict[str, Score]]:
    """How often the word that weighs most is in the lexicon, and the label of its polarity."""
    found = np.array([known.get(word.casefold(), "") for word in tops])
    scores = {"found": share(found != "")}
    rows: list[Row] = []
    for polarity in POLARITIES:
        held = np.array(gold)[found == polarity]
        for label in labels if len(held) else ():
            score = share(held == label)
            scores[f"{label} | {polarity}"] = score
            rows.append({"top word": polarity, "label": label, **bounds(score)})
    words = [
        {"top word": word, "polarity": polarity, "label": label}
        for word, polarity, label in zip(tops, found.tolist(), gold, strict=True)
    ]
    caption = "The word that weighs most and its polarity in the lexicon."
    table = Table(f"{title}_lexicon", caption, words)
    return _figure(title, rows, labels), table, scores


def polarity_finding(scores: Mapping[str, Score]) -> str:
    """The likeliest label after each polarity, and how many words were found."""
    parts = [f"{said(scores['found'])} of these words are in the lexicon"]
    for polarity in POLARITIES:
        given = {key: score for key, score in scores.items() if key.endswith(f" | {polarity}")}
        if given:
            key = max(given, key=lambda each: given[each].value)
            parts.append(f"P({key}) = {said(given[key])}")
    return ", ".join(parts)


def _figure(title: str, rows: list[Row], labels: Sequence[str]) -> list[Figure]:
    if not rows:
        return []
    x = name("top word", POLARITIES, "polarity of the word that weighs most")
    y = number("value", "P(label | polarity)", domain(0, 1))
    layers = intervals(x, y, colours("label", labels, marks="point") | offset("label", labels))
    caption = (
        "Which gold label goes with the polarity of the single word that weighs most, with 95 % "
        "intervals."
    )
    return [Figure(f"{title}_polarity", caption, rows, {"layer": layers, "width": 320})]
