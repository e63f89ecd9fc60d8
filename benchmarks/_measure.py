"""CPU time of several contestants: each in a process of its own, several rounds in turn, medians.

With --pieces N a round is no repetition but another piece of the work (PIECE=1/N … N/N in an arm's
environment), for arms that take too long to be repeated. With --toy everything is small, in this
process and once: a test that the benchmark still runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Arm = Callable[[], Callable[[], object]]  # prepares everything, then returns what is timed
Report = Callable[[dict[str, float], dict[str, object]], None]
Timed = list[tuple[float, Any]]  # the seconds of each round and what the arm returned
TOY = "--toy" in sys.argv


def main(
    script: str,
    arms: dict[str, Arm],
    report: Report,
    of_pieces: Callable[[dict[str, Timed]], None] | None = None,
) -> None:
    """Time the arms and hand the medians, with what each arm returned, to `report`; with --pieces
    all that was timed, to `of_pieces`.

    With --state what was timed is kept in a file and not timed again, so that a long benchmark can
    be run arm by arm (--only); arms without a time are left out of the report.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--arm", choices=arms)
    parser.add_argument("--only", choices=arms, action="append")
    parser.add_argument("--rounds", type=int, default=1 if TOY else 5)
    if of_pieces:
        parser.add_argument("--pieces", type=int)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--toy", action="store_true")
    given = parser.parse_args()
    if given.arm:
        print(json.dumps(_timed(arms[given.arm]())))
        return
    n_pieces = given.pieces if of_pieces else None
    found = _kept(given.state)
    for number in range(min(given.rounds, n_pieces or given.rounds)):
        for name in given.only or arms:
            earlier = found.setdefault(name, [])
            if len(earlier) > number:
                continue
            piece = f"{number + 1}/{n_pieces}" if n_pieces else "1/1"
            timed = _timed(arms[name]()) if TOY else _timed_apart(script, name, piece, earlier)
            earlier.append(timed)
            _keep(given.state, found)
            print(f"round {number + 1}, {name}: {timed[0]:.2f} s CPU", file=sys.stderr, flush=True)
    done = {name: found[name] for name in arms if found.get(name)}
    if of_pieces and n_pieces:
        of_pieces(done)
        return
    medians = {name: statistics.median(s for s, _ in each) for name, each in done.items()}
    report(medians, {name: each[-1][1] for name, each in done.items()})


def _kept(state: Path | None) -> dict[str, Timed]:
    found: dict[str, Timed] = {}
    if state is not None and state.exists():
        found = json.loads(state.read_text())
    return found


def _keep(state: Path | None, found: dict[str, Timed]) -> None:
    if state is not None:
        state.write_text(json.dumps(found))


def _timed(work: Callable[[], object]) -> tuple[float, Any]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _timed_apart(script: str, name: str, piece: str, earlier: Timed) -> tuple[float, Any]:
    """An arm in its own process, which finds its piece, and what it returned last, in its
    environment.
    """
    last = json.dumps(earlier[-1][1] if earlier else None)
    environment = os.environ | {"PIECE": piece, "LAST": last}
    command = [sys.executable, script, "--arm", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")
    seconds, fact = json.loads(done.stdout.strip().splitlines()[-1])
    return seconds, fact
