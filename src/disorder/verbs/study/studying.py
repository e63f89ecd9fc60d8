"""How does a request become a page? Find what is needed, run the pipeline step by step, set the
printed numbers beside ours.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from disorder.data import honest_name
from disorder.errors import BadData, DisorderError, NothingToMeasure, UnknownName
from disorder.runs.run import make_folder
from disorder.types import Progress
from disorder.verbs.study.folder import write_record, write_study
from disorder.verbs.study.given_specs import data_of, lacking_packages, models_of, sorted_out
from disorder.verbs.study.item import Item, item
from disorder.verbs.study.pictures import forests
from disorder.verbs.study.printed_cells import Matching
from disorder.verbs.study.result import Portion, Study
from disorder.verbs.study.table_lines import title
from disorder.verbs.study.workbench import Asked, Bench, Finished, Rows, spelled, title_of

FREE = ("models", "data", "names")  # what may differ when a study goes on


def study(
    name: str,
    *given: Any,
    models: Sequence[Any] = (),
    data: Sequence[Any] = (),
    names: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Study:
    """Make a table or figure of a paper again, with the published numbers beside ours.

    `name` is PAPER/ITEM, as `disorder study --list` shows them. `given` are models and data, specs
    or anything that `disorder.audit` takes; `models` and `data` say which is which. Where nothing
    is named the paper's own are used, if they can be had. `names` says which published model each
    model stands for. With `out`, everything is kept there, and a study that was stopped goes on.
    Settings are those of `disorder study`, see `disorder.verbs.study.Asked`.
    """
    chosen, asked = item(name), _asked(settings)
    more_models, more_data = sorted_out(given, needs_model=chosen.pipeline.needs_model)
    asked = replace(asked, fidelity=asked.fidelity or chosen.fidelity)
    wanted = _Wanted(chosen, asked, [*models, *more_models], [*data, *more_data], list(names))
    if out is not None:
        return wanted.go(Path(out), progress or (lambda *_: None))
    with tempfile.TemporaryDirectory() as temporary:
        return wanted.go(Path(temporary), progress or (lambda *_: None))


def _asked(settings: Mapping[str, Any]) -> Asked:
    known = [each.name for each in fields(Asked)]
    for name in settings:
        if name not in known:
            raise UnknownName("setting of study", name, known)
    asked = Asked(**settings)
    asked.check()
    return asked


@dataclass
class _Wanted:
    """One request."""

    item: Item
    asked: Asked
    models: list[Any]
    data: list[Any]
    names: list[str]

    def go(self, folder: Path, progress: Progress) -> Study:
        lacking_packages(self.item)
        models = models_of(self.item, self.models)
        if self.item.pipeline.kind != "audits" and any(
            isinstance(model, Finished) for model in models
        ):
            raise DisorderError(
                f"{self.item.name} needs the model itself; a run stands for it in items of audits only"
            )
        names = self._names(models)
        data, notes = data_of(self.item, self.data, self.asked.data_dir, models)
        data = with_names(data)
        notes += self._trained_on()
        _check_names(
            [
                (model, model.run.data) if isinstance(model, Finished) else (model,)
                for model in models
            ]
        )
        _check_names([(each,) for each in data])
        found = self._new(models, data, names, notes)
        _check_same(folder, found)
        make_folder(folder)
        write_record(folder, found)
        bench = Bench(
            folder, models, data, self.asked, progress, self.asked.train or self.item.train
        )
        portions = list(self.item.pipeline(bench))
        self._fill(found, portions, names)
        write_study(folder, found)
        return found

    def _names(self, models: Sequence[Any]) -> dict[str, str]:
        """Which published model each of ours stands for."""
        known = self.item.published.values("model") or (
            [self.item.subject] if self.item.subject else []
        )
        if len(self.names) > len(models):
            of = f"{len(models)} model{'s' if len(models) > 1 else ''}"
            raise DisorderError(f"--as was given {len(self.names)} times for {of}")
        for name in self.names:
            if name not in known:
                raise UnknownName(
                    f"model of {self.item.name}",
                    name,
                    known or ["(its numbers are about no model)"],
                )
        given = {title_of(model): name for model, name in zip(models, self.names, strict=False)}
        return {**self.item.models, **given}

    def _new(
        self,
        models: Sequence[Any],
        data: Sequence[Any],
        names: Mapping[str, str],
        notes: Sequence[str],
    ) -> Study:
        section, pipeline = self.item.published, self.item.pipeline
        request: dict[str, Any] = {
            "models": [spelled(each) for each in models],
            "data": [title_of(each) for each in data],
        }
        request |= self.asked.recorded
        request["names"] = {
            spelled(model): names[title_of(model)] for model in models if title_of(model) in names
        }
        return Study(
            item=self.item.name,
            title=self.item.title,
            kind=pipeline.kind,
            does=pipeline.does,
            request=request,
            columns=list(section.columns),
            units={name: section.unit_of(name) for name in section.columns},
            published=[{**row.about, "cells": dict(row.cells)} for row in section.rows],
            notes=list(notes),
            remarks=_remarks(self.item),
            commands=list(self.item.commands),
        )

    def _trained_on(self) -> list[str]:
        """A note on the training data, where the item names any."""
        train = self.asked.train or self.item.train
        if not self.item.pipeline.trains or train is None:
            return []
        some = f"{self.asked.limit:,} examples of " if self.asked.limit else ""
        return [f"trained on {some}{honest_name(train, data_dir=self.asked.data_dir)}"]

    def _in_part(self) -> str:
        """Why counts are not those of the paper's data, where they are not."""
        if limit := self.asked.test_limit or self.asked.limit:
            return f"counted over {limit:,} examples"
        train = self.asked.train or self.item.train
        is_part = (
            isinstance(train, str)
            and honest_name(train, data_dir=self.asked.data_dir) != self.item.train
        )
        return "counted over other training data" if is_part else ""

    def _fill(self, found: Study, portions: Sequence[Portion], names: Mapping[str, str]) -> None:
        if self.item.pipeline.needs_model and not any(
            portion.cells or portion.pictures for portion in portions
        ):
            reasons = "; ".join(note for portion in portions for note in portion.notes)
            raise NothingToMeasure(
                f"{self.item.name}: nothing was found{f' ({reasons})' if reasons else ''}"
            )
        pipeline, section = self.item.pipeline, self.item.published
        q = None if pipeline.q is None else self.asked.q or pipeline.q
        by_code = self.item.by_code if self.asked.fidelity == "paper" else {}
        matching = Matching(
            section,
            names,
            self.item.subject,
            q,
            pipeline.q,
            self.item.data,
            self.item.unlike,
            self._in_part(),
            by_code,
        )
        for portion in portions:
            found.cells += matching.beside(portion.cells)
            found.links += portion.links
            found.notes += portion.notes
            found.pictures += portion.pictures
        found.columns = list(
            dict.fromkeys([*found.columns, *(cell.column for cell in found.cells)])
        )
        found.units |= {
            name: pipeline.units.get(name, "share")
            for name in found.columns
            if name not in found.units
        }
        found.pictures += forests(found)
        found.notes = list(dict.fromkeys(found.notes))
        found.status = "done"


def with_names(data: Sequence[Any]) -> list[Any]:
    """Rows from Python are called `rows 1`, `rows 2`, …; specs have their names."""
    unnamed = dict.fromkeys(id(each) for each in data if not isinstance(each, str))
    places = {key: place for place, key in enumerate(unnamed, start=1)}
    return [
        each if isinstance(each, str) else Rows(f"rows {places[id(each)]}", each) for each in data
    ]


def _check_names(given: Sequence[tuple[Any, ...]]) -> None:
    """Raise where two rows of a table could not be told apart."""
    titles = [" on ".join(map(title_of, each)) for each in given]
    if twice := next((name for name in titles if titles.count(name) > 1), None):
        raise DisorderError(f"{twice!r} is named twice; rows must differ in model or data")


def _remarks(item: Item) -> list[str]:
    """What is to be known of the published numbers, and what the text states where those of another
    item stand beside ours.
    """
    own, told = item.own, list[str]()
    for row in own.rows if item.section else ():
        about = ", ".join(f"{key} {value}" for key, value in row.about.items())
        told += [
            f"The text states: {title(name)} {cell} ({own.unit_of(name)}; {about})"
            for name, cell in row.cells.items()
        ]
    known = {
        "About the published numbers": own.note,
        "What does not add up in the paper": own.erratum,
    }
    return told + [f"{name}: {text}" for name, text in known.items() if text]


def _check_same(folder: Path, now: Study) -> None:
    """Raise where the folder holds a study that was asked otherwise; models and data may be others."""
    path = folder / "study.json"
    if not path.exists():
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        request, name = dict(before["request"]), str(before["item"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"{path} is damaged: {str(error).splitlines()[0]}") from None
    if name != now.item:
        raise DisorderError(f"{folder} holds {name}; choose another --out")
    differing = [
        key for key in now.request if key not in FREE and request.get(key) != now.request[key]
    ]
    if differing:
        told = ", ".join(
            f"{key} ({request.get(key)} there, {now.request[key]} now)" for key in differing
        )
        raise DisorderError(f"{folder} holds this study with another {told}; choose another --out")
