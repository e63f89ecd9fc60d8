"""`--on instruction|shots`: an audit that perturbs the prompt and leaves the texts alone.

The data become pairs: the part of the prompt that is perturbed, and the question about an example.
The same perturbed prompts are used for all examples, as one would use a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from disorder.errors import DisorderError, option
from disorder.models.prompting import Prompt, perturbed_part
from disorder.registry import TransformationPart, parts
from disorder.requests.settings import Settings
from disorder.transformations import Transformation
from disorder.types import Dataset

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
    own = perturbed_part(prompt, settings.break_)
    listing = prompt.listings[0]
    examples = [
        replace(
            example,
            text_a=own.part,
            text_b=prompt.template.item(example.texts, listing),
            answers=None,
            shots=own.openings[0][1] if settings.break_ == "shots" else (),
        )
        for example in dataset.examples
    ]
    task = replace(dataset.task, breaks="a")
    return own, replace(dataset, examples=examples, task=task)


def _check(prompt: Prompt, settings: Settings) -> None:
    """Raise where there is nothing of a prompt to perturb, or not one way to do it."""
    if settings.break_ == "shots" and len(prompt.shots) < 2:
        raise DisorderError(
            f"{option('on', 'shots')}: the prompt needs two examples or more; add "
            f"{option('shots', 4)}"
        )
    if settings.break_ == "instruction" and not prompt.openings[0][0]:
        raise DisorderError(
            f"{option('on', 'instruction')}: the prompt {prompt.name} has no block `instruction`"
        )
    if len(prompt.listings) > 1 or prompt.calibrates:
        raise DisorderError(
            f"{option('on', settings.break_)} asks about one prompt: leave out "
            f"{option('option_orders')} and "
            f"{option('calibrate')}"
        )


def check_options(dataset: Dataset) -> None:
    """Raise where examples have no options of their own."""
    if dataset.task.kind != "choice":
        raise DisorderError(
            f"{option('on', 'options')} is for multiple choice; the examples of {dataset.name} "
            "have no options of their own"
        )


def list_transformations(part: str) -> list[str]:
    """The transformations that are for the examples of a prompt, or for options."""
    known = parts(TransformationPart)
    return [name for name, entry in known.items() if entry.perturbs == part]


def on_prompts(plan: Sequence[Transformation], part: str) -> list[Transformation]:
    """The transformations, made to perturb the part of the prompt and nothing else."""
    for transformation in plan:
        kinds = {step.part.perturbs for step in transformation.steps}
        if part in LISTS and kinds != {part}:
            raise DisorderError(
                f"{option('on', part)} takes {' and '.join(list_transformations(part))}, not "
                f"{transformation.spec}"
            )
        if any(step.part.scope == "pair" for step in transformation.steps):
            raise DisorderError(
                f"{option('on', part)}: {transformation.spec} takes both texts of a pair; "
                "choose one "
                "that perturbs the words of one text, such as derange"
            )
    return [Transformation(tuple(replace(step, side="a") for step in each.steps)) for each in plan]
