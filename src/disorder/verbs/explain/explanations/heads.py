"""Attention heads that match words across two texts, whatever their order. Out of Order §3.4.2.

On examples predicted right, original and under all of 5 shuffles: the head that best ties like
words together is found on the shuffled text, looked at again on the original one, and counted; then
the model predicts without the heads so found (App. A).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator

from disorder.errors import BadModel, BadSetting, NothingToMeasure, UnknownName
from disorder.metrics import dev_r as steps_of_dev_r
from disorder.metrics import share
from disorder.models import Head, n_heads, predict_without
from disorder.randomness import generator
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Floats, Ints, Score
from disorder.types.predictions import predicted_label
from disorder.verbs.explain.chart_style import colours, domain, intervals, name, number, offset
from disorder.verbs.explain.head_matching import (
    N_PAIRS,
    MatchedExample,
    all_ties,
    by_distance,
    by_head,
    by_layer,
    found_heads,
    has_pairs,
    histogram,
    tied_example,
)
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import PerturbedExamples, Subject
from disorder.verbs.explain.word_importance import cut

# the sets of examples, in lines for an axis
SETS = {
    "positives": ["showed", "the heads"],
    "balanced": ["both labels", "alike"],
    "all": ["all", "of them"],
    "random": ["this label,", "survives"],
    "both": ["any label,", "survives"],
    "dev-r": ["dev-r:", "one sentence"],
}
FEWEST = 20  # draws of random heads, of which 95 % can be told
WITHOUT = "without the matching heads"
RANDOM = "without random heads"
KINDS = (WITHOUT, RANDOM)
RandomFrom = Literal["any", "layers"]


@explanation(
    asks="Which attention heads match words, whatever their order?",
    paper="OOO §3.4.2, App. A",
    calls=lambda subject, q, draws, **_: {
        **subject.perturbed_calls(q=q),
        "texts without heads": (draws + 3) * len(subject.examples),
    },
    needs="an hf: encoder, rapidfuzz",
)
def heads(
    subject: Subject,
    *,
    q: int = 5,
    label: str = "",
    draws: int = 20,
    random: RandomFrom = "any",
    dev_r: bool = False,
) -> Explained:
    """Find the heads that tie like words of the two texts together, and predict without them.

    `label` is the label whose examples are searched (the task's default label where there is one).
    `random` heads, zeroed for comparison in `draws` sets, are of `any` layer, as in the paper, or
    of the same `layers`, as many of each. `dev_r` begins with dev-r: one sentence, predicted right,
    balanced labels.
    """
    _check(subject, q, label, draws)
    perturbed = subject.perturbed(q=q, dev_r=dev_r)
    label = label or subject.task.default_label or ""
    is_positive = np.array([label in ("", example.label) for example in perturbed.examples])
    places = np.flatnonzero(perturbed.survivors(q) & is_positive)
    examples = _matched(subject, perturbed, places)
    skips = dict(perturbed.skips)
    if len(examples) < len(places):
        skips[f"fewer than {N_PAIRS} pairs of words"] = len(places) - len(examples)
    winners = Counter(each.shuffled.head for each in examples if each.is_match)
    scores = {
        "match shuffled": share(np.array([each.shuffled.is_match for each in examples])),
        "match both": share(np.array([each.is_match for each in examples])),
    }
    layers, width = n_heads(subject.model)
    finding = (
        f"one head ties {N_PAIRS} pairs of like words together in {said(scores['match shuffled'])} "
        f"of {len(examples):,} shuffled texts, and again in the original text in "
        f"{said(scores['match both'])}; {len(winners)} of {layers * width} heads do it"
    )
    figures = [histogram(winners, layers, width), *tied_example(examples)]
    notes = [f"texts are shuffled by {perturbed.outcomes.transformation}"]
    if winners:
        try:
            zeroed = random_heads(subject, sorted(winners), draws, of=random)
            sets = _samples(perturbed, examples, is_positive, q, subject.settings.seed)
            figure, more = ablation(subject, perturbed, sorted(winners), sets, zeroed)
            figures.append(figure)
            scores |= more
            finding += "; " + _said_ablation(figure, scores)
        except BadModel as error:
            notes.append(str(error))
    tables = [by_distance(examples), by_layer(winners, layers), by_head(winners)]
    return Explained(finding, figures, [*tables, all_ties(examples)], scores, notes, skips)


def _check(subject: Subject, q: int, label: str, draws: int) -> None:
    if q < 1 or draws < FEWEST:
        need = f"1 shuffle or more, and {FEWEST} draws or more to have an interval"
        raise BadSetting("heads", q=q, draws=draws, need=need)
    if label and label not in subject.task.labels:
        raise UnknownName("label", label, subject.task.labels)
    if not subject.is_pairs:
        raise NothingToMeasure("heads are looked at between two texts, and these examples have one")
    n_heads(subject.model)  # raises for a model without heads, before any prediction


def _matched(subject: Subject, perturbed: PerturbedExamples, places: Ints) -> list[MatchedExample]:
    """The four steps: shuffle, attend, choose the head, look at the original text."""
    kept = [i for i in places.tolist() if has_pairs(cut(perturbed.examples[i].texts))]
    if not kept:
        few = f" and has {N_PAIRS} pairs of words" if len(places) else ""
        raise NothingToMeasure(
            f"no example of this label is right on the original text and under every shuffle{few}"
        )
    original_pairs = [cut(perturbed.examples[i].texts) for i in kept]
    shuffled_pairs = [cut(variant_texts(perturbed.variants[i])[0]) for i in kept]
    shuffled = found_heads(subject.model, shuffled_pairs)
    original = found_heads(subject.model, original_pairs, [each.head for each in shuffled])
    return [
        MatchedExample(
            place=place,
            example=perturbed.examples[place],
            shuffled_pair=shuffled_pairs[i],
            original_pair=original_pairs[i],
            shuffled=shuffled[i],
            original=original[i],
        )
        for i, place in enumerate(kept)
    ]


def _samples(
    perturbed: PerturbedExamples,
    matched: Sequence[MatchedExample],
    is_positive: Bools,
    q: int,
    seed: int,
) -> dict[str, Ints]:
    """The examples to predict without heads, as places among those predicted right: those that
    showed the heads, a balanced sample, all; and those of Table 3, random positives that survive
    all shuffles, as many negatives with them, and dev-r (simple, right, balanced).
    """
    right = np.flatnonzero(perturbed.outcomes.is_right)
    survives = perturbed.survivors(q)
    positives = [each.place for each in matched if each.is_match]

    def drawn(wanted: Bools) -> list[list[int]]:
        both = (wanted & is_positive, wanted & ~is_positive)
        return [perturbed.by_seed("heads", np.flatnonzero(each), seed) for each in both]

    alike = drawn(perturbed.outcomes.is_right)
    size = min(map(len, alike))
    random, others = (each[: len(positives)] for each in drawn(survives))
    found = {
        "positives": positives,
        "balanced": [i for group in alike for i in group[:size]],
        "all": right.tolist(),
        "random": random,
        "both": [*random, *others] if others else [],
        "dev-r": np.flatnonzero(steps_of_dev_r(perturbed.outcomes)[-1][1]).tolist(),
    }
    return {name: np.searchsorted(right, places) for name, places in found.items() if places}


def _said_ablation(figure: Figure, scores: dict[str, Score]) -> str:
    without = scores[f"all, {WITHOUT}"]
    random = scores[f"all, {RANDOM}"]
    row = next(row for row in figure.rows if row["examples"] == "all")
    return (
        f"without them {said(without)} of {without.n:,} right predictions stay right, without as "
        f"many others {said(random)} ({row['draws as low']} of {row['draws']} draws as low)"
    )


def ablation(
    subject: Subject,
    perturbed: PerturbedExamples,
    heads: Sequence[Head],
    sets: Mapping[str, Ints],
    zeroed: Sequence[Sequence[Head]],
) -> tuple[Figure, dict[str, Score]]:
    """Accuracy on each set of examples, without these heads and without random ones."""
    places = np.flatnonzero(perturbed.outcomes.is_right)
    texts = [perturbed.examples[i].texts for i in places.tolist()]
    gold = perturbed.outcomes.gold[places]
    kept = []
    for done, each in enumerate([heads, *zeroed], start=1):
        kept.append(predicted_label(predict_without(subject.model, texts, each)) == gold)
        subject.progress("heads zeroed", done, 1 + len(zeroed), "")
    right = np.array(kept)
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
    """As many heads drawn at random, from the others if possible: of any or of each layer."""
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


def _figure(rows: list[Row], sets: list[str], n: int, draws: int) -> Figure:
    x = name("examples", sets, "examples, all predicted right with all heads")
    x["axis"] |= {"labelExpr": f"{json.dumps(SETS)}[datum.label]"}
    y = number("value", "accuracy", domain(0, 1))
    caption = (
        f"Accuracy with {n} heads zeroed, on examples that the model with all heads predicts right "
        "(1.0): heads that match words (Wilson's 95 % intervals), and as many other heads drawn at "
        f"random ({draws} draws: mean, and where 95 % of draws lie)."
    )
    layers = intervals(x, y, colours("model", KINDS, marks="point") | offset("model", KINDS))
    return Figure("heads_ablation", caption, rows, {"layer": layers})
