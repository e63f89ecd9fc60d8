"""Distinct derangements per second, against a rejection loop, the released algorithm, and plain
random orders.

python benchmarks/permute_speed.py     (needs spaCy for the released algorithm; CPU time, medians of
5)
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

import numpy as np
from _measure import TOY

from disorder.randomness import generator
from disorder.transformations.derange import derangements

Q = 5 if TOY else 100
LENGTHS = range(8, 12) if TOY else range(8, 41)
ROUNDS = 1 if TOY else 5
RELEASED = 4805
SENTENCES = [" ".join(f"word{i}" for i in range(n)) for n in LENGTHS]


def ours() -> None:
    for n in LENGTHS:
        derangements(n, Q, generator(0, "derange", str(n)))


def unconstrained() -> None:
    for n in LENGTHS:
        np.argsort(generator(0, "derange", str(n)).random((Q, n)), axis=1)


def rejection() -> None:
    """The standard library: shuffle until nothing is in place and the order is new."""
    for n in LENGTHS:
        draw = random.Random(n)
        found: set[tuple[int, ...]] = set()
        while len(found) < Q:
            order = list(range(n))
            draw.shuffle(order)
            if all(i != place for place, i in enumerate(order)):
                found.add(tuple(order))


def released() -> None:
    """As documented: tokenise and shuffle for every permutation, until nothing is in place."""
    from spacy.lang.en import English

    tokenizer = English().tokenizer
    for text in SENTENCES:
        for seed in range(Q):
            tokens = list(tokenizer(text))
            order = [i for i, token in enumerate(tokens) if not token.is_punct]
            draw = random.Random(seed)
            while any(i == place for place, i in enumerate(order)):
                draw.shuffle(order)
            " ".join(tokens[i].text for i in order)


def seconds(work: Callable[[], None]) -> float:
    work()
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return statistics.median(times)


def main() -> None:
    times = {work.__name__: seconds(work) for work in (ours, unconstrained, rejection, released)}
    n_rows = Q * len(LENGTHS)
    print("| | permutations/s | ours is × faster |\n|---|---|---|")
    for name, took in times.items():
        print(f"| {name} | {n_rows / took:,.0f} | {took / times['ours']:.1f} |")
    elsewhere = n_rows / times["ours"] / RELEASED
    print(f"ours ÷ the released generator's {RELEASED:,}/s, measured elsewhere: {elsewhere:.0f}")
    print(f"ours ÷ unconstrained: {times['ours'] / times['unconstrained']:.2f}")


if __name__ == "__main__":
    main()
