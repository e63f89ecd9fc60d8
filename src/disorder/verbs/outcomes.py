"""Outcomes: what a model predicted, put together with what the examples are. Built here only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from disorder.metrics import ORIGINAL, is_one_sentence, is_simple
from disorder.transformations import Transformation
from disorder.types import Bools, Example, Fidelity, Floats, Ints, Outcomes, Task


def build_outcomes(
    task: Task,
    examples: Sequence[Example],
    original: Floats,
    predictions: Floats,
    transformation: Transformation | None = None,
    *,
    n_skipped: int = 0,
    seed: int = 0,
    fidelity: Fidelity = "paper",
    n_planned: Ints | None = None,
    gives_probabilities: bool | None = None,
) -> Outcomes:
    """The outcomes of some examples under one transformation; without one, of the original texts.

    `original` has one row of probabilities per example, `predictions` one per example and variant,
    NaN where there is none. `n_planned` is how many variants each example has, where prediction
    stopped early. `gives_probabilities` is whether the model does, where that is known.
    """
    return Outcomes(
        transformation=ORIGINAL if transformation is None else transformation.spec,
        task=task,
        example=np.array([example.id for example in examples]),
        gold=gold_of(task, examples),
        original=original,
        predictions=predictions[:, : _n_variants(predictions)],
        is_simple=simple_examples(task, examples, transformation, fidelity),
        n_skipped=n_skipped,
        seed=seed,
        fidelity=fidelity,
        is_copy=transformation is not None and transformation.is_copy,
        n_planned=n_planned,
        gives_probabilities=gives_probabilities,
    )


def original_outcomes(task: Task, gold: Floats | Ints, predictions: Floats) -> Outcomes:
    """The outcomes of original texts that have gold numbers but are no examples, such as the rows a
    network is evaluated on.
    """
    n = len(gold)
    return Outcomes(
        transformation=ORIGINAL,
        task=task,
        example=np.array([str(i) for i in range(n)]),
        gold=gold,
        original=predictions,
        predictions=predictions[:, None],
        is_simple=np.ones(n, dtype=bool),
    )


def gold_of(task: Task, examples: Sequence[Example]) -> Floats | Ints:
    """Gold labels as label numbers, or the gold numbers of a regression task; zeros where labels
    are not used.
    """
    if task.is_likelihood:
        return np.zeros(len(examples))
    if task.is_regression:
        return np.array([float(example.label) for example in examples])
    return np.array([task.labels.index(example.label) for example in examples])


def _n_variants(predictions: Floats) -> int:
    """Up to which variant there are predictions; an example without an answer may lack any."""
    there = np.flatnonzero((~np.isnan(predictions[:, :, 0])).any(axis=0))
    return int(there[-1]) + 1 if len(there) else 1


def simple_examples(
    task: Task,
    examples: Sequence[Example],
    transformation: Transformation | None,
    fidelity: Fidelity,
    is_single: Callable[[str], bool] = is_one_sentence,
) -> Bools:
    """Which examples pass the first filter of dev-r in every text that is perturbed; `is_single`
    says whether a text is one sentence.
    """
    if transformation is None or not examples:
        return np.ones(len(examples), dtype=bool)
    sides = transformation.perturbed_sides(task, is_pair=examples[0].text_b is not None)
    return np.array(
        [
            all(
                is_simple(
                    str(example.text_a if side == "a" else example.text_b),
                    task=task,
                    fidelity=fidelity,
                    is_single=is_single,
                )
                for side in sides
            )
            for example in examples
        ],
        dtype=bool,
    )
