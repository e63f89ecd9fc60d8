"""Reach: which printed cells of an item its pipeline can fill, and why it cannot fill the others.

`disorder study --check` counts them for every item, with what was computed in a folder of studies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disorder.errors import BadData
from disorder.papers.study.folder import LEGACY
from disorder.papers.study.item import StudyItem
from disorder.papers.study.published_tables import STATED, PublishedRow
from disorder.results.run_folder import record_of, verb_of
from disorder.safe_io import read_json

PrintedCell = tuple[PublishedRow, str]
NO_PIPELINE = "no part of the pipeline fills it"
SEVERAL = ("any", "Transformers")  # rows that no single model has


def printed_cells(item: StudyItem) -> Iterator[PrintedCell]:
    """Every number that the paper prints in this very item."""
    table = item.own_table
    for row in table.rows:
        for column, text in row.cells.items():
            if table.number(column, text) is not None:
                yield row, column


def why_out_of_reach(item: StudyItem, row: PublishedRow, column: str) -> str:
    """Why the pipeline cannot fill a printed cell; empty where it can."""
    names = (column, *(f"{key}={value}" for key, value in row.about.items()), "all")
    for name in names:
        if name in item.out_of_reach:
            return item.out_of_reach[name]
    means = {mean.name: mean for mean in item.means}
    data = row.about.get("data")
    if data is not None and data not in (*item.data, *means):
        return f"the item has no data {data}"
    model = row.about.get("model", "")
    is_of_several = model.startswith("mean") or model in SEVERAL or " over " in model
    if is_of_several and model not in means:
        return f"nothing makes the row {model!r}"
    about = {key: value for key, value in row.about.items() if key not in ("data", *STATED)}
    if any(reach.holds(column, about) for reach in item.pipeline.reach):
        return ""
    return NO_PIPELINE


@dataclass
class ItemCheck:
    """One item: how many cells are printed, reachable and computed (`compared`, or `beside` where
    another model stands in), and the reasons for the rest.
    """

    item: str
    kind: str
    n_printed: int = 0
    n_reachable: int = 0
    n_compared: int = 0
    n_beside: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    folder: str = ""

    @property
    def state(self) -> str:
        """Reachable as a whole, in part, or not computed at all."""
        if not self.n_printed:
            return "no printed number"
        if self.n_reachable == self.n_printed:
            return "whole"
        return "part" if self.n_reachable else "none"


def check_item(item: StudyItem, studies: Mapping[str, Mapping[str, Any]]) -> ItemCheck:
    """Count the printed cells of an item; `studies` are finished ones, by folder."""
    found = ItemCheck(item.name, item.pipeline.kind)
    for row, column in printed_cells(item):
        found.n_printed += 1
        if reason := why_out_of_reach(item, row, column):
            found.reasons[reason] += 1
        else:
            found.n_reachable += 1
    for folder, study in studies.items():
        if study["item"] == item.name:
            found.folder = found.folder or folder
    cells = _computed(item, studies)
    found.n_compared = sum(is_same for is_same in cells.values())
    found.n_beside = len(cells) - found.n_compared
    return found


def _computed(item: StudyItem, studies: Mapping[str, Mapping[str, Any]]) -> dict[Any, bool]:
    """The printed cells of this item that a study has, and whether they are about the same."""
    own = _numbers(item)
    printed = {key for row in item.own_table.rows for key in row.about} - {"model"}
    found: dict[Any, bool] = {}
    for study in studies.values():
        if study["item"] != item.name:
            continue
        for cell in study["cells"]:
            about = {key: value for key, value in cell["row"].items() if key in printed}
            for theirs in cell["theirs"]:
                if (theirs["model"], cell["column"], theirs["value"]) not in own:
                    continue
                place = (theirs["model"], cell["column"], *sorted(about.items()))
                found[place] = found.get(place, False) or bool(theirs["is_same"])
    return found


def _numbers(item: StudyItem) -> set[tuple[str, str, float]]:
    """Model, column and value of every number that the item prints."""
    table = item.own_table
    values = (
        (row.about.get("model", item.subject), column, table.number(column, row.cells[column]))
        for row, column in printed_cells(item)
    )
    return {
        (model, column, round(value, 8)) for model, column, value in values if value is not None
    }


def read_studies(folder: Path) -> dict[str, dict[str, Any]]:
    """The finished studies in the folders of a folder, by name."""
    found: dict[str, dict[str, Any]] = {}
    folders = sorted(path for path in folder.iterdir() if verb_of(path) == "study")
    for path in (record_of(each, LEGACY) for each in folders):
        try:
            study = read_json(path)
            if study["status"] == "done":
                found[path.parent.name] = study
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadData(f"{path} is damaged: {str(error).splitlines()[0]}") from None
    return found


def check_table(checks: list[ItemCheck]) -> str:
    """The checks as a table in Markdown, with the sums below."""
    lines = [
        "| item | printed | reachable | compared here | beside here | why not all |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for check in checks:
        reasons = "; ".join(f"{n} × {reason}" for reason, n in check.reasons.most_common())
        name = f"[`{check.item}`]({check.folder}/study.md)" if check.folder else f"`{check.item}`"
        rest = reasons or ("" if check.n_printed else "no number is printed")
        cells = [check.n_printed, check.n_reachable, check.n_compared, check.n_beside]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} | {rest} |")
    sums = [
        sum(getattr(check, name) for check in checks)
        for name in ("n_printed", "n_reachable", "n_compared", "n_beside")
    ]
    lines.append(f"| **{len(checks)} items** | {' | '.join(f'**{n}**' for n in sums)} | |")
    return "\n".join(lines) + "\n"
