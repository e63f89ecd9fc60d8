"""Render the published studies again, as the program would write them now: title, printed numbers,
what is compared and study.md, from what each study measured.

python scripts/render_studies.py [FOLDER]     (docs/results/study; a test holds them current)
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from disorder.papers.study import Study, find_item, read_study
from disorder.papers.study.published_tables import TableMatcher
from disorder.papers.study.study_request import remarks_of
from disorder.results.render import render

FOLDER = Path(__file__).parents[1] / "docs" / "results" / "study"
HERE = "; here: "
DRAWN = re.compile(r"q = (\d+)(?: \(the paper: (\d+)\))?")
PARTIAL = "counted over"


def renewed(study: Study) -> Study:
    """The same numbers of ours, with all that the program knows about the item now."""
    item = find_item(study.item)
    table = item.published_table
    found = study.model_copy(deep=True)
    here = study.does.partition(HERE)[2]  # what was done stays as it was recorded
    found.title = item.title
    found.commands = list(item.commands)
    found.remarks = remarks_of(item)
    found.published = [{**row.about, "cells": dict(row.cells)} for row in table.rows]
    found.columns = list(dict.fromkeys([*table.columns, *(c.column for c in study.cells)]))
    units = {**study.units, **{name: table.unit_of(name) for name in table.columns}}
    found.units = {name: units[name] for name in found.columns}
    drawn = DRAWN.search(here)
    q = int(drawn[1]) if drawn else None
    theirs = [(cell.row.get("model", ""), each) for cell in study.cells for each in cell.theirs]
    reasons = [each.why_not for _, each in theirs if each.why_not.startswith(PARTIAL)]
    matcher = TableMatcher(
        table,
        names={**item.models, **{model: each.model for model, each in theirs if each.is_same}},
        subject=item.subject,
        q=q,
        paper_q=int(drawn[2]) if drawn and drawn[2] else q,
        data=item.data,
        not_comparable=item.not_comparable,
        partial_counts=next(iter(reasons), ""),
        by_draws=item.pipeline.by_draws,
        by_code=item.by_code if study.request["fidelity"] == "paper" else {},
    )
    found.cells = matcher.match(study.cells)
    found.draws = matcher.other_draws(found.columns)
    return found


def main(folder: Path) -> None:
    """Write every study.json and study.md that is not what the program would write."""
    for record in sorted(folder.glob("*/study.json")):
        study = read_study(record.parent)
        now = renewed(study)
        files = {".md": render(now.result, "markdown")}
        if now != study:
            files[".json"] = json.dumps(now.as_data(), ensure_ascii=False, indent=1) + "\n"
        for suffix, text in files.items():
            path = record.with_suffix(suffix)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
                print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
