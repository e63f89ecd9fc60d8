"""CPU time of several contestants: each in a process of its own, several rounds in turn, medians.

With --toy everything is small, in this process and once: a test that the benchmark still runs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

Arm = Callable[[], Callable[[], object]]  # prepares everything, then returns what is timed
Report = Callable[[dict[str, float], dict[str, object]], None]
TOY = "--toy" in sys.argv


def main(script: str, arms: dict[str, Arm], report: Report) -> None:
    """Time the arms and hand the medians, with what each arm returned, to `report`.

    With --state what was timed is kept in a file and not timed again, so that a long benchmark can
    be run arm by arm (--only); arms without a time are left out of the report.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--arm", choices=arms)
    parser.add_argument("--only", choices=arms, action="append")
    parser.add_argument("--rounds", type=int, default=1 if TOY else 5)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--toy", action="store_true")
    given = parser.parse_args()
    if given.arm:
        print(json.dumps(_timed(arms[given.arm]())))
        return
    found = _kept(given.state)
    for number in range(given.rounds):
        for name in given.only or arms:
            if len(found.get(name, [])) > number:
                continue
            timed = _timed(arms[name]()) if TOY else _timed_apart(script, name)
            found.setdefault(name, []).append(timed)
            _keep(given.state, found)
            print(f"round {number + 1}, {name}: {timed[0]:.2f} s CPU", file=sys.stderr, flush=True)
    done = {name: found[name] for name in arms if name in found}
    medians = {name: statistics.median(s for s, _ in each) for name, each in done.items()}
    report(medians, {name: each[-1][1] for name, each in done.items()})


def _kept(state: Path | None) -> dict[str, list[tuple[float, object]]]:
    found: dict[str, list[tuple[float, object]]] = {}
    if state is not None and state.exists():
        found = json.loads(state.read_text())
    return found


def _keep(state: Path | None, found: dict[str, list[tuple[float, object]]]) -> None:
    if state is not None:
        state.write_text(json.dumps(found))


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _timed_apart(script: str, name: str) -> tuple[float, object]:
    command = [sys.executable, script, "--arm", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")
    seconds, fact = json.loads(done.stdout.strip().splitlines()[-1])
    return seconds, fact
