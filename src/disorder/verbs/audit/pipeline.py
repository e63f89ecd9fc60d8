"""`audit` and `resume`: settings, then three steps: prepare (preparing.py), predict and measure
(auditing.py), report.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from disorder.errors import BadData, BadModel, CannotWrite, DisorderError, check_keywords
from disorder.report.page import write_report
from disorder.runs import Run, place, read_run, write_run
from disorder.runs.folder_lock import FolderLock
from disorder.runs.settings import Settings
from disorder.runs.storage import TemporaryFolder
from disorder.specs import listed
from disorder.types import Fidelity, Progress
from disorder.verbs.audit.preparing import prepared
from disorder.verbs.audit.prompt_spread import PromptTurn, spread_over, total_spent
from disorder.verbs.audit.resuming import check_prompts, check_taggers
from disorder.verbs.gate import gate
from disorder.verbs.keyword_settings import settings_of
from disorder.verbs.model_loading import named_again, resume_command

logger = logging.getLogger("disorder")

OUTSIDE = ("model", "data", "out", "progress")  # parameters of `audit` that are no settings


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
    suite: a named set of transformations: order, salad, classes, ladder, characters,
        alldrop, full.
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
    prompt: the prompt of a language model: a name of `disorder list prompts`, or a file with a
        Jinja template; without it by the labels of the data. Several: the scores are those of the
        first, with their range over all.
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
    everything = dict(locals())  # before any comprehension, which may add names of its own
    given = {name: value for name, value in everything.items() if name not in OUTSIDE}
    chosen = settings_of(**given)
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
    prompt: str | Sequence[str] = (),
    progress: Progress | None = None,
) -> Run:
    """Resume a run that was stopped; finished parts are kept, and the scores are those of a run in
    one go.

    `run` is its folder. `model` and `data` are what it was started with, where that was no spec.
    Nothing is run or reached because the folder says so: a model that runs code (`python:…`) or
    asks a server is named again, and so are `address`, `base_url`, in `with_` transformations that
    name a tagger's model, and in `prompt` files of prompts.
    """
    given = run.folder if isinstance(run, Run) else run
    if given is None:
        raise DisorderError("this run has no folder to resume")
    read_run(given)  # says what is no run folder
    folder = place(given)
    with FolderLock(folder, option="--resume"):
        before = read_run(folder)
        if before.status == "done" and not _lacks_something(before):
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
        check_taggers(folder, before.transformations, listed(with_))
        check_prompts(folder, chosen.prompt, listed(prompt))
        model = named_again(folder, before.model, model, f"disorder audit --resume {folder}")
        data = before.data if data is None else data
        return _reported(_audited(model, data, chosen, folder, progress, before))


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
    if _failed_at_once(folder):
        return folder
    if (folder / "run.json").exists():
        raise DisorderError(
            f"{folder} holds a run already; choose another --out{_or_resume(folder)}"
        )
    if (folder / "samples").exists():
        raise DisorderError(
            f"{folder} holds samples of a run that has no run.json; choose another --out"
        )
    return folder


def _failed_at_once(folder: Path) -> bool:
    """Whether the model of a run could not be used, and nothing was predicted: there is nothing to
    resume.
    """
    if not (folder / "run.json").exists() or any((folder / "samples").glob("*")):
        return False
    try:
        run = read_run(folder)
    except BadData:
        return False
    return run.status == "failed" and run.error.startswith(BadModel.__name__)


def _or_resume(folder: Path) -> str:
    """How to resume the run in a folder, or why that cannot be."""
    try:
        return f", or resume it: {resume_command(read_run(folder), folder)}"
    except BadData as error:
        return f" (it cannot be resumed: {error})"


def _audited(
    model: Any,
    data: Any,
    chosen: Settings,
    folder: Path,
    progress: Progress | None,
    before: Run | None = None,
    turn: PromptTurn | None = None,
) -> Run:
    """A run with all that belongs to it; what is there of an earlier session is kept."""
    turn = turn or PromptTurn(n_left=max(1, len(chosen.prompt)))
    if before is not None and before.status == "done":
        run = before
    else:
        run = prepared(model, data, chosen, folder, progress, before, turn).go().lies_in(folder)
    if chosen.fail_if and not run.gate:
        run.gate = gate(run, chosen.fail_if).model_dump()
        write_run(folder, run)
    if len(chosen.prompt) > 1:
        runs = _under_other_prompts(run, model, data, chosen, folder, progress)
        run.prompt_spread = spread_over(runs)
        write_run(folder, run)
    return run


def _lacks_something(run: Run) -> bool:
    """Whether a run with all its scores was stopped before its gate or its other prompts."""
    has_prompts = len(run.settings.get("prompt") or ()) > 1
    has_rules = bool(run.settings.get("fail_if"))
    return (has_rules and not run.gate) or (has_prompts and not run.prompt_spread)


def _under_other_prompts(
    first: Run,
    model: Any,
    data: Any,
    chosen: Settings,
    folder: Path,
    progress: Progress | None,
) -> list[Run]:
    """The run of the first prompt, and the same audit with each other one in a folder of its own;
    all share one budget.
    """
    runs = [first]
    for number, name in enumerate(chosen.prompt[1:], start=2):
        own = folder / "prompts" / f"{number}-{Path(name).stem}"
        before = read_run(own) if (own / "run.json").exists() else None
        turn = PromptTurn(
            n_left=len(chosen.prompt) - len(runs),
            spent=total_spent(runs),
            resume_with=resume_command(first, folder),
        )
        settings = replace(chosen, prompt=[name])
        runs.append(_audited(model, data, settings, own, progress, before, turn))
    return runs
