"""`disorder mitigations`: which recipe makes a model abstain on perturbed texts, and does it still
predict the original ones?
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disorder.cli.folders import resumable, write
from disorder.cli.output import console as new_console
from disorder.cli.output import print_json
from disorder.cli.tables import as_json as json_text
from disorder.cli.tables import markdown, print_line, seeds_text, signed
from disorder.papers.commands.designs import ComparisonData, ComparisonTest, comparison_folder
from disorder.papers.requests import ComparisonOutput, MitigationsOptions
from disorder.registry import verb
from disorder.requests.option import declared_in
from disorder.specs import listed

if TYPE_CHECKING:
    from disorder.papers.training import Finding
    from disorder.results.result import Cell, Grid

MetricOn = tuple[str, str]  # a metric, and the kind of texts
Column = tuple[MetricOn, str, str]  # a metric and texts, the group of examples, the title
TITLES = {
    ("accuracy", "original"): "accuracy, original",
    ("abstained", "all"): "abstained, perturbed",
    ("abstained", "original"): "abstained, original",
    ("accuracy", "all"): "gold, perturbed",
    ("entropy", "all"): "entropy, perturbed",
}
GAINS = {
    ("skill_kept", "all"): "skill kept",
    ("skill_kept_difference", "all"): "Δ skill kept",
    ("accuracy_difference", "original"): "Δ accuracy, original",
    ("n_examples", "train"): "training examples",
    ("n_rows", "train"): "rows",
    ("n_updates", "train"): "updates",
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
    "still get the gold label. entropy: as a share of the largest possible. skill kept: share of "
    "the skill above chance that is left on perturbed texts; an abstention counts as a guess. Δ: "
    "minus a plain model with at least as many updates of its weights, on the same test examples."
)


@verb(group="Change", python="disorder.papers.training:mitigations")
def mitigations(
    data: ComparisonData,
    test: ComparisonTest,
    *,
    options: MitigationsOptions,
    output: ComparisonOutput,
) -> None:
    """Train mitigations against perturbed texts and compare them (Word Salad, Table 12).

    A good one abstains on perturbed texts and still predicts original ones, rare word orders among
    them. The same command with the same --out resumes what was stopped. Leaves mitigations.json and
    mitigations.md.
    """
    from disorder.cli.progress import EpochBar
    from disorder.papers.training import chosen_lines, gain_lines
    from disorder.papers.training import mitigations as compare_mitigations
    from disorder.results.terminal import print_table

    folder = comparison_folder(MitigationsOptions, options, data, output["out"])
    with resumable(folder, "seed-0"), EpochBar() as bar:
        found = compare_mitigations(data, test, out=folder, progress=bar, **options)
    grids = grids_of(found)
    _write(folder, found, grids)
    if output["as_json"]:
        print_json([asdict(each) for each in found])
        return
    console = new_console()
    for grid in grids:
        print_table(console, grid)
    console.print()
    recipes = options.get("recipe", declared_in(MitigationsOptions)["recipe"].default)
    for line in (*gain_lines(found), *chosen_lines(folder, listed(recipes))):
        print_line(console, line)
    console.print()
    console.print(MEANING, style="dim", highlight=False, markup=False)
    print_line(console, f"Models, mitigations.json and mitigations.md: {folder}")


def grids_of(found: list[Finding]) -> list[Grid]:
    """All mitigations; by group of examples; by transformation; by word order; and those trained on
    one transformation, tested on all. A table without a number is left out.
    """
    mixed = [f for f in found if not f.trained_on]
    alone = [f for f in found if f.trained_on]
    measured = {(f.metric, f.texts) for f in mixed}
    shown = {key: title for key, title in TITLES.items() if key in measured}
    tested = dict.fromkeys(f.texts for f in mixed if _is_of_transformation(f))
    by_spec: list[Column] = [(("abstained", spec), "all", spec) for spec in tested]
    groups = [group for group in dict.fromkeys(f.group for f in mixed) if group != "all"]
    grids = [
        _grid("Mitigations", mixed, _columns(shown)),
        _grid("Gained and paid, and what each model learned from", mixed, _columns(GAINS)),
        *(_grid(f"Only {group}", mixed, _columns(shown, group)) for group in groups),
        _grid("Perturbed texts abstained on, by transformation", mixed, by_spec),
    ]
    if ("abstained", "order=plain") in measured:
        grids.append(_grid("Valid texts abstained on, by word order", mixed, _columns(ORDERS)))
    accuracy: Column = (("accuracy", "original"), "all", "accuracy")
    title = "Trained on one transformation (rows), share of each abstained on (columns)"
    grids.append(_grid(title, alone, [accuracy, *by_spec]))
    return [grid for grid in grids if grid.rows]


def _columns(titles: dict[MetricOn, str], group: str = "all") -> list[Column]:
    return [(key, group, title) for key, title in titles.items()]


def _is_of_transformation(finding: Finding) -> bool:
    """Whether it is the share abstained on of the texts of one transformation."""
    is_share = finding.metric == "abstained" and finding.group == "all"
    is_other = finding.texts in ("original", "all", "train") or finding.texts.startswith("order=")
    return is_share and not is_other


def _grid(title: str, found: list[Finding], columns: list[Column]) -> Grid:
    """One row per mitigation that has a number."""
    from disorder.results.result import Cell, Grid
    from disorder.results.result import Column as TableColumn

    values = {(f.mitigation, f.trained_on, f.metric, f.texts, f.group): f for f in found}
    rows = []
    for mitigation, on in dict.fromkeys((f.mitigation, f.trained_on) for f in found):
        cells = [_cell(values.get((mitigation, on, *key, group))) for key, group, _ in columns]
        if any(cell.text for cell in cells):
            rows.append([Cell(on or mitigation), *cells])
    heads = [TableColumn(name) for *_, name in columns]
    return Grid([TableColumn("mitigation", "name"), *heads], rows, title)


def _cell(finding: Finding | None) -> Cell:
    from disorder.results.result import Cell
    from disorder.results.writing import fixed

    if finding is None:
        return Cell()
    if finding.metric.startswith("n_"):
        return Cell(f"{finding.value:,.0f}")
    if finding.metric.endswith("_difference"):
        bounds = f"{finding.low:+.2f} to {finding.high:+.2f}"
        return Cell(signed(finding.value), bounds.replace("-", "−"))
    return Cell(fixed(finding.value), f"{finding.low:.2f}–{finding.high:.2f}".replace("-", "−"))


def _write(folder: Path, found: list[Finding], grids: list[Grid]) -> None:
    """Write mitigations.json, mitigations.md, and the transfer matrix as a picture."""
    write("--out", folder / "mitigations.json", json_text(found, indent=1))
    from disorder.papers.training import gain_lines

    note = f"{seeds_text(len(found[0].by_seed))}; 95 % intervals over examples. {MEANING}"
    said = "\n\n".join([*gain_lines(found), note])
    write("--out", folder / "mitigations.md", markdown(grids, said))
    cells: list[dict[str, Any]] = [
        {"trained on": f.trained_on, "tested on": f.texts, "abstained": f.value}
        for f in found
        if f.trained_on and _is_of_transformation(f)
    ]
    if cells:
        from disorder.results.charts import heat_map
        from disorder.results.drawing import svg

        picture = svg(heat_map(cells, "trained on", "tested on", "abstained"))
        write("--out", folder / "transfer.svg", picture)
