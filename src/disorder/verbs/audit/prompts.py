"""`--on SEGMENT`: what a transformation is applied to, of the examples or of their prompt.

Where a part of the prompt is perturbed (instruction, system, shots), the data become pairs: that
part, and the item about an example. The same perturbed prompts are used for all examples, as one
would use a prompt. Over several prompts, the spread of each score stands beside its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from disorder.errors import BadSetting, DisorderError, option
from disorder.models.prompting import Prompt
from disorder.registry import TransformationPart, parts
from disorder.requests.settings import Settings
from disorder.results.run import Run
from disorder.transformations import Transformation
from disorder.types import OF_PROMPTS, ORIGINAL, SHOTS, Dataset, Segment, is_about_texts
from disorder.verbs.compare import FinishedRun
from disorder.verbs.outcomes import in_groups, measure

LISTS = ("shots", "options")  # what moves as items


def perturbable_prompt(
    prompt: Prompt | None, dataset: Dataset, settings: Settings
) -> tuple[Prompt, Dataset]:
    """The prompt that takes a perturbed part, and the data as pairs of that part and a question."""
    if prompt is None:
        raise DisorderError(
            f"{option('on', settings.break_)} is for language models, which are asked by a prompt"
        )
    _check(prompt, settings)
    part = settings.break_
    instruction, shots = prompt.openings[0]
    moved: Segment = prompt.template.system(prompt.words) if part == "system" else instruction
    if part == "shots":
        moved = tuple(text for shot in shots for text in shot)
    listing = prompt.listings[0]
    examples = [
        replace(
            example,
            segments={
                part: moved,
                "item": prompt.item(example.segments, listing),
                **({"options": example.options} if example.options else {}),
            },
            answers=None,
            on=(part, "item"),
        )
        for example in dataset.examples
    ]
    task = replace(dataset.task, breaks="a")
    return prompt, replace(dataset, examples=examples, task=task)


def _check(prompt: Prompt, settings: Settings) -> None:
    """Raise where there is nothing of a prompt to perturb, or not one way to do it."""
    if settings.break_ == "shots" and len(prompt.shots) < 2:
        raise DisorderError(
            f"{option('on', 'shots')}: the prompt needs two examples or more; add "
            f"{option('shots', 4)}"
        )
    told = {"instruction": prompt.openings[0][0], "system": prompt.template.system(prompt.words)}
    if not told.get(settings.break_, True):
        raise DisorderError(
            f"{option('on', settings.break_)}: the prompt {prompt.name} has no block "
            f"`{settings.break_}`"
        )
    if len(prompt.listings) > 1 or prompt.calibrates:
        raise DisorderError(
            f"{option('on', settings.break_)} asks about one prompt: leave out "
            f"{option('option_orders')} and "
            f"{option('calibrate')}"
        )


def check_segments(dataset: Dataset, plan: Sequence[Transformation], settings: Settings) -> None:
    """Raise where a transformation is for a segment that the examples do not have."""
    segments = dataset.examples[0].segments
    for each in plan:
        missing = [name for step in each.steps for name in step.on if name not in segments]
        if missing:
            named = option("on", missing[0]) if missing[0] in settings.break_ else each.spec
            raise DisorderError(
                f"{named}: the examples of {dataset.name} have no {missing[0]}; they have "
                f"{', '.join(segments)}"
            )


def list_transformations(part: str) -> list[str]:
    """The transformations that are for the examples of a prompt, or for options."""
    known = parts(TransformationPart)
    return [name for name, entry in known.items() if entry.perturbs == part]


def on_segments(plan: Sequence[Transformation], on: str) -> list[Transformation]:
    """The transformations, made to perturb these segments where they do not name their own."""
    names = on.split(",")
    if not all(names) or len(names) > 2 or (len(names) > 1 and not is_about_texts(names[0])):
        raise BadSetting(option("on"), on=on, need="one segment, or two of an example")
    for transformation in plan:
        kinds = {step.part.perturbs for step in transformation.steps}
        if on == SHOTS and kinds != {on}:
            raise DisorderError(
                f"{option('on', on)} takes {' and '.join(list_transformations(on))}, not "
                f"{transformation.spec}"
            )
        if any(step.part.scope == "pair" for step in transformation.steps):
            raise DisorderError(
                f"{option('on', on)}: {transformation.spec} takes both texts of a pair; choose one "
                "that perturbs the words of one text, such as derange"
            )
    if on not in OF_PROMPTS:
        return [each.applied_on(names) for each in plan]
    return [Transformation(tuple(replace(step, side="a") for step in each.steps)) for each in plan]


Key = tuple[str, str, str]  # transformation, metric, group


@dataclass(frozen=True)
class PromptShare:
    """The share of one prompt among several, which share a budget and are resumed together."""

    n_left: int = 1  # prompts without a run, this one included
    spent: Mapping[str, float] = field(default_factory=dict)  # under the prompts before
    resume_with: str = ""


def total_spent(runs: Sequence[Run]) -> dict[str, float]:
    """Questions, tokens and money of several runs."""
    found: Counter[str] = Counter()
    for run in runs:
        found.update(run.spent)
    return dict(found)


def spread_over(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """For each score that all prompts have: its smallest and largest value over the prompts, on the
    examples that were reached under all of them.
    """
    found = []
    by_run = _measured(runs)
    for key, value in by_run[0].items():
        values = [value, *(rest[key] for rest in by_run[1:] if key in rest)]
        if len(values) == len(runs):
            found.append(
                {
                    "transformation": key[0],
                    "metric": key[1],
                    "group": key[2],
                    "low": min(values),
                    "high": max(values),
                    "values": values,
                }
            )
    return found


def _measured(runs: Sequence[Run]) -> list[dict[Key, float]]:
    """The scores of each run, measured again where a limit let one reach fewer examples."""
    if len({run.n_examples for run in runs}) == 1:
        return [
            {(r.transformation, r.metric, r.group): r.value for r in run.scores} for run in runs
        ]
    opened = [FinishedRun.open(run) for run in runs]
    shared = reduce(set.intersection, ({e.id for e in each.examples} for each in opened))
    return [dict(_on_shared(each, shared)) for each in opened]


def _on_shared(finished: FinishedRun, shared: set[str]) -> Iterator[tuple[Key, float]]:
    """The scores of a run on some of its examples."""
    by_id = {example.id: example for example in finished.examples}
    names: dict[str, set[str]] = {}
    for record in finished.run.scores:
        names.setdefault(record.transformation, set()).add(record.metric)
    for spec in (ORIGINAL, *finished.run.transformations):
        outcomes = finished.outcomes(spec)
        if outcomes is None:
            continue
        kept = outcomes.take(np.array([str(name) in shared for name in outcomes.example]))
        used = [by_id[str(name)] for name in kept.example]
        for group, part, _ in in_groups(kept, used, finished.examples) if used else ():
            keeps_words = spec in finished.run.breaks_order
            records, _ = measure(part, group, keeps_words=keeps_words, only=names.get(spec, ()))
            for record in records:
                yield (spec, record.metric, group), record.value
