"""The list of runs: a few main scores of each, in the order that the reader chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disorder.errors import UnknownName
from disorder.metrics import ORIGINAL
from disorder.report.wording import main_transformation
from disorder.runs import Record, Run
from disorder.web.run_library import FoundRun, RunEntry

HEADLINES = {
    "accuracy": "accuracy",
    "skill_kept": "skill kept",
    "omega_max": "Ω_max",
    "wos": "WOS",
}
COLUMNS = {
    "model": "model",
    "data": "data",
    "status": "status",
    "started": "started",
    **HEADLINES,
}

ListRow = dict[str, Any]


def listed_runs(entries: Sequence[RunEntry], by: str, *, is_descending: bool) -> list[ListRow]:
    """One row per run, sorted by a column; those without a value come last, damaged ones after
    all.
    """
    if by not in COLUMNS:
        raise UnknownName("column", by, COLUMNS)
    rows = [_row(entry) for entry in sorted(entries, key=lambda entry: entry.name)]
    with_value = [row for row in rows if _sort_key(row, by) is not None]
    without_value = [row for row in rows if _sort_key(row, by) is None]
    with_value.sort(key=lambda row: _sort_key(row, by), reverse=is_descending)
    without_value.sort(key=lambda row: row["is_damaged"])
    return with_value + without_value


def headline_scores(run: Run) -> dict[str, Record | None]:
    """The few scores of a run that the list shows."""
    main = main_transformation(run) or next(iter(run.transformations), "")
    return {
        "accuracy": run.score(ORIGINAL, "accuracy") or run.score(ORIGINAL, "spearman"),
        "skill_kept": run.score(main, "skill_kept"),
        "omega_max": run.score(main, "omega_max"),
        "wos": run.score(main, "wos"),
    }


def _row(entry: RunEntry) -> ListRow:
    row: ListRow = {"entry": entry, "is_damaged": True}
    if isinstance(entry, FoundRun):
        row |= {"is_damaged": False, "run": entry.run, "scores": headline_scores(entry.run)}
    return row


def _sort_key(row: ListRow, by: str) -> Any:
    if row["is_damaged"]:
        return None
    if by in HEADLINES:
        record = row["scores"][by]
        return None if record is None else record.value
    return str(getattr(row["run"], by)).casefold()
