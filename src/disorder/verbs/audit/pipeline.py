"""`audit` and `resume`: read, perturb, predict, measure, report.

This file settles what an audit does before anything is predicted; auditing.py does it.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from disorder.data import column_names, declared_language, named_language, rare_labels
from disorder.engines import Engine, engine
from disorder.errors import CannotWrite, DisorderError, check_keywords
from disorder.metrics import Metric, StopRule, limits
from disorder.models import LoadedModel
from disorder.models.prompting import Prompt
from disorder.report.notebook_progress import shown_progress
from disorder.report.page import write_report
from disorder.runs import Run, new_run, place, read_run, write_run
from disorder.runs.folder_lock import FolderLock
from disorder.runs.settings import Settings
from disorder.runs.storage import TemporaryFolder
from disorder.specs import listed, parse_list
from disorder.transformations import Transformation, parse
from disorder.transformations.tags import resolved, tagger_notes
from disorder.types import Dataset, Fidelity, Progress
from disorder.verbs.audit.auditing import Audit
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.budget import Budget
from disorder.verbs.audit.likelihoods import RANK, likelihood_task
from disorder.verbs.audit.live_gate import LiveGate
from disorder.verbs.audit.planning import LEFT_OUT, planned, requested_scores
from disorder.verbs.audit.preview import Preview, previewed
from disorder.verbs.audit.prompt_breaking import (
    broken_prompt,
    on_prompts,
    shot_transformations,
)
from disorder.verbs.audit.prompt_spread import spread_over
from disorder.verbs.gate import gate
from disorder.verbs.model_loading import label_names, load_with, loaded_model, named_again
from disorder.verbs.prompting import bound_prompt, label_words_of
from disorder.verbs.selected_data import selected_data
from disorder.visible_text import one_line

logger = logging.getLogger("disorder")


@check_keywords()
def audit(
    model: Any = "builtin",
    data: Any = "builtin",
    *,
    with_: str | Sequence[str] = (),
    suite: str = "order",
    q: int = 100,
    seed: int = 0,
    limit: int | None = None,
    out: str | Path | None = None,
    fidelity: Fidelity = "paper",
    short: str = "skip",
    score: str | Sequence[str] = (),
    omega: str | float | Sequence[str | float] = (),
    curtail: bool = False,
    stop_when: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    labels: Mapping[str, str] | str | None = None,
    group_by: str | Sequence[str] = (),
    task: str | None = None,
    language: str = "auto",
    data_dir: str | Path | None = None,
    batch_size: int | None = None,
    precision: str = "fp32",
    agree: float = 0.995,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    cache: str | Path | None = None,
    reads_below: float = 0.2,
    bag_above: float = 0.8,
    least_skill: float = 0.1,
    prompt: str | Sequence[str] = (),
    shots: int = 0,
    shots_from: str | Path | None = None,
    label_words: Mapping[str, str] | str | None = None,
    option_orders: int = 1,
    calibrate: str | None = None,
    chat: str = "auto",
    break_: str = "text",
    base_url: str | None = None,
    answers: str | None = None,
    no_answer: str = "skip",
    max_connections: int | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    max_questions: int | None = None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    fail_if: str | Sequence[str] = (),
    progress: Progress | None = None,
) -> Run:
    """Perturb the words of `data`, predict again with `model`, and measure what survives.

    The parameters are the options of `disorder audit`:

    model: a spec (`hf:FOLDER`), a function, a scikit-learn estimator, a transformers pipeline. A
        function gets a list of texts (of tuples for pairs) and returns label names, or one row of
        probabilities per text, with columns in the order of its attribute `labels`, else of
        `run.labels`.
    data: a spec (`mnli:matched`, `data.jsonl`), a list of dictionaries, or a data frame.
    with_: transformations instead of a suite: `"derange"`, or a list of specs.
    suite: a named set of transformations: order, salad, classes, ladder, characters, full.
    q: permutations of each example (shuffle and shuffle_ngrams draw 10 at most, or :q=N).
    seed: seed of every draw.
    limit: use this many examples, drawn at random by seed.
    out: write the run folder there, on disk or at an address like s3://bucket/run. Without it the
        run lies in a temporary folder; `run.save(path)` keeps it.
    fidelity: "paper" as described, "released" as the authors' code does.
    short: examples with fewer than q distinct variants: "skip" them, or "use" those there are.
    score: measure these scores only.
    omega: more thresholds x for Ω_x, e.g. `["0.25", "0.95"]`.
    curtail: stop predicting for an example once its Ω scores are decided.
    stop_when: stop when an interval is narrow enough, e.g. `"width(p_c) < 0.02"`.
    columns: which columns are which: `{"premise": "text_a", "gold": "label"}`.
    labels: what the model's labels mean: `{"LABEL_0": "entailment"}`.
    group_by: split scores by these columns.
    task: treat the data as this known task (`disorder list data`).
    language: the language of the texts ("de"); "auto" finds it out.
    data_dir: folder with the papers' datasets (else DISORDER_DATA).
    batch_size: texts in a batch (default: by length).
    precision: "fp32", "bf16", "int8", or "auto": a faster one if its predictions agree.
    agree: share of sampled predictions that must agree for `precision="auto"`.
    engine: where the model runs: "local" or "ray"; `address` and `workers` are Ray's.
    cache: folder of the prediction cache, or "off".
    reads_below, bag_above: the conclusion's limits of `skill_kept`: a model that keeps at most the
        first share of its skill reads word order, one that keeps at least the second behaves like a
        bag of words.
    least_skill: skill above chance that counts as none, as a share of all there could be.
    prompt: how a language model is asked: the name of a prompt (`disorder list prompts`) or a file
        with a Jinja template; without it by the labels of the data. Several: the scores are those
        of the first, with their range over all.
    shots: examples with their answers in the prompt, as many of each label as can be, by seed.
    shots_from: the data that examples come from (default: the training split that belongs to
        `data`); never those that are audited.
    label_words: the word that stands for each label: `{"entailment": "yes"}`.
    option_orders: orders in which the options are listed; predictions are their mean.
    calibrate: "content-free" subtracts what the model says of an empty text.
    chat: use the model's chat template: "on", "off", or "auto" where it has one.
    break_: what is perturbed: the "text", or of a prompt the "instruction" (its words) or the
        "shots" (the order of its examples, and which answer belongs to which).
    base_url: the address of an OpenAI-compatible server, for `openai:MODEL`.
    answers: how a server's answers become predictions: "decisions", "prompt-logprobs",
        "first-token", "constrained", "parse", or "auto", the first that it does right.
    no_answer: texts that a model does not answer: "skip" and count them, or "abstain", which is
        accepted by no score.
    max_connections, timeout, max_retries: requests at once, seconds for one, and how often one that
        failed is sent again.
    price_in, price_out: what a million tokens cost, sent and received.
    max_questions, max_tokens, max_cost: stop before more is spent; what was measured by then is a
        random part of the data.
    fail_if: rules as for `disorder.gate`; the audit stops as soon as they are decided, by intervals
        that hold however often one looks. `run.gate` holds the decision.
    progress: called as progress(stage, done, total, note).
    """
    chosen = settings_of(
        suite=suite,
        with_=with_,
        q=q,
        seed=seed,
        limit=limit,
        fidelity=fidelity,
        short=short,
        omega=omega,
        score=score,
        curtail=curtail,
        stop_when=stop_when,
        columns=columns,
        labels=labels,
        group_by=group_by,
        task=task,
        language=language,
        data_dir=data_dir,
        batch_size=batch_size,
        precision=precision,
        agree=agree,
        engine=engine,
        address=address,
        workers=workers,
        cache=cache,
        reads_below=reads_below,
        bag_above=bag_above,
        least_skill=least_skill,
        prompt=prompt,
        shots=shots,
        shots_from=shots_from,
        label_words=label_words,
        option_orders=option_orders,
        calibrate=calibrate,
        chat=chat,
        break_=break_,
        base_url=base_url,
        answers=answers,
        no_answer=no_answer,
        max_connections=max_connections,
        timeout=timeout,
        max_retries=max_retries,
        price_in=price_in,
        price_out=price_out,
        max_questions=max_questions,
        max_tokens=max_tokens,
        max_cost=max_cost,
        fail_if=fail_if,
    )
    if out is None:
        temporary = TemporaryFolder()
        run = _audited(model, data, chosen, temporary.path, progress)
        return run.lies_in(temporary.path, kept_alive=temporary)
    folder = place(out)
    with FolderLock(folder):  # before anything is loaded: two audits never share a folder
        return _reported(_audited(model, data, chosen, _free(folder), progress))


@check_keywords()
def resume(
    run: str | Path | Run,
    *,
    model: Any = None,
    data: Any = None,
    with_: str | Sequence[str] = (),
    address: str | None = None,
    base_url: str | None = None,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Resume a run that was stopped; finished parts are kept, and the scores are those of a run in
    one go.

    `run` is its folder. `model` and `data` are what it was started with, where that was no spec.
    Nothing is run or reached because the folder says so: a model that runs code (`python:…`) or
    asks a server is named again, and so are `address`, `base_url`, and in `with_` transformations
    that name a tagger's model.
    """
    given = run.folder if isinstance(run, Run) else run
    if given is None:
        raise DisorderError("this run has no folder to resume")
    read_run(given)  # says what is no run folder
    folder = place(given)
    with FolderLock(folder, option="--resume"):
        before = read_run(folder)
        if before.status == "done":
            return _reported(before)  # it may have been killed after the last score
        chosen = Settings.recorded(
            folder,
            before.settings,
            seed=before.seed,
            transformations=before.transformations,
            address=address,
            base_url=base_url,
            cache=None if cache is None else str(cache),
        )
        _check_taggers(folder, before.transformations, listed(with_))
        model = named_again(folder, before.model, model, f"disorder audit --resume {folder}")
        data = before.data if data is None else data
        return _reported(_audited(model, data, chosen, folder, progress, before))


def _check_taggers(folder: Path, specs: Sequence[str], given: Sequence[str]) -> None:
    """Raise where a folder names a tagger's model to load, and the user does not."""
    named = {parse(spec).spec for spec in given}
    for spec in specs:
        transformation = parse(spec)
        loads = any(":" in (step.tagger or "") for step in transformation.steps)
        if loads and transformation.spec not in named:
            raise DisorderError(
                f"{folder} names the transformation {one_line(spec)}, which loads a tagger; "
                "nothing is loaded because a folder says so. If you trust it, repeat it: "
                f"disorder audit --resume {folder} --with {shlex.quote(one_line(spec))}"
            )


def preview(model: Any = "builtin", data: Any = "builtin", **settings: Any) -> Preview:
    """What an audit with these settings would ask, with one prompt; asks nothing."""
    chosen = settings_of(**settings)
    dataset = selected_data(data, chosen)
    plan, left_out = _plan(chosen, dataset.task.language, None)
    prompt = bound_prompt(model, dataset, chosen)
    if chosen.break_ != "text":
        prompt, dataset = broken_prompt(prompt, dataset, chosen)
    return previewed(model, dataset, plan, prompt, chosen, left_out)


def _thresholds(omega: str | float | Sequence[str | float]) -> list[str]:
    """Thresholds as they are written in the names of scores."""
    given = [omega] if isinstance(omega, float) else omega
    return [str(x) for x in (parse_list(given) if isinstance(given, str) else given)]


def settings_of(**given: Any) -> Settings:
    """The settings of an audit, from its keywords as a user gives them."""
    for name in ("score", "group_by", "prompt", "fail_if"):
        given[name] = listed(given.get(name))
    for name in ("data_dir", "cache", "shots_from"):
        given[name] = None if given.get(name) is None else str(given[name])
    given["transformations"] = listed(given.pop("with_", ()))
    given["omega"] = _thresholds(given.get("omega", ()))
    given["columns"] = column_names(given.get("columns"))
    given["labels"] = label_names(given.get("labels"))
    given["label_words"] = label_words_of(given.get("label_words"))
    chosen = Settings(**given)
    chosen.check()
    return chosen


def _reported(run: Run) -> Run:
    """The run, with its page in its folder."""
    if run.folder is not None:
        try:
            write_report(run.folder, run)
        except CannotWrite as error:  # run.json is written: the result is not lost
            logger.warning("%s: disorder report %s writes the page", error, run.folder)
    return run


def _free(folder: Path) -> Path:
    """The folder, if it holds nothing of another run; only `resume` reads what is there."""
    if (folder / "run.json").exists():
        raise DisorderError(
            f"{folder} holds a run already; choose another --out, or resume it: --resume {folder}"
        )
    if (folder / "samples").exists():
        raise DisorderError(
            f"{folder} holds samples of a run that has no run.json; choose another --out"
        )
    return folder


def _audited(
    model: Any,
    data: Any,
    chosen: Settings,
    folder: Path,
    progress: Progress | None,
    before: Run | None = None,
) -> Run:
    run = _prepared(model, data, chosen, folder, progress, before).go().lies_in(folder)
    if chosen.fail_if:
        run.gate = gate(run, chosen.fail_if).model_dump()
        write_run(folder, run)
    if len(chosen.prompt) > 1:
        others = list(_under_other_prompts(model, data, chosen, folder, progress))
        run.prompt_spread = spread_over([run, *others])
        write_run(folder, run)
    return run


def _under_other_prompts(
    model: Any, data: Any, chosen: Settings, folder: Path, progress: Progress | None
) -> Iterator[Run]:
    """The same audit with each prompt but the first, in folders of their own."""
    for number, name in enumerate(chosen.prompt[1:], start=2):
        own = folder / "prompts" / f"{number}-{Path(name).stem}"
        before = read_run(own) if (own / "run.json").exists() else None
        if before is not None and before.status == "done":
            yield before
        else:
            settings = replace(chosen, prompt=[name])
            yield _audited(model, data, settings, own, progress, before)


def _prepared(
    model: Any,
    data: Any,
    chosen: Settings,
    folder: Path,
    progress: Progress | None,
    before: Run | None,
) -> Audit:
    """An audit that is ready to go, with all its settings checked."""
    if chosen.break_ == "shots":  # a few examples have a few orders
        chosen = replace(chosen, short="use")
    plan, left_out = _plan(chosen, _known_language(data, chosen), before)
    requested = requested_scores(chosen)
    rule = StopRule.parse(chosen.stop_when) if chosen.stop_when else None
    if rule is not None:
        Metric.named(rule.metric)
    dataset = selected_data(data, chosen)
    plan, left_out = _plan(chosen, dataset.task.language, before)
    if RANK in requested:
        dataset = replace(dataset, task=likelihood_task(dataset.task, requested, chosen))
    _check_task(dataset, chosen, rule)
    decided_at = limits(requested, dataset.task, chosen.fidelity) if chosen.curtail else []
    prompt = bound_prompt(model, dataset, chosen)
    if chosen.break_ != "text":
        prompt, dataset = broken_prompt(prompt, dataset, chosen)
    loaded, notes = loaded_model(model, dataset, plan, chosen, prompt)
    chosen = replace(chosen, precision=loaded.precision)
    run = _new_run(loaded, data, dataset, plan, chosen)
    taggers = {t.tagger_for(dataset.task) for t in plan if "tags" in t.needs}
    run.taggers = sorted({resolved(tagger) for tagger in taggers})
    run.prompt = loaded.prompt_description(dataset.examples[0].texts)
    run.language_caveats = list(dataset.notes)
    run.splitters = {t.spec: t.splitter_for(dataset.task) for t in plan}
    run.notes = [
        *dataset.notes,
        *rare_labels(dataset),
        *left_out,
        *tagger_notes(taggers),
        *notes,
    ]
    if before is not None:
        _continue(run, before)
    predictor = BlockPredictor.of(partial(_same, loaded), dataset, plan, chosen, decided_at)
    return Audit(
        dataset=dataset,
        predictor=predictor,
        plan=plan,
        settings=chosen,
        run=run,
        folder=folder,
        progress=shown_progress(progress),
        engine=_engine(predictor, model, dataset, chosen, prompt),
        requested=requested,
        rule=rule,
        is_resumed=before is not None,
        budget=Budget.of(chosen, {} if before is None else before.spent),
        gate=LiveGate.of(chosen.fail_if, plan, dataset.task, chosen.fidelity),
    )


def _known_language(data: Any, chosen: Settings) -> str | None:
    """The language of the data as far as it is known before they are read."""
    if isinstance(data, Dataset):
        return data.task.language
    return named_language(chosen.language) or declared_language(data)


def _plan(
    chosen: Settings, language: str | None, before: Run | None
) -> tuple[list[Transformation], list[str]]:
    """The transformations, and notes on those that were left out; a resumed run keeps its own, and
    its splitters.
    """
    if before is None:
        if chosen.break_ == "shots" and not chosen.transformations:
            chosen = replace(chosen, transformations=shot_transformations())
        plan, left_out = planned(chosen, language)
        return plan if chosen.break_ == "text" else on_prompts(plan, chosen.break_), left_out
    left_out = [note for note in before.notes if note.startswith(LEFT_OUT)]
    return [
        parse(spec, usual_words=before.usual_words(spec)) for spec in before.transformations
    ], left_out


def _check_task(dataset: Dataset, chosen: Settings, rule: StopRule | None) -> None:
    if dataset.task.is_regression and (chosen.curtail or rule):
        option = "curtail" if chosen.curtail else "stop-when"
        raise DisorderError(f"--{option} is for labels; {dataset.name} has numbers as gold labels")
    if rule is not None:
        Metric.named(rule.metric).check_watched(dataset.task, chosen.fidelity)


def _new_run(
    loaded: LoadedModel,
    data: Any,
    dataset: Dataset,
    plan: Sequence[Transformation],
    chosen: Settings,
) -> Run:
    name = str(data) if isinstance(data, str | Path) else dataset.name
    outside = ("seed", "transformations")  # stand at the top of run.json
    settings = {key: value for key, value in asdict(chosen).items() if key not in outside}
    run = new_run(loaded.name, name, dataset, [t.spec for t in plan], settings, chosen.seed)
    run.variants = {transformation.spec: transformation.count(chosen.q) for transformation in plan}
    run.breaks_order = [
        transformation.spec for transformation in plan if transformation.keeps_words
    ]
    run.hashes = {"data": dataset.fingerprint, "model": loaded.fingerprint}
    return run


def _continue(run: Run, before: Run) -> None:
    """Take over what a stopped run had spent; raise where data or model changed since."""
    changed = [name for name in run.hashes if run.hashes[name] != before.hashes.get(name)]
    if changed:
        raise DisorderError(
            f"--resume: the {' and the '.join(changed)} changed since the run began; "
            "start a new one"
        )
    if before.taggers != run.taggers:
        raise DisorderError(
            f"--resume: the run began with {', '.join(before.taggers)} for word classes, which is "
            "not what is installed here; install it, or start a new one"
        )
    run.started = before.started
    run.seconds = before.seconds
    run.n_predictions = before.n_predictions


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
    make = partial(_same, worker)
    return engine(chosen.engine, address=chosen.address, workers=chosen.workers, make=make)


def _same(thing: Any) -> Any:
    return thing
