"""`disorder import`: evaluations that others ran, as runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli.audit import show_run
from disorder.cli.folders import new_folder
from disorder.cli.output import print_json
from disorder.requests.runs import ImportOptions, ImportOutput


def import_logs(
    logs: Annotated[
        list[Path],
        typer.Argument(help="Logs of lm-eval (--log_samples) or inspect_ai, or folders of them"),
    ],
    *,
    options: ImportOptions,
    output: ImportOutput,
) -> None:
    """Make a run of the LOGS of lm-eval or inspect_ai.

    Answers to original and perturbed texts are paired by id; nothing is predicted. Tasks that
    `disorder perturb --as` wrote say what is perturbed; else name it with --perturbed. Then
    compare, gate, plan and view work on it.
    """
    from disorder.verbs.import_logs import import_logs as read

    folder = str(output["out"] or new_folder("log", logs[0].stem))
    run = read(*logs, out=folder, **options)
    if output["as_json"]:
        print_json(run.result.as_data())
    else:
        show_run(run, folder, is_all=False)
