"""Preparing an audit: its transformations, scores, data, prompt and model are settled and checked
before anything is predicted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from disorder.data import declared_language, named_language, rare_labels
from disorder.data.families import family_numbers, named_families
from disorder.data.reading import LIKELIHOOD
from disorder.engines import Engine
from disorder.errors import DisorderError, option
from disorder.languages import UNKNOWN
from disorder.metrics import Metric, StopRule, limits
from disorder.models import LoadedModel
from disorder.models.prompting import Prompt
from disorder.registry import EnginePart, part
from disorder.registry.own import own_hashes
from disorder.requests.settings import Settings
from disorder.results.conclusion import RANK
from disorder.results.progress import Steps, shown_progress
from disorder.results.run import Run
from disorder.results.run_folder import new_run
from disorder.transformations import Transformation
from disorder.transformations.tags import resolved, tagger_notes
from disorder.transformations.words import NATURAL
from disorder.types import OF_PROMPTS, ORIGINAL, Dataset, Progress, text_segments
from disorder.verbs.audit.auditing import Audit
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.budget import Budget
from disorder.verbs.audit.deciding import UntilDecided, settled
from disorder.verbs.audit.piloting import AS_PRINTED, variants_of_an_audit
from disorder.verbs.audit.planning import (
    continue_run,
    likelihood_task,
    planned_for,
    recorded_plan,
    requested_scores,
    score_names,
    with_controls,
)
from disorder.verbs.audit.prompts import PromptShare, check_segments, perturbable_prompt
from disorder.verbs.audit.watching import LiveGate, StopWhen, Watcher
from disorder.verbs.model_loading import load_with, loaded_model
from disorder.verbs.prompting import bound_prompt
from disorder.verbs.selected_data import in_turn, selected_data


def prepared(
    model: Any,
    data: Any,
    chosen: Settings,
    progress: Progress | None,
    before: Run | None,
    turn: PromptShare,
) -> Audit:
    """An audit that is ready to go, with all its settings checked."""
    chosen = _implied(chosen)
    language = _known_language(data, chosen)
    plan, left_out = _plan(chosen, language, before)
    requested = requested_scores(chosen)
    rule = StopRule.parse(chosen.stop_when) if chosen.stop_when else None
    if rule is not None:
        Metric.named(rule.metric)
    dataset = selected_data(data, chosen, needs_gold=RANK not in requested)
    if dataset.task.language != language:  # it was not known before data was read
        plan, left_out = _plan(chosen, dataset.task.language, before)
    if RANK in requested:
        dataset = replace(dataset, task=likelihood_task(dataset.task, requested, chosen))
    _check_task(dataset, chosen, rule)
    families = None
    if chosen.fidelity == NATURAL:
        dataset = named_families(dataset)
        families = family_numbers(dataset.examples)
    watch = _watchers(plan, dataset, chosen, requested, rule, families)
    decided_at = limits(requested, dataset.task, chosen.fidelity) if chosen.curtail else []
    prompt = bound_prompt(model, dataset, chosen)
    if chosen.break_ in OF_PROMPTS:
        prompt, dataset = perturbable_prompt(prompt, dataset, chosen)
    check_segments(dataset, plan, chosen)
    loaded, notes = loaded_model(model, dataset, plan, chosen, prompt)
    n_cut = 0
    if chosen.fidelity == NATURAL and chosen.break_ == "text" and not dataset.task.has_own_chance:
        dataset, n_cut = _as_read(dataset, loaded)
    if before is None:
        chosen = settled(chosen, loaded, dataset, plan)
    if families is not None and chosen.is_until_decided:
        dataset = in_turn(dataset, chosen.seed)
    if chosen.q is None:
        q, why = variants_of_an_audit(loaded, dataset, plan, chosen, requested)
        chosen = replace(chosen, q=q, short=chosen.short or _usual_short(q))
        notes.append(why)
    chosen = _as_loaded(chosen, loaded)
    taggers = {t.tagger_for(dataset.task) for t in plan if "tags" in t.needs}
    run = _new_run(loaded, data, dataset, plan, chosen, taggers)
    said = tagger_notes(taggers) if taggers else []
    run.notes = [*dataset.notes, *rare_labels(dataset), *left_out, *said, *notes]
    if before is not None:
        continue_run(run, before)
    predictor = BlockPredictor.of(lambda: loaded, dataset, plan, chosen, decided_at)
    if families is not None and chosen.is_until_decided:
        watch.append(UntilDecided.of(plan, dataset, chosen, families, predictor))
    engine = _engine(predictor, model, dataset, chosen, prompt)
    budget = Budget.of(
        chosen,
        {} if before is None else before.spent,
        elsewhere=turn.spent,
        n_sharing=turn.n_left,
    )
    if budget.limits:
        watch.append(budget)
    return Audit(
        dataset=dataset,
        predictor=predictor,
        plan=plan,
        settings=chosen,
        run=run,
        progress=_steps(progress, plan, chosen),
        engine=engine,
        requested=requested,
        budget=budget,
        watch=watch,
        is_resumed=before is not None,
        resume_with=turn.resume_with,
        families=families,
        n_cut=n_cut,
    )


def _implied(chosen: Settings) -> Settings:
    """The settings with what others of them mean."""
    if chosen.task == LIKELIHOOD and not chosen.score:
        chosen = replace(chosen, score=(RANK,))
    if chosen.break_ == "shots":  # a few examples have a few orders
        chosen = replace(chosen, short="use")
    return chosen


def _usual_short(q: int) -> Literal["skip", "use"]:
    """What is done with short texts where q was chosen by us: a paper's q leaves them out."""
    return "skip" if q == AS_PRINTED else "use"


def _as_loaded(chosen: Settings, loaded: LoadedModel) -> Settings:
    """The settings with what the model settles."""
    return replace(
        chosen,
        precision=loaded.precision,
        threshold=loaded.similar_above,
        short=chosen.short_texts,
    )


def _steps(progress: Progress | None, plan: Sequence[Transformation], chosen: Settings) -> Steps:
    weights = {each.spec: float(each.count(chosen.n_variants)) for each in plan}
    return Steps(shown_progress(progress), {ORIGINAL: 1.0, **weights})


def _as_read(dataset: Dataset, loaded: LoadedModel) -> tuple[Dataset, int]:
    """The data as far as the model reads it, and how many examples that cuts: all their variants
    then hold the same words.
    """
    examples = []
    n_cut = 0
    for example in dataset.examples:
        texts = loaded.readable(example.texts)
        is_cut = texts != example.texts
        n_cut += is_cut
        if is_cut:
            example = replace(example, segments={**example.segments, **text_segments(texts)})
        examples.append(example)
    return replace(dataset, examples=examples), n_cut


def _known_language(data: Any, chosen: Settings) -> str | None:
    """The language of the data as far as it is known before they are read."""
    if isinstance(data, Dataset):
        return data.task.language
    return named_language(chosen.language) or declared_language(data)


def _plan(
    chosen: Settings, language: str | None, before: Run | None
) -> tuple[list[Transformation], list[str]]:
    """The transformations, and notes on those that were left out; a resumed run keeps its own."""
    if before is not None:
        return recorded_plan(before)
    plan, left_out = planned_for(chosen, language)
    return with_controls(plan, chosen), left_out


def _watchers(
    plan: Sequence[Transformation],
    dataset: Dataset,
    chosen: Settings,
    requested: Sequence[str],
    rule: StopRule | None,
    families: Mapping[str, int] | None,
) -> list[Watcher]:
    """What may end prediction early; a rule that cannot be decided is an error now, not at the
    end.
    """
    found: list[Watcher] = [] if rule is None else [StopWhen(rule)]
    if chosen.fail_if:
        names = score_names(plan, dataset, chosen, requested)
        found.append(LiveGate.of(chosen.fail_if, names, dataset, families))
    return found


def _check_task(dataset: Dataset, chosen: Settings, rule: StopRule | None) -> None:
    if dataset.task.is_regression and (chosen.curtail or rule):
        given = option("curtail" if chosen.curtail else "stop_when")
        raise DisorderError(f"{given} is for labels; {dataset.name} has numbers as gold labels")
    if rule is not None:
        Metric.named(rule.metric).check_watched(dataset.task)


def _new_run(
    loaded: LoadedModel,
    data: Any,
    dataset: Dataset,
    plan: Sequence[Transformation],
    chosen: Settings,
    taggers: Collection[str],
) -> Run:
    name = str(data) if isinstance(data, str | Path) else dataset.name
    outside = ("seed", "transformations")  # stand at the top of run.json
    settings = {key: value for key, value in asdict(chosen).items() if key not in outside}
    run = new_run(loaded.name, name, dataset, [t.spec for t in plan], settings, chosen.seed)
    run.variants = {
        transformation.spec: transformation.count(chosen.n_variants) for transformation in plan
    }
    run.breaks_order = [
        transformation.spec for transformation in plan if transformation.keeps_words
    ]
    run.hashes = {"data": dataset.fingerprint, "model": loaded.fingerprint}
    named = [*(t.spec for t in plan), *chosen.score, chosen.match or ""]
    run.hashes |= own_hashes(named)
    run.taggers = sorted({resolved(tagger) for tagger in taggers})
    first = dataset.examples[0]
    run.prompt = loaded.prompt_description(first.segments)
    # one that is not known changes no score: it is a note, and an error where it is needed
    run.language_caveats = [] if dataset.task.language == UNKNOWN else list(dataset.notes)
    run.splitters = {t.spec: t.splitter_for(dataset.task) for t in plan}
    return run


def _engine(
    predictor: BlockPredictor,
    model: Any,
    dataset: Dataset,
    chosen: Settings,
    prompt: Prompt | None,
) -> Engine:
    """Where blocks are predicted; workers elsewhere load the model themselves."""
    worker = predictor
    if chosen.engine != "local":
        load = partial(load_with, model, dataset.task, chosen, prompt, chosen.precision)
        worker = replace(predictor, load=load)
    start = part(EnginePart, chosen.engine).function
    found: Engine = start(lambda: worker, chosen.address, chosen.workers)
    return found
