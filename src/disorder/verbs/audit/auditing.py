"""One audit: sample, measure each transformation as soon as it is sampled, conclude, and put all
together into a run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from disorder.engines import Engine
from disorder.errors import DisorderError, ModelStopped
from disorder.metrics.statistics.anytime import planned_looks
from disorder.models.prompting import findings
from disorder.requests.settings import Settings
from disorder.results.conclusion import verdict
from disorder.results.next_steps import sanity_command
from disorder.results.run import EarlyStop, Record, Run
from disorder.results.run_folder import majority_share, write_run
from disorder.store.sample_parts import SampleParts, write_examples
from disorder.store.storage import make_folder
from disorder.transformations import Transformation
from disorder.types import ORIGINAL, Dataset, Floats, Progress
from disorder.verbs.audit.behaviour import BehaviourProbe
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.budget import Budget
from disorder.verbs.audit.conclusions import (
    beside_words_alone,
    main_conclusions,
)
from disorder.verbs.audit.describing import gains
from disorder.verbs.audit.measuring import NOT_REACHED, Measured, Measuring, Originals
from disorder.verbs.audit.sampling import (
    BlockSource,
    Sampling,
    sampled_portions,
    sampled_stages,
    stages_of,
)
from disorder.verbs.audit.watching import Watcher
from disorder.verbs.model_loading import resume_command
from disorder.verbs.outcomes import OutcomeFacts, chances_of, gold_of
from disorder.verbs.transformation_samples import TransformationSamples


@dataclass(frozen=True)
class Audit:
    """All that an audit will do, settled and checked before anything is predicted."""

    dataset: Dataset
    predictor: BlockPredictor
    plan: Sequence[Transformation]
    settings: Settings
    run: Run  # as it begins: what is known before anything is predicted
    progress: Progress
    engine: Engine
    requested: Sequence[str]
    budget: Budget
    watch: Sequence[Watcher] = ()
    is_resumed: bool = False
    resume_with: str = ""  # what to type, where the run is part of another
    families: Mapping[str, int] | None = None  # of the examples, by id
    n_cut: int = 0  # examples whose texts are longer than the model reads


def conducted(audit: Audit, folder: Path) -> Run:
    """The run of an audit, in its folder; one that fails is written with what it had by then."""
    began = time.perf_counter()
    run = audit.run
    with closing(audit.engine):
        source = _source(audit, folder)
        try:
            for run in _growing(audit, source, folder):
                write_run(folder, run)
        except BaseException as error:
            write_failed(audit, source, folder, run, began, error)
            if isinstance(error, ModelStopped):
                raise _resumable(audit, source, folder, error) from None
            raise
    run = _with_costs(audit, source, run, began).model_copy(update={"status": "done"})
    finished = run.model_copy(update={"verdict": verdict(run)})
    write_run(folder, finished)
    return finished


def _source(audit: Audit, folder: Path) -> BlockSource:
    """Start the run folder, or open it again."""
    make_folder(folder)
    write_run(folder, audit.run)
    opened = SampleParts.open if audit.is_resumed else SampleParts.new
    parts = opened(folder, of=audit.run.binding, n_labels=len(audit.run.labels))
    audit.budget.take_up(parts.spent)
    model_hash = audit.run.hashes.get("model", "")
    return BlockSource(
        audit.engine, audit.predictor, parts, model_hash, audit.budget, audit.settings.engine
    )


def _growing(audit: Audit, source: BlockSource, folder: Path) -> Iterator[Run]:
    """The run after each transformation, and at last with what is concluded from all."""
    sampling = _sampling(audit, source)
    dataset, stream = audit.dataset, sampled_stages(sampling)
    if audit.settings.is_in_portions:
        dataset, stream = sampled_portions(sampling)
    measuring = _measuring(audit, sampling.facts, dataset)
    reached = _reached(audit.run, dataset)
    write_examples(folder, dataset.examples)
    is_probed = audit.families is not None and bool(dataset.task.labels)
    is_probed = is_probed and not sampling.facts.is_curtailed and audit.predictor.can_predict
    probe = BehaviourProbe(source, dataset, audit.settings, sampling.facts)
    stages = {stage.spec: stage for stage in sampling.stages}
    has_probabilities = bool(reached.prompt.get("gives_probabilities", False))
    sampled: list[TransformationSamples] = []
    measured: list[Measured] = []
    controls: dict[str, Floats] = {}
    originals = Originals(np.empty((0, 1)))
    run = reached
    for samples in stream:
        if samples.transformation is None:
            originals = Originals(samples.values[:, 0].copy())
        elif is_probed:
            behaviour = probe.under(samples, originals.values, stages)
            measuring = replace(measuring, behaviour=behaviour)
        stops = [stop for watcher in audit.watch for stop in watcher.stops(len(dataset.examples))]
        if samples.has_probabilities and not has_probabilities:
            # the model was certain of all texts so far: those are measured again
            has_probabilities = True
            measured = [
                _measured_again(each, source, measuring, originals, stops, controls)
                for each in sampled
            ]
        found = measuring.of(
            samples, originals, stops, has_probabilities=has_probabilities, controls=controls
        )
        measured.append(found)
        if found.control is not None:
            controls[found.spec] = found.control
        samples.release()
        sampled.append(samples)
        run = _assembled(reached, measured, stops, has_probabilities=has_probabilities)
        yield run
    is_cut = NOT_REACHED in dataset.skipped
    watched = [note for watcher in audit.watch for note in watcher.notes(is_cut=is_cut)]
    notes = [*run.notes, *watched, *probe.notes]
    floor = list(measuring.behaviour.floor)
    run = run.model_copy(update={"notes": notes, "noise_floor": floor})
    _check_measured(run, measured, audit.requested)
    yield _concluded(run, audit, dataset, originals, measured)


def _sampling(audit: Audit, source: BlockSource) -> Sampling:
    settings = audit.settings
    looks: Sequence[int] = ()
    if audit.families is not None and settings.may_stop:
        looks = [look.n_examples for look in planned_looks(len(audit.dataset.examples))]
    is_curtailed = bool(audit.predictor.decided_at)
    return Sampling(
        audit.dataset,
        stages_of(audit.plan, settings.n_variants),
        source,
        OutcomeFacts(
            audit.dataset.task, settings.seed, settings.fidelity, is_curtailed, audit.families
        ),
        audit.progress,
        audit.watch,
        looks,
    )


def _measuring(audit: Audit, facts: OutcomeFacts, dataset: Dataset) -> Measuring:
    return Measuring(
        dataset=dataset,
        settings=audit.settings,
        facts=facts,
        plan=audit.plan,
        requested=audit.requested,
        perturbed=audit.predictor.perturbed,
        model_labels=audit.predictor.model.predictor.labels,
        language_caveats=audit.run.language_caveats,
        n_cut=audit.n_cut,
    )


def _measured_again(
    samples: TransformationSamples,
    source: BlockSource,
    measuring: Measuring,
    originals: Originals,
    stops: Sequence[EarlyStop],
    controls: Mapping[str, Floats],
) -> Measured:
    """What was measured as of labels alone, of a model that gives probabilities after all."""
    samples.restore(source.tables(samples.spec, len(samples)))
    found = measuring.of(samples, originals, stops, has_probabilities=True, controls=controls)
    samples.release()
    return found


def _reached(run: Run, dataset: Dataset) -> Run:
    """The run of the examples that were reached."""
    chances = chances_of(dataset.task, dataset.examples)
    return run.model_copy(
        update={
            "chance": run.chance if chances is None else float(chances.mean()),
            "n_examples": len(dataset.examples),
            "majority": majority_share(dataset.examples),
            "skips": run.skips | {"data": dict(dataset.skipped)},
            "notes": list(dict.fromkeys([*run.notes, *dataset.notes])),
        }
    )


def _assembled(
    run: Run,
    measured: Sequence[Measured],
    stops: Sequence[EarlyStop],
    *,
    has_probabilities: bool,
) -> Run:
    """The run with what was measured so far."""
    perturbed = [each for each in measured if each.spec != ORIGINAL]
    references: dict[str, list[Record]] = {}
    for each in perturbed:
        for name, records in each.references.items():
            references.setdefault(name, []).extend(records)
    described = {
        name: {each.spec: each.described[name] for each in perturbed if name in each.described}
        for name in ("dev_r", "figures", "answers")
    }
    return run.model_copy(
        update={
            "has_probabilities": has_probabilities,
            "stopped": list(stops),
            "scores": [record for each in measured for record in each.scores],
            "omitted": [gone for each in measured for gone in each.omitted],
            "skips": run.skips | {each.spec: dict(each.skips) for each in perturbed},
            "no_answers": {each.spec: dict(each.failures) for each in measured if each.failures},
            "references": references,
            "telling": [shown for each in perturbed for shown in each.noteworthy],
            **described,
        }
    )


def _check_measured(run: Run, measured: Sequence[Measured], requested: Sequence[str]) -> None:
    """Raise where nothing was measured on perturbed texts."""
    if any(record.transformation != ORIGINAL for record in run.scores):
        return
    if any(each.conclusions for each in measured) and not requested:
        return  # one number for every text, of which there is no rank correlation
    if requested and any(each.n_used for each in measured if each.spec != ORIGINAL):
        raise DisorderError(
            f"none of the requested scores applies here: {', '.join(requested)}; "
            "see disorder list metrics"
        )
    reasons = {reason for skips in run.skips.values() for reason in skips}
    raise DisorderError(
        f"no example can be perturbed this way: {', '.join(sorted(reasons)) or 'no data'}"
    )


def _concluded(
    run: Run,
    audit: Audit,
    dataset: Dataset,
    originals: Originals,
    measured: Sequence[Measured],
) -> Run:
    """The run with what is concluded from all transformations together."""
    drawn = {each.spec: each.conclusions for each in measured if each.conclusions}
    plan = [each for each in audit.plan if each.spec in drawn]
    labels = originals.labels
    family = None
    if audit.families is not None:
        family = np.array([audit.families[each.id] for each in dataset.examples], dtype=np.int64)
    found, baselines = beside_words_alone(
        main_conclusions(drawn, plan, dataset.examples, audit.predictor.perturbed),
        dataset,
        originals.answered,
        labels,
        seed=audit.settings.seed,
        sanity=sanity_command(run),
        family=family,
    )
    acceptance = {each.spec: each.acceptance for each in measured if each.acceptance is not None}
    is_right = labels == gold_of(dataset.task, dataset.examples)
    return run.model_copy(
        update={
            "gains": gains(audit.plan, is_right, acceptance) if acceptance else [],
            "conclusion": found.pop("all", None),
            "conclusions": found,
            "word_baselines": baselines,
            "n_families": None if family is None else len(np.unique(family)),
        }
    )


def write_failed(
    audit: Audit,
    source: BlockSource,
    folder: Path,
    run: Run,
    began: float,
    error: BaseException,
) -> None:
    """Write what a run had when it failed, and why."""
    why = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
    write_run(folder, _with_costs(audit, source, run, began).model_copy(update=why))


def _resumable(
    audit: Audit, source: BlockSource, folder: Path, error: ModelStopped
) -> ModelStopped:
    """The error, with what is kept and what to type."""
    n = int(audit.budget.spent(source.costs)["questions"])
    run = audit.run
    again = audit.resume_with or resume_command(
        folder, run.model, run.settings, run.transformations
    )
    return ModelStopped(
        f"{error}; what was answered is kept ({n:,} questions in all), resume with: {again}"
    )


def _with_costs(audit: Audit, source: BlockSource, run: Run, began: float) -> Run:
    """The run with what it took."""
    costs = source.costs
    notes = [*run.notes, *source.parts.kept.notes, *audit.predictor.model.notes]
    return run.model_copy(
        update={
            "seconds": round(run.seconds + time.perf_counter() - began, 3),
            "notes": list(dict.fromkeys(notes)),
            "n_predictions": source.parts.n_predicted,
            "prompt": run.prompt and run.prompt | findings(costs),
            "profile": {name: round(float(cost), 3) for name, cost in sorted(costs.items())},
            "spent": audit.budget.to_record(costs),
        }
    )
