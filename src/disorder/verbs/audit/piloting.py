"""A pilot: a few examples, predicted to see how much they vary and what they cost.

It says how many variants an audit takes of each example where nobody does (`--q auto`), and what
one with an interval of a wanted width needs (`disorder plan`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from disorder.data import drawing_key, limited
from disorder.data.families import family_numbers
from disorder.errors import DisorderError
from disorder.metrics.statistics.decomposition import (
    EVERY_EXAMPLE,
    PLENTIFUL,
    variance_ratio,
    variants_needed,
)
from disorder.metrics.statistics.intervals import effective_number, family_sizes
from disorder.models.loaded_model import LoadedModel
from disorder.randomness import digest
from disorder.requests.settings import Settings
from disorder.transformations import Transformation
from disorder.transformations.words import NATURAL
from disorder.types import Costs, Dataset, Outcomes, Variants, is_about_texts
from disorder.verbs.audit.behaviour import n_besides
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.planning import planned, with_controls
from disorder.verbs.audit.sampling import stages_of
from disorder.verbs.model_loading import loaded_model
from disorder.verbs.outcomes import OutcomeFacts
from disorder.verbs.prompting import bound_prompt
from disorder.verbs.selected_data import selected_data
from disorder.verbs.transformation_samples import ExampleNumbers, TransformationSamples

N_PILOT = 64  # examples that say how many variants are worth their cost
AS_PRINTED = 100  # variants in the papers
MOST_GROUPED = 5000  # examples whose families are found
MOST_LOOKED_UP = 1000  # examples whose texts are looked up in the cache


@dataclass(frozen=True)
class Pilot:
    """What a few examples gave: their outcomes, and what they cost."""

    outcomes: Outcomes
    n_examples: int  # with those that could not be used
    n_available: int
    n_questions: int  # per text
    n_controls: int  # surface controls that an audit predicts besides
    n_again: Callable[[int], int]  # texts that so many examples are predicted besides
    spent: Costs
    seconds: float
    n_cached: Callable[[int, int], int]  # of the texts of so many examples, with q variants each
    n_independent: Callable[[int], float] = float  # that so many examples are worth


def pilot(model: Any, data: Any, settings: Settings) -> Pilot:
    """Predict the first `limit` examples and `q` variants of each, under one transformation."""
    everything = selected_data(data, replace(settings, limit=None))
    dataset = limited(everything, settings.limit, settings.seed)
    [transformation], _ = planned(settings, dataset.task.language)
    prompt = bound_prompt(model, dataset, settings)
    loaded, _ = loaded_model(model, dataset, [transformation], settings, prompt)
    predictor = BlockPredictor.of(lambda: loaded, dataset, [transformation], settings)
    began = time.perf_counter()
    outcomes = _outcomes(predictor, dataset, transformation, settings)
    seconds = time.perf_counter() - began
    spent = Costs(loaded.counts)
    if outcomes is None:
        raise DisorderError(
            f"plan: none of {len(dataset.examples)} examples can be perturbed by "
            f"{transformation.spec} and answered"
        )
    return Pilot(
        outcomes,
        len(dataset.examples),
        len(everything.examples),
        loaded.n_questions,
        len(with_controls([transformation], settings)) - 1,
        lambda n: n_besides(replace(everything, examples=everything.examples[:n]), settings),
        spent,
        seconds,
        partial(_n_cached, loaded, everything, transformation, settings),
        _n_independent(everything, settings),
    )


def _n_independent(everything: Dataset, settings: Settings) -> Callable[[int], float]:
    """How many independent examples so many drawn ones are worth: of small data, more of them are
    of one family than of the few in a pilot.
    """
    if settings.fidelity != NATURAL:
        return float
    turns = sorted(everything.examples, key=lambda each: drawing_key(settings.seed, each.id))
    some = turns[:MOST_GROUPED]
    numbers = family_numbers(some)
    family = np.array([numbers[each.id] for each in some], dtype=np.int64)

    def n_independent(n: int) -> float:
        drawn = family[:n]
        return effective_number(family_sizes(drawn)) * n / len(drawn)

    return n_independent


def _n_cached(
    loaded: LoadedModel,
    everything: Dataset,
    transformation: Transformation,
    settings: Settings,
    n_examples: int,
    q: int,
) -> int:
    """How many texts of an audit have a prediction in the cache already; of a large one, some are
    looked up. 0 where the variants depend on a model or other data.
    """
    if transformation.needs_context:
        return 0
    dataset = limited(everything, n_examples, settings.seed)
    looked_up = dataset.examples[:: ceil(len(dataset.examples) / MOST_LOOKED_UP)]
    made = transformation.apply_all(
        looked_up, task=dataset.task, q=q, seed=settings.seed, short=settings.short_texts
    )
    variants = [each for each in made if isinstance(each, Variants)]
    for control in with_controls([transformation], settings):
        if control.is_control:
            written = control.apply_all(
                looked_up, task=dataset.task, q=q, seed=settings.seed, short=settings.short_texts
            )
            variants += [each for each in written if isinstance(each, Variants)]
    found = loaded.n_cached([example.texts for example in looked_up], variants)
    return round(found * len(dataset.examples) / len(looked_up))


def _outcomes(
    predictor: BlockPredictor,
    dataset: Dataset,
    transformation: Transformation,
    settings: Settings,
) -> Outcomes | None:
    """What was predicted; None where no example can be used."""
    numbers = ExampleNumbers.of(dataset.task, dataset.examples)
    found = []
    for stage in stages_of([transformation], settings.n_variants):
        samples = TransformationSamples.empty(stage.transformation, stage.count, numbers)
        result = predictor(stage.block(dataset.examples, 0, 0))
        samples.add(result.table, result.skips, len(numbers))
        if dataset.task.labels and not (np.nan_to_num(samples.values[:, 0]) > 0).any():
            return None  # no text is answered: variants say nothing
        found.append(samples)
    originals, perturbed = found
    original = originals.values[:, 0]
    chosen = np.flatnonzero(perturbed.used & ~np.isnan(original[:, 0]))
    if not len(chosen):
        return None
    families = family_numbers(dataset.examples) if settings.fidelity == NATURAL else None
    facts = OutcomeFacts(dataset.task, settings.seed, settings.fidelity, families=families)
    n_skipped = len(numbers) - len(chosen)
    return perturbed.outcomes(original, chosen, facts, n_skipped=n_skipped)


def variants_of_an_audit(
    loaded: LoadedModel,
    dataset: Dataset,
    plan: Sequence[Transformation],
    settings: Settings,
    requested: Sequence[str],
) -> tuple[int, str]:
    """How many variants of each example an audit takes where the user does not say, and why.

    Some examples are predicted with the fewest; a run that takes more has drawn those as well, and
    finds them in the cache.
    """
    if settings.fidelity != NATURAL:
        return AS_PRINTED, f"q is {AS_PRINTED}, as in the papers (--fidelity {settings.fidelity})"
    named = [*requested, settings.stop_when or "", *settings.fail_if]
    if settings.omega or settings.curtail or any("omega" in name for name in named):
        return AS_PRINTED, f"q is {AS_PRINTED}: an Ω score is about so many permutations"
    _, most = PLENTIFUL if settings.may_stop else EVERY_EXAMPLE
    chosen = _tried(dataset, plan, settings)
    if chosen is None:
        return most, f"q is {most}: how much predictions differ within examples was not measured"
    turns = sorted(dataset.examples, key=lambda each: digest(settings.seed, "variants", each.id))
    few = replace(dataset, examples=turns[:N_PILOT])
    tried = replace(settings, q=EVERY_EXAMPLE[0], short="use")
    predictor = BlockPredictor.of(lambda: loaded, few, [chosen], tried)
    outcomes = _outcomes(predictor, few, chosen, tried)
    if outcomes is None:
        why = f"none of {len(few.examples)} examples can be perturbed and is answered"
        return EVERY_EXAMPLE[0], f"q is {EVERY_EXAMPLE[0]}: {why}"
    ratio = _variance_ratio(outcomes)
    q = variants_needed(ratio, is_plentiful=settings.may_stop)
    told = f"predictions vary {ratio:.2g} times as much within examples as between them"
    return q, f"{q} permutations of each: under {chosen.spec} {told} ({len(few.examples)} examples)"


def n_in_pilot(dataset: Dataset, plan: Sequence[Transformation], settings: Settings) -> int:
    """How many texts are predicted at most before an audit chooses its variants by itself."""
    if settings.q is not None or _tried(dataset, plan, settings) is None:
        return 0
    return min(N_PILOT, len(dataset.examples)) * (1 + EVERY_EXAMPLE[0])


def _tried(
    dataset: Dataset, plan: Sequence[Transformation], settings: Settings
) -> Transformation | None:
    """What some examples are predicted under to choose the number of variants, if they are."""
    is_limited = settings.is_limited and not settings.fail_if
    is_of_texts = settings.fidelity == NATURAL and is_about_texts(settings.break_)
    if not dataset.task.labels or not is_of_texts or is_limited:
        return None
    return next((each for each in plan if each.keeps_words and not each.is_control), None)


def _variance_ratio(outcomes: Outcomes) -> float:
    """λ of a pilot: of how far variants are right beyond what the original text explains."""
    before = outcomes.is_right.astype(np.float64)
    right = (outcomes.label == outcomes.gold[:, None]).astype(np.float64)
    after = np.where(outcomes.is_predicted, right, np.nan)
    kept = float(np.nanmean(after)) / max(float(before.mean()), 1e-9)
    label = np.unique(outcomes.gold, return_inverse=True)[1]
    return variance_ratio(label, before, after, min(1.0, kept), outcomes.family)
