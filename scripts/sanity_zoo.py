"""How often `disorder sanity` is wrong about datasets whose answers are known.

python scripts/sanity_zoo.py [N_SEEDS [ROWS …]]     (datasets of tests/verbs/sanity/made_data.py)
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "verbs" / "sanity"))
from made_data import ZOO

import disorder

CHECKS = ["labels", "order", "texts", "baselines", "words"]
SIZES = (300, 3000)


def outcomes(name: str, n: int, n_seeds: int) -> Counter[str]:
    """How many verdicts are right, undecided or false, over so many draws of a dataset."""
    known = ZOO[name]
    counts: Counter[str] = Counter()
    for seed in range(n_seeds):
        found = disorder.sanity(known.rows(n, seed), check=CHECKS, seed=seed)
        for verdict in found.verdicts:
            if verdict.question in known.answers:
                kind = known.judged(verdict.question, verdict.answer, n)
                counts[kind] += 1
                if kind == "false":
                    print(f"{name}, {n} rows, seed {seed}: {verdict.line}", file=sys.stderr)
    return counts


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    sizes = [int(word) for word in sys.argv[2:]] or SIZES
    print("| dataset | rows | verdicts | right | undecided | false |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in ZOO:
        for n in sizes:
            counts = outcomes(name, n, n_seeds)
            total = counts.total()
            shares = " | ".join(f"{counts[k] / total:.3f}" for k in ("right", "undecided", "false"))
            print(f"| {name} | {n:,} | {total} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
