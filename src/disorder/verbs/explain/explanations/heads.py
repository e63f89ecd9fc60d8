"""Attention heads that match words across two texts, whatever their order. Out of Order §3.4.2.

On examples predicted right, original and under all of 5 shuffles: the head that best ties like
words together is found on the shuffled text, looked at again on the original one, and counted; then
the model predicts without the heads so found (App. A).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from disorder.errors import BadModel, BadSetting, NothingToMeasure, UnknownName
from disorder.metrics import dev_r, share
from disorder.models import Head, n_heads
from disorder.randomness import digest
from disorder.registry import explanation
from disorder.results.result import Figure
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Ints, Pair, Score
from disorder.verbs.explain.head_ablation import RANDOM, WITHOUT, RandomFrom, ablation, random_heads
from disorder.verbs.explain.head_exhibits import (
    MatchedExample,
    all_ties,
    by_distance,
    by_head,
    by_layer,
    histogram,
    tied_example,
)
from disorder.verbs.explain.head_matching import N_PAIRS, found_heads
from disorder.verbs.explain.result import Explained, said
from disorder.verbs.explain.subject import PerturbedExamples, Subject
from disorder.verbs.explain.word_masking import cut

FEWEST = 20  # draws of random heads, of which 95 % can be told


@explanation(
    asks="Which attention heads match words, whatever their order?",
    paper="OOO §3.4.2, App. A",
    usual=False,
    needs="an hf: encoder, rapidfuzz",
)
def heads(
    subject: Subject, *, q: int = 5, label: str = "", draws: int = 20, random: RandomFrom = "any"
) -> Explained:
    """Find the heads that tie like words of the two texts together, and predict without them.

    `label` is the label whose examples are searched (the task's default label where there is one).
    `random` heads, zeroed for comparison in `draws` sets, are of `any` layer, as in the paper, or
    of the same `layers`, as many of each.
    """
    _check(subject, q, label, draws)
    perturbed = subject.perturbed(q=q)
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
            figure, more = _ablated(
                subject, perturbed, examples, sorted(winners), is_positive, q, zeroed
            )
            figures.append(figure)
            scores |= more
            finding += "; " + _said_ablation(figure, scores)
        except BadModel as error:
            notes.append(str(error))
    tables = [
        by_distance(examples),
        by_layer(winners, layers),
        by_head(winners),
        all_ties(examples),
    ]
    return Explained(finding, figures, tables, scores, notes, skips)


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
    kept = [i for i in places.tolist() if _n_ties(cut(perturbed.examples[i].texts)) >= N_PAIRS]
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


def _n_ties(pair: Pair) -> int:
    return int(np.prod([len(side.movable) for side in pair.sides]))


def _ablated(
    subject: Subject,
    perturbed: PerturbedExamples,
    matched: Sequence[MatchedExample],
    winners: list[Head],
    is_positive: Bools,
    q: int,
    zeroed: list[list[Head]],
) -> tuple[Figure, dict[str, Score]]:
    """Accuracy without the winners: on the examples that showed them, on a balanced sample, on all
    predicted right, and on the samples of Table 3, drawn from what survives all shuffles and from
    dev-r.
    """
    right = np.flatnonzero(perturbed.outcomes.is_right)
    rank = {int(place): i for i, place in enumerate(right)}
    sets = {"positives": np.array([rank[each.place] for each in matched if each.is_match])}
    groups = [
        _by_seed(subject, perturbed, right[is_positive[right] == claim]) for claim in (True, False)
    ]
    size = min(map(len, groups))
    if size:
        sets["balanced"] = np.array([rank[i] for group in groups for i in group[:size]])
    sets["all"] = np.arange(len(right))
    sets |= _paper_samples(subject, perturbed, rank, is_positive, q, len(sets["positives"]))
    examples = [perturbed.examples[i] for i in right.tolist()]
    return ablation(subject, examples, perturbed.outcomes.gold[right], winners, sets, zeroed)


def _paper_samples(
    subject: Subject,
    perturbed: PerturbedExamples,
    rank: Mapping[int, int],
    is_positive: Bools,
    q: int,
    n: int,
) -> dict[str, Ints]:
    """Random positives that survive all shuffles, as many negatives with them, and dev-r (simple,
    right, balanced), as places among what was predicted right.
    """
    survives = perturbed.survivors(q)
    drawn = {
        claim: _by_seed(subject, perturbed, np.flatnonzero(survives & (is_positive == claim)))[:n]
        for claim in (True, False)
    }
    found = {"random": drawn[True], "both": [*drawn[True], *drawn[False]]}
    if not drawn[False]:
        del found["both"]
    found["dev-r"] = np.flatnonzero(dev_r(perturbed.outcomes)[-1][1]).tolist()
    return {name: np.array([rank[i] for i in places]) for name, places in found.items() if places}


def _by_seed(subject: Subject, perturbed: PerturbedExamples, places: Ints) -> list[int]:
    """The places in an order drawn by seed."""
    seed = subject.settings.seed
    return sorted(places.tolist(), key=lambda i: digest(seed, "heads", perturbed.examples[i].id))


def _said_ablation(figure: Figure, scores: dict[str, Score]) -> str:
    without = scores[f"all, {WITHOUT}"]
    random = scores[f"all, {RANDOM}"]
    row = next(row for row in figure.rows if row["examples"] == "all")
    return (
        f"without them {said(without)} of {without.n:,} right predictions stay right, without as "
        f"many others {said(random)} ({row['draws as low']} of {row['draws']} draws as low)"
    )
