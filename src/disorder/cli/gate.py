"""`disorder gate`: may this model ship? Rules over the scores of a run, for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disorder.cli.files import write
from disorder.cli.output import output_may_be_unread, print_json, print_text


def gate(
    run: Annotated[Path, typer.Argument(help="Run folder")],
    fail_if: Annotated[
        list[str] | None, typer.Option(help='Rule, e.g. "skill_kept > 0.8"; can be repeated')
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            help="What must lie beyond the limit to fail: the entire interval (sure), the value "
            "(value), any part of the interval (doubt)"
        ),
    ] = "sure",
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit XML file")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write a summary for a pull request")
    ] = None,
    badge: Annotated[Path | None, typer.Option(help="Write an SVG badge")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the decision as JSON and nothing else")
    ] = False,
) -> int:
    """Fail (exit code 1) if a score of RUN is beyond a limit.

    A rule is [TRANSFORMATION:]SCORE[[GROUP]] < or > NUMBER: "skill_kept > 0.8",
    "derange:wos[needs=order] < 0.3", "original:accuracy < 0.8", "*:agreement > 0.9" (under every
    transformation). It is decided on the interval, see --on. Exit code 2: a rule cannot be decided
    (bad rule, score not measured).
    """
    from disorder.report.badge import svg
    from disorder.report.gate import junit_xml, lines, notes, summary
    from disorder.verbs.gate import gate as start

    decision = start(run, fail_if or (), on=on)
    for option, path, text in (
        ("--junit", junit, junit_xml),
        ("--markdown", markdown, summary),
        ("--badge", badge, svg),
    ):
        if path is not None:
            write(option, path, text(decision))
    with output_may_be_unread():  # the exit code is the decision, also where nobody reads it
        if as_json:
            print_json(decision.model_dump())
        else:
            for line in lines(decision):
                print_text(line)
            for line in notes(decision):
                print_text(line, is_error=True)
    return 0 if decision.passed else 1
