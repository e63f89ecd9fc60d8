"""What does a page need to know of a run? Rows for the list, tables of scores, pictures, sides of a
comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from disorder.errors import UnknownName
from disorder.report import charts
from disorder.report.metric_names import meaning_of, shown, title_of
from disorder.report.page import CAPTIONS
from disorder.report.wording import main_transformation
from disorder.runs import Record, Run
from disorder.verbs.audit.verdict import kept
from disorder.web.library import Found

if TYPE_CHECKING:
    from disorder.runs.comparison import Comparison

HEADLINES = {
    "accuracy": "accuracy",
    "kept": "right answers kept",
    "omega_max": "Ω_max",
    "wos": "WOS",
}
COLUMNS_OF_LIST = {
    "model": "model",
    "data": "data",
    "status": "status",
    "started": "started",
    **HEADLINES,
}
PICTURES: dict[str, Callable[[Run, str], str]] = {
    "forest": lambda run, main: charts.forest(
        run, "spearman" if run.chance is None else "accuracy"
    ),
    "omega": charts.omega_curve,
    "acceptance": charts.acceptance,
    "confidence": charts.confidence,
}
_drawing, _comparing = Lock(), Lock()


def headlines(run: Run) -> dict[str, Record | None]:
    """The few scores that the list shows of a run."""
    main = main_transformation(run) or next(iter(run.transformations), "")
    return {
        "accuracy": run.score("original", "accuracy") or run.score("original", "spearman"),
        "kept": kept(run, main, "all"),
        "omega_max": run.score(main, "omega_max"),
        "wos": run.score(main, "wos"),
    }


def listed(runs: Sequence[Found], by: str, *, is_descending: bool) -> list[dict[str, Any]]:
    """The runs in the order asked for; those without a value come last, damaged ones after all."""
    if by not in COLUMNS_OF_LIST:
        raise UnknownName("column", by, COLUMNS_OF_LIST)
    rows: list[dict[str, Any]] = [
        {"found": found, "run": found.run, "scores": headlines(found.run) if found.run else {}}
        for found in runs
    ]
    known = [row for row in rows if _key(row, by) is not None]
    known.sort(key=lambda row: row["found"].name)
    known.sort(key=lambda row: _key(row, by), reverse=is_descending)
    return known + sorted(
        (row for row in rows if _key(row, by) is None),
        key=lambda row: (row["run"] is None, row["found"].name),
    )


def _key(row: dict[str, Any], by: str) -> Any:
    if row["run"] is None:
        return None
    if by in HEADLINES:
        record = row["scores"][by]
        return None if record is None else record.value
    return str(getattr(row["run"], by)).casefold()


def tables(run: Run) -> list[dict[str, Any]]:
    """Scores by group: a row a transformation."""
    return [table for group in ["all", *run.groups] if (table := _table(run, group))["rows"]]


def _table(run: Run, group: str) -> dict[str, Any]:
    rows = []
    for name in ["original", *run.transformations]:
        records = {r.metric: r for r in run.scores if r.transformation == name and r.group == group}
        if records:
            rows.append((name, records))
    present = {metric for _, records in rows for metric in records}
    return {
        "group": group,
        "rows": rows,
        "metrics": shown(present, "table", "permutations"),
    }


def meanings(run: Run) -> dict[str, str]:
    """What each score that was measured means."""
    measured = {record.metric for record in run.scores}
    names = shown(measured, "table", "permutations")
    return {title_of(name): meaning_of(name) for name in names}


def pictures(run: Run) -> dict[str, str]:
    """The pictures that can be drawn of a run, each with what it shows."""
    if not run.scores:
        return {}
    main = main_transformation(run)
    drawn = run.figures.get(main, {})
    names = ["forest", *(name for name in ("omega", "acceptance", "confidence") if name in drawn)]
    score = "Spearman" if run.chance is None else "Accuracy"
    return {name: CAPTIONS[name].format(score=score, main=main) for name in names}


@lru_cache(maxsize=64)
def picture(found: Found, name: str) -> bytes:
    """One picture as SVG, drawn once."""
    assert found.run is not None
    if name not in pictures(found.run):
        raise UnknownName("picture", name, pictures(found.run))
    with _drawing:
        return PICTURES[name](found.run, main_transformation(found.run)).encode()


@lru_cache(maxsize=32)
def comparison(chosen: tuple[Found, ...], transformation: str) -> Comparison:
    """The paired differences of runs under one transformation, worked out once; it takes a while on
    large runs.
    """
    from disorder.verbs.compare import compare

    with _comparing:
        return compare(*(found.folder for found in chosen), with_=[transformation])


def shared_transformations(runs: Sequence[Run]) -> list[str]:
    """What all runs were asked under, in the order of the first."""
    return [
        name for name in runs[0].transformations if all(name in run.transformations for run in runs)
    ]


def differences(runs: Sequence[Run], transformation: str) -> list[str]:
    """What stands in the way of a fair comparison, a line each."""
    lines = []
    if len({run.hashes.get("data") for run in runs}) > 1:
        lines.append(
            "The data differ; only examples with the same id, texts and label are compared."
        )
    if len({run.seed for run in runs}) > 1:
        lines.append("The seeds differ, so the perturbed texts of an example differ too.")
    if len({run.variants.get(transformation) for run in runs}) > 1:
        lines.append("The numbers of variants differ.")
    if any(run.settings.get("curtail") for run in runs):
        lines.append("A run was curtailed: shares are of the versions that were asked.")
    if any(run.status != "done" for run in runs):
        lines.append("A run is not finished.")
    return lines


def side_by_side(runs: Sequence[Run], transformation: str) -> list[tuple[str, list[Record | None]]]:
    """A row a score, a column a run."""
    rows: list[tuple[str, list[Record | None]]] = [
        ("accuracy, original texts", [run.score("original", "accuracy") for run in runs])
    ]
    measured = [record.metric for run in runs for record in run.scores]
    titles = {m: title_of(m) for m in shown(measured, "table", "permutations")}
    titles["accuracy"] = "accuracy, perturbed texts"
    rows += [
        (title, [run.score(transformation, metric) for run in runs])
        for metric, title in titles.items()
    ]
    return [(title, records) for title, records in rows if any(records)]
