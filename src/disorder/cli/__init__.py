"""The command line: one thin file per verb.

The user's mistake is one line and exit code 2; anything else is our bug.
"""

from __future__ import annotations

import os
import sys

import typer
from typer.core import TyperGroup

from disorder import __version__
from disorder.cli import (
    audit,
    board,
    compare,
    designs,
    explain,
    gate,
    human,
    mitigations,
    perturb,
    plan,
    report,
    sanity,
    study,
    train,
    view,
)
from disorder.cli import list as list_verb
from disorder.errors import DisorderError, naming_options

app = typer.Typer(
    name="disorder",
    help="Does your model read, or does it only count words?",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("audit")(audit.audit)
app.command("plan")(plan.plan)
app.command("perturb")(perturb.perturb)
app.command("explain")(explain.explain)
app.command("list")(list_verb.list_parts)
app.command("sanity")(sanity.sanity)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("gate")(gate.gate)
app.command("view")(view.view)
app.command("board")(board.board)
app.add_typer(human.app, name="human")
app.command("train")(train.train)
app.command("designs")(designs.designs)
app.command("mitigations")(mitigations.mitigations)
app.command("study")(study.study)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"disorder {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Does your model read, or does it only count words?"""
    if context.invoked_subcommand is None:
        from disorder.cli.welcome import welcome

        group = context.command
        assert isinstance(group, TyperGroup)
        summaries = {
            name: command.get_short_help_str(200) for name, command in group.commands.items()
        }
        sys.stdout.write(welcome(__version__, summaries))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    try:
        with naming_options():
            code = app(arguments, standalone_mode=False)
    except DisorderError as error:
        _fail(str(error))
    except typer.TyperException as error:
        _fail(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        print("\nstopped", file=sys.stderr)  # noqa: T201
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    line = " ".join(message.split())
    print(f"disorder: {line}", file=sys.stderr)  # noqa: T201
    sys.exit(2)
