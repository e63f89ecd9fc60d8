"""What the page of one run shows: its scores, charts, progress, and the examples that pass the
filters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

from disorder.errors import BadData, DisorderError, UnknownName
from disorder.results import charts, drawing
from disorder.results.grid import Cell, Grid
from disorder.results.run import Record, Run
from disorder.results.run_result import caption
from disorder.results.run_tables import score_grid
from disorder.results.wording import (
    about,
    command,
    left_out,
    main_transformation,
)
from disorder.results.writing import meaning_of, shown, title_of
from disorder.types import ORIGINAL
from disorder.visible_text import visible
from disorder.web.run_library import FoundRun, RunLibrary
from disorder.web.run_progress import run_progress
from disorder.web.sample_queries import ORDERS, PER_PAGE, ExampleFilters, QueryRow, SampleQueries

CHARTS: dict[str, Callable[[Run, str], charts.ChartSpec]] = {
    "forest": lambda run, main: charts.forest(run, run.main_score),
    "omega": charts.omega_curve,
    "acceptance": charts.acceptance,
    "confidence": charts.confidence,
}
_drawing = Lock()


def run_page(
    library: RunLibrary, queries: SampleQueries, found: FoundRun, form: Mapping[str, str]
) -> dict[str, Any]:
    """The values of the page of one run; `form` holds the filters as they were submitted."""
    run = found.run
    verdict, *verdicts = run.verdict.split("\n")
    return {
        "found": found,
        "run": run,
        "about": about(run),
        "verdict": verdict,
        "verdicts": verdicts,
        "caveats": [f"caveat: {caveat}" for caveat in run.caveats],
        "tables": score_tables(run, ["all"]),
        "group_tables": score_tables(run, run.groups),
        "has_confidence": run.has_probabilities is not False,  # older runs do not say
        "meanings": meanings(run),
        "charts": chart_captions(run),
        "left_out": left_out(run),
        "command": command(run),
        "progress": run_progress(library, found) if run.status == "started" else None,
        "form": form,
        "orders": ORDERS,
        "per_page": PER_PAGE,
        **_examples(queries, found, form),
    }


def _examples(queries: SampleQueries, found: FoundRun, form: Mapping[str, str]) -> dict[str, Any]:
    """The examples that pass the filters, or why they cannot be shown."""
    choices: list[str] = []
    filters = ExampleFilters(ORIGINAL)
    total = 0
    rows: list[QueryRow] = []
    problem = ""
    try:
        choices = queries.transformations(found)
        filters = _filters(form, found.run, choices)
        total, rows = queries.page(found, filters)
    except BadData as error:
        problem = str(error)
    return {
        "choices": choices,
        "filters": filters,
        "total": total,
        "rows": rows,
        "problem": problem,
        "damaged": queries.damaged(found),
        "pages": n_pages(total, PER_PAGE),
    }


def _filters(form: Mapping[str, str], run: Run, choices: Sequence[str]) -> ExampleFilters:
    """The filters of a form; an unknown name becomes the default."""
    main = main_transformation(run)
    perturbed = [name for name in [main, *choices] if name in choices and name != ORIGINAL]
    default = perturbed[0] if perturbed else ORIGINAL
    return ExampleFilters(
        transformation=_one_of(form, "transformation", choices) or default,
        label=_one_of(form, "label", run.labels),
        original=_one_of(form, "original", ("right", "wrong")),
        group=_one_of(form, "group", run.groups),
        least=_number(form, "least"),
        most=_number(form, "most"),
        shortest=_whole_number(form, "shortest"),
        longest=_whole_number(form, "longest"),
        text=form.get("text", "").strip(),
        order=_one_of(form, "order", list(ORDERS)) or "data",
        page=max(1, _whole_number(form, "page") or 1),
    )


def _one_of(form: Mapping[str, str], name: str, known: Sequence[str]) -> str:
    """The one of some values that a form names, or ""; pages show them with control characters made
    visible.
    """
    wanted = form.get(name, "")
    return next((value for value in known if wanted in (value, visible(value))), "")


def _number(form: Mapping[str, str], name: str) -> float | None:
    text = form.get(name, "").strip()
    try:
        return float(text) if text else None
    except ValueError:
        raise DisorderError(f"{name}: {visible(text)!r} is not a number") from None


def _whole_number(form: Mapping[str, str], name: str) -> int | None:
    text = form.get(name, "").strip()
    if text and (not text.isdecimal() or len(text) > 9):
        raise DisorderError(f"{name}: {visible(text)!r} is not a whole number")
    return int(text) if text else None


def n_pages(total: int, size: int) -> int:
    """How many pages of a size are needed; at least one."""
    return max(1, -(-total // size))


def score_tables(run: Run, groups: Sequence[str]) -> list[Grid]:
    """Two tables of scores per group, with one row per transformation: the main scores, and those
    of permutations; together they would be too wide for a screen.
    """
    grids = [
        _score_table(run, group, place) for group in groups for place in ("table", "permutations")
    ]
    return [grid for grid in grids if grid.rows]


def _score_table(run: Run, group: str, place: str) -> Grid:
    metrics = shown([record.metric for record in run.scores if record.group == group], place)
    about = "all examples" if group == "all" else f"only {group}"
    title = f"{about}, permutations" if place == "permutations" else about
    caption = title[0].upper() + title[1:]
    return score_grid(run, group, metrics=metrics, has_n=True, cell=_score_cell, caption=caption)


def _score_cell(record: Record | None) -> Cell:
    return Cell.of(record, "–")


def meanings(run: Run) -> dict[str, str]:
    """The title of each score that was measured, with its meaning."""
    measured = [record.metric for record in run.scores]
    return {title_of(name): meaning_of(name) for name in shown(measured, "table", "permutations")}


def chart_captions(run: Run) -> dict[str, str]:
    """The charts that can be drawn of a run, each with its caption."""
    if not run.scores:
        return {}
    main = main_transformation(run)
    measured = run.figures.get(main, {})
    names = [name for name in CHARTS if name == "forest" or name in measured]
    return {name: caption(name, run, main) for name in names}


@lru_cache(maxsize=64)
def draw_chart(found: FoundRun, name: str) -> bytes:
    """One chart as SVG, drawn once."""
    known = chart_captions(found.run)
    if name not in known:
        raise UnknownName("chart", name, known)
    with _drawing:
        spec = CHARTS[name](found.run, main_transformation(found.run))
        return drawing.svg(spec).encode()
