"""The verb `study`: an item of a paper with settings, models and data, computed and put beside the
published numbers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from disorder.data import honest_name
from disorder.errors import BadData, DisorderError, Lacking, NothingToMeasure, option
from disorder.papers.requests import StudyOptions
from disorder.papers.study.folder import (
    LEGACY,
    has_results,
    make_folder_for,
    remove_if_empty,
    write_study,
)
from disorder.papers.study.item import StudyItem, find_item
from disorder.papers.study.part_settings import (
    PartSettings,
    StudySettings,
    check_parts,
    settings_notes,
    with_settings,
)
from disorder.papers.study.pipelines.training_table import PerTaskTraining, is_trained
from disorder.papers.study.preflight import (
    Lacks,
    check_packages,
    is_available,
    item_settings,
    notes_on_settings,
    parts_used,
    usable_pipeline,
    why_no_data,
)
from disorder.papers.study.published_tables import TableMatcher
from disorder.papers.study.resolving import (
    as_given_run,
    as_list,
    check_distinct,
    check_folders,
    data_for,
    models_for,
    published_names,
    split_models_and_data,
    usual_fidelity,
)
from disorder.papers.study.result import StepResult, Study, StudyCell
from disorder.papers.study.table_lines import forests, title
from disorder.papers.study.training_models import said_trainings
from disorder.papers.study.workbench import (
    LEARNING,
    Given,
    GivenDesigns,
    Workbench,
    recorded_name,
    short_name,
    title_of,
)
from disorder.requests.settings import takes_options
from disorder.results.progress import Steps, shown_progress
from disorder.results.run_folder import record_of
from disorder.safe_io import read_json, reason
from disorder.specs import split_spec
from disorder.store.store import Store
from disorder.transformations import parse
from disorder.types import Progress

BEYOND = "beyond"  # the name of items that are of no paper
MAY_DIFFER = ("models", "data", "names")  # between a study and its continuation


@dataclass
class StudyRequest:
    """One request: an item, settings, and models and data as the user named them."""

    item: StudyItem
    settings: StudySettings
    models: list[Any]
    data: list[Any]
    names: list[str]

    def run(self, store: Store, progress: Progress) -> Study:
        """Compute the item in the folder of a store."""
        item = self.item
        own = item.pipeline.own_settings
        check_parts(self.settings.of_parts, parts_used(item), own)
        models, data, names, notes = self._resolved()
        check_distinct(item, models, data)
        bench = Workbench(
            store,
            models,
            data,
            self.settings,
            progress,
            self._train,
            self._part_settings,
            item.labels,
        )
        folder = bench.folder
        pipeline, lacking = usable_pipeline(item, bench)
        found = self._new_study(models, data, names)
        found.notes = [*notes, *lacking, *self._training_note(models)]
        found.notes += settings_notes(parts_used(item), self._part_settings, own)
        found.notes += notes_on_settings(item, self.settings.of_parts)
        _check_same_request(folder, found)
        made = make_folder_for(folder, found)
        try:
            bench.progress = counting = Steps(progress, pipeline.step_names(bench))
            steps = list(counting.counted(pipeline(bench)))
            is_empty = not any(step.cells or step.pictures for step in steps)
            if item.pipeline.needs_model and is_empty:
                reasons = "; ".join(note for step in steps for note in step.notes)
                because = f" ({reasons})" if reasons else ""
                raise NothingToMeasure(f"{item.name}: nothing was found{because}")
        except BaseException:
            remove_if_empty(folder, was_there=made)
            raise
        found.notes += bench.notes
        self._fill(found, steps, names, models)
        write_study(folder, found)
        return found

    def _resolved(self) -> tuple[list[Any], list[Any], dict[str, str], list[str]]:
        """Models, data, names in print, and notes; raises with all that is lacking, in one line."""
        item = self.item
        models: list[Any] = []
        data: list[Any] = []
        names: dict[str, str] = {}
        notes: list[str] = []
        lacks = Lacks()
        with lacks.noted():
            check_packages(item)
        with lacks.noted():
            models = models_for(item, self.models)
            check_folders(models)
            names = published_names(item, models, self.names)
        with lacks.noted():
            data, notes = data_for(item, self.data, self.settings.data_dir, models)
        with lacks.noted():  # before anything is trained
            train = None if self._tests_as_given(models) else self._train
            if train and not is_available(train, self.settings.data_dir):
                raise Lacking(
                    f"{item.name} learns from {train}: {why_no_data(self.settings.data_dir)}; "
                    f"or say {option('train', 'DATA')}"
                )
        lacks.check()
        return models, data, names, notes

    @property
    def _train(self) -> str | None:
        return "+".join(self.settings.train) or self.item.train

    @property
    def _part_settings(self) -> dict[str, dict[str, str]]:
        """The item's settings of its parts, and the user's over them; --q is for all draws."""
        given = self.settings.of_parts
        own = item_settings(self.item)
        if self.settings.q is not None:
            own = {
                name: {**each, "q": str(self.settings.q)} if "q" in each else each
                for name, each in own.items()
            }
        return {name: {**own.get(name, {}), **given.get(name, {})} for name in {**own, **given}}

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
            does=f"{self.item.pipeline.does}; here: {self._size(models, data)}",
            request=request,
            columns=list(table.columns),
            units={name: table.unit_of(name) for name in table.columns},
            published=[{**row.about, "cells": dict(row.cells)} for row in table.rows],
            remarks=remarks_of(self.item),
            commands=list(self.item.commands),
        )

    def _size(self, models: Sequence[Any], data: Sequence[Any]) -> str:
        """Models, data, permutations and examples as they were, beside what the paper used."""
        q = self._q
        sets = [each.data for each in models if isinstance(each, Given)] or data
        words = [", ".join(dict.fromkeys(map(short_name, each))) for each in (models, sets)]
        words = [" on ".join(filter(None, words))] if any(words) else []
        if q is not None and max(q) > 1:
            ours, theirs = q
            whose = "by default" if self.item.paper_name == BEYOND else "the paper"
            words.append(f"q = {ours}" + (f" ({whose}: {theirs})" if ours != theirs else ""))
        some = _examples(self._limit(models), "of each set at most")
        if self.item.pipeline.trains and not self._tests_as_given(models):
            trained = _examples(self.settings.limit, "at most")
            n = len(self.settings.seeds_to_train)
            seeds = f"{n} seeds" if n > 1 else "one seed"
            some = f"trained on {trained} with {seeds}, tested on {some}"
        return ", ".join([*words, some, *said_trainings(models)])

    @property
    def _q(self) -> tuple[int, int] | None:
        """How many permutations are drawn, here and in the paper; some parts fix it."""
        pipeline = self.item.pipeline
        if pipeline.q is None:
            return None
        named = [spec for spec in pipeline.perturbs if split_spec(spec)[0] not in LEARNING]

        def count(q: int, settings: PartSettings) -> int:
            drawn = (parse(with_settings(spec, settings)).count(q) for spec in named)
            return max(drawn, default=q)

        ours = count(self.settings.q or pipeline.q, self._part_settings)
        return ours, count(pipeline.q, item_settings(self.item))

    def _limit(self, models: Sequence[Any]) -> int | None:
        """How many examples are tested at most; what is finished brings its own limit."""
        finished = [each.limit for each in models if isinstance(each, Given)]
        if finished:
            return max((limit for limit in finished if limit), default=None)
        limit = self.settings.limit
        if self.item.pipeline.trains and not self._tests_as_given(models):
            return self.settings.test_limit
        return self.settings.test_limit or limit

    def _tests_as_given(self, models: Sequence[Any]) -> bool:
        """Whether models are tested as they are, although the item can train."""
        pipeline = self.item.pipeline
        if models and all(isinstance(model, GivenDesigns) for model in models):
            return True
        is_free = isinstance(pipeline, PerTaskTraining) and not pipeline.arms
        return is_free and all(map(is_trained, models))

    def _training_note(self, models: Sequence[Any]) -> list[str]:
        """Which data was trained on, where the item or the user names any."""
        if not self.item.pipeline.trains or self._train is None or self._tests_as_given(models):
            return []
        limit = self.settings.limit
        some = f"{limit:,} examples of " if limit else ""
        return [f"trained on {some}{honest_name(self._train, data_dir=self.settings.data_dir)}"]

    def _why_partial(self, models: Sequence[Any]) -> str:
        """Why counts are not those of the paper's data, where they are not."""
        limit = self._limit(models)
        train = None
        if self.item.pipeline.counts_training_data:
            designs = [each.designs.about for each in models if isinstance(each, GivenDesigns)]
            limits = [self.settings.limit, *(each.limit for each in designs)]
            limit = next(filter(None, limits), None)
            train = designs[0].train if designs else self._train
        if limit:
            return f"counted over {limit:,} examples"
        if train is None:
            return ""
        name = honest_name(train, data_dir=self.settings.data_dir)
        return "" if name == self.item.train else "counted over other training data"

    def _fill(
        self,
        found: Study,
        steps: Sequence[StepResult],
        names: Mapping[str, str],
        models: Sequence[Any],
    ) -> None:
        """Enter what the steps found, with the printed numbers beside it."""
        cells = [cell for step in steps for cell in step.cells]
        more: list[StudyCell] = []
        for mean in self.item.means:
            averaged, notes = mean.cells(cells, names)
            more += averaged
            found.notes += notes
        of_means = {mean.name: mean.name for mean in self.item.means if mean.key == "model"}
        matcher = self._matcher({**names, **of_means}, models)
        found.cells += matcher.match([*cells, *more])
        for step in steps:
            found.links += step.links
            found.notes += step.notes
            found.pictures += step.pictures
        found.columns = list(dict.fromkeys([*found.columns, *(c.column for c in found.cells)]))
        found.draws = matcher.other_draws(found.columns)
        for name in found.columns:
            found.units.setdefault(name, self.item.pipeline.units.get(name, "share"))
        found.pictures += forests(found) if self.item.pipeline.has_forests else []
        found.notes = list(dict.fromkeys(found.notes))
        found.status = "done"

    def _matcher(self, names: Mapping[str, str], models: Sequence[Any]) -> TableMatcher:
        item = self.item
        q, paper_q = self._q or (None, None)
        return TableMatcher(
            item.published_table,
            names=names,
            subject=item.subject,
            q=q,
            paper_q=paper_q,
            data=item.data,
            not_comparable=item.not_comparable,
            partial_counts=self._why_partial(models),
            by_draws=item.pipeline.by_draws,
            by_code=item.by_code if self.settings.fidelity == "paper" else {},
        )


def _examples(limit: int | None, at_most: str) -> str:
    return f"{limit:,} examples {at_most}" if limit else "all examples"


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
    path = record_of(folder, LEGACY)
    if not has_results(folder):
        return
    if not path.exists():
        raise DisorderError(
            f"{folder} holds results of a study that has no result.json; choose another "
            f"{option('out')}"
        )
    try:
        before = read_json(path)
        request = dict(before["request"])
        item = str(before["item"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"{path} is damaged: {reason(error)}") from None
    if item != now.item:
        raise DisorderError(f"{folder} holds {item}; choose another {option('out')}")
    differing = [
        f"{key} ({request.get(key)} there, {value} now)"
        for key, value in now.request.items()
        if key not in MAY_DIFFER and request.get(key) != value
    ]
    if differing:
        settings = ", ".join(differing)
        raise DisorderError(
            f"{folder} holds this study with another {settings}; choose another {option('out')}"
        )


@takes_options(StudyOptions)
def study(
    name: str,
    *models_or_data: Any,
    models: Any = (),
    data: Any = (),
    as_: str | Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[StudyOptions],
) -> Study:
    """Compute a table or figure of a paper for any model and data, with the published numbers
    beside ours.

    A notebook displays the result; `found.cell("p_c", data="mnli:matched")` is one number,
    `found.records` all of them, `found.save(folder)` writes the page.

    name: PAPER/ITEM, as `disorder study --list` shows them: `"unli/table2"`.
    models_or_data: Models, data or folders of finished runs, in any order; those of
        `disorder.audit`. None: the paper's own, as far as they are available.
    models: One model or a list, where it should be clear which is which.
    data: One set of data or a list of them.
    as_: The published model that each model stands for, in order.
    out: Folder to keep everything in; a study that was stopped is resumed there.
    progress: Called with stage, done, total and a note.
    """
    item = find_item(name)
    settings = StudySettings.of(options)
    more_models, more_data = split_models_and_data(
        models_or_data, needs_model=item.pipeline.needs_model
    )
    every = [*map(as_given_run, as_list(models)), *more_models]
    settings = replace(
        settings,
        fidelity=settings.fidelity or usual_fidelity(item, every),
        seeds=settings.seeds or item.seeds,
        set={name: str(value) for name, value in settings.set.items()},
    )
    request = StudyRequest(
        item=item,
        settings=settings,
        models=every,
        data=[*(str(d) if isinstance(d, Path) else d for d in as_list(data)), *more_data],
        names=[as_] if isinstance(as_, str) else list(as_),
    )
    report = shown_progress(progress)
    if out is not None:
        with Store.open(Path(out)) as store:
            return request.run(store, report)
    with tempfile.TemporaryDirectory() as temporary:
        return request.run(Store(Path(temporary)), report)
