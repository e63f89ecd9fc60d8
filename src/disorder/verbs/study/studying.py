"""The verb `study`: an item of a paper, computed and put beside the published numbers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from disorder.errors import check_keywords
from disorder.report.notebook_progress import shown_progress
from disorder.runs.folder_lock import FolderLock
from disorder.types import Fidelity, Progress
from disorder.verbs.study.item import find_item
from disorder.verbs.study.resolving import (
    as_given_run,
    as_list,
    split_models_and_data,
)
from disorder.verbs.study.result import Study
from disorder.verbs.study.study_request import StudyRequest
from disorder.verbs.study.study_settings import StudySettings


@check_keywords()
def study(
    name: str,
    *models_or_data: Any,
    models: Any = (),
    data: Any = (),
    as_: str | Sequence[str] = (),
    train: str | Path | Sequence[str | Path] | None = None,
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
    language: str = "auto",
    data_dir: str | Path | None = None,
    batch_size: int | None = None,
    precision: str = "fp32",
    curtail: bool = False,
    short: str | None = None,
    engine: str = "local",
    workers: int | None = None,
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
        train: Training data, for items that train (default: the paper's); several sets are put
            together.
        q: Permutations per example (default: the paper's).
        seed: Seed of every draw.
        seeds: Trainings per model, for items that train.
        limit: Examples to test on (items that train: to train on), drawn at random by seed.
        test_limit: Examples to test on, for items that train.
        fidelity: `"paper"`: as described; `"released"`: as the authors' code does (default: the
            item's).
        set_: Settings of trainings, `{"epochs": 3}`, and of transformations and explanations,
            `{"swap_nouns.tagger": "nltk", "lime.n": 100}`.
        labels: What the model's labels mean: `{"LABEL_0": "entailment"}`.
        columns: Which columns are which: `{"premise": "text_a", "gold": "label"}`.
        task: Treat the data as this known task.
        language: The language of the texts (`"de"`); `"auto"` finds it out.
        data_dir: Folder with the papers' datasets (else `DISORDER_DATA`).
        batch_size: Texts per batch (by length if None).
        precision: `"fp32"`, `"bf16"`, `"int8"`, or `"auto"`: a faster one if predictions agree.
        curtail: Stop predicting for an example once its scores are decided, where that is exact.
        short: Examples with fewer than q distinct variants: `"skip"` them, or `"use"` those there
            are (default: the item's).
        engine: Where audits run: `"local"` or `"ray"`.
        workers: Of the engine.
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
        train=tuple(map(str, as_list(train))) if train else (),
        labels=dict(labels or {}),
        columns=dict(columns or {}),
        task=task,
        language=language,
        data_dir=_text(data_dir),
        batch_size=batch_size,
        precision=precision,
        curtail=curtail,
        short=short,
        engine=engine,
        workers=workers,
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
