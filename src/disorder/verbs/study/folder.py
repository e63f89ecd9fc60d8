"""What is left of a study? study.json, study.csv, study.md and one page, beside the runs that it
made.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disorder.report.markdown import as_text
from disorder.report.page import template, visible
from disorder.runs.storage import write_atomically
from disorder.verbs.study.result import Study
from disorder.verbs.study.table_lines import columns_of, keys_of, lines, printed, title, why_not

MEANINGS = {
    "ours": ("bold", "our number and its 95 % interval over examples; counts have none"),
    "published": ("published", "as the paper prints it, for this model and data"),
    "difference": (
        "difference",
        "ours minus theirs; whether theirs, as rounded, lies in our interval, if that can be said",
    ),
    "other": (
        "published: NAME",
        "what the paper prints for another model; it stands beside ours and is not compared",
    ),
}


def write_record(folder: Path, study: Study) -> None:
    """Write study.json, without the pictures."""
    text = json.dumps(as_json(study), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(folder / "study.json", text.encode("utf-8", "backslashreplace"))


def as_json(study: Study) -> dict[str, Any]:
    """The study as plain data."""
    return {
        **study.model_dump(exclude={"pictures"}),
        "verdict": study.verdict if study.status == "done" else "",
    }


def write_study(folder: Path, study: Study) -> None:
    """Write all files."""
    write_record(folder, study)
    for name, text in (
        ("study.csv", as_csv(study)),
        ("study.md", as_markdown(study)),
        ("report.html", page(study)),
    ):
        write_atomically(folder / name, text.encode("utf-8", "backslashreplace"))


def as_csv(study: Study) -> str:
    """One line a cell and printed number; a cell that has none beside it has a line too."""
    keys = keys_of(study)
    sink = io.StringIO()
    names = [
        "column",
        "value",
        "low",
        "high",
        "n",
        "skipped",
        "published_model",
        "published",
        "published_value",
        "is_same",
        "difference",
        "is_within",
    ]
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([*keys, *names])
    for cell in study.cells:
        mine = [
            *(cell.row.get(key, "") for key in keys),
            cell.column,
            cell.value,
            cell.low,
            cell.high,
            cell.n,
            cell.skipped,
        ]
        theirs: Sequence[Sequence[Any]] = [
            (each.model, each.printed, each.value, each.is_same, each.difference, each.is_within)
            for each in cell.theirs
        ]
        writer.writerows([*mine, *each] for each in theirs or [("",) * 6])
    return sink.getvalue()


def as_markdown(study: Study) -> str:
    """The table for people, to paste."""
    parts = [
        f"# {study.item}: {study.title}",
        "",
        f"**{_sentence(study.verdict)}**",
        "",
        as_text(_sentence(study.does)),
    ]
    if study.cells:
        keys, columns = keys_of(study), columns_of(study)
        parts += ["", _row([as_text(name) for name in (*keys, *map(title, columns))])]
        parts += [_row(["---"] * len(keys) + ["---:"] * len(columns))]
        for line in lines(study):
            cells = [as_text(text) for text in (*line.about, *line.cells)]
            parts.append(_row([_bold(text) for text in cells] if line.whose == "ours" else cells))
        parts += [
            "",
            " ".join(f"*{name}*: {meaning}." for name, meaning in meanings(study).items()),
        ]
    notes = [*why_not(study), *study.notes, *study.remarks]
    parts += ["", *(f"- {as_text(note)}" for note in notes)] if notes else []
    parts += [
        "",
        *(
            "    " + visible(command).replace("\n", " ")
            for command in [*study.commands, command_of(study)]
        ),
    ]
    return "\n".join(parts) + "\n"


def meanings(study: Study) -> dict[str, str]:
    """What the lines of this table mean."""
    return dict(MEANINGS[whose] for whose in dict.fromkeys(line.whose for line in lines(study)))


def command_of(study: Study) -> str:
    """The command that repeats the study."""
    request = study.request
    words = ["disorder", "study", study.item, *request["models"], *request["data"]]
    words += [
        word
        for model in request["models"]
        if model in request["names"]
        for word in ("--as", request["names"][model])
    ]
    for name, value in request.items():
        flag = f"--{name.replace('_', '-')}"
        if name in ("models", "data", "names") or value in (None, {}, [], ""):
            continue
        if name == "set":
            words += [word for key, each in value.items() for word in (flag, f"{key}={each}")]
        elif isinstance(value, dict):
            words += [flag, ",".join(f"{key}={each}" for key, each in value.items())]
        else:
            words += [flag, str(value)]
    return shlex.join(words)


def page(study: Study) -> str:
    """The study as one page of HTML that works from disk."""
    drawn: str = template("study_page.html").render(
        study=study,
        verdict=_sentence(study.verdict),
        keys=keys_of(study),
        columns=[title(c) for c in columns_of(study)],
        lines=list(lines(study)),
        meanings=meanings(study),
        notes=[*why_not(study), *study.notes],
        printed=printed(study),
        command=command_of(study),
    )
    return drawn


def _bold(text: str) -> str:
    """The number in bold, its interval beside it."""
    value, space, rest = text.partition(" ")
    return f"**{value}**{space}{rest}" if text else ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
