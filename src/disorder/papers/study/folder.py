"""Files of a study: result.json, study.csv, .md, .tex and one page, beside the runs it made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from disorder.errors import BadData, DisorderError, option
from disorder.papers.requests import StudyOptions
from disorder.papers.study.item import study_items
from disorder.papers.study.result import PublishedNumber, Study
from disorder.papers.study.table_lines import (
    constants,
    keys_of,
    lines,
    paper_grid,
    printed_grid,
    study_grid,
    why_not,
)
from disorder.requests.option import changed, command_line
from disorder.results.render import render
from disorder.results.result import Figure, Grid, NextStep, Result, Row, Section, as_csv
from disorder.results.run_folder import RECORD, record_of
from disorder.store.storage import make_folder, write_atomically

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
    """Write result.json, without pictures."""
    text = render(study.result, "json")
    write_atomically(folder / RECORD, text.encode("utf-8", "backslashreplace"))


LONG_TABLE = 12  # rows from which on a printed table is folded
LEGACY = "study.json"  # what older versions wrote for result.json
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
    (folder / RECORD).unlink(missing_ok=True)
    if not was_there:
        with suppress(OSError):  # something else lies there
            folder.rmdir()


def read_study(folder: Path) -> Study:
    """The finished study in a folder, without its pictures."""
    path = record_of(folder, LEGACY)
    try:
        study = Study.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadData(f"{path} cannot be read ({error.strerror or error})") from None
    except ValidationError as error:
        raise BadData(f"{path} is damaged: {str(error).splitlines()[0]}") from None
    if study.status != "done":
        raise DisorderError(
            f"{folder} is not finished; resume it: {command_of(study)} {option('out', folder)}"
        )
    return study


def write_study(folder: Path, study: Study) -> None:
    """Write all files."""
    write_record(folder, study)
    write_atomically(folder / "study.csv", as_csv(csv_rows(study)))
    found = study.result
    files = {
        "study.md": render(found, "markdown"),
        "study.tex": render(found, "latex"),
        "report.html": render(found, "page", in_folder=True),
    }
    for name, text in files.items():
        write_atomically(folder / name, text.encode("utf-8", "backslashreplace"))


def save_study(folder: Path, study: Study) -> Path:
    """Write all files into a folder, made if need be; links to pages that are not there go."""
    make_folder(folder)
    links = [link for link in study.links if (folder / link.page).is_file()]
    write_study(folder, study.model_copy(update={"links": links}))
    return folder


def csv_rows(study: Study) -> list[Row]:
    """One row per cell and printed number; a cell without a printed number has one too."""
    keys = keys_of(study)
    rows: list[Row] = []
    for cell in study.cells:
        mine = {key: cell.row.get(key, "") for key in keys} | {
            name: getattr(cell, name) for name in ("column", "value", "low", "high", "n", "skipped")
        }
        rows += [mine | _published(each) for each in cell.theirs] or [mine | _published(None)]
    return rows


def _published(number: PublishedNumber | None) -> Row:
    """A printed number as columns, empty where there is none."""
    return {
        "published_model": number and number.model,
        "published": number and number.printed,
        "published_value": number and number.value,
        "is_same": number and number.is_same,
        "difference": number and number.difference,
        "is_within": number and number.is_within,
    }


def command_of(study: Study) -> str:
    """The command that repeats the study."""
    request = dict(study.request)
    names = request["names"]
    known = study_items().get(study.item)
    if known is not None and request.get("seeds") == known.seeds:
        del request["seeds"]  # as it is without being said
    words = [study.item, *request["models"], *request["data"]]
    for model in request["models"]:
        if model in names:
            words += ["--as", names[model]]
    return command_line("study", *words, *changed(StudyOptions, request))


def result_of(study: Study) -> Result:
    """The envelope of a study; what all rows have in common stands above the table."""
    same = constants(study)
    keys = [key for key in keys_of(study) if key not in same]
    caption = ", ".join(f"{key} {value}" for key, value in same.items())
    published = printed_grid(study)
    ours = study_grid(study, keys, caption) if study.cells else published
    meanings = dict(MEANINGS[line.whose] for line in lines(study))
    legend = [f"{name} = {meaning}" for name, meaning in meanings.items()]
    about = f"{study.item}: {study.title}"
    return Result(
        verb="study",
        title=about,
        level=1,
        about=about,
        headline=_sentence(study.verdict),
        request=study.request,
        body=study,
        records=study.records,
        lead=[study.does],
        grids=[ours] if ours.rows else [],
        paper=[paper_grid(study)] if study.cells else [],
        sections=list(_sections(study, published)),
        notes=[*legend, *why_not(study), *study.notes, *study.remarks],
        next_steps=[NextStep(command, "") for command in study.commands],
        command=command_of(study),
        facts={"version": f"disorder {study.version}"},
    )


def _sections(study: Study, published: Grid) -> Iterator[Section[None]]:
    if study.pictures:
        figures = [Figure("", each.caption, (), drawn=each.svg) for each in study.pictures]
        yield Section("pictures", "Pictures", figures=figures)
    if study.cells and published.rows:
        is_folded = len(published.rows) > LONG_TABLE
        yield Section("published", "As published", grids=[published], is_folded=is_folded)
    if study.links:
        links = {link.title: link.page for link in study.links}
        yield Section("links", "Runs, trainings and explanations of this study", links=links)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
