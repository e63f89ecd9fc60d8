"""What does the same audit cost a second time, with the prediction cache?

python benchmarks/again.py     (wall time, median of 5; each round starts with an empty cache)
"""

from __future__ import annotations

import statistics
import tempfile

from audit_speed import MODEL, dataset

from disorder.verbs.audit.pipeline import audit

ROUNDS, PAIRS, Q = 5, 30, 100

if __name__ == "__main__":
    data = dataset()
    data = type(data)(data.name, data.task, data.examples[:PAIRS], {}, data.fingerprint)
    ratios = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as cache:
            times = []
            for _ in range(2):
                run = audit(f"hf:{MODEL}", data, with_=["derange"], q=Q, cache=cache)
                times.append(run.seconds)
            assert run.n_predictions == 0
            ratios.append(times[0] / times[1])
            print(f"first {times[0]:.2f} s, again {times[1]:.2f} s", flush=True)
    print(
        f"again is {statistics.median(ratios):.0f} × faster (the whole audit, once the model is loaded)"
    )
