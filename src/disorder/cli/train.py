"""`disorder train`: train a model on data by a recipe, score it, and name the next command."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from disorder.cli.folders import new_folder, resumable
from disorder.cli.output import print_json, show
from disorder.errors import DisorderError
from disorder.requests.option import changed, command_line, declared_in
from disorder.requests.train import AsksOptions, TrainOptions, TrainOutput

if TYPE_CHECKING:
    from disorder.verbs.train import TrainedModel
    from disorder.verbs.train.before_after import BeforeAndAfter

Recipe = Annotated[str | None, typer.Argument(help="Recipe: plain, … (disorder list recipes)")]
TrainData = Annotated[
    str | None, typer.Argument(help="Training data: builtin:nli:train, FILE.jsonl, mnli:train")
]


def train(
    recipe: Recipe = None,
    data: TrainData = None,
    *,
    options: TrainOptions,
    output: TrainOutput,
) -> None:
    """Train a model on DATA by RECIPE.

    The folder it leaves can be audited at once. `--with T` trains on perturbed texts; a killed
    training is resumed with `--resume DIR`. Several GPUs: accelerate launch -m disorder train ...
    """
    from disorder.cli.progress import EpochBar
    from disorder.verbs.train import is_first_process
    from disorder.verbs.train import resume as resume_training
    from disorder.verbs.train import train as start_training

    resumed = output["resume"]
    named = [name for name in options if name not in declared_in(AsksOptions)]
    if resumed is not None and (recipe or data or named or output["out"]):
        raise DisorderError(
            f"--resume {resumed} resumes with the settings it has; name nothing else with it"
        )
    if resumed is None and (recipe is None or data is None):
        raise DisorderError(
            "train needs a recipe and data, for instance: disorder train plain builtin:nli:train"
        )
    network = options.get("model", declared_in(TrainOptions)["model"].default)
    folder = Path(resumed or output["out"] or new_folder(network, data or "", "models"))
    again = cast("AsksOptions", {k: v for k, v in options.items() if k not in named})
    words = changed(AsksOptions, again)
    command = partial(command_line, "train", "--resume", folder, *words)
    with resumable(folder, "result.json", command), EpochBar() as bar:
        if recipe is None or data is None:
            trained = resume_training(folder, progress=bar, **again)
        else:
            trained = start_training(recipe, data, out=folder, progress=bar, **options)
    if not is_first_process():
        return
    if not output["as_json"]:
        is_audited = output["audit"] is not None
        show(replace(trained.result, next_steps=[]) if is_audited else trained.result)
    audits = None if output["audit"] is None else _audited(trained, output["audit"])
    if output["as_json"]:
        audited = {} if audits is None else {"audit": audits.as_data()}
        print_json(trained.result.as_data() | audited)
    elif audits is not None:
        show(audits.result)


def _audited(trained: TrainedModel, data: str) -> BeforeAndAfter:
    from disorder.cli.progress import Bar
    from disorder.verbs.train.before_after import audit_training

    with Bar() as bar:
        return audit_training(trained, data, progress=bar)
