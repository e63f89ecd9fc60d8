"""Files of a study: study.json, .csv, .md, .tex and one page, beside the runs it made."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from disorder.errors import BadData, DisorderError
from disorder.report.markdown import as_text
from disorder.report.page import template, visible
from disorder.runs import make_folder, write_atomically
from disorder.verbs.study.latex_table import latex_table
from disorder.verbs.study.result import Study
from disorder.verbs.study.table_lines import (
    columns_of,
    keys_of,
    lines,
    printed_table,
    title,
    why_not,
)

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
    """Write study.json, without pictures."""
    text = json.dumps(as_json(study), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(folder / "study.json", text.encode("utf-8", "backslashreplace"))


USUAL = {"precision": "fp32", "seeds": 1, "language": "auto"}  # not worth saying in a command
KEPT = ("runs", "models", "explained", "steps")  # folders of what a study made


def has_results(folder: Path) -> bool:
    """Whether a study has made anything there that another one could mistake for its own."""
    return any((folder / name).exists() for name in KEPT) or (folder / "report.html").exists()


def make_folder_for(folder: Path, study: Study) -> bool:
    """Make the folder of a study and write its record; says whether the folder was there."""
    was_there = folder.exists()
    make_folder(folder)
    write_record(folder, study)
    return was_there


def remove_if_empty(folder: Path, *, was_there: bool) -> None:
    """Take away the folder of a study that failed before it made anything."""
    if has_results(folder):
        return
    (folder / "study.json").unlink(missing_ok=True)
    if not was_there:
        with suppress(OSError):  # something else lies there
            folder.rmdir()


def read_study(folder: Path) -> Study:
    """The finished study in a folder, without its pictures."""
    path = folder / "study.json"
    try:
        study = Study.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadData(f"{path} cannot be read ({error.strerror or error})") from None
    except ValidationError as error:
        raise BadData(f"{path} is damaged: {str(error).splitlines()[0]}") from None
    if study.status != "done":
        raise DisorderError(
            f"{folder} is not finished; resume it: {command_of(study)} --out {folder}"
        )
    return study


def as_json(study: Study) -> dict[str, Any]:
    """The study as plain data."""
    return {
        **study.model_dump(exclude={"pictures"}),
        "verdict": study.verdict if study.status == "done" else "",
    }


def write_study(folder: Path, study: Study) -> None:
    """Write all files."""
    write_record(folder, study)
    files = {
        "study.csv": as_csv(study),
        "study.md": as_markdown(study),
        "study.tex": str(latex_table(study)),
        "report.html": page(study),
    }
    for name, text in files.items():
        write_atomically(folder / name, text.encode("utf-8", "backslashreplace"))


def save_study(folder: Path, study: Study) -> Path:
    """Write all files into a folder, made if need be; links to pages that are not there go."""
    make_folder(folder)
    links = [link for link in study.links if (folder / link.page).is_file()]
    write_study(folder, study.model_copy(update={"links": links}))
    return folder


CSV_COLUMNS = (
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
)
NO_PUBLISHED = ("",) * 6


def as_csv(study: Study) -> str:
    """One line per cell and printed number; a cell without a printed number has one line too."""
    keys = keys_of(study)
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([*keys, *CSV_COLUMNS])
    for cell in study.cells:
        about = [cell.row.get(key, "") for key in keys]
        mine = [*about, cell.column, cell.value, cell.low, cell.high, cell.n, cell.skipped]
        theirs: list[tuple[Any, ...]] = [
            (each.model, each.printed, each.value, each.is_same, each.difference, each.is_within)
            for each in cell.theirs
        ]
        for each in theirs or [NO_PUBLISHED]:
            writer.writerow([*mine, *each])
    return sink.getvalue()


def as_markdown(study: Study) -> str:
    """The table in Markdown, to paste."""
    parts = [
        f"# {study.item}: {study.title}",
        "",
        f"**{_sentence(study.verdict)}**",
        "",
        as_text(_sentence(study.does)),
    ]
    if study.cells:
        parts += ["", *_markdown_table(study)]
        legend = [f"*{name}*: {meaning}." for name, meaning in meanings(study).items()]
        parts += ["", " ".join(legend)]
    notes = [*why_not(study), *study.notes, *study.remarks]
    if notes:
        parts += ["", *(f"- {as_text(note)}" for note in notes)]
    commands = [*study.commands, command_of(study)]
    parts += ["", *(f"    {visible(command).replace(chr(10), ' ')}" for command in commands)]
    return "\n".join(parts) + "\n"


def _markdown_table(study: Study) -> list[str]:
    keys = keys_of(study)
    columns = columns_of(study)
    rows = [_row([as_text(name) for name in (*keys, *map(title, columns))])]
    rows.append(_row(["---"] * len(keys) + ["---:"] * len(columns)))
    for line in lines(study):
        cells = [as_text(text) for text in line.cells]
        numbers = [_bold(text) for text in cells] if line.whose == "ours" else cells
        rows.append(_row([*map(as_text, line.about), *numbers]))
    return rows


def meanings(study: Study) -> dict[str, str]:
    """What the lines of this table mean."""
    return dict(MEANINGS[whose] for whose in dict.fromkeys(line.whose for line in lines(study)))


def command_of(study: Study) -> str:
    """The command that repeats the study."""
    request = study.request
    names = request["names"]
    words = ["disorder", "study", study.item, *request["models"], *request["data"]]
    for model in request["models"]:
        if model in names:
            words += ["--as", names[model]]
    for name, value in request.items():
        if USUAL.get(name) == value:
            continue
        if name not in ("models", "data", "names") and value not in (None, {}, [], (), "", False):
            words += _option(name, value)
    return shlex.join(words)


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag]
    if isinstance(value, list | tuple):
        return [word for each in value for word in (flag, str(each))]
    if name == "set":
        return [word for key, each in value.items() for word in (flag, f"{key}={each}")]
    if isinstance(value, dict):
        return [flag, ",".join(f"{key}={each}" for key, each in value.items())]
    return [flag, str(value)]


def page(study: Study) -> str:
    """The study as one page of HTML that works from disk."""
    return _rendered("study_page.html", study)


def notebook_html(study: Study) -> str:
    """The study's table as a notebook shows it."""
    return _rendered("study_notebook.html", study)


def _rendered(name: str, study: Study) -> str:
    html: str = template(name).render(
        study=study,
        verdict=_sentence(study.verdict),
        keys=keys_of(study),
        columns=[title(column) for column in columns_of(study)],
        lines=list(lines(study)),
        meanings=meanings(study),
        notes=[*why_not(study), *study.notes],
        printed=printed_table(study),
        command=command_of(study),
    )
    return html


def _bold(text: str) -> str:
    """The number in bold, its interval beside it."""
    value, space, rest = text.partition(" ")
    return f"**{value}**{space}{rest}" if text else ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
