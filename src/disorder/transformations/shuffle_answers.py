"""Shuffle the answers of a prompt's examples: does a language model learn from them at all?

After Min et al. (2022), who found that wrong labels in the prompt hurt little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from disorder.registry import transformation
from disorder.transformations.positions.orders_within_groups import check_shots, reordered
from disorder.types import PositionRows, Sentence


@transformation(
    keeps="the examples of a prompt and their answers",
    destroys="which answer belongs to which example",
    side="a",
    perturbs="shots",
)
def shuffle_answers(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
    """Deal the answers of a prompt's examples to other examples (--on shots)."""
    check_shots(sentence)
    dealt, available = reordered(sentence.words[1::2], count, rng)
    positions = np.tile(np.arange(len(sentence)), (len(dealt), 1))
    for row, answers in zip(positions, dealt, strict=True):
        row[1::2] = 1 + 2 * np.array(_places(sentence.words[1::2], answers), dtype=np.int64)
    return PositionRows(sentence, positions, available)


def _places(answers: Sequence[str], dealt: Sequence[str]) -> list[int]:
    """Which of the answers each dealt one is: of equal ones the first that is left."""
    left: dict[str, list[int]] = {}
    for place, answer in enumerate(answers):
        left.setdefault(answer, []).append(place)
    return [left[answer].pop(0) for answer in dealt]
