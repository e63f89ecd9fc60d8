"""The same audit a second time, with the prediction cache.

python benchmarks/again.py     (MODEL and DATA as for audit_speed.py; wall time, median of 5; each
round starts with an empty cache)
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import replace

from _measure import TOY
from audit_speed import MODEL, Q, dataset

from disorder.verbs.audit import audit

ROUNDS = 1 if TOY else 5
N_PAIRS = 30


def main() -> None:
    data = dataset()
    data = replace(data, examples=data.examples[:N_PAIRS])
    ratios = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as cache:
            first = audit(f"hf:{MODEL}", data, with_=["derange"], q=Q, cache=cache)
            second = audit(f"hf:{MODEL}", data, with_=["derange"], q=Q, cache=cache)
        assert second.n_predictions == 0
        ratios.append(first.seconds / second.seconds)
        print(f"first {first.seconds:.2f} s, again {second.seconds:.2f} s", flush=True)
    print(f"again is {statistics.median(ratios):.0f} × faster (model loaded)")


if __name__ == "__main__":
    main()
