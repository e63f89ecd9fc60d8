"""Head ablation: accuracy without the heads that match words, and without as many random ones.

Out of Order, Table 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator

from disorder.metrics import share
from disorder.models import Head, n_heads, predict_without
from disorder.randomness import generator
from disorder.results.exhibits import Figure, Row
from disorder.types import Bools, Example, Floats, Ints, Score
from disorder.types.predictions import predicted_label
from disorder.verbs.explain.chart_style import colours, domain, intervals, name, number, offset
from disorder.verbs.explain.result import bounds
from disorder.verbs.explain.subject import Subject

WITHOUT = "without the matching heads"
RANDOM = "without random heads"
KINDS = (WITHOUT, RANDOM)
RandomFrom = Literal["any", "layers"]


def ablation(
    subject: Subject,
    examples: Sequence[Example],
    gold: Ints,
    heads: Sequence[Head],
    sets: Mapping[str, Ints],
    zeroed: Sequence[Sequence[Head]],
) -> tuple[Figure, dict[str, Score]]:
    """Accuracy on each set of examples (all predicted right by the model as it is), without these
    heads and without random ones.
    """
    right = np.array(list(_right_without(subject, examples, gold, [heads, *zeroed])))
    scores: dict[str, Score] = {}
    rows: list[Row] = []
    for title, places in sets.items():
        drawn = right[1:, places].mean(axis=1)
        scores[f"{title}, {WITHOUT}"] = share(right[0, places])
        scores[f"{title}, {RANDOM}"] = spread(drawn, len(places))
        as_low = {
            "draws": len(drawn),
            "draws as low": int((drawn <= right[0, places].mean()).sum()),
        }
        rows += [
            {"examples": title, "model": kind, **bounds(scores[f"{title}, {kind}"]), **as_low}
            for kind in KINDS
        ]
    return _figure(rows, list(sets), len(heads), len(zeroed)), scores


def random_heads(
    subject: Subject, heads: Sequence[Head], draws: int, *, of: RandomFrom = "any"
) -> list[list[Head]]:
    """As many heads drawn at random, from the others where there are enough of them: of any layer,
    or as many of each layer.
    """
    layers, width = n_heads(subject.model)
    every = [(layer, head) for layer in range(layers) for head in range(width)]
    groups = [every]
    if of == "layers":
        groups = [[each for each in every if each[0] == layer] for layer in range(layers)]
    rng = generator(subject.settings.seed, "heads", "random")
    return [
        sorted(head for group in groups for head in _drawn(group, set(heads), rng))
        for _ in range(draws)
    ]


def _drawn(group: Sequence[Head], heads: set[Head], rng: Generator) -> list[Head]:
    others = [each for each in group if each not in heads]
    n = len(heads.intersection(group))
    pool = others if len(others) >= n else group
    return [pool[i] for i in rng.choice(len(pool), n, replace=False).tolist()]


def spread(accuracies: Floats, n: int) -> Score:
    """The mean over draws, and where 95 % of the draws lie."""
    value = float(accuracies.mean())
    low, high = np.percentile(accuracies, (2.5, 97.5))
    return Score(value, min(float(low), value), max(float(high), value), n)


def _right_without(
    subject: Subject, examples: Sequence[Example], gold: Ints, zeroed: Sequence[Sequence[Head]]
) -> Iterator[Bools]:
    """Which predictions are right without each of these sets of heads."""
    for done, heads in enumerate(zeroed, start=1):
        predictions = predict_without(subject.model, [e.texts for e in examples], heads)
        subject.progress("heads zeroed", done, len(zeroed), "")
        yield np.asarray(predicted_label(predictions) == gold)


def _figure(rows: list[Row], sets: list[str], n: int, draws: int) -> Figure:
    x = name("examples", sets)
    y = number("value", "accuracy", domain(0, 1))
    caption = (
        f"Accuracy with {n} heads zeroed, on examples that the model with all heads predicts right "
        "(1.0): heads that match words (Wilson's 95 % intervals), and as many other heads drawn at "
        f"random ({draws} draws: mean, and where 95 % of draws lie)."
    )
    layers = intervals(x, y, colours("model", KINDS, marks="point") | offset("model", KINDS))
    return Figure("heads_ablation", caption, rows, {"layer": layers})
