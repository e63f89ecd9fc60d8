"""`disorder designs`: train on perturbed texts, test on perturbed texts, or both: what does the model
lose each time?
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli import options as o
from disorder.cli.files import write
from disorder.cli.tables import Rows, markdown, seeds_text, signed, terminal
from disorder.cli.train import Device, ModelName, Set, TestLimit, TrainLimit, TrainOut, settings_of

if TYPE_CHECKING:
    from disorder.verbs.train import Design

Test = Annotated[str, typer.Argument(help="Test data, never trained on: mnli:matched, FILE.jsonl")]
DesignOn = Annotated[
    list[str], o._option("Transformation to break texts by; can be repeated", "--on")
]
DesignSeeds = Annotated[int, o._option("Trainings of each model, with seeds 0, 1, …")]
DesignJson = Annotated[bool, o._option("Print the results as JSON and nothing else", "--json")]
MEANING = (
    "95 % intervals over test examples; they do not hold the chance of seeds. Δ: accuracy minus that of the plain model of the "
    "same seed on the same test examples, whole."
)


def designs(
    data: Annotated[str, typer.Argument(help="Training data: mnli:train, FILE.jsonl")],
    test: Test,
    on: DesignOn,
    model: ModelName = "bilstm",
    seeds: DesignSeeds = 1,
    set_: Set = None,
    limit: TrainLimit = None,
    test_limit: TestLimit = None,
    out: TrainOut = None,
    device: Device = None,
    columns: o.Columns = "",
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    as_json: DesignJson = False,
) -> None:
    """Break the training data, the test data, or both (NLI Data Sanity Check).

    Trains one model on original texts and one for every --on; Δ is against the first on original texts,
    with a paired interval. The same command with the same --out goes on where it was stopped.
    Leaves designs.json and designs.md.
    """
    from rich.console import Console

    from disorder.cli.progress import EpochBar
    from disorder.verbs.train import designs as start

    folder = out or o.new_folder(model, data, "models")
    with EpochBar() as bar:
        found = start(
            data,
            test,
            on,
            out=folder,
            seeds=seeds,
            test_limit=test_limit,
            progress=bar,
            model=model,
            settings=settings_of(set_),
            limit=limit,
            device=device,
            columns=o.mapping("--columns", columns),
            task=task,
            data_dir=data_dir,
        )
    note = f"{seeds_text(seeds)}. {MEANING}"
    _write(folder, found, note)
    if as_json:
        sys.stdout.write(json.dumps([asdict(design) for design in found]) + "\n")
        return
    console = Console()
    console.print(f"plain on original texts: accuracy {_score(found[0])}", highlight=False)
    console.print(terminal(changes(found)))
    console.print(note, style="dim", highlight=False, markup=False)
    console.print(
        f"Models, designs.json and designs.md: {folder}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def changes(found: list[Design]) -> Rows:
    """Δ as in the paper's Table 2: a row a transformation, a column a design."""
    titles = {
        "corrupt-train": "Δ, perturbed training",
        "corrupt-test": "Δ, perturbed test",
        "corrupt-both": "Δ, both",
    }
    rows = [["perturbed by", "n", *titles.values()]]
    specs = dict.fromkeys(design.tested_on for design in found[1:] if design.name == "corrupt-test")
    for spec in specs:
        own = {
            design.name: design for design in found if spec in (design.trained_on, design.tested_on)
        }
        rows.append(
            [spec, f"{own['corrupt-test'].accuracy.n:,}", *(_change(own[name]) for name in titles)]
        )
    return rows


def everything(found: list[Design]) -> Rows:
    """A row a design, with its accuracy, and how far seeds lie apart."""
    rows = [["design", "trained on", "tested on", "n", "accuracy", "Δ to plain", "Δ by seed"]]
    for design in found:
        by_seed = ", ".join(map(signed, design.delta_by_seed or ()))
        cells = [f"{design.accuracy.n:,}", _score(design), _change(design), by_seed]
        rows.append([design.name, design.trained_on, design.tested_on, *cells])
    return rows


def _score(design: Design) -> str:
    score = design.accuracy
    return f"{score.value:.3f} ({score.low:.3f} to {score.high:.3f})"


def _change(design: Design) -> str:
    delta = design.delta
    return (
        ""
        if delta is None
        else f"{signed(delta.value)} ({signed(delta.low)} to {signed(delta.high)})"
    )


def _write(folder: Path, found: list[Design], note: str) -> None:
    """designs.json for machines, designs.md for people."""
    write(
        "--out",
        folder / "designs.json",
        json.dumps([asdict(design) for design in found], indent=1) + "\n",
    )
    tables = {"Δ to plain": changes(found), "All numbers": everything(found)}
    write("--out", folder / "designs.md", markdown(tables, note))
