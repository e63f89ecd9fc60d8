"""Commands in forked processes: no start-up to pay, killed at a moment of their own CPU time.

The kernel ends a process by its timer of CPU time (SIGPROF, which nothing catches), so the moments
are spread over the work however busy the machine is. A process hangs when it sleeps for five
seconds and neither it nor a child uses the CPU: one that waits for a core, or for the disk, does
not.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HANG = 5.0  # seconds asleep
MOST_CPU = 120  # seconds of CPU time: a loop that does not end
LOOK_EVERY = 0.25  # seconds


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, or minus the signal; and the CPU time that it took."""

    code: int
    seconds: float


class Hung(AssertionError):
    """A process that sleeps and does nothing."""


def forked(
    words: list[str],
    log: Path,
    *,
    err: Path | None = None,
    cwd: Path | None = None,
    dies_after: float | None = None,
) -> Ended:
    """Run a command to its end in a forked process; what it prints goes to `log`, or standard error
    to `err`.
    """
    pid = os.fork()
    if not pid:
        _be_a_command(words, [log, err or log], cwd, dies_after)
    return waited(pid)


def print_to(logs: list[Path]) -> None:
    """Let standard output and standard error of this process go to files."""
    for number, log in enumerate(logs, start=1):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False)


def _be_a_command(
    words: list[str], logs: list[Path], cwd: Path | None, dies_after: float | None
) -> None:
    code = 70
    try:
        warnings.simplefilter("ignore")
        for log in logs:
            log.unlink(missing_ok=True)
        print_to(logs)
        if cwd is not None:
            os.chdir(cwd)
            sys.path.insert(0, str(cwd))  # as `python -m disorder` does
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if dies_after is not None:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, max(dies_after, 1e-4))
        from disorder.cli import main

        main(words)
        code = 0
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    finally:
        with suppress(OSError, ValueError):  # the command may have closed them
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def waited(pid: int) -> Ended:
    """Wait for a process; one that hangs is ended and raises `Hung`."""
    asleep_since = None
    used = -1.0
    looked = time.monotonic()
    while True:
        found, status, usage = os.wait4(pid, os.WNOHANG)
        if found:
            return Ended(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)
        time.sleep(0.002)
        now = time.monotonic()
        if now - looked < LOOK_EVERY:
            continue
        looked = now
        is_asleep, cpu = _activity(pid)
        if not is_asleep or cpu != used:
            asleep_since, used = now, cpu
        elif asleep_since is not None and now - asleep_since > HANG:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise Hung(f"process {pid} slept for {HANG:g} s")


def _activity(pid: int) -> tuple[bool, float]:
    """Whether all threads of a process and of its children sleep, and the CPU time they used."""
    states = set()
    used = 0.0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            states.add(fields[0])
            used += float(fields[11]) + float(fields[12])
            for child in (task / "children").read_text().split():
                is_asleep, more = _activity(int(child))
                states.add("S" if is_asleep else "R")
                used += more
    return states == {"S"}, used


def preload(words: list[str], log: Path) -> None:
    """Import here what a command imports, so that its forked processes need not."""
    names = log.with_suffix(".modules")
    pid = os.fork()
    if not pid:
        try:
            print_to([log, log])
            from disorder.cli import main

            with suppress(SystemExit):
                main(words)
            names.write_text("\n".join(sys.modules))
        finally:
            os._exit(0)
    waited(pid)
    for name in names.read_text().splitlines():
        if name not in sys.modules and not name.startswith("__"):
            with suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(name)
