"""Shuffle the answers of a prompt's examples: does a language model learn from them at all?

After Min et al. (2022), who found that wrong labels in the prompt hurt little.
"""

from __future__ import annotations

from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.prompt_examples import examples_of, reordered, written
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="the examples of a prompt and their answers",
    destroys="which answer belongs to which example",
    side="a",
    perturbs="shots",
)
def shuffle_answers(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Deal the answers of a prompt's examples to other examples (--break shots)."""
    examples = examples_of(sentence)
    dealt, available = reordered([answer for _, answer in examples], count, rng)
    texts = [
        written([(item, answer) for (item, _), answer in zip(examples, answers, strict=True)])
        for answers in dealt
    ]
    return PositionRows.of_texts(sentence, texts, available=available)
