"""The plan of an audit: its transformations and scores, settled before any data is read;
or, where a run is resumed, what it says of itself and what must not have changed since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from disorder.data import groups, stream
from disorder.errors import BadSetting, DisorderError, MissingData, MissingPackage, option
from disorder.metrics import CURTAILED, Metric, planned_names, threshold
from disorder.metrics.acceptance import CURVE
from disorder.registry.own import function_name, own_specs
from disorder.requests.settings import Settings, resume_line
from disorder.results.conclusion import RANK
from disorder.results.run import Run
from disorder.safe_io import one_line
from disorder.store.sample_parts import SAMPLES
from disorder.store.store import JOURNAL, journal_entries
from disorder.transformations import Transformation, parse, suite
from disorder.transformations.words import NATURAL
from disorder.types import ORIGINAL, Dataset, Task, is_about_texts
from disorder.verbs.audit.prompts import LISTS, list_transformations, on_segments
from disorder.verbs.gate import ScoreNames

LEFT_OUT = "left out:"  # how notes on missing transformations begin
TOLERANT = ("full", "ladder")  # suites of all that can be done here


def planned_for(settings: Settings, language: str | None) -> tuple[list[Transformation], list[str]]:
    """As `planned`, for the texts or for the part of the prompt that is perturbed."""
    if settings.break_ in LISTS and not settings.transformations:
        settings = replace(settings, transformations=list_transformations(settings.break_))
    plan, left_out = planned(settings, language)
    return plan if settings.break_ == "text" else on_segments(plan, settings.break_), left_out


def planned(
    settings: Settings, language: str | None = None
) -> tuple[list[Transformation], list[str]]:
    """The transformations to apply, each once, and notes on those of a tolerant suite that cannot
    be done here, or not in this language (None where that is not known yet).
    """
    for x in settings.omega:
        threshold(x)
    found: dict[str, Transformation] = {}
    missing: dict[str, list[str]] = {}
    for spec in list(settings.transformations) or suite(settings.suite):
        try:
            transformation = parse(spec, fidelity=settings.fidelity).tried(language)
            _check_training(transformation, settings.data_dir)
            found[transformation.spec] = transformation
        except (MissingPackage, MissingData) as reason:
            if settings.transformations or settings.suite not in TOLERANT:
                raise
            missing.setdefault(str(reason), []).append(spec)
    found.pop(ORIGINAL, None)  # it is predicted in any case
    if not found:
        raise BadSetting(
            "audit", transformations=ORIGINAL, need="a transformation that perturbs the text"
        )
    return list(found.values()), [
        f"{LEFT_OUT} {', '.join(specs)}; {reason}" for reason, specs in missing.items()
    ]


def with_controls(plan: Sequence[Transformation], settings: Settings) -> list[Transformation]:
    """The transformations, each that moves the words of a text after its surface control, where an
    audit is natural and measures labels.
    """
    plan = [each for each in plan if not each.is_control]
    is_controlled = settings.fidelity == NATURAL and is_about_texts(settings.break_)
    if not is_controlled or settings.curtail or RANK in settings.score:
        return list(plan)
    found: list[Transformation] = []
    for each in plan:
        is_of_texts = each.keeps_words and not each.needs_context
        found += [replace(each, is_control=True), each] if is_of_texts else [each]
    return found


def _check_training(transformation: Transformation, data_dir: str | None) -> None:
    """Raise when data to learn from cannot be read: better now than after the first hour."""
    for step in transformation.steps:
        if "training data" in step.needs:
            next(iter(stream(step.settings["train"], data_dir=data_dir)[2]), None)


def requested_scores(settings: Settings) -> list[str]:
    """The requested scores; none means all that apply."""
    names = [*map(function_name, settings.score)]
    if not names and settings.curtail:
        names = list(CURTAILED)
    for name in names:
        metric = Metric.named(name)
        if metric.value and metric.part.name == "omega":
            threshold(metric.value)
    return names


def score_points(settings: Settings) -> dict[str, list[str]]:
    """The values at which metrics with a parameter are measured, by metric."""
    return {"omega": sorted({*CURVE, *settings.omega}, key=threshold)}


def score_names(
    plan: Sequence[Transformation], dataset: Dataset, settings: Settings, requested: Sequence[str]
) -> ScoreNames:
    """The scores that an audit will measure, as far as its settings decide that."""
    names = partial(planned_names, dataset.task, points=score_points(settings))
    found = {
        ORIGINAL: names(n_variants=1, is_original=True, keeps_words=False, is_copy=False, only=None)
    }
    for each in plan:
        found[each.spec] = names(
            n_variants=each.count(settings.n_variants),
            is_original=False,
            keeps_words=each.keeps_words,
            is_copy=each.is_copy,
            only=requested or None,
            moves_options=each.moves_options,
        )
    return ScoreNames(found, [name for name, _, _ in groups(dataset.examples, dataset.examples)])


def likelihood_task(task: Task, requested: Sequence[str], settings: Settings) -> Task:
    """The task of comparing likelihoods on the same data."""
    if set(requested) != {RANK}:
        others = ", ".join(name for name in requested if name != RANK)
        raise DisorderError(
            f"{option('score', RANK)} compares likelihoods and no labels: measure {others} in "
            "another audit"
        )
    if not is_about_texts(settings.break_):
        raise DisorderError(
            f"{option('score', RANK)} is about texts; leave out {option('on', settings.break_)}"
        )
    return Task(task.name, (), task.breaks, language=task.language, is_likelihood=True)


def recorded_plan(before: Run) -> tuple[list[Transformation], list[str]]:
    """The transformations of a stopped run with their splitters, and its notes on those that were
    left out.
    """
    plan = [parse(spec, usual_words=before.usual_words(spec)) for spec in before.transformations]
    return plan, [note for note in before.notes if note.startswith(LEFT_OUT)]


def check_version(folder: Path) -> None:
    """Raise where an earlier version of disorder wrote some of the parts: it counted and wrote
    texts in other ways, and a run must not be of two kinds.
    """
    entries = journal_entries(folder / SAMPLES / JOURNAL)
    parts = [set(entry) for entry in entries if entry["part"].endswith(".parquet")]
    if any({"predicted", "transformation"} - names for names in parts):
        raise DisorderError(
            f"{folder} was begun by an earlier version of disorder and cannot be resumed; start it "
            f"again with another {option('out')}"
        )


def check_own(
    folder: Path, before: Run, transformations: Sequence[str], scores: Sequence[str]
) -> None:
    """Raise where a folder names functions of a user's files, and the user does not."""
    again = {
        "with_": (own_specs(before.transformations), transformations),
        "score": (own_specs(before.settings.get("score") or ()), scores),
    }
    if any({*named} - {*given} for named, given in again.values()):
        said: dict[str, Any] = {
            name: [*map(one_line, named)] for name, (named, _) in again.items() if named
        }
        told = ", ".join(each for named in said.values() for each in named)
        raise DisorderError(
            f"{folder} names {told}, which would be run; nothing is run because a folder says so. "
            f"If you trust it, repeat it: {resume_line(folder, **said)}"
        )


def check_taggers(folder: Path, specs: Sequence[str], given: Sequence[str]) -> None:
    """Raise where a folder names a tagger's model to load, and the user does not."""
    named = {parse(spec).spec for spec in given}
    for spec in specs:
        transformation = parse(spec)
        loads = any(":" in (step.tagger or "") for step in transformation.steps)
        if loads and transformation.spec not in named:
            raise DisorderError(
                f"{folder} names the transformation {one_line(spec)}, which loads a tagger; "
                "nothing is loaded because a folder says so. If you trust it, repeat it: "
                f"{resume_line(folder, with_=[one_line(spec)])}"
            )


def continue_run(run: Run, before: Run) -> None:
    """Take over what a stopped run had spent; raise where data or model changed since."""
    changed = [name for name in run.hashes if run.hashes[name] != before.hashes.get(name)]
    if changed:
        raise DisorderError(
            f"the {' and the '.join(changed)} changed since the run began; start a new one"
        )
    if before.taggers != run.taggers:
        raise DisorderError(
            f"the run began with {', '.join(before.taggers)} for word "
            "classes, which is "
            "not what is installed here; install it, or start a new one"
        )
    run.started = before.started
    run.seconds = before.seconds
    run.spent = dict(before.spent)
