"""What a comparison of mitigations found, as tables, as Table 12 of Word Salad has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from disorder.papers.training.design_tables import seeds_text
from disorder.papers.training.mitigation_scores import Finding, gain_lines, reached
from disorder.results.charts import heat_map
from disorder.results.comparison import signed
from disorder.results.result import Cell, Figure, Grid, PlainBody, Result, Section
from disorder.results.result import Column as GridColumn

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


def mitigations_result(
    request: Mapping[str, Any], found: Sequence[Finding], chosen: Sequence[str]
) -> Result:
    """The envelope of a comparison; `chosen` says which settings were."""
    return Result(
        verb="mitigations",
        about=f"{request['model']} trained on {request['data']}, tested on {request['test']}",
        headline=reached(found) or "No mitigation was compared.",
        request=request,
        body=PlainBody(findings=[asdict(each) for each in found]),
        lead=[*gain_lines(found), *chosen],
        grids=grids_of(found),
        sections=list(_transfer(found)),
        notes=[f"{seeds_text(len(found[0].by_seed))}; 95 % intervals over examples. {MEANING}"],
    )


def _transfer(found: Sequence[Finding]) -> Iterator[Section[None]]:
    """Those trained on one transformation, tested on all, as a picture."""
    cells: list[dict[str, Any]] = [
        {"trained on": f.trained_on, "tested on": f.texts, "abstained": f.value}
        for f in found
        if f.trained_on and _is_of_transformation(f)
    ]
    if cells:
        spec = heat_map(cells, "trained on", "tested on", "abstained")
        caption = "Share abstained on, by what a model was trained and tested on"
        figure = Figure("transfer", caption, cells, spec)
        yield Section("transfer", "Does it carry over?", figures=[figure])


def grids_of(found: Sequence[Finding]) -> list[Grid]:
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


def _grid(title: str, found: Sequence[Finding], columns: list[Column]) -> Grid:
    """One row per mitigation that has a number."""
    values = {(f.mitigation, f.trained_on, f.metric, f.texts, f.group): f for f in found}
    rows = []
    for mitigation, on in dict.fromkeys((f.mitigation, f.trained_on) for f in found):
        cells = [_cell(values.get((mitigation, on, *key, group))) for key, group, _ in columns]
        if any(cell.text for cell in cells):
            rows.append([Cell(on or mitigation), *cells])
    heads = [GridColumn(name) for *_, name in columns]
    return Grid([GridColumn("mitigation", "name"), *heads], rows, title)


def _cell(finding: Finding | None) -> Cell:
    if finding is None:
        return Cell()
    if finding.metric.startswith("n_"):
        return Cell(f"{finding.value:,.0f}")
    if finding.metric.endswith("_difference"):
        low, high = signed(finding.low, 2), signed(finding.high, 2)
        return Cell(signed(finding.value), f"[{low}, {high}]")
    return Cell.of(finding)
