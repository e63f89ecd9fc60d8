"""`disorder check`: is this model as it should be, and no worse than the last one? For CI."""

from __future__ import annotations

from pathlib import Path

from disorder.cli import options as o
from disorder.cli.folders import new_folder, write
from disorder.cli.output import output_may_be_unread, print_json, show
from disorder.requests.audit import AuditOptions
from disorder.requests.runs import CheckOutput


def check(
    model: o.SomeModel, data: o.SomeData, *, options: AuditOptions, output: CheckOutput
) -> int:
    """Audit MODEL on DATA, compare it with the last run, and decide rules: one summary for CI.

    Exit code 1 where a rule of --fail-if fails, or where the model is shown to be worse than in the
    last run on this data: less accurate, or with more of its skill left without word order.
    """
    from disorder.cli.progress import Bar, News
    from disorder.results.gate import badge_svg, junit_xml
    from disorder.results.render import render
    from disorder.verbs.check import check as start

    against = output["against"]
    is_run = against is not None and (Path(against) / "run.json").is_file()
    home = "runs" if against is None or is_run else str(against)
    folder = output["out"] or str(new_folder(model, data, home))
    News.show()
    with Bar() as bar:
        found = start(model, data, against=against or home, out=folder, progress=bar, **options)
    for name, path, text in (
        ("--junit", output["junit"], junit_xml(found.decision)),
        ("--markdown", output["markdown"], render(found.result, "markdown")),
        ("--badge", output["badge"], badge_svg(found.decision)),
    ):
        if path is not None:
            write(name, Path(path), text)
    with output_may_be_unread():  # the exit code is the decision, also where nobody reads it
        if output["as_json"]:
            print_json(found.result.as_data())
        else:
            show(found.result, [f"Report: {folder}/report.html"])
    return 0 if found.passed else 1
