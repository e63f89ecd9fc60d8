"""The verb `sanity`: read a dataset, deal out its rows, choose a model, and run the checks.

A check that cannot be done is a section with the reason; the others are still done.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import MissingData, MissingPackage, NothingToMeasure, check_keywords
from disorder.registry import CheckPart, parts
from disorder.report.notebook_progress import shown_progress
from disorder.runs.folder_lock import only_writer
from disorder.runs.unfinished import Unfinished
from disorder.specs import listed, parse_pairs
from disorder.steps import Steps
from disorder.types import Progress, Score
from disorder.verbs.sanity.challenge_role import Reading, Role, share_with_own_word
from disorder.verbs.sanity.check_input import CheckInput
from disorder.verbs.sanity.equivalence import TOO_LITTLE
from disorder.verbs.sanity.families import Families
from disorder.verbs.sanity.folder import check_folder, write_folder
from disorder.verbs.sanity.linear import default_model
from disorder.verbs.sanity.request import DEFAULT_MODEL, SanityRequest, as_spec
from disorder.verbs.sanity.result import Sanity, SanitySection
from disorder.verbs.sanity.splits import LIMIT, DatasetRows, read_rows
from disorder.verbs.sanity.trial_models import TrainedByRecipe, TrialModel
from disorder.verbs.sanity.trials import Trials

TRAINS = 20  # times the work of another check that one has which trains models, about
FEWEST = 50  # rows that a model can learn anything from
ONE_TEXT = "there is no second text"
CANNOT = (NothingToMeasure, MissingPackage, MissingData)  # what one check lacks stops no other


@check_keywords()
def sanity(
    data: Any = "builtin",
    *,
    train: Any = None,
    model: str = DEFAULT_MODEL,
    check: str | Sequence[str] = (),
    margin: float = 0.05,
    skill: float = 0.25,
    folds: int | None = None,
    limit: int | None = None,
    train_limit: int | None = None,
    role: Role = "benchmark",
    seed: int = 0,
    columns: Mapping[str, str] | str | None = None,
    task: str | None = None,
    language: str = "auto",
    data_dir: str | Path | None = None,
    group_by: str | Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    device: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Sanity:
    """Does a dataset need word order, both texts, all word classes, or can it be gamed?

    The result displays in a notebook; `found.verdict("order")` is one verdict, `found.records` all
    scores, `found.save(folder)` the report with all its files.

    Args:
        data: As for `disorder.audit`: a spec (`"data.jsonl"`), rows, or a `Dataset`.
        train: Its training data, of the same kinds. None: found by name for known sets, else the
            rows are cross-fitted.
        model: The default `"linear"`, or any that `disorder.train` takes (`"bilstm"`,
            `"hf:FOLDER"`), trained once per perturbation.
        check: One check or several (`disorder list checks`); none: all of them.
        margin: The largest cost that still counts as none; 0.05 is five points.
        skill: The share of the way from chance to perfect that the model must have gone for a
            "not needed".
        folds: Cross-fit in this many parts, training data included. None: 5 where it is needed.
        limit: Use this many rows of the data, drawn at random by seed. None: all, of which so many
            are tested as intervals need.
        train_limit: Train on this many rows at most, drawn by seed. None: 5,000.
        role: `"benchmark"`, for data that models are trained on, or `"challenge"`, for a challenge
            set: models that are trained elsewhere are tested on it.
        seed: Seed of every draw.
        columns: Which columns are which: `{"premise": "text_a", "gold": "label"}`.
        task: Treat the data as this known task.
        language: The language of the texts (`"de"`); `"auto"` finds it out.
        data_dir: Folder with the papers' datasets (else `DISORDER_DATA`).
        group_by: One column or several that verdicts are split by.
        settings: Settings of the training, such as `{"epochs": 2}`; not for `"linear"`.
        device: `"cpu"`, `"cuda"` or `"mps"` for the training; not for `"linear"`.
        out: Folder to write the report into, as the command does.
        progress: Called with stage, done, total and a note.
    """
    request = SanityRequest(
        data=as_spec(data),
        train=as_spec(train),
        model=model,
        margin=margin,
        skill=skill,
        folds=folds,
        limit=limit,
        train_limit=train_limit,
        role=role,
        seed=seed,
        task=task,
        language=language,
        data_dir=None if data_dir is None else str(data_dir),
        device=device,
        check=listed(check),
        group_by=listed(group_by),
        settings=dict(settings or {}),
        columns=_column_names(columns),
    )
    request.validate()
    folder = None if out is None else Path(out)
    with only_writer(folder):
        check_folder(folder)
        result = _run_checks(request, shown_progress(progress), folder)
    return result


def _column_names(columns: Mapping[str, str] | str | None) -> dict[str, str]:
    if isinstance(columns, str):
        form = f"columns {columns!r}: write it as name=name,name=name"
        return parse_pairs(columns, form=form)
    return dict(columns or {})


def _run_checks(request: SanityRequest, progress: Progress, folder: Path | None) -> Sanity:
    """All checks; trainings that were done before in the same folder are not repeated."""
    began = time.perf_counter()
    rows = read_rows(
        request.data,
        request.train,
        folds=request.folds,
        limits=request.limits,
        margin=request.margin,
        settings=request.reading,
    )
    chosen = request.parts
    reading = _reading(request, rows)
    unfinished = Unfinished(folder, _made_of(request, rows))
    with tempfile.TemporaryDirectory(prefix="disorder-sanity-") as place:
        trials = _trials_or_reason(rows, request, Path(place), unfinished)
        given = CheckInput(rows.data, rows.train, request.rule, trials)
        sections = []
        steps = Steps(progress, {e.name: TRAINS if e.trains else 1 for e in chosen})
        for entry in chosen:
            steps(entry.name, 0, 1, "")
            sections.append(run_check(entry, given, reading))
            steps(entry.name, 1, 1, "")
        steps.finish()
    if not any(section.found for section in sections):
        raise NothingToMeasure(_nothing_checked(sections))
    result = _result(request, rows, trials, sections, reading, time.perf_counter() - began)
    if folder is not None:
        write_folder(folder, result)
    unfinished.remove()
    return result


def _made_of(request: SanityRequest, rows: DatasetRows) -> dict[str, Any]:
    """All that the trainings depend on."""
    data = {"data": rows.data.fingerprint, "train": rows.train.fingerprint if rows.train else ""}
    return {**data, "request": request.command, "version": version("disorder")}


def _reading(request: SanityRequest, rows: DatasetRows) -> Reading:
    """How verdicts are read: by the role of the data, and whether its rows look templated.

    Among more rows fewer have a word of their own, so at most 5,000 are looked at.
    """
    tested = rows.tested[:: ceil(len(rows.tested) / LIMIT)]
    families = Families(np.unique(rows.cluster[tested], return_inverse=True)[1])
    own_words = share_with_own_word([rows.examples[row] for row in tested.tolist()], families)
    return Reading(request.role, own_words, is_trained_on_it=request.train is None)


def _nothing_checked(sections: Sequence[SanitySection]) -> str:
    """Why no check could be done, in one line."""
    names: dict[str, list[str]] = {}
    for section in sections:
        names.setdefault(section.reason, []).append(section.name)
    reasons = [f"{', '.join(each)}: {reason}" for reason, each in names.items()]
    return f"nothing could be checked ({'; '.join(reasons)})"


def run_check(entry: CheckPart, given: CheckInput, reading: Reading | None = None) -> SanitySection:
    """The section of one check: its result, or the reason why it cannot be done."""
    reason = ""
    if entry.pairs and given.data.examples[0].text_b is None:
        reason = ONE_TEXT
    elif entry.trains and isinstance(given.trained, str):
        reason = given.trained
    if reason:
        return SanitySection(entry.name, entry.asks, entry.paper, reason=reason)
    try:
        found = entry.function(given)
    except CANNOT as error:
        return SanitySection(entry.name, entry.asks, entry.paper, reason=str(error))
    read = (reading or Reading()).read(found)
    return SanitySection(entry.name, entry.asks, entry.paper, read)


def _trials_or_reason(
    rows: DatasetRows, request: SanityRequest, place: Path, unfinished: Unfinished
) -> Trials | str:
    """The trials, or why no model can be trained."""
    labels = Counter(example.label for example in rows.examples)
    if len(labels) < 2:
        return f"every row has the label {next(iter(labels))!r}: there is nothing to learn"
    if len(rows.examples) < FEWEST:
        return f"{len(rows.examples)} rows are too few to learn from; {FEWEST} at least"
    try:
        model = _trial_model(rows, request, place)
    except MissingPackage as reason:
        return str(reason)
    return Trials(rows, model, request.rule, request.seed, unfinished)


def _trial_model(rows: DatasetRows, request: SanityRequest, place: Path) -> TrialModel:
    task = rows.data.task
    if request.model == DEFAULT_MODEL:
        return default_model([example.texts for example in rows.examples], task, request.seed)
    return TrainedByRecipe(
        request.model, task, place, request.seed, dict(request.settings), request.device
    )


def _result(
    request: SanityRequest,
    rows: DatasetRows,
    trials: Trials | str,
    sections: Sequence[SanitySection],
    reading: Reading,
    seconds: float,
) -> Sanity:
    data = rows.data
    train = rows.train
    return Sanity(
        data=request.data if isinstance(request.data, str) else data.name,
        train=train.name if train else "",
        design=rows.design,
        model=request.model,
        n_rows={
            "data": len(data.examples),
            "train": len(train.examples) if train else 0,
            "tested": len(rows.tested),
            "families_tested": rows.n_families,
        },
        labels=data.task.labels,
        chance=0.0 if isinstance(trials, str) else trials.chance(rows.tested),
        metric="spearman" if data.task.is_regression else "balanced_accuracy",
        settings=request.recorded,
        hashes={"data": data.fingerprint, "train": train.fingerprint if train else ""},
        version=version("disorder"),
        sections=sections,
        original=_original_score(sections, trials),
        own_words=reading.own_words,
        language=data.task.language,
        notes=[
            *data.notes,
            *reading.notes,
            *rows.notes,
            *_skill_notes(sections, trials),
            *_skip_notes(rows),
        ],
        seconds=round(seconds, 1),
        command=request.command,
    )


def _original_score(sections: Sequence[SanitySection], trials: Trials | str) -> Score | None:
    """The score on original texts; None where no check trained a model."""
    known = parts(CheckPart)
    has_trained = any(known[each.name].trains for each in sections if each.found)
    if isinstance(trials, str) or not has_trained:
        return None
    return trials.score(trials.original, trials.rows.tested)


def _skill_notes(sections: Sequence[SanitySection], trials: Trials | str) -> list[str]:
    """What a "not needed" would have taken, where the model fell short of it."""
    verdicts = [verdict for each in sections if each.found for verdict in each.found.verdicts]
    is_weak = any(TOO_LITTLE in verdict.because for verdict in verdicts)
    if isinstance(trials, str) or not is_weak:
        return []
    enough = trials.rule.enough(trials.chance(trials.rows.tested))
    return [
        f"for a 'not needed' the lower bound of the model's score must reach {enough:.3f} "
        f"({trials.rule.skill:g} of the way from chance to perfect); train on more rows "
        "(--train-limit) or try a stronger --model"
    ]


def _skip_notes(rows: DatasetRows) -> list[str]:
    """A line for each reason why rows were not read."""
    return [
        f"{each.name}: {count:,} rows left out ({reason})"
        for each in (rows.data, rows.train)
        if each is not None
        for reason, count in each.skipped.items()
    ]
