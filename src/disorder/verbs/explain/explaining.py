"""The verb `explain`: read data, load the model, run the chosen explanations one by one; of several
models, what each explanation found side by side on one scale.

What one explanation cannot show is a line in the result; the others still run.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from disorder.errors import (
    BadModel,
    DisorderError,
    MissingData,
    MissingPackage,
    NothingToMeasure,
    option,
)
from disorder.models import LoadedModel
from disorder.registry import ExplanationPart, part, parts
from disorder.requests.explain import ExplainOptions
from disorder.requests.fields import ExplainFields
from disorder.requests.settings import Settings, takes_options
from disorder.results.progress import Steps, shown_progress
from disorder.results.result import Figure, Section, Table
from disorder.specs import format_part, parse_part
from disorder.store.store import Store, records
from disorder.transformations import Transformation, parse
from disorder.types import Dataset, Progress
from disorder.verbs.explain.result import (
    Explained,
    Explanations,
    section_of,
    with_found,
    write_folder,
)
from disorder.verbs.explain.subject import Calls, Subject
from disorder.verbs.model_loading import loaded_model
from disorder.verbs.prompting import bound_prompt
from disorder.verbs.run_inputs import with_run
from disorder.verbs.selected_data import check_has_labels, selected_data

if TYPE_CHECKING:
    from disorder.verbs.audit import Budget

ACROSS = 2  # models beside each other; more go on below
WIDTH = 320
LONGEST_TITLE = 48  # letters of an axis; with a longer one models stand below each other


def short_names(models: Sequence[str]) -> list[str]:
    """What models are called in a picture: the end of their names, where that tells them apart."""
    twice = next((name for name in models if models.count(name) > 1), None)
    if twice:
        raise DisorderError(f"the model {twice} is named twice; name each once")
    ends = [name.rstrip("/").rpartition("/")[2] for name in models]
    return ends if len(set(ends)) == len(ends) else list(models)


def together(sections: Mapping[str, Section[Explained]]) -> Section[Explained]:
    """One section of what was found of several models; one without a finding is a note."""
    first = next(iter(sections.values()))
    found = {name: each.found for name, each in sections.items() if each.found is not None}
    failed = [f"{name}: {each.line}" for name, each in sections.items() if each.found is None]
    if not found:
        return replace(first, reason="; ".join(failed))
    return with_found(first, _merged(found, failed))


def _merged(found: Mapping[str, Explained], failed: Sequence[str]) -> Explained:
    notes = dict.fromkeys(note for each in found.values() for note in each.notes)
    return Explained(
        finding="; ".join(f"{name}: {each.finding}" for name, each in found.items()),
        figures=_figures(found),
        tables=_tables(found),
        scores={
            f"{name}: {title}": score
            for name, each in found.items()
            for title, score in each.scores.items()
        },
        notes=[*failed, *notes],
        skips={
            f"{name}, {reason}": count
            for name, each in found.items()
            for reason, count in each.skips.items()
        },
    )


def _figures(found: Mapping[str, Explained]) -> list[Figure]:
    """The figures of one name in one picture; those that are drawn by hand one by one."""
    figures: dict[str, dict[str, Figure]] = {}
    for model, each in found.items():
        for figure in each.figures:
            figures.setdefault(figure.name, {})[model] = figure
    return [figure for of_models in figures.values() for figure in _side_by_side(of_models)]


def _side_by_side(figures: Mapping[str, Figure]) -> list[Figure]:
    if any(figure.drawn for figure in figures.values()):
        return [
            replace(figure, name=f"{figure.name}_{i}", caption=f"{model}: {figure.caption}")
            for i, (model, figure) in enumerate(figures.items(), start=1)
        ]
    first = next(iter(figures.values()))
    rows = [{"model": model, **row} for model, figure in figures.items() for row in figure.rows]
    header = {"labelFontSize": 12, "labelLimit": WIDTH}
    facet = {"field": "model", "type": "nominal", "sort": list(figures), "title": None}
    longest = max(map(len, _titles(first.spec)), default=0)
    spec = {
        "facet": facet | {"header": header},
        "columns": ACROSS if longest <= LONGEST_TITLE else 1,
        "spec": {"width": WIDTH} | dict(first.spec),
    }
    return [replace(first, rows=rows, spec=spec)]


def _titles(spec: Any) -> Iterator[str]:
    """The titles in a picture."""
    if isinstance(spec, Mapping):
        if isinstance(spec.get("title"), str):
            yield spec["title"]
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        for part in spec:
            yield from _titles(part)


def _tables(found: Mapping[str, Explained]) -> list[Table]:
    tables: dict[str, Table] = {}
    for model, each in found.items():
        for table in each.tables:
            before = tables.get(table.name, replace(table, rows=()))
            rows = [{"model": model, **row} for row in table.rows]
            tables[table.name] = replace(before, rows=[*before.rows, *rows])
    return list(tables.values())


# what one explanation lacks need not stop the others
CANNOT = (BadModel, MissingData, MissingPackage, NothingToMeasure)
MANY = 1000  # model calls that are announced also where they cost nothing but time
logger = logging.getLogger("disorder")
Allow = Callable[[LoadedModel, int], None]


@takes_options(ExplainOptions)
def explain(
    model: Any = "builtin",
    data: Any = "builtin",
    *,
    beside: Any = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[ExplainOptions],
) -> Explanations:
    """Show which words `model` uses when it predicts `data`, and how local the order it uses is.

    The result displays in a notebook; `found["overlap"]` is one explanation, `found.records` all
    scores, `found.plot("overlap")` a figure, `found.save(folder)` the page with all its files.

    model: as for `disorder.audit`; or a run folder, for its model and data.
    data: as for `disorder.audit`.
    beside: another model, or a list of others, to be shown in the same pictures, on the same
        examples and perturbed texts.
    out: folder to write page, figures and CSV into, as the command does.
    progress: called as progress(stage, done, total, note).
    """
    model, data, given = with_run("explain", ExplainOptions, model, data, options)
    asked = ExplainFields.of(given)
    settings = Settings.among(asked)
    transformation = parse(asked.transformation, fidelity=settings.fidelity).tried()
    wanted = [parsed(spec) for spec in asked.by]
    names = [each.part.name for each in wanted]
    for twice in (name for name in names if names.count(name) > 1):
        raise DisorderError(
            f"explanation {twice} is named twice, and its files have one name: run it again with "
            f"another {option('out')}"
        )
    models = [model, *(beside if isinstance(beside, list | tuple) else [beside])]
    folder = None if out is None else Path(out)
    with Store.open(folder) as store:
        return _explained(
            models, data, wanted, transformation, settings, store, shown_progress(progress)
        )


def _explained(
    models: Sequence[Any],
    data: Any,
    wanted: Sequence[BoundExplanation],
    transformation: Transformation,
    settings: Settings,
    store: Store,
    progress: Progress,
) -> Explanations:
    """Read the data, load the model, run the explanations, and write them into a folder."""
    budget = _budget(settings)
    allow = _allowance(budget)
    needs_gold = not wanted or any(each.part.needs_gold for each in wanted)
    given = str(data) if isinstance(data, Path) else data
    dataset = selected_data(given, settings, needs_gold=needs_gold)
    check_has_labels(dataset, "explain")
    transformation.tried(dataset.task.language)
    wanted = wanted or usual(dataset)
    steps = Steps(progress, [each.spec for each in wanted])
    subjects = []
    notes: list[str] = []
    for model in models:
        bound = bound_prompt(model, dataset, settings)
        loaded, told = loaded_model(model, dataset, [transformation], settings, bound)
        notes += told if len(models) == 1 else [f"{loaded.name}: {note}" for note in told]
        subjects.append(Subject(loaded, dataset, settings, transformation.spec, steps, allow))
    names = short_names([each.model.name for each in subjects])
    first, *others = subjects
    n_calls = sum(sum(planned_calls(wanted, each).values()) for each in subjects)
    if n_calls >= MANY or any(each.model.is_remote for each in subjects):
        logger.info(f"at most about {n_calls:,} model calls")
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
        n_calls=n_calls,
        notes=[*dataset.notes, *notes],
        beside=[each.model.name for each in others],
    )
    made_of = ("model", "data", "settings", "transformation", "hashes", "version")
    store.bind({name: getattr(found, name) for name in made_of})  # all that a section depends on
    is_known = all(each.model.fingerprint for each in subjects)
    kept = store if is_known else Store()
    for each in wanted:
        steps(each.spec, 0, 1, "")
        sections = [section(each, subject, kept) for subject in subjects]
        of_models = dict(zip(names, sections, strict=True))
        found.sections.append(together(of_models) if others else sections[0])
        steps(each.spec, 1, 1, "")
    steps.finish()
    found.n_made = sum(_made(each.model) for each in subjects)
    if budget is not None:
        spent = (budget.to_record(each.model.counts) for each in subjects)
        found.spent = dict(sum(map(Counter, spent), Counter[str]()))
    if all(each.found is None for each in found.sections):
        raise DisorderError("; ".join(f"{each.name}: {each.reason}" for each in found.sections))
    if store.folder is not None:
        write_folder(store.folder, found)
    store.finish()
    return found


def planned_calls(wanted: Sequence[BoundExplanation], subject: Subject) -> Calls:
    """How many texts the explanations predict at most, by what they are; shared ones once."""
    found = {"original texts": len(subject.examples)}
    for each in wanted:
        if _fits(each.part, subject.dataset):
            found |= each.calls(subject)
    return {what: n * subject.model.n_questions for what, n in found.items()}


def _made(model: LoadedModel) -> int:
    """The model calls that were made; what was kept on disk is none."""
    return int(model.counts.get("questions") or model.counts.get("predicted", 0.0))


def _budget(settings: Settings) -> Budget | None:
    """The budget that the settings name, if any."""
    if not settings.is_in_portions:
        return None
    from disorder.verbs.audit import Budget

    return Budget.of(settings, {}, elsewhere={}, n_sharing=1)


def _allowance(budget: Budget | None) -> Allow:
    """What raises where the budget has no room for so many more texts."""
    if budget is None:
        return lambda *_: None

    def allow(model: LoadedModel, n: int) -> None:
        budget.check(model.counts)
        room, limit = budget.room(model.counts)
        if n * model.n_questions > room:
            raise NothingToMeasure(
                f"{limit}: {n * model.n_questions:,} further model calls are needed, after "
                f"{_made(model):,}; allow more, or look at fewer examples ({option('limit')})"
            )

    return allow


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

    def calls(self, subject: Subject) -> Mapping[str, int]:
        """How many texts it predicts at most, by what they are."""
        if self.part.calls is None:
            return subject.perturbed_calls()
        return self.part.calls(subject, **{**self.part.settings, **self.settings})


def parsed(spec: str) -> BoundExplanation:
    """The explanation that a spec such as `minitree:r=1,k=2` names."""
    name, given = parse_part(spec, kind="explanation")
    found = part(ExplanationPart, name)
    return BoundExplanation(found, found.bind(given))


def usual(dataset: Dataset) -> list[BoundExplanation]:
    """The explanations shown when none is named: those that fit the task."""
    return [
        BoundExplanation(each, {})
        for each in parts(ExplanationPart).values()
        if each.usual and _fits(each, dataset)
    ]


def section(wanted: BoundExplanation, subject: Subject, store: Store) -> Section[Explained]:
    """Run one explanation; what it cannot show becomes its reason."""
    found = None
    reason = ""
    try:
        if not _fits(wanted.part, subject.dataset):
            has = f"{subject.dataset.name} has {subject.task.predicts}"
            raise NothingToMeasure(f"it is for predictions that are {wanted.part.on}; {has}")
        compute = partial(wanted.part.function, subject, **wanted.settings)
        found = store.once(f"{subject.model.name} {wanted.spec}", compute, records(Explained))
    except CANNOT as error:
        reason = str(error)
    return section_of(wanted.part, wanted.spec, found, reason)


def _fits(entry: ExplanationPart, dataset: Dataset) -> bool:
    kind = dataset.task.predicts
    return entry.on == kind or (entry.on == "any" and kind != "likelihoods")
