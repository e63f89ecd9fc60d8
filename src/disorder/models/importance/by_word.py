"""Importance of words: how much does a model's prediction depend on each?

Word Salad (Gupta et al., 2021): the word's embedding times the gradient of the loss there, L being
the loss of the gold label. That is a first-order estimate of L(text) − L(text without the word),
which is computed directly for models without gradients. So a high number marks a word that *raises*
the loss, that is, speaks against the gold label; the paper calls it important all the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from disorder.errors import BadData
from disorder.models.importance.leave_one_out import leave_one_out
from disorder.models.protocols import Gradients
from disorder.types import Floats, Pair

if TYPE_CHECKING:
    from disorder.models.loaded_model import LoadedModel

MAX_KEPT = 20_000  # pairs whose importance is remembered: about 30 MB
BY_GRADIENT = "importance of words: embedding times gradient of the gold label's loss"
BY_LEAVING_OUT = (
    "importance of words: change of the gold label's loss when the word is left out "
    "(the model shows no gradients at its word embeddings, or none that tell words apart)"
)


def importance(loaded: LoadedModel, pairs: Sequence[Pair]) -> list[list[Floats]]:
    """A number for every word of every text: by gradient where the model has one, else by leaving
    the word out.
    """
    if isinstance(loaded.predictor, Gradients) and loaded.predictor.has_gradients():
        return loaded.predictor.importance(pairs, _targets(loaded, pairs))
    return leave_one_out(loaded, pairs, _gold(loaded, pairs))


def how(loaded: LoadedModel) -> str:
    """Which of the two is used, for the user to know."""
    if isinstance(loaded.predictor, Gradients) and loaded.predictor.has_gradients():
        return BY_GRADIENT
    return BY_LEAVING_OUT


def key_of(pair: Pair) -> tuple[object, ...]:
    """What the importance of a pair's words depends on, beside the model."""
    return pair.label, *(
        (side.text, side.starts.tobytes(), side.ends.tobytes()) for side in pair.sides
    )


def _gold(loaded: LoadedModel, pairs: Sequence[Pair]) -> Floats:
    """The column of each pair's gold label; the number itself for regression."""
    if loaded.columns is None:
        return np.array([float(pair.label) for pair in pairs])
    columns = {label: i for i, label in enumerate(loaded.labels)}
    unknown = next((pair.label for pair in pairs if pair.label not in columns), None)
    if unknown is not None:
        raise BadData(
            f"importance is that of the gold label, and {unknown!r} "
            f"is none of {', '.join(loaded.labels)}"
        )
    return np.array([float(columns[pair.label]) for pair in pairs])


def _targets(loaded: LoadedModel, pairs: Sequence[Pair]) -> Floats:
    """Which of the model's own labels mean the gold one (pairs × labels); the number itself for
    regression.
    """
    gold = _gold(loaded, pairs)
    return gold[:, None] if loaded.columns is None else loaded.columns[:, gold.astype(np.int64)].T
