"""Do time and memory grow as they should? Time on a line with the number of questions, memory not
at all.

python benchmarks/scale.py     (the built-in model; each size in a process of its own)
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

SIZES = [(500, 100), (1000, 100), (2000, 100), (4000, 100), (1000, 25), (1000, 50), (1000, 200)]


def one(n_examples: int, q: int) -> None:
    import tempfile

    from disorder.verbs.audit.pipeline import audit

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
    print(json.dumps([took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        one(int(sys.argv[1]), int(sys.argv[2]))
        sys.exit()
    rows = []
    print("| examples | q | questions | CPU s | peak MB |\n|---|---|---|---|---|")
    for n_examples, q in SIZES:
        command = [sys.executable, sys.argv[0], str(n_examples), str(q)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        took, peak = json.loads(done.stdout.splitlines()[-1])
        rows.append((n_examples * q, took, peak))
        print(
            f"| {n_examples:,} | {q} | {n_examples * q:,} | {took:.1f} | {peak:.0f} |", flush=True
        )
    x, y, peaks = (np.array(column) for column in zip(*rows, strict=True))
    r2 = np.corrcoef(x, y)[0, 1] ** 2
    print(
        f"time against questions: R² = {r2:.4f}; peak memory: largest ÷ smallest = {peaks.max() / peaks.min():.3f}"
    )
