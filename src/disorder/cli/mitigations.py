"""`disorder mitigations`: which recipe makes a model abstain perturbed texts, and does it still answer the
original ones?
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disorder.cli import options as o
from disorder.cli.files import write
from disorder.cli.tables import Rows, markdown, seeds_text, terminal
from disorder.cli.train import Device, ModelName, Set, TestLimit, TrainLimit, TrainOut, settings_of

if TYPE_CHECKING:
    from disorder.verbs.train import Finding

Recipes = Annotated[
    list[str] | None,
    o._option(
        "Mitigation, with settings as name:key=value; can be repeated (default: plain, threshold, entropic, invalid_class)",
        "--recipe",
    ),
]
CureOn = Annotated[
    list[str] | None,
    o._option(
        "Transformation that makes texts invalid; can be repeated (default: Word Salad's)", "--on"
    ),
]
Seeds = Annotated[int, o._option("Trainings of each mitigation, with seeds 0, 1, …")]
Transfer = Annotated[
    str | None,
    o._option("Also train this mitigation on each transformation alone, and test it on all"),
]
CureJson = Annotated[bool, o._option("Print the results as JSON and nothing else", "--json")]
TITLES = {
    ("accuracy", "original"): "accuracy, whole",
    ("abstained", "all"): "abstained, perturbed",
    ("abstained", "original"): "abstained, whole",
    ("accuracy", "all"): "gold, perturbed",
    ("entropy", "all"): "entropy, perturbed",
}
ORDERS = {
    ("abstained", f"order={name}"): name
    for name in ("plain", "passive", "cleft", "fronted", "question")
}
ORDERS[("refused_more", "order=rare")] = "others − plain"
MEANING = (
    "accuracy, whole: share of original texts given the gold label; a abstention is not right. abstained: share taken to be invalid. "
    "gold, perturbed: share of perturbed texts that still get the gold label. entropy: as a share of the most there can be."
)


def mitigations(
    data: Annotated[str, typer.Argument(help="Training data: mnli:train, FILE.jsonl")],
    test: Annotated[
        str, typer.Argument(help="Test data, never trained on: mnli:matched, FILE.jsonl")
    ],
    model: ModelName = "bilstm",
    recipe: Recipes = None,
    on: CureOn = None,
    seeds: Seeds = 3,
    transfer: Transfer = None,
    set_: Set = None,
    limit: TrainLimit = None,
    test_limit: TestLimit = None,
    out: TrainOut = None,
    device: Device = None,
    columns: o.Columns = "",
    task: o.TaskName = None,
    data_dir: o.DataDir = None,
    as_json: CureJson = False,
) -> None:
    """Train mitigations against perturbed texts and compare them (Word Salad, Table 12).

    A mitigated model abstains perturbed texts and still answers original ones, rare word orders among them.
    The same command with the same --out goes on where it was stopped. Leaves mitigations.json and
    mitigations.md.
    """
    from rich.console import Console

    from disorder.cli.progress import EpochBar
    from disorder.verbs.train import mitigations as start
    from disorder.verbs.train.mitigations import USUAL

    folder = out or o.new_folder(model, data, "models")
    with EpochBar() as bar:
        found = start(
            data,
            test,
            out=folder,
            recipes=recipe or USUAL,
            on=on or (),
            seeds=seeds,
            transfer=transfer,
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
    tables = {title: rows for title, rows in tables_of(found).items() if len(rows) > 1}
    _write(folder, found, tables)
    if as_json:
        sys.stdout.write(json.dumps([asdict(finding) for finding in found]) + "\n")
        return
    for title, rows in tables.items():
        Console().print(terminal(rows, title))
    Console().print(MEANING, style="dim", highlight=False, markup=False)
    Console().print(
        f"Models, mitigations.json and mitigations.md: {folder}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def tables_of(found: list[Finding]) -> dict[str, Rows]:
    """The tables: all mitigations; apart by group of examples; by transformation; and trained on one,
    tested on all.
    """
    mixed, alone = [f for f in found if not f.trained_on], [f for f in found if f.trained_on]
    kinds = [f.texts for f in mixed if f.metric == "abstained" and f.group == "all"]
    specs = [
        kind
        for kind in dict.fromkeys(kinds)
        if kind not in ("original", "all") and not kind.startswith("order=")
    ]
    columns = {
        key: title
        for key, title in TITLES.items()
        if any((f.metric, f.texts) == key for f in mixed)
    }
    groups = [group for group in dict.fromkeys(f.group for f in mixed) if group != "all"]
    tables = {"Mitigations": _rows(mixed, [(key, "all", title) for key, title in columns.items()])}
    for group in groups:
        tables[f"Only {group}"] = _rows(
            mixed, [(key, group, title) for key, title in columns.items()]
        )
    tables["Perturbed texts abstained, by transformation"] = _rows(
        mixed, [(("abstained", spec), "all", spec) for spec in specs]
    )
    if "order=plain" in kinds:
        tables["Valid texts abstained, by word order"] = _rows(
            mixed, [(key, "all", title) for key, title in ORDERS.items()]
        )
    shown = [
        (("accuracy", "original"), "all", "accuracy"),
        *((("abstained", spec), "all", spec) for spec in specs),
    ]
    tables["Trained on one transformation (rows), share abstained of each (columns)"] = _rows(
        alone, shown
    )
    return tables


def _rows(found: list[Finding], columns: list[tuple[tuple[str, str], str, str]]) -> Rows:
    """A heading, and a row a mitigation; seeds apart where there are several."""
    values = {(f.mitigation, f.trained_on, f.metric, f.texts, f.group): f for f in found}
    rows = [["mitigation", *(title for *_, title in columns)]] if columns else []
    for mitigation, on in dict.fromkeys((f.mitigation, f.trained_on) for f in found):
        cells = [_cell(values.get((mitigation, on, *key, group))) for key, group, _ in columns]
        rows += [[on or mitigation, *cells]] if any(cells) else []
    return rows


def _cell(finding: Finding | None) -> str:
    return (
        ""
        if finding is None
        else f"{finding.value:.3f} {finding.low:.2f}–{finding.high:.2f}".replace("-", "−")
    )


def _write(folder: Path, found: list[Finding], tables: dict[str, Rows]) -> None:
    """mitigations.json for machines, mitigations.md for people, and the matrix of transfer as a picture."""
    write(
        "--out",
        folder / "mitigations.json",
        json.dumps([asdict(finding) for finding in found], indent=1) + "\n",
    )
    note = f"{seeds_text(len(found[0].by_seed))}; 95 % intervals over examples. {MEANING}"
    write("--out", folder / "mitigations.md", markdown(tables, note))
    cells: list[dict[str, Any]] = [
        {"trained on": f.trained_on, "tested on": f.texts, "abstained": f.value}
        for f in found
        if f.trained_on
        and f.metric == "abstained"
        and f.group == "all"
        and f.texts not in ("original", "all")
        and not f.texts.startswith("order=")
    ]
    if cells:
        from disorder.report.charts import heat_map

        write(
            "--out",
            folder / "transfer.svg",
            heat_map(cells, "trained on", "tested on", "abstained"),
        )
