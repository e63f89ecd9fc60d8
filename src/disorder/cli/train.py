"""`disorder train`: train a model on data by a recipe, score it, and name the next command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli import options as o
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json
from disorder.cli.resuming import resumable, resume_command
from disorder.errors import DisorderError

if TYPE_CHECKING:
    from rich.console import Console

    from disorder.verbs.train import TrainedModel

Recipe = Annotated[str | None, typer.Argument(help="Recipe: plain, … (disorder list recipes)")]
TrainData = Annotated[
    str | None, typer.Argument(help="Training data: builtin:nli:train, FILE.jsonl, mnli:train")
]
ModelName = Annotated[
    str,
    o.option(
        "What is trained: bilstm, infersent, convnet, esim, transformer, bow, or hf:NAME_OR_FOLDER",
        "--model",
    ),
]
Dev = Annotated[
    str | None,
    o.option("Data that chooses the best epoch (default: 10 % of the training data, held out)"),
]
Set = Annotated[
    list[str] | None,
    o.option("Setting as name=value, e.g. lr=2e-5; can be repeated", "--set", "--settings"),
]
On = Annotated[
    list[str] | None,
    o.option(
        "Train on this transformation of the texts; can be repeated; original: original texts",
        "--on",
    ),
]
Asks = Annotated[
    str | None,
    o.option("Trained model that says which words matter (default: --model, if it is trained)"),
]
TrainLimit = Annotated[int | None, o.option("Train on this many examples, drawn at random by seed")]
TestLimit = Annotated[int | None, o.option("Test on this many examples, drawn at random")]
TrainOut = Annotated[
    Path | None, o.option("Folder of the trained model (default: models/DATE-MODEL-DATA)")
]
TrainResume = Annotated[Path | None, o.option("Resume a training that was stopped")]
Device = Annotated[str | None, o.option("cpu, cuda or mps (default: the best there is)")]
Audit = Annotated[
    str | None,
    o.option("Audit the model on this data before and after training, with the same seed"),
]
TrainJson = Annotated[
    bool, o.option("Print training.json on standard output and nothing else", "--json")
]


def train(
    recipe: Recipe = None,
    data: TrainData = None,
    model: ModelName = "bilstm",
    dev: Dev = None,
    set_: Set = None,
    on: On = None,
    asks: Asks = None,
    limit: TrainLimit = None,
    seed: o.Seed = 0,
    out: TrainOut = None,
    resume: TrainResume = None,
    device: Device = None,
    columns: o.Columns = "",
    task: o.TaskName = None,
    language: o.Language = "auto",
    data_dir: o.DataDir = None,
    audit: Audit = None,
    as_json: TrainJson = False,
) -> None:
    """Train a model on DATA by RECIPE.

    The folder it leaves can be audited at once. `--on T` trains on perturbed texts; a killed
    training is resumed with `--resume DIR`. Several GPUs: accelerate launch -m disorder train ...
    """
    from disorder.cli.progress import EpochBar
    from disorder.cli.training_summary import show_training
    from disorder.verbs.train import is_first_process
    from disorder.verbs.train import resume as resume_training
    from disorder.verbs.train import train as start_training

    if resume is not None and (recipe or data or set_ or on or limit or out):
        raise DisorderError(
            f"--resume {resume} resumes with the settings it has; name nothing else with it"
        )
    if resume is None and (recipe is None or data is None):
        raise DisorderError(
            "train needs a recipe and data, for instance: disorder train plain builtin:nli:train"
        )
    folder = resume or out or o.new_folder(model, data or "", "models")
    command = resume_command("train", folder, *(["--asks", asks] if asks else []))
    with resumable(folder, "training.json", command), EpochBar() as bar:
        if recipe is None or data is None:
            trained = resume_training(folder, asks=asks, progress=bar)
        else:
            trained = start_training(
                recipe,
                data,
                out=folder,
                model=model,
                dev=dev,
                on=on or (),
                settings=settings_of(set_),
                limit=limit,
                seed=seed,
                device=device,
                columns=o.mapping("--columns", columns),
                task=task,
                language=language,
                data_dir=data_dir,
                asks=asks,
                progress=bar,
            )
    if not is_first_process():
        return
    if as_json:
        print_json(trained.record)
        return
    console = new_console()
    show_training(trained, console)
    if audit is not None:
        _audit_before_and_after(trained, audit, console)


def settings_of(given: list[str] | None) -> dict[str, str]:
    """The pairs of `--set name=value`."""
    pairs = [item.partition("=") for item in given or ()]
    for name, equals, value in pairs:
        if not equals or not name.strip() or not value.strip():
            raise DisorderError(f"--set {name}{equals}{value}: write it as name=value")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _audit_before_and_after(trained: TrainedModel, data: str, console: Console) -> None:
    """The same audit of the starting model, if that is a trained one, and of the trained model."""
    from disorder.cli.progress import Bar
    from disorder.cli.tables import print_line
    from disorder.cli.training_summary import show_audits
    from disorder.verbs.audit import audit

    request = trained.record["request"]
    settings = {name: request[name] for name in ("seed", "columns", "task", "data_dir")}
    specs = {"before": request["model"], "after": trained.spec}
    if ":" not in specs["before"]:
        del specs["before"]  # a network from scratch
    runs = {}
    for when, spec in specs.items():
        out = trained.folder / f"audit-{when}"
        try:
            with Bar() as bar:
                runs[when] = audit(spec, data, out=out, progress=bar, **settings)
        except DisorderError as error:
            print_line(console, f"no audit {when} training: {error}")
    show_audits(runs, console)
