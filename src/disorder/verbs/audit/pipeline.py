"""`audit` and `resume`: settings, then three steps: prepare (preparing.py), predict and measure
(auditing.py), report.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from disorder.errors import BadData, BadModel, CannotWrite, DisorderError, option
from disorder.requests.audit import CONTINUED, AuditOptions, ResumeOptions
from disorder.requests.option import held
from disorder.requests.settings import Settings, resume_line, takes_options
from disorder.results.run import Run
from disorder.results.run_folder import read_run, write_report, write_run
from disorder.safe_io import one_line
from disorder.store.storage import TemporaryFolder, place
from disorder.store.store import Store
from disorder.types import Progress
from disorder.verbs.audit.auditing import conducted
from disorder.verbs.audit.planning import check_own, check_taggers, check_version
from disorder.verbs.audit.preparing import prepared
from disorder.verbs.audit.prompts import PromptShare, spread_over, total_spent
from disorder.verbs.gate import gate
from disorder.verbs.model_loading import named_again, resume_command
from disorder.verbs.prompting import check_prompts

logger = logging.getLogger("disorder")


@takes_options(AuditOptions)
def audit(
    model: Any = "builtin",
    data: Any = "builtin",
    *,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[AuditOptions],
) -> Run:
    """Perturb the words of `data`, predict again with `model`, and measure what survives.

    What is a list or pairs on the command line may be a list or a mapping:
    `with_=["sort", "reverse"]`, `labels={"LABEL_0": "entailment"}`.

    model: a spec (`hf:FOLDER`), a function (also async), a scikit-learn estimator, a pipeline or
        (model, tokenizer) of transformers, a SentenceTransformer. A function gets a list of texts
        (of tuples for pairs) and returns label names, or one row of probabilities per text, with
        columns in the order of its attribute `labels`, else of `run.labels`.
    data: a spec (`mnli:matched`, `data.jsonl`), a list of dictionaries, or a data frame.
    out: write the run folder there, on disk or at an address like s3://bucket/run. Without it the
        run lies in a temporary folder; `run.save(path)` keeps it.
    progress: called as progress(stage, done, total, note).
    """
    chosen = Settings.of(options)
    if out is None:
        temporary = TemporaryFolder()
        run = _audited(model, data, chosen, temporary.path, progress)
        return run.placed_in(temporary.path, kept_alive=temporary)
    folder = place(out)
    with Store.open(folder):  # before anything is loaded: two audits never share a folder
        return _reported(_audited(model, data, chosen, _free(folder), progress))


@takes_options(ResumeOptions)
def resume(
    run: str | Path | Run,
    *,
    model: Any = None,
    data: Any = None,
    progress: Progress | None = None,
    **options: Unpack[ResumeOptions],
) -> Run:
    """Resume a run that was stopped; finished parts are kept, and the scores are those of a run in
    one go. With `until="never"`, predict the rest of one that ended as soon as it was decided.

    Nothing is run or reached because the folder says so: a model that runs code (`python:…`) or
    asks a server is named again, and so are `address`, `base_url`, in `with_` transformations that
    name a tagger's model, and in `prompt` files of prompts.

    run: its folder.
    model: what it was started with, where that was no spec.
    data: what it was started with, where that was no spec.
    progress: called as progress(stage, done, total, note).
    """
    given = run.folder if isinstance(run, Run) else run
    if given is None:
        raise DisorderError("this run has no folder to resume")
    read_run(given)  # says what is no run folder
    folder = place(given)
    with Store.open(folder, keyword="resume"):
        before = read_run(folder)
        again = held(ResumeOptions, options)
        if again.pop("until", None) == "never" and before.cut_short is not None:
            again["until"] = CONTINUED
            before = before.model_copy(update={"status": "started"})
        if before.status == "done" and not _lacks_something(before):
            return _reported(before)  # it may have been killed after the last score
        check_version(folder)
        given = again.pop("transformations", ())
        check_own(folder, before, given, again.pop("score", ()))
        check_taggers(folder, before.transformations, given)
        named = again.pop("prompt", ())
        chosen = Settings.recorded(
            folder,
            before.settings,
            **again | {"seed": before.seed, "transformations": before.transformations},
        )
        check_prompts(folder, chosen.prompt, named, partial(resume_line, folder))
        model = named_again(
            folder, before.model, model, lambda: resume_line(folder, one_line(before.model))
        )
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
            f"{folder} holds a run already; choose another {option('out')}{_or_resume(folder)}"
        )
    if (folder / "samples").exists():
        raise DisorderError(
            f"{folder} holds samples of a run that has no run.json; choose another {option('out')}"
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
        run = read_run(folder)
        again = resume_command(folder, run.model, run.settings, run.transformations)
        return f", or resume it: {again}"
    except BadData as error:
        return f" (it cannot be resumed: {error})"


def _audited(
    model: Any,
    data: Any,
    chosen: Settings,
    folder: Path,
    progress: Progress | None,
    before: Run | None = None,
    turn: PromptShare | None = None,
) -> Run:
    """A run with all that belongs to it; what is there of an earlier session is kept."""
    turn = turn or PromptShare(n_left=max(1, len(chosen.prompt)))
    if before is not None and before.status == "done":
        run = before
    else:
        ready = prepared(model, data, chosen, progress, before, turn)
        run = conducted(ready, folder).placed_in(folder)
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
        turn = PromptShare(
            n_left=len(chosen.prompt) - len(runs),
            spent=total_spent(runs),
            resume_with=resume_command(folder, first.model, first.settings, first.transformations),
        )
        drawn = {name: first.settings[name] for name in ("q", "short")}
        settings = replace(chosen, prompt=[name], **drawn)
        runs.append(_audited(model, data, settings, own, progress, before, turn))
    return runs
