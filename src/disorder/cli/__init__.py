"""The command line: one thin file per verb.

The user's mistake is one line and exit code 2; anything else is our bug, and exit code 3.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

import typer
from typer.core import TyperGroup

from disorder import __version__
from disorder.cli import (
    audit,
    compare,
    explain,
    folders,
    gate,
    human,
    import_logs,
    perturb,
    plan,
    report,
    sanity,
    train,
    view,
)
from disorder.cli import list as list_verb
from disorder.cli.commands import AllCommands, Commands
from disorder.cli.output import (
    degrade_streams,
    open_missing_streams,
    print_text,
    silence_output,
)
from disorder.errors import CannotWrite, DisorderError, naming_options
from disorder.safe_io import one_line

app = Commands(
    name="disorder",
    cls=AllCommands,
    help="Does your model read, or does it only count words?",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(
    "audit",
    examples=(
        "disorder audit hf:FOLDER data.jsonl --with derange --limit 500",
        "disorder audit openai:NAME data.jsonl --base-url http://127.0.0.1:8080/v1",
    ),
)(audit.audit)
app.command(
    "plan",
    examples=(
        "disorder plan hf:FOLDER data.jsonl --width 0.02",
        "disorder plan openai:NAME data.jsonl --price-in 0.5 --price-out 1.5",
    ),
)(plan.plan)
app.command(
    "perturb",
    examples=(
        "disorder perturb data.jsonl --with derange --q 5 --out shuffled.jsonl",
        "disorder perturb mnli:matched --suite order --as lm-eval --out task",
    ),
)(perturb.perturb)
app.command(
    "explain",
    examples=(
        "disorder explain hf:FOLDER data.jsonl --by overlap --by lime",
        "disorder explain hf:FOLDER data.jsonl --beside hf:OTHER",
    ),
)(explain.explain)
app.command("list")(list_verb.list_parts)
app.command(
    "sanity",
    examples=(
        "disorder sanity data.jsonl --train train.jsonl",
        "disorder sanity mnli:matched --check order --check words",
    ),
)(sanity.sanity)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("gate")(gate.gate)
app.command(
    "import",
    examples=(
        "disorder import results/MODEL --out run",
        "disorder import plain.eval --perturbed derange=shuffled.eval --inspect .venv/bin/inspect",
    ),
)(import_logs.import_logs)
app.command(
    "check",
    examples=(
        'disorder check hf:FOLDER data.jsonl --fail-if "skill_kept > 0.8" --junit check.xml',
        "disorder check model.py:predict data.csv --against runs/accepted",
    ),
)(gate.check)
app.command("view")(view.view)
app.command("board")(compare.board)
app.add_typer(human.app, name="human")
app.command(
    "train",
    examples=(
        "disorder train plain train.jsonl --model hf:FOLDER --set epochs=3",
        "disorder train max_entropy mnli:train --model bilstm --with derange",
    ),
)(train.train)


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"disorder {__version__}")
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
            name: group.commands[name].get_short_help_str(200)
            for name in group.list_commands(context)
        }
        print_text(welcome(__version__, summaries), end="")


COMPLETE = "_DISORDER_COMPLETE"  # what a shell sets when it asks for completions
COMPLETION = {"--install-completion", "--show-completion"}
DONE = 0
OURS = 3  # the exit code of a bug
MISTAKE = 2
INTERRUPTED = 130
BUG = "this looks like a bug in disorder; please report it with the lines above"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a gate failed, 2 the user's mistake or unusable
    input, 3 our bug, 130 interrupted.
    """
    if os.environ.get(COMPLETE) or COMPLETION & {*(sys.argv[1:2] if arguments is None else ())}:
        app(prog_name="disorder")  # typer's own way, which ends the process
    _take_termination_for_an_interrupt()
    open_missing_streams()
    degrade_streams()
    folders.start(arguments)
    try:
        code = _run(arguments)
    finally:
        folders.remove_empty_folders()
    sys.exit(code)


def _take_termination_for_an_interrupt() -> None:
    """SIGTERM, which schedulers and containers send before they kill, stops a command as Ctrl-C
    does, unless whoever started it had it ignored.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _run(arguments: list[str] | None) -> int:
    """Run a command and give its exit code; no other place decides on one, but `gate` on 1."""
    try:
        code = _called(arguments)
        sys.stdout.flush()
        return code
    except (DisorderError, typer.TyperException) as error:
        told = _said(error) if isinstance(error, typer.TyperException) else str(error)
        return _fail(told, folders.advice() if isinstance(error, CannotWrite) else "")
    except (KeyboardInterrupt, typer.Abort):
        print_text(f"\nstopped; {folders.advice() or folders.AGAIN}", is_error=True)
        # Where the interrupt came while a string was executed (as dataclasses do), CPython ends
        # `python -m disorder` by the signal, whatever the exit code, unless another is executed.
        exec("")
        return INTERRUPTED
    except BrokenPipeError:  # nobody reads on, as in `disorder list | head`
        silence_output()
        return DONE
    except MemoryError:
        return _fail("not enough memory; use fewer examples (--limit) or a smaller --q")
    except OSError as error:
        if error.errno is None:
            return _bug()
        where = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"{where}{error.strerror}", folders.advice())
    except BaseException:  # a library that calls sys.exit or panics, too: 1 would mean a gate
        return _bug()


def _said(error: typer.TyperException) -> str:
    """A mistake on the command line; with the usage where an argument is missing."""
    told = str(error.format_message())
    context = getattr(error, "ctx", None)
    if type(error).__name__ != "MissingParameter" or context is None:
        return told
    return f"{told} {context.get_usage()}"


def _called(arguments: list[str] | None) -> int:
    """Call the command without typer's own `main`, which takes a closed pipe for exit code 1 and
    says nothing on an interrupt.
    """
    command = typer.main.get_command(app)
    given = sys.argv[1:] if arguments is None else arguments
    try:
        with naming_options(), command.make_context("disorder", [*given]) as context:
            code = command.invoke(context)
    except typer.Exit as stopped:
        return int(stopped.exit_code)
    return code if isinstance(code, int) else DONE


def _bug() -> int:
    import traceback

    print_text(traceback.format_exc(), is_error=True)
    print_text(f"disorder: {BUG}", is_error=True)
    return OURS


def _fail(message: str, advice: str = "") -> int:
    told = f"{message}; {advice}" if advice else message
    print_text(f"disorder: {one_line(told)}", is_error=True)
    return MISTAKE
