"""Does the model need these heads? Accuracy without them, beside that without as many drawn at
random (OOO Table 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator

from disorder.abstention import predicted_label
from disorder.metrics import share
from disorder.models import Head, n_heads, predict_without
from disorder.randomness import generator
from disorder.report.exhibits import Figure, Row
from disorder.types import Bools, Example, Floats, Ints, Score
from disorder.verbs.explain.chart_style import colours, domain, intervals, name, number
from disorder.verbs.explain.result import bounds
from disorder.verbs.explain.subject import Subject

WITHOUT, RANDOM = "without the matching heads", "without random heads"
KINDS = (WITHOUT, RANDOM)
From = Literal["any", "layers"]


def ablation(
    subject: Subject,
    examples: Sequence[Example],
    gold: Ints,
    heads: Sequence[Head],
    sets: Mapping[str, Ints],
    zeroed: Sequence[Sequence[Head]],
) -> tuple[Figure, dict[str, Score]]:
    """Accuracy on each set of examples (all answered right by the whole model), without these heads
    and without random ones.
    """
    right = np.array(list(_asked(subject, examples, gold, [heads, *zeroed])))
    scores, rows = dict[str, Score](), list[Row]()
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
    subject: Subject, heads: Sequence[Head], draws: int, *, of: From = "any"
) -> list[list[Head]]:
    """As many heads drawn at random, from the others where there are enough of them: of any layer,
    or as many of each layer.
    """
    layers, width = n_heads(subject.model)
    every = [(layer, head) for layer in range(layers) for head in range(width)]
    groups = (
        [every]
        if of == "any"
        else [[each for each in every if each[0] == layer] for layer in range(layers)]
    )
    rng = generator(subject.settings.seed, "heads", "random")
    return [
        sorted(head for group in groups for head in _drawn(group, set(heads), rng))
        for _ in range(draws)
    ]


def _drawn(group: Sequence[Head], heads: set[Head], rng: Generator) -> list[Head]:
    others, n = [each for each in group if each not in heads], len(heads.intersection(group))
    pool = others if len(others) >= n else group
    return [pool[i] for i in rng.choice(len(pool), n, replace=False).tolist()]


def spread(accuracies: Floats, n: int) -> Score:
    """The mean over draws, and where 95 % of the draws lie."""
    value = float(accuracies.mean())
    low, high = np.percentile(accuracies, (2.5, 97.5))
    return Score(value, min(float(low), value), max(float(high), value), n)


def _asked(
    subject: Subject, examples: Sequence[Example], gold: Ints, zeroed: Sequence[Sequence[Head]]
) -> Iterator[Bools]:
    """Which answers are right without each of these sets of heads."""
    for done, heads in enumerate(zeroed, start=1):
        answers = predict_without(subject.model, [example.texts for example in examples], heads)
        subject.progress("heads zeroed", done, len(zeroed), "")
        yield np.asarray(predicted_label(answers) == gold)


def _figure(rows: list[Row], sets: list[str], n: int, draws: int) -> Figure:
    offset = {"xOffset": {"field": "model", "type": "nominal", "sort": list(KINDS)}}
    x, y = name("examples", sets), number("value", "accuracy", domain(0, 1))
    caption = (
        f"Accuracy with {n} heads zeroed, on examples the whole model answers right (1.0): heads that match words (Wilson's "
        f"95 % intervals), and as many other heads drawn at random ({draws} draws: mean, and where 95 % of draws lie)."
    )
    layers = intervals(x, y, colours("model", KINDS, marks="point") | offset)
    return Figure("heads_ablation", caption, rows, {"layer": layers})
