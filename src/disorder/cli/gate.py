"""For CI. `disorder gate`: may this model ship? Rules over the scores of a run.
`disorder check`: is this model as it should be, and no worse than the last one?
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disorder.cli import options as o
from disorder.cli.folders import new_folder, write
from disorder.cli.output import output_may_be_unread, print_json, show
from disorder.requests.audit import AuditOptions
from disorder.requests.runs import CheckOutput, GateOptions, GateOutput

if TYPE_CHECKING:
    from disorder.results.gate import Decision
    from disorder.results.result import Result


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
    from disorder.verbs.gate import gate as start

    decision = start(run, output["fail_if"], **options)
    return _told(decision.result, decision, output, is_passed=decision.passed)


def check(
    model: o.SomeModel, data: o.SomeData, *, options: AuditOptions, output: CheckOutput
) -> int:
    """Audit MODEL on DATA, compare it with the last run, and decide rules: one summary for CI.

    Exit code 1 where a rule of --fail-if fails, or where the model is shown to be worse than in the
    last run on this data: less accurate, or with more of its skill left without word order.
    """
    from disorder.cli.progress import Bar, News
    from disorder.verbs.check import check as start

    against = output["against"]
    is_run = against is not None and (Path(against) / "run.json").is_file()
    home = "runs" if against is None or is_run else str(against)
    folder = output["out"] or str(new_folder(model, data, home))
    News.show()
    with Bar() as bar:
        found = start(model, data, against=against or home, out=folder, progress=bar, **options)
    report = f"Report: {folder}/report.html"
    return _told(found.result, found.decision, output, report, is_passed=found.passed)


def _told(
    result: Result,
    decision: Decision,
    output: GateOutput | CheckOutput,
    *lines: str,
    is_passed: bool,
) -> int:
    """Write the files for CI, show the result, and give the exit code."""
    from disorder.results.gate import badge_svg, junit_xml
    from disorder.results.render import render

    for option, path, text in (
        ("--junit", output["junit"], partial(junit_xml, decision)),
        ("--markdown", output["markdown"], partial(render, result, "markdown")),
        ("--badge", output["badge"], partial(badge_svg, decision)),
    ):
        if path is not None:
            write(option, Path(path), text())
    with output_may_be_unread():  # the exit code is the decision, also where nobody reads it
        if output["as_json"]:
            print_json(result.as_data())
        else:
            show(result, lines)
    return 0 if is_passed else 1
