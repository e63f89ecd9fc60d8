"""`disorder designs`: what does a model lose when its training texts, its test texts, or both are
perturbed?
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli import options as o
from disorder.cli.files import write
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json
from disorder.cli.resuming import resumable
from disorder.cli.tables import (
    TableRows,
    markdown,
    print_line,
    seeds_text,
    signed,
    terminal,
    with_interval,
)
from disorder.cli.train import Device, ModelName, Set, TestLimit, TrainLimit, TrainOut, settings_of

if TYPE_CHECKING:
    from disorder.verbs.train import Design

ComparisonData = Annotated[str, typer.Argument(help="Training data: mnli:train, FILE.jsonl")]
ComparisonTest = Annotated[
    str, typer.Argument(help="Test data, never trained on: mnli:matched, FILE.jsonl")
]
ComparisonSeeds = Annotated[int, o.option("Trainings of each model, with seeds 0, 1, …")]
ComparisonJson = Annotated[bool, o.option("Print the results as JSON and nothing else", "--json")]
DesignOn = Annotated[
    list[str], o.option("Transformation to perturb texts by; can be repeated", "--on")
]
MEANING = (
    "95 % intervals over test examples; they do not include the variation between seeds. "
    "Δ: accuracy minus that of the plain model of the same seed on the same test examples, "
    "unperturbed."
)


def designs(
    data: ComparisonData,
    test: ComparisonTest,
    on: DesignOn,
    model: ModelName = "bilstm",
    seeds: ComparisonSeeds = 1,
    set_: Set = None,
    limit: TrainLimit = None,
    test_limit: TestLimit = None,
    out: TrainOut = None,
    device: Device = None,
    columns: o.Columns = "",
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    as_json: ComparisonJson = False,
) -> None:
    """Perturb the training data, the test data, or both (NLI Data Sanity Check).

    Trains one model on original texts and one per --on; Δ is against the first on original texts,
    with a paired interval. The same command with the same --out resumes what was stopped. Leaves
    designs.json and designs.md.
    """
    from disorder.cli.progress import EpochBar
    from disorder.verbs.train import designs as compare_designs

    folder = out or o.new_folder(model, data, "models")
    with resumable(folder, "seed-0"), EpochBar() as bar:
        found = compare_designs(
            data,
            test,
            on,
            out=folder,
            model=model,
            seeds=seeds,
            settings=settings_of(set_),
            limit=limit,
            test_limit=test_limit,
            device=device,
            columns=o.mapping("--columns", columns),
            task=task,
            data_dir=data_dir,
            progress=bar,
        )
    note = f"{seeds_text(seeds)}. {MEANING}"
    _write(folder, found, note)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    console = new_console()
    print_line(console, f"plain on original texts: accuracy {_accuracy(found[0])}")
    console.print(terminal(delta_rows(found)))
    console.print(note, style="dim", highlight=False, markup=False)
    print_line(console, f"Models, designs.json and designs.md: {folder}")


def delta_rows(found: list[Design]) -> TableRows:
    """Δ as in the paper's Table 2: one row per transformation, one column per design."""
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
        n = own["corrupt-test"].accuracy.n
        rows.append([spec, f"{n:,}", *(_delta(own[name]) for name in titles)])
    return rows


def design_rows(found: list[Design]) -> TableRows:
    """One row per design, with its accuracy, Δ, and Δ by seed."""
    rows = [["design", "trained on", "tested on", "n", "accuracy", "Δ to plain", "Δ by seed"]]
    for design in found:
        by_seed = ", ".join(map(signed, design.delta_by_seed or ()))
        cells = [f"{design.accuracy.n:,}", _accuracy(design), _delta(design), by_seed]
        rows.append([design.name, design.trained_on, design.tested_on, *cells])
    return rows


def _accuracy(design: Design) -> str:
    score = design.accuracy
    return with_interval(score.value, score.low, score.high)


def _delta(design: Design) -> str:
    delta = design.delta
    if delta is None:
        return ""
    return f"{signed(delta.value)} ({signed(delta.low)} to {signed(delta.high)})"


def _write(folder: Path, found: list[Design], note: str) -> None:
    """Write designs.md for people, beside designs.json for machines."""
    tables = {"Δ to plain": delta_rows(found), "All numbers": design_rows(found)}
    write("--out", folder / "designs.md", markdown(tables, note))
