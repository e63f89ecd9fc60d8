"""The verb `sanity`: read a dataset, deal out its rows, choose a model, and run the checks.

A check that cannot be done is a section with the reason; the others are still done.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from disorder.data.families import Families
from disorder.errors import BadOption, MissingData, MissingPackage, NothingToMeasure, option
from disorder.registry import CheckPart, part, parts
from disorder.requests.fields import SanityFields
from disorder.requests.groups import TrainingOptions
from disorder.requests.option import changed, command_line, declared_in
from disorder.requests.sanity import SanityOptions
from disorder.requests.settings import Settings, takes_options
from disorder.results.progress import Steps, shown_progress
from disorder.results.result import Section
from disorder.results.run_folder import check_folder
from disorder.store.store import Store
from disorder.types import Progress, Score
from disorder.verbs.sanity.linear import TrainedByRecipe, TrialModel, default_model
from disorder.verbs.sanity.result import Sanity, write_folder
from disorder.verbs.sanity.rows import LIMIT, DatasetRows, read_rows
from disorder.verbs.sanity.trials import CheckInput, Trials
from disorder.verbs.sanity.verdicts import (
    NOT_NEEDED,
    TOO_LITTLE,
    CheckResult,
    Reading,
    VerdictRule,
    share_with_own_word,
)

DEFAULT_MODEL = "linear"
DECLARED = declared_in(SanityOptions)


@dataclass(frozen=True)
class SanityRequest(SanityFields):
    """What `disorder.sanity` was called with."""

    data: Any = "builtin"

    @property
    def rule(self) -> VerdictRule:
        """The rule that verdicts follow."""
        return VerdictRule(self.margin, self.skill)

    @property
    def parts(self) -> list[CheckPart]:
        """The checks that are run, in the order of the page."""
        named = [part(CheckPart, name) for name in self.check]
        chosen = {entry.name: entry for entry in named or parts(CheckPart).values()}
        return sorted(chosen.values(), key=lambda entry: (entry.position, entry.name))

    @property
    def reading(self) -> Settings:
        """The settings that concern the reading of data."""
        return Settings.among(self, limit=None)

    @property
    def recorded(self) -> dict[str, Any]:
        """The settings as result.json holds them."""
        is_spec = self.train is None or isinstance(self.train, str)
        names = ("margin", "skill", "folds", "limit", "train_limit", "role", "seed")
        return {
            "check": [entry.name for entry in self.parts],
            **{name: getattr(self, name) for name in names},
            "train": self.train if is_spec else "rows given from Python",
            "set": dict(self.settings),
        }

    def check_parts(self) -> None:
        """Raise on checks and models that there are not."""
        for name in self.check:
            part(CheckPart, name)
        if self.model != DEFAULT_MODEL:
            from disorder.verbs.train import starting_model

            starting_model(self.model)
            return
        unused = {name: getattr(self, name) for name in declared_in(TrainingOptions)}
        given = {name: value for name, value in unused.items() if value}
        if given:
            need = f"a {option('model')} that is trained with it: {DEFAULT_MODEL} takes no settings"
            raise BadOption("sanity", need=need, **given)

    @property
    def command(self) -> str:
        """The command that repeats this, or a line of Python where data was given as objects."""
        if isinstance(self.data, str) and isinstance(self.train, str | None):
            return command_line("sanity", self.data, *changed(SanityOptions, vars(self)))
        said = {
            name: value
            for name, value in vars(self).items()
            if name in DECLARED and not DECLARED[name].is_default(value)
        }
        data = repr(self.data) if isinstance(self.data, str) else "data"
        train = "train" if "train" in said and not isinstance(self.train, str) else None
        words = [
            f"{name}={train if name == 'train' and train else repr(said[name])}" for name in said
        ]
        return f"disorder.sanity({', '.join([data, *words])})"


def as_spec(data: Any) -> Any:
    """A path as the spec that names it; anything else as it is."""
    return str(data) if isinstance(data, Path) else data


TRAINS = 20  # times the work of another check that one has which trains models, about
FEWEST = 50  # rows that a model can learn anything from
ONE_TEXT = "there is no second text"
CANNOT = (NothingToMeasure, MissingPackage, MissingData)  # what one check lacks stops no other


@takes_options(SanityOptions)
def sanity(
    data: Any = "builtin",
    *,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[SanityOptions],
) -> Sanity:
    """Does a dataset need word order, both texts, all word classes, or can it be gamed?

    The result displays in a notebook; `found.verdict("order")` is one verdict, `found.records` all
    scores, `found.save(folder)` the report with all its files.

    data: as for `disorder.audit`: a spec (`"data.jsonl"`), rows, or a `Dataset`.
    out: folder to write the report into, as the command does.
    progress: called as progress(stage, done, total, note).
    """
    if "train" in options:
        options["train"] = as_spec(options["train"])
    request = SanityRequest.of(options, data=as_spec(data))
    request.check_parts()
    folder = None if out is None else Path(out)
    with Store.open(folder) as store:
        check_folder(folder, "sanity")
        return _run_checks(request, shown_progress(progress), store)


def _run_checks(request: SanityRequest, progress: Progress, store: Store) -> Sanity:
    """All checks; trainings that were done before in the same folder are not repeated."""
    began = time.perf_counter()
    rows = read_rows(
        request.data,
        request.train,
        folds=request.folds,
        limit=request.limit,
        train_limit=request.train_limit,
        margin=request.margin,
        settings=request.reading,
    )
    chosen = request.parts
    reading = _reading(request, rows)
    hashes = {"data": rows.data.fingerprint, "train": rows.train.fingerprint if rows.train else ""}
    # all that the trainings depend on
    store.bind({**hashes, "request": request.command, "version": version("disorder")})
    with tempfile.TemporaryDirectory(prefix="disorder-sanity-") as place:
        trials = _trials_or_reason(rows, request, Path(place), store)
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
    if store.folder is not None:
        write_folder(store.folder, result)
    store.finish()
    return result


def _reading(request: SanityRequest, rows: DatasetRows) -> Reading:
    """How verdicts are read: by the role of the data, and whether its rows look templated."""
    # among more rows fewer have a word of their own
    tested = rows.tested[:: ceil(len(rows.tested) / LIMIT)]
    families = Families(np.unique(rows.cluster[tested], return_inverse=True)[1])
    own_words = share_with_own_word([rows.examples[row] for row in tested.tolist()], families)
    return Reading(request.role, own_words, is_trained_on_it=request.train is None)


def _nothing_checked(sections: Sequence[Section[CheckResult]]) -> str:
    """Why no check could be done, in one line."""
    names: dict[str, list[str]] = {}
    for section in sections:
        names.setdefault(section.reason, []).append(section.name)
    reasons = [f"{', '.join(each)}: {reason}" for reason, each in names.items()]
    return f"nothing could be checked ({'; '.join(reasons)})"


def run_check(
    entry: CheckPart, given: CheckInput, reading: Reading | None = None
) -> Section[CheckResult]:
    """The section of one check: its result, or the reason why it cannot be done."""
    about = " · ".join(filter(None, (entry.name, entry.paper)))
    try:
        if entry.pairs and not given.data.examples[0].is_pair:
            raise NothingToMeasure(ONE_TEXT)
        if entry.trains:
            given.trials  # noqa: B018 (raises where no model can be trained)
        found = (reading or Reading()).read(entry.function(given))
    except CANNOT as error:
        return Section(entry.name, entry.asks, about, reason=str(error))
    verdicts = [each for each in found.verdicts if each.group == "all" and not each.is_class]
    return Section(
        entry.name,
        entry.asks,
        about,
        found,
        findings=[verdict.line for verdict in verdicts],
        figures=found.figures,
        tables=found.tables,
        notes=found.notes,
    )


def _trials_or_reason(
    rows: DatasetRows, request: SanityRequest, place: Path, store: Store
) -> Trials | str:
    """The trials, or why no model can be trained."""
    labels = Counter(example.label for example in rows.examples)
    if len(labels) < 2:
        return f"every row has the label {next(iter(labels))!r}: there is nothing to learn"
    if len(rows.examples) < FEWEST:
        return f"{len(rows.examples)} rows are too few to learn from; {FEWEST} at least"
    task = rows.data.task
    model: TrialModel
    try:
        if request.model == DEFAULT_MODEL:
            model = default_model([each.texts for each in rows.examples], task, request.seed)
        else:
            settings = dict(request.settings)
            model = TrainedByRecipe(
                request.model, task, place, request.seed, settings, request.device
            )
    except MissingPackage as reason:
        return str(reason)
    return Trials(rows, model, request.rule, request.seed, store)


def _result(
    request: SanityRequest,
    rows: DatasetRows,
    trials: Trials | str,
    sections: Sequence[Section[CheckResult]],
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
            *_skill_notes(sections, trials, reading),
            *_skip_notes(rows),
        ],
        seconds=round(seconds, 1),
        command=request.command,
    )


def _original_score(sections: Sequence[Section[CheckResult]], trials: Trials | str) -> Score | None:
    """The score on original texts; None where no check trained a model."""
    known = parts(CheckPart)
    has_trained = any(known[each.name].trains for each in sections if each.found)
    if isinstance(trials, str) or not has_trained:
        return None
    return trials.score(trials.original, trials.rows.tested)


def _skill_notes(
    sections: Sequence[Section[CheckResult]], trials: Trials | str, reading: Reading
) -> Iterator[str]:
    """What every "not needed" rests on, and what one takes where the model fell short."""
    verdicts = [verdict for each in sections if each.found for verdict in each.found.verdicts]
    if isinstance(trials, str):
        return
    rows = trials.rows.tested
    if any(verdict.answer.startswith(NOT_NEEDED) for verdict in verdicts):
        yield reading.how_far(trials.score(trials.original, rows))
    if any(TOO_LITTLE in verdict.because for verdict in verdicts):
        enough = trials.rule.enough(trials.chance(rows))
        yield (
            f"for a 'not needed' the lower bound of the model's score must reach {enough:.3f} "
            f"({trials.rule.skill:g} of the way from chance to perfect); train on more rows "
            "(--train-limit) or try a stronger --model"
        )


def _skip_notes(rows: DatasetRows) -> list[str]:
    """A line for each reason why rows were not read."""
    return [
        f"{each.name}: {count:,} rows left out ({reason})"
        for each in (rows.data, rows.train)
        if each is not None
        for reason, count in each.skipped.items()
    ]
