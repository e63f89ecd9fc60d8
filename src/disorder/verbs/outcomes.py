"""Outcomes: what a model predicted, put together with what the examples are, and the records that
they are measured as. Pure: the same outcomes give the same records, whether they were just
predicted or read from a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from disorder.data import groups
from disorder.metrics import is_one_sentence, is_simple, scores
from disorder.results.run import Omitted, Record
from disorder.transformations import Transformation
from disorder.types import ORIGINAL, Bools, Example, Fidelity, Floats, Ints, Outcomes, Task


@dataclass(frozen=True)
class OutcomeFacts:
    """What all outcomes of one run share."""

    task: Task
    seed: int = 0
    fidelity: Fidelity = "paper"
    is_curtailed: bool = False  # variants are predicted only until they decide
    families: Mapping[str, int] | None = None  # of the examples, by id


def build_outcomes(
    facts: OutcomeFacts,
    examples: Sequence[Example],
    original: Floats,
    predictions: Floats,
    transformation: Transformation | None = None,
    *,
    n_skipped: int = 0,
    n_planned: Ints | None = None,
    gives_probabilities: bool | None = None,
    control: Floats | None = None,
    n_failed: Ints | None = None,
) -> Outcomes:
    """The outcomes of some examples under one transformation; without one, of the original texts.

    `original` has one row of probabilities per example, `predictions` one per example and variant,
    NaN where there is none. `n_planned` is how many variants each example has, where prediction
    stopped early. `gives_probabilities` is whether the model does, where that is known. `control`
    has the predictions for the surface control of each example, `n_failed` how many of its variants
    got no answer.
    """
    family = None
    if facts.families is not None:
        family = np.array([facts.families[example.id] for example in examples], dtype=np.int64)
    return Outcomes(
        transformation=ORIGINAL if transformation is None else transformation.spec,
        task=facts.task,
        example=np.array([example.id for example in examples]),
        gold=gold_of(facts.task, examples),
        original=original,
        predictions=predictions[:, : _n_variants(predictions)],
        is_simple=simple_examples(facts.task, examples, transformation, facts.fidelity),
        n_skipped=n_skipped,
        seed=facts.seed,
        fidelity=facts.fidelity,
        is_copy=transformation is not None and transformation.is_copy,
        n_planned=n_planned,
        gives_probabilities=gives_probabilities,
        family=family,
        control=control,
        n_failed=n_failed,
        chance=chances_of(facts.task, examples),
    )


def chances_of(task: Task, examples: Sequence[Example]) -> Floats | None:
    """The accuracy of a guess on each example, where it has one of its own."""
    if not task.has_own_chance:
        return None
    if task.is_graded:
        return np.array([task.guess if each.guess is None else each.guess for each in examples])
    n_options = [len(each.options) or 2 for each in examples]
    return 1 / np.array(n_options, dtype=np.float64)


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
    sides = transformation.perturbed_sides(task, is_pair=examples[0].is_pair)
    return np.array(
        [
            all(
                is_simple(
                    example.text(side),
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


def in_groups(
    outcomes: Outcomes, used: Sequence[Example], everyone: Sequence[Example]
) -> Iterator[tuple[str, Outcomes, Sequence[Example]]]:
    """The outcomes of all examples, and of each group, with their examples; `used` are the examples
    of the outcomes, `everyone` those of the audit.
    """
    for group, mask, n_all in groups(used, everyone):
        if group == "all":
            yield group, outcomes, used
        else:
            part = replace(outcomes.take(mask), n_skipped=n_all - int(mask.sum()))
            yield group, part, [used[i] for i in np.flatnonzero(mask).tolist()]


def measure(
    outcomes: Outcomes,
    group: str = "all",
    *,
    keeps_words: bool = True,
    points: Mapping[str, Iterable[str]] | None = None,
    only: Collection[str] | None = None,
) -> tuple[list[Record], list[Omitted]]:
    """Every score of some outcomes that applies (of `only` these, if given), and why others are
    missing.
    """
    spec = outcomes.transformation
    records: list[Record] = []
    omitted: list[Omitted] = []
    for name, score in scores(outcomes, keeps_words=keeps_words, points=points, only=only):
        if isinstance(score, str):
            omitted.append(Omitted(transformation=spec, metric=name, group=group, reason=score))
        else:
            records.append(Record.of(spec, name, group, score))
    return records, omitted
