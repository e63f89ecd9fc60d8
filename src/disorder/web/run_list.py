"""The list of runs: what each concludes and a few main scores, in the order that the reader chose,
and the other results beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from disorder.errors import UnknownName
from disorder.results.conclusion import NAMES
from disorder.results.run import Record, Run
from disorder.results.run_tables import main_transformation
from disorder.results.writing import short_name
from disorder.types import ORIGINAL
from disorder.web.run_library import FoundRun, RunEntry

SCORES = {"kept": "skill kept", "accuracy": "accuracy"}
COLUMNS = {
    "name": "run",
    "conclusion": "conclusion",
    **SCORES,
    "started": "date",
    "model": "model",
    "data": "data",
}
STATUS = {"started": "running", "failed": "failed"}

ListRow = dict[str, Any]


@dataclass(frozen=True)
class ListFilters:
    """What the reader looks for."""

    text: str = ""
    conclusion: str = ""

    def passes(self, row: ListRow) -> bool:
        """Whether a row is shown."""
        found = f"{row['entry'].name} {row.get('model', '')} {row.get('data', '')}".casefold()
        has_words = all(word in found for word in self.text.casefold().split())
        return has_words and self.conclusion in ("", row["conclusion"])


def listed_runs(
    entries: Sequence[RunEntry],
    by: str,
    *,
    is_descending: bool,
    filters: ListFilters = ListFilters(),
) -> list[ListRow]:
    """One row per run, sorted by a column; those without a value come last, damaged ones after
    all.
    """
    if by not in COLUMNS:
        raise UnknownName("column", by, COLUMNS)
    every = [_row(entry) for entry in sorted(entries, key=lambda entry: entry.name)]
    rows = [row for row in every if filters.passes(row)]
    with_value = [row for row in rows if _sort_key(row, by) is not None]
    without_value = [row for row in rows if _sort_key(row, by) is None]
    with_value.sort(key=lambda row: _sort_key(row, by), reverse=is_descending)
    without_value.sort(key=lambda row: row["is_damaged"])
    return with_value + without_value


def conclusions_of(entries: Sequence[RunEntry]) -> list[str]:
    """What the runs conclude, each once, as a filter offers it."""
    return sorted({_row(entry)["conclusion"] for entry in entries} - {""})


def headline_scores(run: Run) -> dict[str, Record | None]:
    """The few scores of a run that the list shows."""
    found = run.conclusion
    main = found.transformation if found else main_transformation(run)
    main = main or next(iter(run.transformations), "")
    return {
        "kept": run.score(main, "skill_kept") if found and found.value is not None else None,
        "accuracy": run.score(ORIGINAL, "accuracy") or run.score(ORIGINAL, "spearman"),
    }


def _row(entry: RunEntry) -> ListRow:
    row: ListRow = {
        "entry": entry,
        "name": entry.name.rsplit("/", 1)[-1],
        "is_damaged": True,
        "conclusion": "",
    }
    if isinstance(entry, FoundRun):
        run = entry.run
        row |= {
            "is_damaged": False,
            "run": run,
            "model": run.model,
            "data": run.data,
            "short_model": short_name(run.title),
            "short_data": short_name(run.data),
            "started": run.started,
            "conclusion": NAMES[run.conclusion.kind] if run.conclusion else "",
            "status": STATUS.get(run.status, ""),
            "scores": headline_scores(run),
        }
    return row


def _sort_key(row: ListRow, by: str) -> Any:
    if row["is_damaged"]:
        return None
    if by in SCORES:
        record = row["scores"][by]
        return None if record is None else record.value
    return str(row[by]).casefold() or None
