"""Time and memory of an audit as data and q grow: time should lie on a line with the number of
model calls, memory should not grow.

python benchmarks/scale.py     (the built-in model; each size in a process of its own)
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from _measure import TOY

SIZES = [(500, 100), (1000, 100), (2000, 100), (4000, 100), (1000, 25), (1000, 50), (1000, 200)]
TOY_SIZES = [(20, 2), (40, 4)]


def one(n_examples: int, q: int) -> tuple[float, float]:
    """CPU seconds of one audit, and the process's peak memory in MB."""
    from disorder.verbs.audit import audit

    with tempfile.TemporaryDirectory() as folder:
        audit("builtin", "builtin", limit=10, q=2, with_=["derange"])
        began = time.process_time()
        audit(
            "builtin",
            "builtin",
            limit=n_examples,
            q=q,
            with_=["derange"],
            out=f"{folder}/run",
        )
        took = time.process_time() - began
    return took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one_apart(n_examples: int, q: int) -> tuple[float, float]:
    command = [sys.executable, __file__, "--one", str(n_examples), str(q)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    took, peak = json.loads(done.stdout.splitlines()[-1])
    return took, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", type=int, nargs=2, metavar=("EXAMPLES", "Q"))
    parser.add_argument("--toy", action="store_true")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(*given.one)))
        return
    rows = []
    print("| examples | q | model calls | CPU s | peak MB |\n|---|---|---|---|---|")
    for n_examples, q in TOY_SIZES if TOY else SIZES:
        took, peak = one(n_examples, q) if TOY else one_apart(n_examples, q)
        n_calls = n_examples * q
        rows.append((n_calls, took, peak))
        print(f"| {n_examples:,} | {q} | {n_calls:,} | {took:.1f} | {peak:.0f} |", flush=True)
    calls, seconds, peaks = (np.array(column) for column in zip(*rows, strict=True))
    r2 = np.corrcoef(calls, seconds)[0, 1] ** 2
    growth = peaks.max() / peaks.min()
    print(f"time against model calls: R² = {r2:.4f}")
    print(f"peak memory: largest ÷ smallest = {growth:.3f}")


if __name__ == "__main__":
    main()
