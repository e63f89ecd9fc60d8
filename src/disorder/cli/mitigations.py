"""`disorder mitigations`: which recipe makes a model abstain on perturbed texts, and does it still
predict the original ones?
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from disorder.cli import options as o
from disorder.cli.designs import ComparisonData, ComparisonJson, ComparisonSeeds, ComparisonTest
from disorder.cli.files import write
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json
from disorder.cli.resuming import resumable
from disorder.cli.tables import TableRows, markdown, print_line, seeds_text, terminal
from disorder.cli.tables import as_json as json_text
from disorder.cli.train import Device, ModelName, Set, TestLimit, TrainLimit, TrainOut, settings_of

if TYPE_CHECKING:
    from disorder.verbs.train import Finding

Recipes = Annotated[
    list[str] | None,
    o.option(
        "Mitigation, with settings as name:key=value; key=value/value are alternatives of which "
        "held-out data chooses; can be repeated "
        "(default: plain, threshold, entropic, invalid_class)",
        "--recipe",
    ),
]
MitigationOn = Annotated[
    list[str] | None,
    o.option(
        "Transformation that makes texts invalid; can be repeated (default: Word Salad's)", "--on"
    ),
]
Transfer = Annotated[
    str | None,
    o.option("Also train this mitigation on each transformation alone, and test it on all"),
]
MetricOn = tuple[str, str]  # a metric, and the kind of texts
Column = tuple[MetricOn, str, str]  # a metric and texts, the group of examples, the title
TITLES = {
    ("accuracy", "original"): "accuracy, original",
    ("abstained", "all"): "abstained, perturbed",
    ("abstained", "original"): "abstained, original",
    ("accuracy", "all"): "gold, perturbed",
    ("entropy", "all"): "entropy, perturbed",
}
ORDERS = {
    ("abstained", "order=plain"): "plain",
    ("abstained", "order=passive"): "passive",
    ("abstained", "order=cleft"): "cleft",
    ("abstained", "order=fronted"): "fronted",
    ("abstained", "order=question"): "question",
    ("abstained_more", "order=rare"): "others − plain",
}
MEANING = (
    "accuracy, original: share of original texts given the gold label; an abstention is not "
    "correct. abstained: share called invalid. gold, perturbed: share of perturbed texts that "
    "still get the gold label. entropy: as a share of the largest possible."
)


def mitigations(
    data: ComparisonData,
    test: ComparisonTest,
    model: ModelName = "bilstm",
    recipe: Recipes = None,
    on: MitigationOn = None,
    seeds: ComparisonSeeds = 3,
    transfer: Transfer = None,
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
    """Train mitigations against perturbed texts and compare them (Word Salad, Table 12).

    A good one abstains on perturbed texts and still predicts original ones, rare word orders among
    them. The same command with the same --out resumes what was stopped. Leaves mitigations.json and
    mitigations.md.
    """
    from disorder.cli.progress import EpochBar
    from disorder.verbs.train import USUAL
    from disorder.verbs.train import mitigations as compare_mitigations

    folder = out or o.new_folder(model, data, "models")
    with resumable(folder, "seed-0"), EpochBar() as bar:
        found = compare_mitigations(
            data,
            test,
            out=folder,
            model=model,
            recipe=recipe or USUAL,
            on=on or (),
            transfer=transfer,
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
    tables = tables_of(found)
    _write(folder, found, tables)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    console = new_console()
    for title, rows in tables.items():
        console.print(terminal(rows, title))
    console.print(MEANING, style="dim", highlight=False, markup=False)
    print_line(console, f"Models, mitigations.json and mitigations.md: {folder}")


def tables_of(found: list[Finding]) -> dict[str, TableRows]:
    """All mitigations; by group of examples; by transformation; by word order; and those trained on
    one transformation, tested on all. A table without a number is left out.
    """
    mixed = [f for f in found if not f.trained_on]
    alone = [f for f in found if f.trained_on]
    measured = {(f.metric, f.texts) for f in mixed}
    shown = {key: title for key, title in TITLES.items() if key in measured}
    by_spec: list[Column] = [
        (("abstained", spec), "all", spec) for spec in dict.fromkeys(_tested_on(mixed))
    ]
    tables = {"Mitigations": _rows(mixed, _columns(shown))}
    for group in dict.fromkeys(f.group for f in mixed):
        if group != "all":
            tables[f"Only {group}"] = _rows(mixed, _columns(shown, group))
    tables["Perturbed texts abstained on, by transformation"] = _rows(mixed, by_spec)
    if ("abstained", "order=plain") in measured:
        tables["Valid texts abstained on, by word order"] = _rows(mixed, _columns(ORDERS))
    accuracy: Column = (("accuracy", "original"), "all", "accuracy")
    tables["Trained on one transformation (rows), share of each abstained on (columns)"] = _rows(
        alone, [accuracy, *by_spec]
    )
    return {title: rows for title, rows in tables.items() if len(rows) > 1}


def _columns(titles: dict[MetricOn, str], group: str = "all") -> list[Column]:
    return [(key, group, title) for key, title in titles.items()]


def _tested_on(found: list[Finding]) -> list[str]:
    """The transformations that findings are about."""
    return [f.texts for f in found if _is_of_transformation(f)]


def _is_of_transformation(finding: Finding) -> bool:
    """Whether it is the share abstained on of the texts of one transformation."""
    is_share = finding.metric == "abstained" and finding.group == "all"
    is_other = finding.texts in ("original", "all") or finding.texts.startswith("order=")
    return is_share and not is_other


def _rows(found: list[Finding], columns: list[Column]) -> TableRows:
    """A heading, and one row per mitigation that has a number."""
    if not columns:
        return []
    values = {(f.mitigation, f.trained_on, f.metric, f.texts, f.group): f for f in found}
    rows = [["mitigation", *(title for *_, title in columns)]]
    for mitigation, on in dict.fromkeys((f.mitigation, f.trained_on) for f in found):
        cells = [_cell(values.get((mitigation, on, *key, group))) for key, group, _ in columns]
        if any(cells):
            rows.append([on or mitigation, *cells])
    return rows


def _cell(finding: Finding | None) -> str:
    if finding is None:
        return ""
    return f"{finding.value:.3f} {finding.low:.2f}–{finding.high:.2f}".replace("-", "−")


def _write(folder: Path, found: list[Finding], tables: dict[str, TableRows]) -> None:
    """Write mitigations.json for machines, mitigations.md for people, and the transfer matrix as a
    picture.
    """
    write("--out", folder / "mitigations.json", json_text(found, indent=1))
    note = f"{seeds_text(len(found[0].by_seed))}; 95 % intervals over examples. {MEANING}"
    write("--out", folder / "mitigations.md", markdown(tables, note))
    cells: list[dict[str, Any]] = [
        {"trained on": f.trained_on, "tested on": f.texts, "abstained": f.value}
        for f in found
        if f.trained_on and _is_of_transformation(f)
    ]
    if cells:
        from disorder.report.charts import heat_map

        picture = heat_map(cells, "trained on", "tested on", "abstained")
        write("--out", folder / "transfer.svg", picture)
