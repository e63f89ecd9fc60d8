"""`audit` and `resume`: read, perturb, predict, measure, report.

This file settles what an audit does before anything is predicted; auditing.py does it.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from disorder.data import column_names, language_of, rare_labels
from disorder.engines import Engine, engine
from disorder.errors import CannotWrite, DisorderError, check_keywords
from disorder.metrics import Metric, StopRule, limits
from disorder.models import LoadedModel
from disorder.report.notebook_progress import shown_progress
from disorder.report.page import write_report
from disorder.runs import Run, new_run, place, read_run
from disorder.runs.folder_lock import FolderLock
from disorder.runs.settings import Settings
from disorder.runs.storage import TemporaryFolder
from disorder.specs import listed, parse_list
from disorder.transformations import Transformation, parse
from disorder.transformations.tags import resolved, tagger_notes
from disorder.types import Dataset, Fidelity, Progress
from disorder.verbs.audit.auditing import Audit
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.planning import LEFT_OUT, planned, requested_scores
from disorder.verbs.model_loading import label_names, load_with, loaded_model, named_again
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
    data_dir: str | Path | None = None,
    batch_size: int | None = None,
    precision: str = "fp32",
    agree: float = 0.995,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    cache: str | Path | None = None,
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
    suite: a named set of transformations: order, salad, classes, ladder, full.
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
    data_dir: folder with the papers' datasets (else DISORDER_DATA).
    batch_size: texts in a batch (default: by length).
    precision: "fp32", "bf16", "int8", or "auto": a faster one if its predictions agree.
    agree: share of sampled predictions that must agree for `precision="auto"`.
    engine: where the model runs: "local" or "ray"; `address` and `workers` are Ray's.
    cache: folder of the prediction cache, or "off".
    progress: called as progress(stage, done, total, note).
    """
    chosen = Settings(
        suite=suite,
        transformations=listed(with_),
        q=q,
        seed=seed,
        limit=limit,
        fidelity=fidelity,
        short=short,
        omega=_thresholds(omega),
        score=listed(score),
        curtail=curtail,
        stop_when=stop_when,
        columns=column_names(columns),
        labels=label_names(labels),
        group_by=listed(group_by),
        task=task,
        data_dir=None if data_dir is None else str(data_dir),
        batch_size=batch_size,
        precision=precision,
        agree=agree,
        engine=engine,
        address=address,
        workers=workers,
        cache=None if cache is None else str(cache),
    )
    chosen.check()
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


def _thresholds(omega: str | float | Sequence[str | float]) -> list[str]:
    """Thresholds as they are written in the names of scores."""
    given = [omega] if isinstance(omega, float) else omega
    return [str(x) for x in (parse_list(given) if isinstance(given, str) else given)]


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
    return _prepared(model, data, chosen, folder, progress, before).go().lies_in(folder)


def _prepared(
    model: Any,
    data: Any,
    chosen: Settings,
    folder: Path,
    progress: Progress | None,
    before: Run | None,
) -> Audit:
    """An audit that is ready to go, with all its settings checked."""
    plan, left_out = _plan(data, chosen, before)
    requested = requested_scores(chosen)
    rule = StopRule.parse(chosen.stop_when) if chosen.stop_when else None
    if rule is not None:
        Metric.named(rule.metric)
    dataset = selected_data(data, chosen)
    _check_task(dataset, chosen, rule)
    decided_at = limits(requested, dataset.task, chosen.fidelity) if chosen.curtail else []
    loaded, notes = loaded_model(model, dataset, plan, chosen)
    chosen = replace(chosen, precision=loaded.precision)
    run = _new_run(loaded, data, dataset, plan, chosen)
    taggers = {t.tagger_for(dataset.task) for t in plan if "tags" in t.needs}
    run.taggers = sorted({resolved(tagger) for tagger in taggers})
    run.notes = [*rare_labels(dataset), *left_out, *tagger_notes(taggers), *notes]
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
        engine=_engine(predictor, model, dataset, chosen),
        requested=requested,
        rule=rule,
        is_resumed=before is not None,
    )


def _plan(
    data: Any, chosen: Settings, before: Run | None
) -> tuple[list[Transformation], list[str]]:
    """The transformations, and notes on those that were left out; a resumed run keeps its own."""
    if before is None:
        return planned(chosen, language_of(data, chosen.task))
    left_out = [note for note in before.notes if note.startswith(LEFT_OUT)]
    return [parse(spec) for spec in before.transformations], left_out


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


def _engine(predictor: BlockPredictor, model: Any, dataset: Dataset, chosen: Settings) -> Engine:
    """Where blocks are predicted; workers elsewhere load the model themselves."""
    worker = predictor
    if chosen.engine != "local":
        load = partial(load_with, model, dataset.task, chosen, chosen.precision)
        worker = replace(predictor, load=load)
    make = partial(_same, worker)
    return engine(chosen.engine, address=chosen.address, workers=chosen.workers, make=make)


def _same(thing: Any) -> Any:
    return thing
