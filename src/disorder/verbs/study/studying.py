"""The verb `study`: resolve models and data, run the item's pipeline, match published numbers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disorder.data import honest_name
from disorder.errors import BadData, DisorderError, NothingToMeasure, check_keywords
from disorder.report.notebook_progress import shown_progress
from disorder.runs import make_folder
from disorder.runs.folder_lock import FolderLock
from disorder.types import Fidelity, Progress
from disorder.untrusted_files import read_json, reason
from disorder.verbs.study.availability import check_packages
from disorder.verbs.study.folder import write_record, write_study
from disorder.verbs.study.item import StudyItem, find_item
from disorder.verbs.study.matching import TableMatcher
from disorder.verbs.study.naming import recorded_name, title_of
from disorder.verbs.study.pictures import forests
from disorder.verbs.study.resolving import (
    as_given_run,
    as_list,
    check_distinct,
    data_for,
    models_for,
    published_names,
    split_models_and_data,
)
from disorder.verbs.study.result import StepResult, Study
from disorder.verbs.study.study_settings import StudySettings
from disorder.verbs.study.table_lines import title
from disorder.verbs.study.workbench import Workbench

MAY_DIFFER = ("models", "data", "names")  # between a study and its continuation


@check_keywords()
def study(
    name: str,
    *models_or_data: Any,
    models: Any = (),
    data: Any = (),
    as_: str | Sequence[str] = (),
    train: str | Path | None = None,
    q: int | None = None,
    seed: int = 0,
    seeds: int = 1,
    limit: int | None = None,
    test_limit: int | None = None,
    fidelity: Fidelity | None = None,
    set_: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    task: str | None = None,
    data_dir: str | Path | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    cache: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Study:
    """Compute a table or figure of a paper for any model and data, with the published numbers
    beside ours.

    A notebook displays the result; `found.cell("p_c", data="mnli:matched")` is one number,
    `found.records` all of them, `found.save(folder)` writes the page.

    Args:
        name: PAPER/ITEM, as `disorder study --list` shows them: `"unli/table2"`.
        models_or_data: Models, data or folders of finished runs, in any order; those of
            `disorder.audit`. None: the paper's own, as far as they are available.
        models: One model or a list, where it should be clear which is which.
        data: One set of data or a list of them.
        as_: The published model that each model stands for, in order.
        train: Training data, for items that train (default: the paper's).
        q: Permutations per example (default: the paper's).
        seed: Seed of every draw.
        seeds: Trainings per model, for items that train.
        limit: Examples to test on (items that train: to train on), drawn at random by seed.
        test_limit: Examples to test on, for items that train.
        fidelity: `"paper"`: as described; `"released"`: as the authors' code does (default: the
            item's).
        set_: Settings of trainings: `{"epochs": 3}`.
        labels: What the model's labels mean: `{"LABEL_0": "entailment"}`.
        columns: Which columns are which: `{"premise": "text_a", "gold": "label"}`.
        task: Treat the data as this known task.
        data_dir: Folder with the papers' datasets (else `DISORDER_DATA`).
        batch_size: Texts per batch (by length if None).
        device: `"cpu"`, `"cuda"` or `"mps"`, for items that train.
        cache: Folder of the prediction cache, or `"off"`.
        out: Folder to keep everything in; a study that was stopped is resumed there.
        progress: Called with stage, done, total and a note.
    """
    item = find_item(name)
    settings = StudySettings.checked(
        q=q,
        seed=seed,
        seeds=seeds,
        limit=limit,
        test_limit=test_limit,
        fidelity=fidelity or item.fidelity,
        set=dict(set_ or {}),
        train=_text(train),
        labels=dict(labels or {}),
        columns=dict(columns or {}),
        task=task,
        data_dir=_text(data_dir),
        batch_size=batch_size,
        device=device,
        cache=_text(cache),
    )
    more_models, more_data = split_models_and_data(
        models_or_data, needs_model=item.pipeline.needs_model
    )
    request = StudyRequest(
        item=item,
        settings=settings,
        models=[*map(as_given_run, as_list(models)), *more_models],
        data=[*(_text_or_given(each) for each in as_list(data)), *more_data],
        names=[as_] if isinstance(as_, str) else list(as_),
    )
    report = shown_progress(progress)
    if out is not None:
        with FolderLock(Path(out)):
            return request.run(Path(out), report)
    with tempfile.TemporaryDirectory() as temporary:
        return request.run(Path(temporary), report)


def _text(given: str | Path | None) -> str | None:
    return None if given is None else str(given)


def _text_or_given(given: Any) -> Any:
    return str(given) if isinstance(given, Path) else given


@dataclass
class StudyRequest:
    """One request: an item, settings, and models and data as the user named them."""

    item: StudyItem
    settings: StudySettings
    models: list[Any]
    data: list[Any]
    names: list[str]

    def run(self, folder: Path, progress: Progress) -> Study:
        """Compute the item in a folder."""
        item = self.item
        check_packages(item)
        models = models_for(item, self.models)
        names = published_names(item, models, self.names)
        data, notes = data_for(item, self.data, self.settings.data_dir, models)
        check_distinct(models, data)
        found = self._new_study(models, data, names)
        found.notes = [*notes, *self._training_note()]
        _check_same_request(folder, found)
        make_folder(folder)
        write_record(folder, found)
        bench = Workbench(folder, models, data, self.settings, progress, self._train)
        steps = list(item.pipeline(bench))
        self._check_found_something(steps)
        self._fill(found, steps, names)
        write_study(folder, found)
        return found

    @property
    def _train(self) -> str | None:
        return self.settings.train or self.item.train

    def _new_study(
        self, models: Sequence[Any], data: Sequence[Any], names: Mapping[str, str]
    ) -> Study:
        """The study before anything is computed."""
        table = self.item.published_table
        request: dict[str, Any] = {
            "models": [recorded_name(each) for each in models],
            "data": [title_of(each) for each in data],
            **self.settings.recorded,
        }
        request["names"] = {
            recorded_name(model): names[title_of(model)]
            for model in models
            if title_of(model) in names
        }
        return Study(
            item=self.item.name,
            title=self.item.title,
            kind=self.item.pipeline.kind,
            does=self.item.pipeline.does,
            request=request,
            columns=list(table.columns),
            units={name: table.unit_of(name) for name in table.columns},
            published=[{**row.about, "cells": dict(row.cells)} for row in table.rows],
            remarks=remarks_of(self.item),
            commands=list(self.item.commands),
        )

    def _training_note(self) -> list[str]:
        """Which data was trained on, where the item names any."""
        if not self.item.pipeline.trains or self._train is None:
            return []
        limit = self.settings.limit
        some = f"{limit:,} examples of " if limit else ""
        return [f"trained on {some}{honest_name(self._train, data_dir=self.settings.data_dir)}"]

    def _why_partial(self) -> str:
        """Why counts are not those of the paper's data, where they are not."""
        if limit := self.settings.test_limit or self.settings.limit:
            return f"counted over {limit:,} examples"
        if self._train is None:
            return ""
        name = honest_name(self._train, data_dir=self.settings.data_dir)
        return "" if name == self.item.train else "counted over other training data"

    def _check_found_something(self, steps: Sequence[StepResult]) -> None:
        if not self.item.pipeline.needs_model:
            return
        if not any(step.cells or step.pictures for step in steps):
            reasons = "; ".join(note for step in steps for note in step.notes)
            because = f" ({reasons})" if reasons else ""
            raise NothingToMeasure(f"{self.item.name}: nothing was found{because}")

    def _fill(self, found: Study, steps: Sequence[StepResult], names: Mapping[str, str]) -> None:
        """Enter what the steps found, with the printed numbers beside it."""
        matcher = self._matcher(names)
        for step in steps:
            found.cells += matcher.match(step.cells)
            found.links += step.links
            found.notes += step.notes
            found.pictures += step.pictures
        columns = [*found.columns, *(cell.column for cell in found.cells)]
        found.columns = list(dict.fromkeys(columns))
        for name in found.columns:
            found.units.setdefault(name, self.item.pipeline.units.get(name, "share"))
        found.pictures += forests(found)
        found.notes = list(dict.fromkeys(found.notes))
        found.status = "done"

    def _matcher(self, names: Mapping[str, str]) -> TableMatcher:
        item = self.item
        paper_q = item.pipeline.q
        return TableMatcher(
            item.published_table,
            names=names,
            subject=item.subject,
            q=None if paper_q is None else self.settings.q or paper_q,
            paper_q=paper_q,
            data=item.data,
            not_comparable=item.not_comparable,
            partial_counts=self._why_partial(),
            by_code=item.by_code if self.settings.fidelity == "paper" else {},
        )


def remarks_of(item: StudyItem) -> list[str]:
    """What to know about the published numbers.

    Where numbers of another item stand beside ours, also what the text states about this one.
    """
    own = item.own_table
    remarks = []
    for row in own.rows if item.beside else ():
        about = ", ".join(f"{key} {value}" for key, value in row.about.items())
        for name, cell in row.cells.items():
            unit = own.unit_of(name)
            remarks.append(f"The text states: {title(name)} {cell} ({unit}; {about})")
    if own.note:
        remarks.append(f"About the published numbers: {own.note}")
    if own.erratum:
        remarks.append(f"Inconsistent in the paper: {own.erratum}")
    return remarks


def _check_same_request(folder: Path, now: Study) -> None:
    """Raise where the folder holds a study with other settings; models and data may differ."""
    path = folder / "study.json"
    if not path.exists():
        return
    try:
        before = read_json(path)
        request = dict(before["request"])
        item = str(before["item"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"{path} is damaged: {reason(error)}") from None
    if item != now.item:
        raise DisorderError(f"{folder} holds {item}; choose another --out")
    differing = [
        f"{key} ({request.get(key)} there, {value} now)"
        for key, value in now.request.items()
        if key not in MAY_DIFFER and request.get(key) != value
    ]
    if differing:
        settings = ", ".join(differing)
        raise DisorderError(
            f"{folder} holds this study with another {settings}; choose another --out"
        )
