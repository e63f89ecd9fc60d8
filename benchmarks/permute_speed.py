"""Distinct derangements per second, against a rejection loop, the released algorithm, and plain
random orders; splitters and units; texts of up to 10,000 words by character, and a text half of
whose words are equal.

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
from disorder.transformations import parse
from disorder.transformations.derange import derangements
from disorder.transformations.words import split
from disorder.types import Example, Task

Q = 5 if TOY else 100
LENGTHS = range(8, 12) if TOY else range(8, 41)
ROUNDS = 1 if TOY else 5
RELEASED = 4805
SENTENCES = [" ".join(f"word{i}" for i in range(n)) for n in LENGTHS]
TEXTS = [f"{text.capitalize()}, it's said. It was {i} o'clock!" for i, text in enumerate(SENTENCES)]
SPLITTERS = ("simple", "icu", "characters", "sentences")
UNITS = ("word", "char", "sentence")
N_LONG = (50, 100, 200) if TOY else (2_500, 5_000, 10_000)
LONG = (
    "derange:unit=char",
    "clump:unit=char",
    "shuffle:unit=char",
    "keep_bigrams:unit=char",
    "shuffle_ngrams:unit=char,n=3",
    "shuffle_window:unit=char",
    "swap_adjacent:unit=char",
    "reverse:unit=char",
    "shuffle_letters",
    "replace_letters",
)
EQUAL = ("derange", "shuffle", "keep_bigrams", "shuffle_window", "swap_adjacent")
TASK = Task("speed")


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


def cut(splitter: str) -> None:
    for text in TEXTS:
        split(text, words=splitter)


def deranged(unit: str) -> None:
    transformation = parse(f"derange:unit={unit}")
    for i, text in enumerate(TEXTS):
        list(transformation.apply_all([Example.of(str(i), text, None, "")], task=TASK, q=Q, seed=0))


def long_text(n_words: int) -> str:
    """So many words, 977 of them different."""
    return " ".join(f"word{i % 977}" for i in range(n_words))


def half_equal(n_words: int) -> str:
    """So many words in a random order, half of which are one word."""
    words = ["same" if i % 2 else f"word{i}" for i in range(n_words)]
    random.Random(0).shuffle(words)
    return " ".join(words)


def one_text(spec: str, text: str) -> float:
    """CPU seconds for ten variants of a text, or to find that there are none."""
    transformation = parse(spec)
    examples = [Example.of("long", text, None, "")]
    return seconds(lambda: list(transformation.apply_all(examples, task=TASK, q=10, seed=0)))


def print_units() -> None:
    print("\n| splitter | texts/s |\n|---|---|")
    for splitter in SPLITTERS:
        print(f"| {splitter} | {len(TEXTS) / seconds(lambda s=splitter: cut(s)):,.0f} |")
    print(f"\n| unit | texts/s of {Q} variants, cut and drawn |\n|---|---|")
    for unit in UNITS:
        print(f"| {unit} | {len(TEXTS) / seconds(lambda u=unit: deranged(u)):,.0f} |")
    sizes = " | ".join(f"{n:,} words, s" for n in N_LONG)
    print(f"\n| ten variants of one text | {sizes} | last ÷ first |\n|---|---|---|---|---|")
    for spec in LONG:
        took = [one_text(spec, long_text(n)) for n in N_LONG]
        cells = " | ".join(f"{each:.3f}" for each in took)
        print(f"| {spec} | {cells} | {took[-1] / max(took[0], 1e-9):.1f} |")
    print(f"\n| {N_LONG[0]:,} words, half of them equal | s |\n|---|---|")
    for spec in EQUAL:
        print(f"| {spec} | {one_text(spec, half_equal(N_LONG[0])):.3f} |")


def main() -> None:
    times = {work.__name__: seconds(work) for work in (ours, unconstrained, rejection, released)}
    n_rows = Q * len(LENGTHS)
    print("| | permutations/s | ours is × faster |\n|---|---|---|")
    for name, took in times.items():
        print(f"| {name} | {n_rows / took:,.0f} | {took / times['ours']:.1f} |")
    elsewhere = n_rows / times["ours"] / RELEASED
    print(f"ours ÷ the released generator's {RELEASED:,}/s, measured elsewhere: {elsewhere:.0f}")
    print(f"ours ÷ unconstrained: {times['ours'] / times['unconstrained']:.2f}")
    print_units()


if __name__ == "__main__":
    main()
