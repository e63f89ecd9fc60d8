"""Count the sentences of a dev set in which two nouns can be swapped, by each of the three choices.

    python scripts/count_noun_swaps.py DATA_FOLDER cola rte mrpc sst2 stsb qnli

Counted over the examples that pass the first filter of Out of Order's released code (Table A4, step
1).
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

from disorder.data import read_data
from disorder.errors import DoesNotApply
from disorder.metrics.wos import is_simple
from disorder.transformations import parse
from disorder.types import Task, Variants


def choice_of(variants: Variants | DoesNotApply, task: Task) -> str:
    """Which choice gave the pair."""
    if isinstance(variants, DoesNotApply):
        return "none"
    rows = variants.sides[0 if task.breaks == "a" else 1]
    moved = rows.positions[0] != np.arange(len(rows.sentence))
    tags = set(rows.sentence.tags[moved].tolist())
    return "proper" if tags == {"PROPN"} else "nouns" if tags <= {"NOUN", "PROPN"} else "heads"


def main(folder: str, names: list[str]) -> None:
    swap = parse("swap_nouns")
    print("set\tdev\tstep 1\tproper\tnouns\theads\tnone")
    for name in names:
        dataset = read_data(f"{folder}/{name}/dev.jsonl.gz", task=name)
        task = dataset.task
        texts = [(e, e.text_a if task.breaks == "a" else str(e.text_b)) for e in dataset.examples]
        kept = [e for e, text in texts if is_simple(text, task=task, fidelity="released")]
        counts = Counter(
            choice_of(variants, task) for variants in swap.apply_all(kept, task=task, q=1, seed=0)
        )
        print(
            name,
            len(texts),
            len(kept),
            *(counts[choice] for choice in ("proper", "nouns", "heads", "none")),
            sep="\t",
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
