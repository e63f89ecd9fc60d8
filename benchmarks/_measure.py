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

Arm = Callable[[], Callable[[], object]]  # prepares everything, then returns what is timed
Report = Callable[[dict[str, float], dict[str, object]], None]
TOY = "--toy" in sys.argv


def main(script: str, arms: dict[str, Arm], report: Report) -> None:
    """Time the arms and hand the medians, with what each arm returned, to `report`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--arm", choices=arms)
    parser.add_argument("--rounds", type=int, default=1 if TOY else 5)
    parser.add_argument("--toy", action="store_true")
    given = parser.parse_args()
    if given.arm:
        print(json.dumps(_timed(arms[given.arm]())))
        return
    times: dict[str, list[float]] = {name: [] for name in arms}
    facts: dict[str, object] = {}
    for number in range(given.rounds):
        for name in arms:
            seconds, facts[name] = _timed(arms[name]()) if TOY else _timed_apart(script, name)
            times[name].append(seconds)
            print(f"round {number + 1}, {name}: {seconds:.2f} s CPU", file=sys.stderr, flush=True)
    report({name: statistics.median(values) for name, values in times.items()}, facts)


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
