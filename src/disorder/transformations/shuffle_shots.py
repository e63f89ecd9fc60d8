"""Shuffle the examples of a prompt: does a language model depend on their order?"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.prompt_examples import examples_of, reordered, written
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="the examples of a prompt", destroys="their order", side="a", perturbs="shots"
)
def shuffle_shots(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Put the examples of a prompt, each with its answer, into another order (--break shots)."""
    examples = examples_of(sentence)
    orders, available = reordered(list(range(len(examples))), count, rng)
    texts = [written([examples[i] for i in order]) for order in orders]
    return PositionRows.of_texts(sentence, texts, available=available)
