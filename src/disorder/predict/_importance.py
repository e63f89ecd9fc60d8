"""How much does a model's answer hang on each word?

Word Salad (Gupta et al., 2021): the word's embedding times the gradient of the loss at it. For models without gradients, the
change of the loss when the word is left out, which the gradient approximates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from disorder.types import Floats, Pair, Texts

TINY = 1e-12  # a probability of 0 has no logarithm


def importance(ask: Callable[[Sequence[Texts]], Floats], pairs: Sequence[Pair]) -> list[list[Floats]]:
    """Importance of every word of every text."""
    raise NotImplementedError
