"""The verb `study`: an item of a paper, computed and put beside the published numbers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from disorder.papers.requests import StudyOptions
from disorder.papers.study.item import find_item
from disorder.papers.study.part_settings import StudySettings
from disorder.papers.study.resolving import (
    as_given_run,
    as_list,
    split_models_and_data,
    usual_fidelity,
)
from disorder.papers.study.result import Study
from disorder.papers.study.study_request import StudyRequest
from disorder.requests.keywords import takes_options
from disorder.results.progress import shown_progress
from disorder.store.store import Store
from disorder.types import Progress


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
        data=[*(_text_or_given(each) for each in as_list(data)), *more_data],
        names=[as_] if isinstance(as_, str) else list(as_),
    )
    report = shown_progress(progress)
    if out is not None:
        with Store.open(Path(out)) as store:
            return request.run(store, report)
    with tempfile.TemporaryDirectory() as temporary:
        return request.run(Store(Path(temporary)), report)


def _text_or_given(given: Any) -> Any:
    return str(given) if isinstance(given, Path) else given
