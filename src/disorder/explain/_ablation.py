"""Does the model need these heads? Accuracy without them, beside that without as many drawn at random (OOO Table 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from disorder.explain._result import Figure, Row, bounds
from disorder.explain._style import colours, domain, intervals, name, number
from disorder.explain._subject import Subject
from disorder.measure import share
from disorder.predict import Head, answers_without, n_heads
from disorder.rng import generator
from disorder.types import Bools, Example, Floats, Ints, Score

WITHOUT, RANDOM = "without the matching heads", "without random heads"
KINDS = (WITHOUT, RANDOM)


def ablation(
    subject: Subject, examples: Sequence[Example], gold: Ints, heads: Sequence[Head], sets: Mapping[str, Ints], draws: int
) -> tuple[Figure, dict[str, Score]]:
    """Accuracy on each set of examples (all answered right by the whole model), without these heads and without random ones."""
    right = np.array(list(_asked(subject, examples, gold, [heads, *random_heads(subject, heads, draws)])))
    scores: dict[str, Score] = {}
    for title, places in sets.items():
        scores[f"{title}, {WITHOUT}"] = share(right[0, places])
        scores[f"{title}, {RANDOM}"] = spread(right[1:, places].mean(axis=1), len(places))
    rows: list[Row] = [
        {"examples": title, "model": kind, **bounds(scores[f"{title}, {kind}"])} for title in sets for kind in KINDS
    ]
    return _figure(rows, list(sets), len(heads), draws), scores


def random_heads(subject: Subject, heads: Sequence[Head], draws: int) -> list[list[Head]]:
    """As many heads drawn at random, from the others where there are enough of them."""
    layers, width = n_heads(subject.model)
    every = [(layer, head) for layer in range(layers) for head in range(width)]
    others = [each for each in every if each not in set(heads)]
    pool = others if len(others) >= len(heads) else every
    rng = generator(subject.settings.seed, "heads", "random")
    return [[pool[i] for i in sorted(rng.choice(len(pool), len(heads), replace=False).tolist())] for _ in range(draws)]


def spread(accuracies: Floats, n: int) -> Score:
    """The mean over draws, and where 95 % of the draws lie."""
    value = float(accuracies.mean())
    low, high = np.percentile(accuracies, (2.5, 97.5))
    return Score(value, min(float(low), value), max(float(high), value), n)


def _asked(subject: Subject, examples: Sequence[Example], gold: Ints, zeroed: Sequence[Sequence[Head]]) -> Iterator[Bools]:
    """Which answers are right without each of these sets of heads."""
    for done, heads in enumerate(zeroed, start=1):
        answers = answers_without(subject.model, [example.texts for example in examples], heads)
        subject.listen("heads zeroed", done, len(zeroed), "")
        yield np.asarray(answers.argmax(axis=1) == gold)


def _figure(rows: list[Row], sets: list[str], n: int, draws: int) -> Figure:
    offset = {"xOffset": {"field": "model", "type": "nominal", "sort": list(KINDS)}}
    x, y = name("examples", sets), number("value", "accuracy", domain(0, 1))
    caption = (
        f"Accuracy with {n} heads zeroed, on examples the whole model answers right (1.0): heads that match words (Wilson's "
        f"95 % intervals), and as many other heads drawn at random ({draws} draws: mean, and where 95 % of draws lie)."
    )
    layers = intervals(x, y, colours("model", KINDS, marks="point") | offset)
    return Figure("heads_ablation", caption, rows, {"layer": layers})
