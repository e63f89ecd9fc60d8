"""`disorder audit`: does this model read, or only count words?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from disorder.cli import options as o
from disorder.cli.output import console as new_console
from disorder.cli.output import output_may_be_unread, print_json, print_text
from disorder.cli.resuming import resumable, resume_command

if TYPE_CHECKING:
    from disorder.runs import Run

QUICK = 1000  # examples of the built-in data when no data is named
# options that are no settings of an audit
OUTSIDE = ("model", "data", "out", "resume", "profile", "as_json", "dry_run")
# options that a resumed run does not take from its folder
NAMED_AGAIN = ("address", "base_url", "cache", "with_", "prompt")


def audit(
    model: o.ModelOrUsual = None,
    data: o.Data = None,
    suite: o.Suite = "order",
    with_: o.With = None,
    q: o.Q = 100,
    seed: o.Seed = 0,
    limit: o.Limit = None,
    out: o.Out = None,
    resume: o.Resume = None,
    fidelity: o.Fidelity = "paper",
    short: o.Short = "skip",
    score: o.ScoreName = None,
    omega: o.Omega = "",
    curtail: o.Curtail = False,
    stop_when: o.StopWhen = None,
    columns: o.Columns = "",
    labels: o.Labels = "",
    group_by: o.GroupBy = None,
    task: o.TaskName = None,
    language: o.Language = "auto",
    data_dir: o.DataDir = None,
    batch_size: o.BatchSize = None,
    precision: o.Precision = "fp32",
    agree: o.Agree = 0.995,
    engine: o.Engine = "local",
    address: o.Address = None,
    workers: o.Workers = None,
    cache: o.CacheFolder = None,
    reads_below: o.ReadsBelow = 0.2,
    bag_above: o.BagAbove = 0.8,
    least_skill: o.LeastSkill = 0.1,
    prompt: o.Prompt = None,
    shots: o.Shots = 0,
    shots_from: o.ShotsFrom = None,
    label_words: o.LabelWords = "",
    option_orders: o.OptionOrders = 1,
    calibrate: o.Calibrate = None,
    chat: o.Chat = "auto",
    break_: o.Break = "text",
    base_url: o.BaseUrl = None,
    answers: o.Answers = None,
    no_answer: o.NoAnswer = "skip",
    max_connections: o.MaxConnections = None,
    timeout: o.Timeout = None,
    max_retries: o.MaxRetries = None,
    price_in: o.PriceIn = None,
    price_out: o.PriceOut = None,
    max_questions: o.MaxQuestions = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    fail_if: o.FailIf = None,
    dry_run: o.DryRun = False,
    profile: o.Profile = False,
    as_json: o.Json = False,
) -> int:
    """Does MODEL read DATA, or only count its words?

    Perturbs the words in controlled ways, predicts again, and says with intervals how much of the
    model's skill survives. Without arguments: the built-in model on 1,000 of the built-in examples,
    offline, in seconds.
    """
    options = dict(locals())
    settings = {name: v for name, v in options.items() if name not in OUTSIDE and v is not None}
    if data is None and limit is None:
        settings["limit"] = QUICK
    named = model or "builtin"
    if dry_run:
        return _previewed(named, data or "builtin", settings)
    folder = resume or out or str(o.new_folder(named, data or "builtin"))
    if resume is None:
        run = _audited(named, data or "builtin", folder, settings)
    else:
        again = {name: options[name] for name in NAMED_AGAIN if options[name]}
        run = _resumed(folder, model, data, again)
    if as_json:
        print_json(run.model_dump())
    else:
        from disorder.report.terminal import show

        show(run, new_console(), folder=folder, profile=profile)
    return _ruled(run, is_shown=not as_json) if run.gate else 0


def _ruled(run: Run, *, is_shown: bool) -> int:
    """Print the decision of --fail-if; exit code 1 where it failed."""
    from disorder.report.gate import lines
    from disorder.runs.decision import Decision

    decision = Decision.model_validate(run.gate)
    with output_may_be_unread():
        for line in lines(decision) if is_shown else ():
            print_text(line)
    return 0 if decision.passed else 1


def _previewed(model: str, data: str, settings: dict[str, Any]) -> int:
    """Print which model calls an audit would make."""
    from disorder.verbs.audit import preview

    for line in preview(model, data, **settings).lines():
        print_text(line)
    return 0


def _audited(model: str, data: str, folder: str, settings: dict[str, Any]) -> Run:
    from disorder.cli.progress import Bar, News
    from disorder.verbs.audit import audit as start

    News.show()
    with resumable(folder, "run.json", _resume_command(folder, model, settings)), Bar() as bar:
        return start(model, data, out=folder, progress=bar, **settings)


def _resumed(folder: str, model: str | None, data: str | None, again: dict[str, Any]) -> Run:
    """The run in a folder, resumed; the model is what the user named again, if anything."""
    from disorder.cli.progress import Bar, News
    from disorder.verbs.audit import resume

    News.show()
    with resumable(folder, "run.json", _resume_command(folder, model or "", again)), Bar() as bar:
        return resume(folder, model=model, data=data, progress=bar, **again)


def _resume_command(folder: str, model: str, given: dict[str, Any]) -> str:
    """What to type to resume; what a folder may not say is said again."""
    from disorder.verbs.model_loading import must_be_named
    from disorder.verbs.prompting import prompt_files

    words = [model] if must_be_named(model) else []
    for name in ("address", "base_url"):
        if given.get(name):
            words += [f"--{name.replace('_', '-')}", str(given[name])]
    for name in prompt_files(given.get("prompt") or ()):
        words += ["--prompt", name]
    return resume_command("audit", folder, *words)
