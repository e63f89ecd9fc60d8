"""The extension of inspect_ai: our transformations as a solver, and skill kept as a metric over
samples paired by id. inspect imports it by its entry point; nothing here does.

inspect eval task.py --solver disorder/shuffled -S by=derange --epochs 5
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, metric, scorer, value_to_float
from inspect_ai.solver import Generate, Solver, TaskState, multiple_choice, solver

from disorder.errors import BadSetting
from disorder.types import ORIGINAL, Example, text_segments
from disorder.verbs.import_logs.logged import MARK, frame


def perturbed_text(text: str, *, id: str, by: str, variant: int, seed: int) -> str | None:
    """One variant of a text, as an audit draws it; None where it has none."""
    from disorder.verbs.perturb import perturb

    rows = [{"id": id, "text_a": text, "label": "any"}]
    made = perturb(rows, with_=by, q=variant + 1, seed=seed, short="use")
    texts = [str(row["text_a"]) for row in made]
    return texts[variant % len(texts)] if texts else None


def parted(text: str, after: str, before: str) -> tuple[str, str, str]:
    """What stands before the text that is perturbed, that text, and what stands behind it.

    >>> parted("Review: so good. Answer:", "Review: ", " Answer:")
    ('Review: ', 'so good.', ' Answer:')
    """
    head, mark, rest = text.rpartition(after) if after else ("", "", text)
    start = head + mark
    middle, end, tail = rest.partition(before) if before else (rest, "", "")
    if (after and not mark) or (before and not end):
        raise BadSetting("shuffled", after=after, before=before, need="marks that prompts have")
    return start, middle, end + tail


@solver
def shuffled(
    by: str = "derange",
    after: str = "",
    before: str = "",
    seed: int = 0,
    originals: bool = False,
) -> Solver:
    """Perturb what the user asks, then let the model answer. Each epoch draws another variant.

    `by` is a transformation of disorder; `after` and `before` are marks of the prompt, between
    which the text stands that is perturbed. With `originals` the first epoch leaves it as it is.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        number = state.epoch - 1 - originals
        if number >= 0:
            start, text, end = parted(state.user_prompt.text, after, before)
            found = perturbed_text(text, id=str(state.sample_id), by=by, variant=number, seed=seed)
            state.user_prompt.text = start + (text if found is None else found) + end
            is_perturbed = found is not None
        else:
            is_perturbed = True  # as it should be
        state.metadata[MARK] = {
            "id": str(state.sample_id),
            "transformation": by if number >= 0 else ORIGINAL,
            "variant": max(0, number),
            "text": state.user_prompt.text,
            "is_perturbed": is_perturbed,
        }
        if len(state.choices):
            return await multiple_choice()(state, generate)
        return await generate(state)

    return solve


@scorer(metrics=[])
def paired(of: Scorer) -> Scorer:
    """Another scorer, whose scores say which perturbation they are of, for `skill_kept`."""

    async def score(state: TaskState, target: Any) -> Score | None:
        found = await of(state, target)
        if found is not None and MARK in state.metadata:
            mark = {MARK: state.metadata[MARK]}
            return found.model_copy(update={"metadata": (found.metadata or {}) | mark})
        return found

    return score


@metric(scores="unreduced")
def skill_kept(chance: float) -> Metric:
    """The share of skill above `chance` that is left in perturbed samples, with its interval over
    families of alike texts: original and perturbed samples are paired by id.
    """

    def compute(scores: list[SampleScore]) -> Any:
        return ratio_of(scores, chance, value_to_float())

    return compute


def ratio_of(
    scores: list[SampleScore], chance: float, as_number: Callable[[Any], float]
) -> dict[str, float]:
    """Skill kept, and the ends of its interval; not a number where there is none."""
    from disorder.data.families import find_families
    from disorder.errors import NothingToMeasure
    from disorder.metrics.statistics.skill_ratio import SkillRatio

    asked: dict[str, str] = {}
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for each in scores:
        found = (each.score.metadata or {}).get(MARK) or each.sample_metadata or {}
        if not found.get("is_perturbed", True):
            continue
        is_original = found.get("transformation", ORIGINAL) == ORIGINAL
        side = before if is_original else after
        name = str(found.get("id", each.sample_id))
        side.setdefault(name, []).append(as_number(each.score.value))
        if is_original:
            asked[name] = str(found.get("text", name))
    ids = sorted(before.keys() & after.keys())
    names = ("skill_kept", "skill_kept_low", "skill_kept_high")
    if not ids:
        return dict.fromkeys(names, float("nan"))
    first, second = (np.array([np.mean(side[name]) for name in ids]) for side in (before, after))
    start, end = frame(asked[name] for name in ids)
    texts = [asked[name][start : len(asked[name]) - end] for name in ids]
    pairs = zip(ids, texts, strict=True)
    family = find_families(
        [Example(name, text_segments((text, None)), "any") for name, text in pairs]
    ).number
    try:
        kept = SkillRatio.of_scores(first, second, np.full(len(ids), chance), family).score()
    except NothingToMeasure:
        return dict.fromkeys(names, float("nan"))
    return dict(zip(names, (kept.value, kept.low, kept.high), strict=True))
