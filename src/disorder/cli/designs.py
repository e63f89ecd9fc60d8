"""`disorder designs`: train on broken texts, test on broken texts, or both: what does the model lose each time?"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from disorder.cli import _options as o
from disorder.cli.train import Device, ModelName, Set, TrainLimit, TrainOut, settings_of

Test = Annotated[str, typer.Argument(help="Test data, never trained on: mnli:matched, FILE.jsonl")]
DesignOn = Annotated[list[str], typer.Option("--on", help="Transformation to break texts by; can be repeated")]
DesignJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON and nothing else")]


def designs(
    data: Annotated[str, typer.Argument(help="Training data: mnli:train, FILE.jsonl")],
    test: Test,
    on: DesignOn,
    model: ModelName = "bilstm",
    set_: Set = None,
    limit: TrainLimit = None,
    seed: o.Seed = 0,
    out: TrainOut = None,
    device: Device = None,
    columns: o.Columns = "",
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    as_json: DesignJson = False,
) -> None:
    """Break the training data, the test data, or both (NLI Data Sanity Check).

    Trains one model on whole texts and one for every --on; Δ is against the first on whole texts, with a paired interval.
    """
    from rich.console import Console

    from disorder.cli._progress import EpochBar
    from disorder.train._designs import designs as start

    folder = out or o.new_folder(model, data, "models")
    with EpochBar() as bar:
        found = start(
            data, test, on, out=folder, seed=seed, listen=bar, model=model, settings=settings_of(set_), limit=limit,
            device=device, columns=o.mapping("--columns", columns), task=task, data_dir=data_dir,
        )  # fmt: skip
    records = [asdict(design) for design in found]
    (folder / "designs.json").write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    if as_json:
        sys.stdout.write(json.dumps(records) + "\n")
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("design", "trained on", "tested on", "n", "accuracy", "Δ to plain", box=SIMPLE_HEAD)
    for design in found:
        cells = [f"{s.value:+.3f} ({s.low:+.3f} to {s.high:+.3f})" if s else "" for s in (design.delta,)]
        value = design.accuracy
        accuracy = f"{value.value:.3f} ({value.low:.3f} to {value.high:.3f})"
        table.add_row(design.name, design.trained_on, design.tested_on, f"{value.n:,}", accuracy, *cells)
    Console().print(table)
    Console().print(f"Models and designs.json: {folder}", highlight=False, markup=False, soft_wrap=True)
