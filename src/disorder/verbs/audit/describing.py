"""What a report shows beside the scores, kept in run.json so that it can be redrawn: the numbers
behind its pictures, which label is given to which, and a few examples that say most.

Where a perturbation has a control, also its relative gain: how much of what the control loses is
kept. Shuffled letters against replaced ones: (accuracy when shuffled − when replaced) ÷ (accuracy
on the original texts − when replaced), over the examples that have both; 1 where shuffling costs
nothing, 0 where it costs as much as letters that are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics import SkillRatio
from disorder.metrics.ece import N_BINS, bin_of
from disorder.metrics.statistics.pairs_of_orders import accuracy_by_place
from disorder.transformations import Transformation
from disorder.types import (
    Bools,
    Example,
    Floats,
    Ints,
    Outcomes,
    PositionRows,
    Score,
    Sentence,
    Variants,
)
from disorder.types.predictions import ABSTAINED

N_BARS = 20  # of the histograms
DIGITS = 3
MOST_LABELS = 30  # whose confusion matrix is kept; with more only how often each is given
PER_KIND = 3
PER_EXAMPLE = 3
LONGEST = 60  # words of a text that are shown


def figures(outcomes: Outcomes) -> dict[str, Any]:
    """The Ω curve, the acceptance histogram by first prediction, and confidence before and after
    where there are probabilities; accuracy by place where options moved.
    """
    tables: dict[str, Any] = {}
    if outcomes.has_probabilities:
        tables["confidence"] = _confidence(outcomes)
        tables["reliability"] = _reliability(outcomes)
    if outcomes.n_movable is not None and (outcomes.n_movable <= 2).all():
        tables["is_of_two_orders"] = True
    if outcomes.right_place is not None:
        tables |= {"places": places} if (places := accuracy_by_place(outcomes)) else {}
    if outcomes.predictions.shape[1] > 1:
        tables |= {"omega": _omega(outcomes), "acceptance": _acceptance(outcomes)}
    return tables


def _omega(outcomes: Outcomes) -> list[list[float]]:
    """Ω_x at x = 0, 0.02, …, 0.98, for this model."""
    points = []
    for i in range(0, 100, 2):
        x = Fraction(i, 100)
        above = outcomes.n_accepted * x.denominator > outcomes.n_variants * x.numerator
        points.append([float(x), _rounded(above.mean())])
    return points


def _acceptance(outcomes: Outcomes) -> dict[str, list[int]]:
    """How many examples have each share of accepted permutations, apart by whether the original
    text is predicted right.
    """
    return {
        name: _histogram(outcomes.acceptance[mask])
        for name, mask in (("right", outcomes.is_right), ("wrong", ~outcomes.is_right))
    }


def _confidence(outcomes: Outcomes) -> dict[str, list[float]]:
    """Share of texts at each confidence, before and after."""
    before = outcomes.original.max(axis=1)
    after = outcomes.predictions.max(axis=2)[outcomes.is_predicted]
    return {
        name: [round(count / max(1, len(values)), 6) for count in _histogram(values)]
        for name, values in (("before", before), ("after", after))
    }


def _reliability(outcomes: Outcomes) -> dict[str, list[list[float]]]:
    """Mean confidence, share of correct predictions and their number in each bin of confidence,
    before and after; abstentions left out.
    """
    gold = np.broadcast_to(outcomes.gold[:, None], outcomes.label.shape)
    return {
        "before": _bins(outcomes.original.max(axis=1), outcomes.original_label, outcomes.gold),
        "after": _bins(outcomes.predictions.max(axis=2), outcomes.label, gold),
    }


def _bins(confidence: Floats, label: Ints, gold: Ints) -> list[list[float]]:
    predicted = label >= 0
    confidence = confidence[predicted].astype(np.float64)
    is_right = (label == gold)[predicted]
    places = bin_of(confidence)
    counts = np.bincount(places, minlength=N_BINS)
    confidences = np.bincount(places, confidence, N_BINS)
    rights = np.bincount(places, is_right, N_BINS)
    rows = []
    for i in np.flatnonzero(counts).tolist():
        n = int(counts[i])
        rows.append([_rounded(confidences[i] / n), _rounded(rights[i] / n), n])
    return rows


def _rounded(number: float) -> float:
    return round(float(number), 6)


def _histogram(values: Floats) -> list[int]:
    counts: list[int] = np.histogram(values, bins=N_BARS, range=(0, 1))[0].tolist()
    return counts


def answers(outcomes: Outcomes) -> dict[str, Any]:
    """Answers by gold label (rows) before and after a transformation, counted in examples.

    After it the variants of an example share its one vote. A model that abstains has one more
    column.
    """
    labels = list(outcomes.task.labels)
    before = _table(outcomes, outcomes.original_label[:, None], np.ones(len(outcomes)))
    after = _table(outcomes, outcomes.label, outcomes.n_variants)
    abstains = before[:, -1].any() or after[:, -1].any()
    columns = [*labels, ABSTAINED] if abstains else labels
    before, after = before[:, : len(columns)], after[:, : len(columns)]
    found: dict[str, Any] = {
        "labels": labels,
        "answers": columns,
        "gold": np.bincount(outcomes.gold, minlength=len(labels)).tolist(),
        "before": _counts(before.sum(axis=0)),
        "after": _counts(after.sum(axis=0)),
    }
    if len(labels) <= MOST_LABELS:
        found["confusion"] = {
            "before": [_counts(row) for row in before],
            "after": [_counts(row) for row in after],
        }
    return found


def _table(outcomes: Outcomes, given: Any, n_variants: Any) -> Floats:
    """Examples by gold label and answer; the last column counts abstentions."""
    m = len(outcomes.task.labels)
    shares = np.stack([(given == label).sum(axis=1) for label in range(m)], axis=1)
    shares = shares / np.asarray(n_variants)[:, None]
    every = np.concatenate([shares, 1 - shares.sum(axis=1, keepdims=True)], axis=1)
    table = np.zeros((m, m + 1))
    np.add.at(table, outcomes.gold, np.where(every > 1e-9, every, 0.0))
    return table


def _counts(row: Floats) -> list[float]:
    return [round(float(x), DIGITS) + 0.0 for x in row]


def noteworthy(
    outcomes: Outcomes, examples: Sequence[Example], rebuild: Callable[[int], Variants]
) -> list[dict[str, Any]]:
    """A few examples of each kind that say most about the model, with perturbed versions and their
    predictions.
    """
    return [
        _shown_example(kind, outcomes, int(i), examples[i], rebuild(int(i)))
        for kind, picks in _picks(outcomes).items()
        for i in picks
    ]


def _picks(outcomes: Outcomes) -> dict[str, Ints]:
    confidence = np.nanmean(outcomes.predictions.max(axis=2), axis=1)
    share = outcomes.acceptance
    right = outcomes.is_right
    return {
        "unmoved": _first(confidence, right & (share == 1)),
        "rescued": _first(share, ~right & (share > 0)),
        "noticed": _first(-share, right & (share < 0.5)),
    }


def _first(score: Any, mask: Bools) -> Ints:
    members = np.flatnonzero(mask)
    return members[np.argsort(-score[members], kind="stable")[:PER_KIND]]


def _shown_example(
    kind: str, outcomes: Outcomes, i: int, example: Example, variants: Variants
) -> dict[str, Any]:
    answered = np.isfinite(outcomes.predictions[i]).all(axis=1)
    order = [k for k in _chosen_versions(kind, outcomes, i).tolist() if answered[k]]
    return {
        "kind": kind,
        "transformation": outcomes.transformation,
        "id": example.id,
        "gold": example.label,
        "text_a": example.text_a,
        "text_b": example.text_b,
        **_predicted(outcomes, int(outcomes.original_label[i]), outcomes.original[i]),
        "accepted": round(float(outcomes.acceptance[i]), 3),
        "variants": [_shown_variant(outcomes, i, k, variants) for k in order if k < len(variants)],
    }


def _chosen_versions(kind: str, outcomes: Outcomes, i: int) -> Ints:
    """The perturbed versions that show the kind best, highest confidence first."""
    accepted = outcomes.label[i] == outcomes.gold[i]
    fits = ~accepted if kind == "noticed" else accepted
    return np.lexsort((-np.nan_to_num(outcomes.predictions[i]).max(axis=1), ~fits))[:PER_EXAMPLE]


def _shown_variant(outcomes: Outcomes, i: int, k: int, variants: Variants) -> dict[str, Any]:
    return {
        "variant": k,
        "texts": [_placed_words(rows, k) for rows in variants.sides],
        **_predicted(outcomes, int(outcomes.label[i, k]), outcomes.predictions[i, k]),
    }


def _predicted(outcomes: Outcomes, number: int, probabilities: Floats) -> dict[str, Any]:
    """The predicted label and its confidence (None where the model gives labels only), as run.json
    holds them; −1 is an abstention.
    """
    label = ABSTAINED if number < 0 else outcomes.task.labels[number]
    if not outcomes.has_probabilities:
        return {"answer": label, "confidence": None}
    confidence = 1 - probabilities.sum() if number < 0 else probabilities.max()
    return {"answer": label, "confidence": round(float(confidence), 3)}


def _placed_words(rows: PositionRows, k: int) -> list[list[Any]]:
    """The words of one perturbed text, each with the place it came from (None: it did not move)."""
    sentence: Sentence = rows.sentence
    if rows.written is not None:
        return [[word, None] for word in rows.written[0 if rows.is_shared else k].split()[:LONGEST]]
    positions = rows.positions[0 if rows.is_shared else k].tolist()
    return [
        [sentence.words[p], None if p == place else p + 1]
        for place, p in enumerate(positions[:LONGEST])
    ]


def controls(plan: Sequence[Transformation]) -> dict[str, str]:
    """The control of each transformation that has one in the plan, by spec."""
    by_draws = {_draws(each): each.spec for each in plan if _is_control(each)}
    return {
        each.spec: by_draws[_draws(each)]
        for each in plan
        if not _is_control(each) and _draws(each) in by_draws
    }


def _is_control(transformation: Transformation) -> bool:
    return any(step.part.drawn_as for step in transformation.steps)


def _draws(transformation: Transformation) -> tuple[str, ...]:
    """What it draws by: a control shares it with what it controls, the same settings included."""
    nested = {
        name: step.settings.get(name, step.part.settings[name])
        for step in transformation.steps
        for name in step.part.nested
    }
    return (*(step.drawn_as for step in transformation.steps), str(sorted(nested.items())))


def relative_gain(is_right: Bools | Floats, perturbed: Floats, control: Floats) -> Score:
    """The gain over examples, with Fieller's interval; values are NaN where an example was left
    out.

    One imagined example that gains nothing and one that gains all join for the interval, which has
    no width otherwise where all examples agree.
    """
    kept = ~np.isnan(perturbed) & ~np.isnan(control)
    rows = np.stack([perturbed - control, is_right.astype(np.float64) - control], axis=1)[kept]
    if not len(rows) or rows[:, 1].sum() <= 0:
        raise NothingToMeasure("the control costs nothing, so that nothing can be gained over it")
    after, before = rows.mean(axis=0).tolist()
    drawn = np.concatenate([rows, [[0.0, before], [before, before]]])
    moved = (drawn - drawn.mean(axis=0)) / np.sqrt(len(drawn) * (len(drawn) - 1))
    imagined = moved[len(rows) :]
    ratio = SkillRatio(
        after=after,
        before=before,
        deviations=moved[: len(rows)],
        imagined=imagined.T @ imagined,
        freedom=max(1, len(rows) - 1),
        chance=0.0,
        unit="accuracy over the control",
    )
    bounds = ratio.interval()
    if bounds is None:
        raise NothingToMeasure("the control costs too little for an interval")
    return Score(ratio.value, min(bounds[0], ratio.value), max(bounds[1], ratio.value), len(rows))


def gains(
    plan: Sequence[Transformation], is_right: Bools, acceptance: Mapping[str, Floats]
) -> list[dict[str, str | float | int]]:
    """The relative gain of every transformation that was measured beside its control."""
    found: list[dict[str, str | float | int]] = []
    for spec, control in controls(plan).items():
        if spec not in acceptance or control not in acceptance:
            continue
        try:
            score = relative_gain(is_right, acceptance[spec], acceptance[control])
        except NothingToMeasure:
            continue
        found.append(
            {
                "transformation": spec,
                "control": control,
                "value": round(score.value, 6),
                "low": round(score.low, 6),
                "high": round(score.high, 6),
                "n": score.n,
            }
        )
    return found
