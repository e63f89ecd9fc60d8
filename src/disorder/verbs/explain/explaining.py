"""The verb `explain`: read data, load the model, run the chosen explanations one by one.

What one explanation cannot show is a line in the result; the others still run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from disorder.errors import (
    BadModel,
    DisorderError,
    MissingData,
    MissingPackage,
    NothingToMeasure,
    check_keywords,
)
from disorder.registry import ExplanationPart, part, parts
from disorder.report.notebook_progress import shown_progress
from disorder.runs.folder_lock import only_writer
from disorder.runs.settings import Settings
from disorder.runs.unfinished import Unfinished
from disorder.specs import format_part, parse_part
from disorder.steps import Steps
from disorder.transformations import Transformation, parse
from disorder.types import Dataset, Fidelity, Progress
from disorder.verbs.explain.folder import command_of, write_folder
from disorder.verbs.explain.result import Explained, Explanations, ExplanationSection
from disorder.verbs.explain.several_models import short_names, together
from disorder.verbs.explain.subject import LIMIT, Subject
from disorder.verbs.keyword_settings import settings_of
from disorder.verbs.model_loading import loaded_model
from disorder.verbs.prompting import bound_prompt
from disorder.verbs.selected_data import selected_data

OUTSIDE = (
    "model",
    "data",
    "by",
    "beside",
    "with_",
    "out",
    "progress",
)  # parameters that are no settings
# what one explanation lacks need not stop the others
CANNOT = (BadModel, MissingData, MissingPackage, NothingToMeasure)


@check_keywords()
def explain(
    model: Any = "builtin",
    data: Any = "builtin",
    *,
    by: str | Sequence[str] = (),
    beside: Any = (),
    with_: str = "derange",
    q: int = 100,
    seed: int = 0,
    limit: int | None = LIMIT,
    out: str | Path | None = None,
    fidelity: Fidelity = "paper",
    short: Literal["skip", "use"] = "skip",
    columns: Mapping[str, str] | str | None = None,
    labels: Mapping[str, str] | None = None,
    task: str | None = None,
    language: str = "auto",
    data_dir: str | Path | None = None,
    batch_size: int | None = None,
    precision: Literal["fp32", "bf16", "int8", "auto"] = "fp32",
    cache: str | Path | None = None,
    prompt: str | None = None,
    shots: int = 0,
    shots_from: str | Path | None = None,
    label_words: Mapping[str, str] | str | None = None,
    option_orders: int = 1,
    calibrate: str | None = None,
    chat: str = "auto",
    base_url: str | None = None,
    answers: str | None = None,
    progress: Progress | None = None,
) -> Explanations:
    """Show what `model` relies on instead of word order when it predicts `data`.

    The result displays in a notebook; `found["overlap"]` is one explanation, `found.records` all
    scores, `found.plot("overlap")` a figure, `found.save(folder)` the page with all its files.

    Args:
        model: As for `disorder.audit`: a spec (`"hf:FOLDER"`), or a callable or classifier.
        data: As for `disorder.audit`: a spec (`"data.jsonl"`), rows, or a `Dataset`.
        by: One explanation or several, with settings if need be: `"lime"`,
            `["overlap", "minitree:r=1,k=2"]`. None: those that need no more model calls than an
            audit and fit the task.
        beside: Another model, or a list of others, to be shown beside `model` in the same pictures,
            on the same examples and perturbed texts.
        with_: The transformation that perturbs texts.
        q: Permutations per example.
        seed: Seed of every draw.
        limit: Examples looked at, drawn at random by seed; None for all.
        out: Folder to write page, figures and CSV into, as the command does.
        fidelity: `"paper"`: as described; `"released"`: as the authors' code does.
        short: `"skip"` examples with fewer than `q` distinct variants, or `"use"` what there is.
        columns: Which columns are which: `{"premise": "text_a", "gold": "label"}`.
        labels: What the model's labels mean: `{"LABEL_0": "entailment"}`.
        task: Treat the data as this known task.
        language: The language of the texts (`"de"`); `"auto"` finds it out.
        data_dir: Folder with the papers' datasets (else `DISORDER_DATA`).
        batch_size: Texts per batch (by length if None).
        precision: `"auto"` takes a faster one if its predictions agree.
        cache: Folder of the prediction cache, or `"off"`.
        prompt, shots, shots_from, label_words, option_orders, calibrate, chat: How a language model
            is asked, as for `disorder.audit`.
        base_url, answers: The server of an `openai:` model, and how its answers are read.
        progress: Called with stage, done, total and a note.
    """
    everything = dict(locals())  # before any comprehension, which may add names of its own
    given = {name: value for name, value in everything.items() if name not in OUTSIDE}
    settings = settings_of(**given)
    transformation = parse(with_, fidelity=settings.fidelity).tried()
    wanted = [parsed(spec) for spec in ([by] if isinstance(by, str) else by)]
    _check_once(wanted)
    models = [model, *(beside if isinstance(beside, list | tuple) else [beside])]
    folder = None if out is None else Path(out)
    with only_writer(folder):
        return _explained(
            models, data, wanted, transformation, settings, folder, shown_progress(progress)
        )


def _explained(
    models: Sequence[Any],
    data: Any,
    wanted: Sequence[BoundExplanation],
    transformation: Transformation,
    settings: Settings,
    folder: Path | None,
    progress: Progress,
) -> Explanations:
    """Read the data, load the model, run the explanations, and write them into a folder."""
    dataset = selected_data(str(data) if isinstance(data, Path) else data, settings)
    transformation.tried(dataset.task.language)
    wanted = wanted or usual(dataset)
    steps = Steps(progress, [each.spec for each in wanted])
    subjects, notes = _subjects(models, dataset, settings, transformation, steps)
    first, *others = subjects
    found = Explanations(
        model=first.model.name,
        data=str(data) if isinstance(data, str | Path) else dataset.name,
        n_examples=len(dataset.examples),
        n_available=len(dataset.examples) + sum(dataset.skipped.values()),
        labels=list(dataset.task.labels),
        settings=asdict(settings),
        transformation=transformation.spec,
        hashes={
            "data": dataset.fingerprint,
            "model": first.model.fingerprint,
            **{each.model.name: each.model.fingerprint for each in others},
        },
        notes=[*dataset.notes, *notes],
        beside=[each.model.name for each in others],
    )
    is_known = all(each.model.fingerprint for each in subjects)
    unfinished = Unfinished(folder if is_known else None, _made_of(found))
    for each in wanted:
        steps(each.spec, 0, 1, "")
        found.sections.append(_of_all(each, subjects, unfinished))
        steps(each.spec, 1, 1, "")
    steps.finish()
    if all(each.found is None for each in found.sections):
        raise DisorderError("; ".join(f"{each.name}: {each.reason}" for each in found.sections))
    if folder is not None:
        write_folder(folder, found, command_of(found))
    unfinished.remove()
    return found


def _made_of(found: Explanations) -> dict[str, Any]:
    """All that a section depends on."""
    names = ("model", "data", "settings", "transformation", "hashes", "version")
    return {name: getattr(found, name) for name in names}


def _subjects(
    models: Sequence[Any],
    dataset: Dataset,
    settings: Settings,
    transformation: Transformation,
    progress: Progress,
) -> tuple[list[Subject], list[str]]:
    """The models on the same data, loaded, and what there is to say of them."""
    subjects = []
    notes: list[str] = []
    for model in models:
        bound = bound_prompt(model, dataset, settings)
        loaded, told = loaded_model(model, dataset, [transformation], settings, bound)
        notes += told if len(models) == 1 else [f"{loaded.name}: {note}" for note in told]
        subjects.append(Subject(loaded, dataset, settings, transformation.spec, progress))
    short_names([each.model.name for each in subjects])
    return subjects, notes


def _of_all(
    wanted: BoundExplanation, subjects: Sequence[Subject], unfinished: Unfinished
) -> ExplanationSection:
    """One explanation of every model."""
    sections = [section(wanted, subject, unfinished) for subject in subjects]
    if len(subjects) == 1:
        return sections[0]
    names = short_names([each.model.name for each in subjects])
    return together(dict(zip(names, sections, strict=True)))


@dataclass(frozen=True)
class BoundExplanation:
    """One explanation with its settings bound."""

    part: ExplanationPart
    settings: Mapping[str, Any]

    @property
    def spec(self) -> str:
        """Its canonical name: settings that differ from the defaults, in alphabetical order."""
        usual = self.part.settings
        own = {name: value for name, value in self.settings.items() if value != usual[name]}
        return format_part(self.part.name, own)


def parsed(spec: str) -> BoundExplanation:
    """The explanation that a spec such as `minitree:r=1,k=2` names."""
    name, given = parse_part(spec, kind="explanation")
    found = part(ExplanationPart, name)
    return BoundExplanation(found, found.bind(given))


def _check_once(wanted: Sequence[BoundExplanation]) -> None:
    """Raise on an explanation named twice: its files would overwrite each other."""
    names = [each.part.name for each in wanted]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise DisorderError(
            f"explanation {twice} is named twice, and its files have one name: run it again with "
            "another --out"
        )


def usual(dataset: Dataset) -> list[BoundExplanation]:
    """The explanations shown when none is named: those that fit the task."""
    return [
        BoundExplanation(each, {})
        for each in parts(ExplanationPart).values()
        if each.usual and _fits(each, dataset)
    ]


def section(
    wanted: BoundExplanation, subject: Subject, unfinished: Unfinished
) -> ExplanationSection:
    """Run one explanation; what it cannot show becomes its reason."""
    found = None
    reason = ""
    try:
        _check_fits(wanted.part, subject.dataset)
        compute = partial(wanted.part.function, subject, **wanted.settings)
        found = unfinished.record(f"{subject.model.name} {wanted.spec}", Explained, compute)
    except CANNOT as error:
        reason = str(error)
    return ExplanationSection(
        spec=wanted.spec,
        name=wanted.part.name,
        asks=wanted.part.asks,
        paper=wanted.part.paper,
        summary=wanted.part.summary,
        found=found,
        reason=reason,
    )


def _check_fits(entry: ExplanationPart, dataset: Dataset) -> None:
    if not _fits(entry, dataset):
        raise NothingToMeasure(
            f"it is for predictions that are {entry.on}; "
            f"{dataset.name} has {_predicted_kind(dataset)}"
        )


def _fits(entry: ExplanationPart, dataset: Dataset) -> bool:
    return entry.on in ("any", _predicted_kind(dataset))


def _predicted_kind(dataset: Dataset) -> str:
    return "numbers" if dataset.task.is_regression else "labels"
