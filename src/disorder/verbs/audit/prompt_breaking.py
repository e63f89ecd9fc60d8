"""`--break instruction|shots`: an audit that perturbs the prompt and leaves the texts alone.

The data become pairs: the part of the prompt that is perturbed, and the question about an example.
The same perturbed prompts are used for all examples, as one would use a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from disorder.errors import DisorderError
from disorder.models.prompting import Prompt, perturbed_part
from disorder.registry import TransformationPart, parts
from disorder.runs.run import Run
from disorder.runs.settings import Settings
from disorder.transformations import Transformation
from disorder.types import Dataset

PARTS = {"instruction": "the word order of the instruction", "shots": "its examples as they are"}
SURVIVES = 0.95  # agreement from which on a perturbed part is not needed


def perturbable_prompt(
    prompt: Prompt | None, dataset: Dataset, settings: Settings
) -> tuple[Prompt, Dataset]:
    """The prompt that takes a perturbed part, and the data as pairs of that part and a question."""
    if prompt is None:
        raise DisorderError(
            f"--break {settings.break_} is for language models, which are asked by a prompt"
        )
    _check(prompt, settings)
    own = perturbed_part(prompt, settings.break_)
    listing = prompt.listings[0]
    examples = [
        replace(
            example,
            text_a=own.part,
            text_b=prompt.template.item(example.texts, listing),
            answers=None,
        )
        for example in dataset.examples
    ]
    task = replace(dataset.task, breaks="a")
    return own, replace(dataset, examples=examples, task=task)


def _check(prompt: Prompt, settings: Settings) -> None:
    """Raise where there is nothing of a prompt to perturb, or not one way to do it."""
    if settings.break_ == "shots" and len(prompt.shots) < 2:
        raise DisorderError("--break shots: the prompt needs two examples or more; add --shots 4")
    if settings.break_ == "instruction" and not prompt.openings[0][0]:
        raise DisorderError(
            f"--break instruction: the prompt {prompt.name} has no block `instruction`"
        )
    if len(prompt.listings) > 1 or prompt.calibrates:
        raise DisorderError(
            f"--break {settings.break_} asks about one prompt: leave out --option-orders and "
            "--calibrate"
        )


def shot_transformations() -> list[str]:
    """The transformations that are for the examples of a prompt."""
    known = parts(TransformationPart)
    return [name for name, entry in known.items() if entry.perturbs == "shots"]


def on_prompts(plan: Sequence[Transformation], part: str) -> list[Transformation]:
    """The transformations, made to perturb the part of the prompt and nothing else."""
    for transformation in plan:
        kinds = {step.part.perturbs for step in transformation.steps}
        if part == "shots" and kinds != {"shots"}:
            raise DisorderError(
                f"--break shots takes {' and '.join(shot_transformations())}, not "
                f"{transformation.spec}"
            )
        if any(step.part.scope == "pair" for step in transformation.steps):
            raise DisorderError(
                f"--break {part}: {transformation.spec} takes both texts of a pair; choose one "
                "that perturbs the words of one text, such as derange"
            )
    return [Transformation(tuple(replace(step, side="a") for step in each.steps)) for each in plan]


def prompt_verdict(run: Run) -> str:
    """What an audit of a prompt says in one sentence; empty for an audit of texts."""
    part = str(run.settings.get("break_", "text"))
    if part == "text":
        return ""
    measured = [run.score(spec, "agreement") for spec in run.transformations]
    record = next(filter(None, measured), None)
    if record is None:
        return f"No verdict: {PARTS[part]} could not be perturbed."
    only = _only_answer(run.answers.get(record.transformation, {}))
    if only:
        return (
            f"No verdict: the model answers {only} to every text, so that nothing shows whether it "
            f"needs {PARTS[part]}."
        )
    figures = f"{record.value:.2f} [{record.low:.2f}, {record.high:.2f}]"
    if record.low >= SURVIVES:
        claim = f"The model hardly needs {PARTS[part]}"
    elif record.high < SURVIVES:
        claim = f"The model depends on {PARTS[part]}"
    else:
        claim = f"Undecided whether the model needs {PARTS[part]}"
    return f"{claim}: {figures} of its predictions are unchanged under {record.transformation}."


def _only_answer(answered: Mapping[str, Any]) -> str:
    """The one label that a model gives before anything is perturbed; empty where it gives more."""
    counts = zip(answered.get("answers", ()), answered.get("before", ()), strict=True)
    given = [label for label, n in counts if n]
    return given[0] if len(given) == 1 else ""
