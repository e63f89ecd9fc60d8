"""The cost of finding families of rows, as data grows: does the time per row stay the same?

python benchmarks/family_speed.py     (CPU time; five rows per family, 20 words per text)
"""

from __future__ import annotations

import time

import numpy as np
from _measure import TOY

from disorder.data.families import find_families
from disorder.types import Example

SIZES = (200, 400) if TOY else (12_500, 25_000, 50_000, 100_000)
WORDS = np.array([f"w{i}" for i in range(20_000)])
IN_A_FAMILY = 5


def rows(n: int) -> list[Example]:
    """Families of rows with nearly the same words in other orders."""
    rng = np.random.default_rng(0)
    made = []
    for i in range(0, n, IN_A_FAMILY):
        words = rng.choice(WORDS, size=20)
        for k in range(i, i + IN_A_FAMILY):
            a, b = (" ".join(rng.permutation(words)[:19]) for _ in range(2))
            made.append(Example.of(str(k), a, b, "x"))
    return made


def main() -> None:
    per_row = []
    print("| rows | families | CPU s | ms per row |\n|---|---|---|---|")
    for n in SIZES:
        examples = rows(n)
        began = time.process_time()
        found = find_families(examples)
        seconds = time.process_time() - began
        per_row.append(1000 * seconds / n)
        print(f"| {n:,} | {found.n:,} | {seconds:.1f} | {per_row[-1]:.3f} |")
    print(f"per row, largest ÷ smallest = {per_row[-1] / per_row[0]:.2f}")


if __name__ == "__main__":
    main()
