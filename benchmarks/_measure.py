"""Run each contestant in a process of its own, several times in turn, and compare medians of CPU
time.
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


def main(
    script: str, arms: dict[str, Arm], report: Callable[[dict[str, float], dict[str, object]], None]
) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--arm", choices=arms)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if given.arm:
        print(json.dumps(_timed(arms[given.arm]())))
        return
    times: dict[str, list[float]] = {name: [] for name in arms}
    facts: dict[str, object] = {}
    for number in range(given.rounds):
        for name in arms:
            done = subprocess.run(
                [sys.executable, script, "--arm", name], capture_output=True, text=True, check=True
            )
            seconds, facts[name] = json.loads(done.stdout.strip().splitlines()[-1])
            times[name].append(seconds)
            print(f"round {number + 1}, {name}: {seconds:.2f} s CPU", file=sys.stderr, flush=True)
    report({name: statistics.median(values) for name, values in times.items()}, facts)


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result
