"""Telling examples: those whose predictions on perturbed texts say most about the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from disorder.abstention import ABSTAINED
from disorder.types import Bools, Example, Floats, Ints, Outcomes, PositionRows, Sentence, Variants

PER_KIND = 3
PER_EXAMPLE = 3
LONGEST = 60  # words of a text that are shown


def telling(
    outcomes: Outcomes, examples: Sequence[Example], rebuild: Callable[[int], Variants]
) -> list[dict[str, Any]]:
    """A few examples of each kind, with perturbed versions and their predictions."""
    return [
        _shown(kind, outcomes, int(i), examples[i], rebuild(int(i)))
        for kind, picks in _picks(outcomes).items()
        for i in picks
    ]


def _picks(outcomes: Outcomes) -> dict[str, Ints]:
    confidence = np.nanmean(outcomes.predictions.max(axis=2), axis=1)
    share = outcomes.acceptance
    right = outcomes.is_right
    return {
        "unmoved": _top(confidence, right & (share == 1)),
        "rescued": _top(share, ~right & (share > 0)),
        "noticed": _top(-share, right & (share < 0.5)),
    }


def _top(score: Any, mask: Bools) -> Ints:
    members = np.flatnonzero(mask)
    return members[np.argsort(-score[members], kind="stable")[:PER_KIND]]


def _shown(
    kind: str, outcomes: Outcomes, i: int, example: Example, variants: Variants
) -> dict[str, Any]:
    order = _versions(kind, outcomes, i)
    return {
        "kind": kind,
        "transformation": outcomes.transformation,
        "id": example.id,
        "gold": example.label,
        "text_a": example.text_a,
        "text_b": example.text_b,
        **_prediction(outcomes, int(outcomes.original_label[i]), outcomes.original[i]),
        "accepted": round(float(outcomes.acceptance[i]), 3),
        "variants": [_variant(outcomes, i, int(k), variants) for k in order if k < len(variants)],
    }


def _versions(kind: str, outcomes: Outcomes, i: int) -> Ints:
    """The perturbed versions that show the kind best, highest confidence first."""
    accepted = outcomes.label[i] == outcomes.gold[i]
    fits = ~accepted if kind == "noticed" else accepted
    return np.lexsort((-np.nan_to_num(outcomes.predictions[i]).max(axis=1), ~fits))[:PER_EXAMPLE]


def _variant(outcomes: Outcomes, i: int, k: int, variants: Variants) -> dict[str, Any]:
    return {
        "variant": k,
        "texts": [_words(rows, k) for rows in variants.sides],
        **_prediction(outcomes, int(outcomes.label[i, k]), outcomes.predictions[i, k]),
    }


def _prediction(outcomes: Outcomes, number: int, probabilities: Floats) -> dict[str, Any]:
    """The predicted label and its confidence (None where the model gives labels only), as run.json
    holds them; −1 is an abstention.
    """
    label = ABSTAINED if number < 0 else outcomes.task.labels[number]
    if not outcomes.has_probabilities:
        return {"answer": label, "confidence": None}
    confidence = 1 - probabilities.sum() if number < 0 else probabilities.max()
    return {"answer": label, "confidence": round(float(confidence), 3)}


def _words(rows: PositionRows, k: int) -> list[list[Any]]:
    """The words of one perturbed text, each with the place it came from (None: it did not move)."""
    sentence: Sentence = rows.sentence
    if rows.written is not None:
        return [[word, None] for word in rows.written[0 if rows.is_shared else k].split()[:LONGEST]]
    positions = rows.positions[0 if rows.is_shared else k].tolist()
    return [
        [sentence.words[p], None if p == place else p + 1]
        for place, p in enumerate(positions[:LONGEST])
    ]
