"""BLEU of permutations with their text: ours from positions, against NLTK's from words.

python benchmarks/overlap_speed.py --rounds 5
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from _measure import TOY, main

from disorder.transformations.words import split
from disorder.verbs.explain.bleu import bleu

N_TEXTS = 3 if TOY else 60
Q = 5 if TOY else 100


def cases() -> list[tuple[str, np.ndarray]]:
    """Texts of 20 words, some of them twice, and a hundred orders of each."""
    rng = np.random.default_rng(0)
    return [
        (
            " ".join(f"w{i}" for i in rng.integers(40, size=20)),
            np.argsort(rng.random((Q, 20)), axis=1),
        )
        for _ in range(N_TEXTS)
    ]


def ours() -> Callable[[], object]:
    given = cases()
    return lambda: float(sum(bleu(split(text), orders)[:, 1:].sum() for text, orders in given))


def nltk() -> Callable[[], object]:
    from nltk.translate.bleu_score import sentence_bleu

    given = [(split(text).words, orders.tolist()) for text, orders in cases()]
    warnings.simplefilter("ignore")

    def work() -> float:
        scores = [
            sentence_bleu([words], [words[i] for i in order], weights=[1 / n] * n)
            for words, orders in given
            for order in orders
            for n in (2, 3, 4)
        ]
        return float(sum(scores))

    return work


def report(seconds: dict[str, float], facts: dict[str, object]) -> None:
    for name, spent in seconds.items():
        speed = f"{N_TEXTS * Q / spent:>12,.0f} permutations per second"
        print(f"{name:<8} {speed}   {seconds['nltk'] / spent:6.1f} ×   (sum {facts[name]:.6f})")


if __name__ == "__main__":
    main(__file__, {"nltk": nltk, "disorder": ours}, report)
