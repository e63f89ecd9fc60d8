"""`disorder audit`: does this model read, or only count words?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from disorder.cli import options as o
from disorder.cli.folders import new_folder, resumable
from disorder.cli.output import output_may_be_unread, print_json, print_text, show
from disorder.requests.audit import AuditOptions, AuditOutput, ResumeOptions
from disorder.requests.option import command_line, declared_in

if TYPE_CHECKING:
    from disorder.results.run import Run

QUICK = 1000  # examples of the built-in data when no data is named


def audit(
    model: o.ModelOrUsual = None,
    data: o.Data = None,
    *,
    options: AuditOptions,
    output: AuditOutput,
) -> int:
    """Does MODEL read DATA, or only count its words?

    Perturbs the words in controlled ways, predicts again, and says with intervals how much of the
    model's skill survives. Without arguments: a demo of models whose answer is known, offline, in
    seconds.
    """
    if model is None and data is None and not options and not any(output.values()):
        from disorder.cli.demo import demo

        return demo()
    if data is None and "limit" not in options:
        options["limit"] = QUICK
    named = model or "builtin"
    if output["dry_run"]:
        return _previewed(named, data or "builtin", options)
    resumed = output["resume"]
    folder = resumed or output["out"] or str(new_folder(named, data or "builtin"))
    if resumed is None:
        run = _audited(named, data or "builtin", folder, options)
        if data is None:
            print_text("no data named: the built-in data is used", is_error=True)
    else:
        run = _resumed(folder, model, data, options)
    from disorder.results.run_tables import spent

    if output["as_json"]:
        print_json(run.result.as_data())
    else:
        show_run(run, folder, is_all=output["every"])
        if output["profile"]:
            print_text("\n".join(spent(run)))
    return _ruled(run, is_shown=not output["as_json"]) if run.gate else 0


def show_run(run: Run, folder: str, *, is_all: bool) -> None:
    """Print a run on one screen, or all of it."""
    written = [f"Report: {folder}/report.html"]
    if not is_all:
        written.append(f"everything else: {command_line('report', folder, '--all')}")
    show(run.result, written, is_all=is_all)


def _ruled(run: Run, *, is_shown: bool) -> int:
    """Print the decision of --fail-if; exit code 1 where it failed."""
    from disorder.results.gate import Decision

    decision = Decision.model_validate(run.gate)
    with output_may_be_unread():
        if is_shown:  # what the audit concludes stands above it
            show(replace(decision.result, lead=[], caveats=[]))
    return 0 if decision.passed else 1


def _previewed(model: str, data: str, options: AuditOptions) -> int:
    """Print which model calls an audit would make."""
    from disorder.verbs.audit import preview

    for line in preview(model, data, **options).lines():
        print_text(line)
    return 0


def _audited(model: str, data: str, folder: str, options: AuditOptions) -> Run:
    from disorder.cli.progress import Bar, News
    from disorder.verbs.audit import audit as start
    from disorder.verbs.model_loading import resume_command

    News.show()
    command = partial(resume_command, folder, model, options, options.get("with_") or ())
    with resumable(folder, "run.json", command), Bar() as bar:
        return start(model, data, out=folder, progress=bar, **options)


def _resumed(folder: str, model: str | None, data: str | None, options: AuditOptions) -> Run:
    """The run in a folder, resumed; the model is what the user named again, if anything."""
    from disorder.cli.progress import Bar, News
    from disorder.verbs.audit import resume
    from disorder.verbs.model_loading import resume_command

    again = cast(
        "ResumeOptions", {k: v for k, v in options.items() if k in declared_in(ResumeOptions)}
    )
    News.show()
    command = partial(resume_command, folder, model or "", options, options.get("with_") or ())
    with resumable(folder, "run.json", command), Bar() as bar:
        return resume(folder, model=model, data=data, progress=bar, **again)
