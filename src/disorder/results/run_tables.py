"""Tables of a run: its scores by transformation, and those of permutations beside imaginary
models'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from disorder.errors import UnknownName
from disorder.results.markup import name_of
from disorder.results.result import Cell, Column, Grid
from disorder.results.run import AGAIN, Record, Run
from disorder.results.wording import main_spread
from disorder.results.writing import shown, title_of


def score_grid(
    run: Run,
    group: str = "all",
    *,
    metrics: Sequence[str],
    transformations: Sequence[str] = (),
    head: str = "texts",
    has_n: bool = False,
    cell: Callable[[Record | None], Cell] = Cell.of,
    caption: str = "",
) -> Grid:
    """The scores of a group of examples, one row per transformation that has one of them."""
    found = dict(by_transformation(run, group))
    named = transformations or list(found)
    names = [name for name in named if not found[name].keys().isdisjoint(metrics)]
    columns = [Column(head, "name"), *([Column("n")] if has_n else [])]
    rows = []
    for name in names:
        records = found[name]
        n = [Cell(f"{n_examples(records):,}")] if has_n else []
        rows.append([text_name(name), *n, *(cell(records.get(metric)) for metric in metrics)])
    return Grid([*columns, *(Column(title_of(metric)) for metric in metrics)], rows, caption)


def overview_grid(run: Run, main: str) -> Grid:
    """What a reader needs first: the main score and the skill kept, of original texts, of the
    surface control and of each transformation, the main one first.
    """
    metrics = (run.main_score, "skill_kept")
    control = f"surface:of={main}"
    others = [name for name in run.transformations if not name.startswith("surface:")]
    names = dict.fromkeys(["original", control, main, *others])
    rows = []
    for name in names:
        records = [run.score(name, metric) for metric in metrics]
        if any(records):
            head = Cell("surface control") if name == control else text_name(name)
            rows.append([head, *map(Cell.of, records)])
    return Grid([Column("texts", "name"), *(Column(title_of(each)) for each in metrics)], rows)


def answer_grid(found: Mapping[str, Any]) -> Grid:
    """How many examples of each gold label get each answer, before and after."""
    answers = found["answers"]
    heads = [f"{answer}, {when}" for when in ("before", "after") for answer in answers]
    counts = [(f"all ({sum(found['gold']):,})", found["before"], found["after"])]
    if found.get("confusion"):
        by_label = zip(
            found["labels"],
            found["gold"],
            found["confusion"]["before"],
            found["confusion"]["after"],
            strict=True,
        )
        counts[:0] = [(f"{label} ({n:,})", before, after) for label, n, before, after in by_label]
    rows = [
        [Cell(name), *(Cell(f"{n:,.0f}") for n in before), *(Cell(f"{n:,.1f}") for n in after)]
        for name, before, after in counts
    ]
    return Grid([Column("gold label (examples)", "name"), *map(Column, heads)], rows)


def n_examples(records: Mapping[str, Record]) -> int:
    """How many examples the scores under a transformation rest on."""
    return records.get("accuracy", next(iter(records.values()))).n


def text_name(transformation: str) -> Cell:
    """How the texts of a transformation are called."""
    if transformation == "original":
        return Cell("original texts")
    if transformation == AGAIN:
        return Cell("same texts again")
    return Cell(transformation, mark="code")


def permutation_grid(run: Run, main: str) -> Grid:
    """The permutation scores of the main transformation, beside the papers' imaginary models."""
    rows = []
    for metric, mine, others in permutation_rows(run, main):
        cell = Cell.of(mine, "none", f"n = {mine.n:,}" if mine else "")
        others_cells = ["–" if value is None else f"{value:.2f}" for value in others.values()]
        rows.append([Cell(title_of(metric)), cell, *map(Cell, others_cells)])
    columns = [Column(f"permutations ({main})", "name"), Column("this model")]
    return Grid([*columns, *map(Column, run.references)], rows)


def baseline_grid(run: Run) -> Grid:
    """How far a bag of words goes on this data, beside the model."""
    heads = ("n", "this model", "bag of words", "chance")
    rows = [
        [
            Cell(row.group),
            Cell(f"{row.n:,}"),
            Cell(f"{row.model:.3f}"),
            Cell.of(row),
            Cell(f"{row.chance:.3f}"),
        ]
        for row in run.word_baselines
    ]
    return Grid([Column("examples", "name"), *map(Column, heads)], rows)


def dev_r_grid(run: Run) -> Grid:
    """How many examples of each label word-order sensitivity rests on, step by step."""
    rows = [
        [Cell("" if i else name), Cell(step), *(Cell(f"{counts[each]:,}") for each in run.labels)]
        for name, steps in run.dev_r.items()
        for i, (step, counts) in enumerate(steps.items())
    ]
    columns = [Column("transformation", "name"), Column("step", "word")]
    return Grid([*columns, *map(Column, run.labels)], rows)


def prompt_grid(run: Run) -> Grid:
    """Scores over several prompts, with the smallest and the largest."""
    prompts = run.settings.get("prompt") or ()
    rows = [
        [
            Cell(row["transformation"]),
            Cell(title_of(row["metric"])),
            *(Cell(f"{value:.3f}") for value in row["values"]),
            Cell(f"{row['low']:.3f} to {row['high']:.3f}"),
        ]
        for row in main_spread(run)
    ]
    columns = [Column("texts", "name"), Column("score", "word"), *map(Column, prompts)]
    caption = f"Over {len(prompts)} prompts: smallest and largest value"
    return Grid([*columns, Column("range")], rows, caption)


def paper_grid(
    run: Run,
    *,
    metrics: Sequence[str] = (),
    transformations: Sequence[str] = (),
    group: str = "all",
    has_intervals: bool = True,
) -> Grid:
    """Scores of a run for a paper, one row per transformation; all that its tables show, or those
    named.
    """
    rows = dict(by_transformation(run, group))
    present = list(dict.fromkeys(name for records in rows.values() for name in records))
    _check("group of this run", [group], ["all", *run.groups])
    _check("transformation of this run", transformations, rows)
    _check("metric of this run", metrics, present)

    def cell(record: Record | None) -> Cell:
        found = Cell.of(record, "–")
        return found if has_intervals else Cell(found.text)

    only = "" if group == "all" else f", only `{group}`"
    intervals = "; 95 % intervals over examples in brackets" if has_intervals else ""
    grid = score_grid(
        run,
        group,
        metrics=list(metrics) or shown(present, "table"),
        transformations=transformations,
        cell=cell,
        caption=f"`{run.model}` on `{run.data}` ({run.n_examples:,} examples{only}), original and "
        f"perturbed texts{intervals}.",
    )
    return replace(grid, name=name_of(run.model, run.data))


def _check(kind: str, names: Sequence[str], known: Mapping[str, object] | Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)


def by_transformation(run: Run, group: str) -> Iterator[tuple[str, dict[str, Record]]]:
    """The scores of a group, by transformation and metric; the original texts first."""
    for name in ["original", *run.transformations]:
        records = {r.metric: r for r in run.scores if r.transformation == name and r.group == group}
        if records:
            yield name, records
    if run.noise_floor and group == "all":
        yield AGAIN, {record.metric: record for record in run.noise_floor}


def permutation_rows(
    run: Run, main: str
) -> Iterator[tuple[str, Record | None, dict[str, float | None]]]:
    """Per metric of permutations: this model's score, and those of the reference models."""
    references = [r.metric for records in run.references.values() for r in records]
    for metric in shown([*measured(run), *references], "permutations"):
        mine = run.score(main, metric)
        others = {
            name: next(
                (r.value for r in records if (r.transformation, r.metric) == (main, metric)), None
            )
            for name, records in run.references.items()
        }
        if mine or any(value is not None for value in others.values()):
            yield metric, mine, others


def measured(run: Run) -> list[str]:
    """The metrics of a run, each once."""
    return list(dict.fromkeys(record.metric for record in run.scores))
