"""What comparisons found, as tables: mitigations as in Table 12 of Word Salad, designs with Δ as in
Table 2 of their paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from disorder.papers.training.mitigation_scores import Finding, gain_lines, reached
from disorder.results.charts import heat_map
from disorder.results.comparison import signed
from disorder.results.result import Cell, Figure, Grid, PlainBody, Result, Section
from disorder.results.result import Column as GridColumn
from disorder.results.writing import with_interval

if TYPE_CHECKING:
    from disorder.papers.training.corruption_designs import Design

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


DESIGN_MEANING = (
    "95 % intervals over test examples; they do not include the variation between seeds. "
    "Δ: accuracy minus that of the plain model of the same seed on the same test examples, "
    "unperturbed. Models of a seed learn from the same examples in as many updates; a training "
    "example that a transformation does not apply to stays as it is."
)


def seeds_text(n: int) -> str:
    """What a number is the mean of."""
    return f"Mean over {n} seeds" if n > 1 else "One seed"


def designs_result(about: dict[str, object], found: Sequence[Design]) -> Result:
    """The envelope of designs; `about` says what they were made of."""
    plain = found[0]
    return Result(
        verb="designs",
        about=f"{about['model']} trained on {about['train']}, tested on {about['test']}",
        headline=f"plain on original texts: accuracy {with_interval(plain.accuracy)}",
        request=about,
        body=PlainBody(designs=[asdict(each) for each in found]),
        grids=[delta_grid(found), design_grid(found)],
        notes=[f"{seeds_text(len(plain.accuracy_by_seed))}. {DESIGN_MEANING}"],
    )


def delta_grid(found: Sequence[Design]) -> Grid:
    """Δ as in the paper's Table 2: one row per transformation, one column per design."""
    titles = {
        "corrupt-train": "Δ, perturbed training",
        "corrupt-test": "Δ, perturbed test",
        "corrupt-both": "Δ, both",
    }
    heads = ["perturbed by", "n", *titles.values(), "trained on", "unperturbed", "updates"]
    rows = [heads]
    specs = dict.fromkeys(design.tested_on for design in found[1:] if design.name == "corrupt-test")
    for spec in specs:
        own = {
            design.name: design for design in found if spec in (design.trained_on, design.tested_on)
        }
        n = own["corrupt-test"].accuracy.n
        deltas = [_delta(own[name]) for name in titles]
        rows.append([spec, f"{n:,}", *deltas, *_learned_from(own["corrupt-train"])])
    return Grid.of_texts(rows, "Δ to plain")


def design_grid(found: Sequence[Design]) -> Grid:
    """One row per design, with its accuracy, Δ, and Δ by seed."""
    heads = ["design", "trained on", "tested on", "n", "accuracy", "Δ to plain", "Δ by seed"]
    rows = [[*heads, "training examples", "unperturbed", "updates"]]
    for design in found:
        by_seed = ", ".join(map(signed, design.delta_by_seed or ()))
        cells = [f"{design.accuracy.n:,}", with_interval(design.accuracy), _delta(design), by_seed]
        names = [design.name, design.trained_on, design.tested_on]
        rows.append([*names, *cells, *_learned_from(design)])
    return Grid.of_texts(rows, "All numbers", 3)


def _delta(design: Design) -> str:
    delta = design.delta
    if delta is None:
        return ""
    return f"{signed(delta.value)} [{signed(delta.low)}, {signed(delta.high)}]"


def _learned_from(design: Design) -> list[str]:
    """Training examples, those left as they were, and updates; one number where seeds agree."""
    counts = (design.n_examples, design.n_unperturbed, design.n_updates)
    return [", ".join(f"{n:,}" for n in dict.fromkeys(by_seed)) for by_seed in counts]
