"""`disorder gate`: may this model ship? Rules over the scores of a run, for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli.folders import write
from disorder.cli.output import output_may_be_unread, print_json, show
from disorder.requests.runs import GateOptions, GateOutput


def gate(
    run: Annotated[Path, typer.Argument(help="Run folder")],
    *,
    options: GateOptions,
    output: GateOutput,
) -> int:
    """Fail (exit code 1) if a score of RUN is beyond a limit.

    A rule is [TRANSFORMATION:]SCORE[[GROUP]] < or > NUMBER: "skill_kept > 0.8",
    "derange:wos[needs=order] < 0.3", "original:accuracy < 0.8", "*:agreement > 0.9" (under every
    transformation). It is decided on the interval; where that includes the limit it is UNDECIDED,
    with exit code 0 unless --undecided fail. Exit code 2: bad rule, or score not measured.
    """
    from disorder.results.gate import badge_svg, junit_xml
    from disorder.results.render import render
    from disorder.verbs.gate import gate as start

    decision = start(run, output["fail_if"], **options)
    for option, path, text in (
        ("--junit", output["junit"], junit_xml),
        ("--markdown", output["markdown"], lambda found: render(found.result, "markdown")),
        ("--badge", output["badge"], badge_svg),
    ):
        if path is not None:
            write(option, Path(path), text(decision))
    with output_may_be_unread():  # the exit code is the decision, also where nobody reads it
        if output["as_json"]:
            print_json(decision.result.as_data())
        else:
            show(decision.result)
    return 0 if decision.passed else 1
