"""`disorder train`: make a model from data by a recipe, and say how good it is and what to ask it
next.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disorder.cli import options as o
from disorder.errors import DisorderError

if TYPE_CHECKING:
    from rich.console import Console

    from disorder.verbs.train import Trained

Recipe = Annotated[str | None, typer.Argument(help="Recipe: plain, … (disorder list recipes)")]
TrainData = Annotated[
    str | None, typer.Argument(help="Training data: builtin:nli:train, FILE.jsonl, mnli:train")
]
ModelName = Annotated[
    str,
    o._option(
        "What learns: bilstm, infersent, convnet, esim, transformer, bow, or hf:NAME_OR_FOLDER",
        "--model",
    ),
]
Dev = Annotated[
    str | None,
    o._option("Data that chooses the best epoch (default: 10 % of the training data, kept apart)"),
]
Set = Annotated[
    list[str] | None, o._option("Setting as name=value, e.g. lr=2e-5; can be repeated", "--set")
]
On = Annotated[
    list[str] | None,
    o._option(
        "Train on this transformation of the texts; can be repeated; original: original texts",
        "--on",
    ),
]
Asks = Annotated[
    str | None,
    o._option("Trained model to ask which words matter (default: --model, if it is trained)"),
]
TrainLimit = Annotated[
    int | None, o._option("Train on this many examples, drawn at random by seed")
]
TestLimit = Annotated[int | None, o._option("Test on this many examples, drawn at random")]
TrainOut = Annotated[
    Path | None, o._option("Folder of the trained model (default: models/DATE-MODEL-DATA)")
]
TrainResume = Annotated[Path | None, o._option("Resume a training that was stopped")]
Device = Annotated[str | None, o._option("cpu, cuda or mps (default: the best there is)")]
Audit = Annotated[
    str | None,
    o._option("Audit the model on this data before and after training, with the same seed"),
]
TrainJson = Annotated[
    bool, o._option("Print training.json on standard output and nothing else", "--json")
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
    data_dir: o.DataDir = None,
    audit: Audit = None,
    as_json: TrainJson = False,
) -> None:
    """Train a model on DATA by RECIPE.

    The folder it leaves can be audited at once. `--on T` trains on perturbed texts; a killed training
    resumes `--resume DIR`. Several GPUs: accelerate launch -m disorder train ...
    """
    from rich.console import Console

    if resume is not None and (recipe or data or set_ or on or limit or out):
        raise DisorderError(f"--resume {resume} goes on as it was asked; name nothing else with it")
    if (recipe is None or data is None) and resume is None:
        raise DisorderError(
            "train needs a recipe and data, for instance: disorder train plain builtin:nli:train"
        )
    asked = {
        "model": model,
        "dev": dev,
        "on": on or (),
        "settings": settings_of(set_),
        "limit": limit,
        "seed": seed,
        "device": device,
        "columns": o.mapping("--columns", columns),
        "task": task,
        "data_dir": data_dir,
        "asks": asks,
    }
    folder = resume or out or o.new_folder(model, str(data), "models")
    trained = _trained(recipe, data, folder, asked, is_resumed=resume is not None)
    if trained is None:
        return
    if as_json:
        sys.stdout.write(json.dumps(trained.record, ensure_ascii=False) + "\n")
        return
    show(trained, Console())
    if audit is not None:
        _audit_both(trained, audit, Console())


def settings_of(given: list[str] | None) -> dict[str, str]:
    """The pairs of `--set name=value`."""
    pairs = [item.partition("=") for item in given or ()]
    for name, equals, value in pairs:
        if not equals or not name.strip() or not value.strip():
            raise DisorderError(f"--set {name}{equals}{value}: write it as name=value")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _trained(
    recipe: Any, data: Any, folder: Path, asked: dict[str, Any], *, is_resumed: bool
) -> Trained | None:
    """The trained model; nothing in the other processes of several, which have nothing to say."""
    from disorder.cli.progress import EpochBar
    from disorder.verbs.train import is_first_process, resume
    from disorder.verbs.train import train as start

    with EpochBar() as bar:
        done = (
            resume(folder, progress=bar)
            if is_resumed
            else start(recipe, data, out=folder, progress=bar, **asked)
        )
    return done if is_first_process() else None


def show(trained: Trained, console: Console) -> None:
    """The score, what was left out, and the next command."""
    score, record = trained.score, trained.record
    of = f"{score.n:,} examples {'of ' + record['request']['dev'] if record['request']['dev'] else 'kept apart'}"
    lines = [
        f"dev {trained.metric} {score.value:.3f} (95 % interval {score.low:.3f} to {score.high:.3f}; {of})",
        f"{record['n_train']:,} training examples, {record['examples_per_second']:,.0f} a second, {record['seconds']:.0f} s",
    ]
    for spec, reasons in record["skips"].items():
        lines += [
            f"{spec}: {n:,} training examples left out ({reason})" for reason, n in reasons.items()
        ]
    lines += [*_spans(record["after"]), *_seen(record["after"]), *_fitted(record["after"])]
    lines += [f"\nNext: disorder audit {trained.spec} {_audit_data(record)}"]
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _seen(after: dict[str, Any]) -> list[str]:
    """What the model answers to whole and to perturbed dev texts, so that a collapse can be seen."""
    lines = []
    for name, seen in after.get("answers", {}).items():
        texts = (
            "original texts"
            if name == "original"
            else f"perturbed texts ({', '.join(after['perturbed_by'])})"
        )
        labels = ", ".join(f"{label} {share:.3f}" for label, share in seen["labels"].items())
        spread = f"({seen['low']:.3f} to {seen['high']:.3f}, {seen['most']:.3f} at most)"
        lines.append(f"{texts}: entropy {seen['entropy']:.3f} nats {spread}; answers: {labels}")
    return lines


def _spans(after: dict[str, Any]) -> list[str]:
    """How well answers are found, by whether there are any."""
    if "spans" not in after:
        return []
    scores = after["spans"]["scores"]
    lines = [
        f"{name}: {s['value']:.3f} ({s['low']:.3f} to {s['high']:.3f}, n {s['n']:,})"
        for name, s in scores.items()
        if name != "f1, all"  # it stands above
    ]
    return [
        *lines,
        f"no answer where the null score is {after['spans']['null_threshold']:+.3f} above the best span's, or more",
    ]


def _fitted(after: dict[str, Any]) -> list[str]:
    if "calibration" not in after:
        return []
    found, error = after["calibration"], after["ece"]
    said = f"temperature {found['temperature']:.3f} (dev ECE {error['before']:.3f} before, {error['after']:.3f} after)"
    if found["threshold"] is None:
        return [f"calibration.json: {said}"]
    shares = {
        name: f"{s['value']:.3f} ({s['low']:.3f} to {s['high']:.3f})"
        for name, s in after["abstained"].items()
    }
    abstains = f"abstains below {found['threshold']:.3f}: {shares['original']} of whole, {shares['perturbed']} of perturbed dev texts"
    return [f"calibration.json: {said}; {abstains}"]


def _audit_data(record: dict[str, Any]) -> str:
    """The data that an audit of this model would ask about."""
    data = str(record["request"]["data"])
    return str(record["request"]["dev"] or (data.removesuffix(":train") if ":" in data else data))


def _audit_both(trained: Trained, data: str, console: Console) -> None:
    """The same audit before and after, one row a score."""
    from disorder.cli.progress import Bar
    from disorder.verbs.audit.pipeline import audit

    request = trained.record["request"]
    settings = {name: request[name] for name in ("seed", "columns", "task", "data_dir")}
    runs = {}
    for when, spec in (("before", request["model"]), ("after", trained.spec)):
        if ":" not in spec:
            continue  # a network from scratch had no answers before
        try:
            with Bar() as bar:
                runs[when] = audit(
                    spec, data, out=trained.folder / f"audit-{when}", progress=bar, **settings
                )
        except DisorderError as error:
            console.print(
                f"no audit {when} training: {error}", highlight=False, markup=False, soft_wrap=True
            )
    _show_both(runs, console)


def _show_both(runs: dict[str, Any], console: Console) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        "transformation", "score", *(f"{when} training" for when in runs), box=SIMPLE_HEAD
    )
    last = runs.get("after")
    for record in last.scores if last else ():
        if record.group == "all" and not record.metric.startswith("omega@"):
            found = [run.score(record.transformation, record.metric) for run in runs.values()]
            cells = [
                "" if r is None else f"{r.value:.3f} ({r.low:.3f} to {r.high:.3f})" for r in found
            ]
            table.add_row(record.transformation, record.metric, *cells)
    console.print(table)
