"""`disorder report`: show a finished run again, and draw its page again."""

from __future__ import annotations

from typing import Annotated

import typer

from disorder.cli.output import console as new_console


def report(
    run: Annotated[str, typer.Argument(help="Run folder, or its address on shared storage")],
) -> None:
    """Show RUN again and redraw its report.html."""
    from disorder.report.page import write_report
    from disorder.report.terminal import show
    from disorder.runs import place, read_run

    folder = place(run)
    found = read_run(folder)
    found.check_done()
    write_report(folder, found)
    show(found, new_console(), folder=str(run))
