"""How much does a model's answer hang on each word?

Word Salad (Gupta et al., 2021): the word's embedding times the gradient of the loss there, L being
the loss of the gold label. That is a first-order estimate of L(text) − L(text without the word),
which is what models without gradients are asked for directly. So a high number marks a word that
*raises* the loss, that is, speaks against the gold label; the paper calls it important all the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from disorder.errors import BadData
from disorder.models.importance.leave_one_out import WithoutEachWord, leave_one_out
from disorder.types import Floats, Pair

if TYPE_CHECKING:
    from disorder.models.loading import LoadedModel

MAX_KEPT = 20_000  # pairs whose importance is remembered: about 30 MB
Weigh = Callable[[Sequence[Pair], Floats], list[list[Floats]]]
BY_GRADIENT = "importance of words: embedding times gradient of the gold label's loss"
BY_LEAVING_OUT = (
    "importance of words: change of the gold label's loss when the word is left out "
    "(the model shows no gradients at its word embeddings, or none that tell words apart)"
)


def importance(
    aligned: LoadedModel, pairs: Sequence[Pair], without_each_word: WithoutEachWord
) -> list[list[Floats]]:
    """A number for every word of every text: by gradient where the model has one, else by leaving
    the word out.
    """
    weigh = _by_gradient(aligned)
    if weigh is None:
        return leave_one_out(aligned, pairs, _gold(aligned, pairs), without_each_word)
    return weigh(pairs, _targets(aligned, pairs))


def how(aligned: LoadedModel) -> str:
    """Which of the two is used, for the user to know."""
    return BY_LEAVING_OUT if _by_gradient(aligned) is None else BY_GRADIENT


def key_of(pair: Pair) -> tuple[object, ...]:
    """What the importance of a pair's words depends on, beside the model."""
    return pair.label, *(
        (side.text, side.starts.tobytes(), side.ends.tobytes()) for side in pair.sides
    )


def _by_gradient(aligned: LoadedModel) -> Weigh | None:
    weigh: Weigh | None = getattr(aligned.predictor, "importance", None)
    return weigh if getattr(aligned.predictor, "has_gradients", False) else None


def _gold(aligned: LoadedModel, pairs: Sequence[Pair]) -> Floats:
    """The column of each pair's gold label; the number itself for regression."""
    if aligned.columns is None:
        return np.array([float(pair.label) for pair in pairs])
    columns = {label: i for i, label in enumerate(aligned.labels)}
    unknown = next((pair.label for pair in pairs if pair.label not in columns), None)
    if unknown is not None:
        raise BadData(
            f"importance is that of the gold label, and {unknown!r} is none of {', '.join(aligned.labels)}"
        )
    return np.array([float(columns[pair.label]) for pair in pairs])


def _targets(aligned: LoadedModel, pairs: Sequence[Pair]) -> Floats:
    """Which of the model's own labels mean the gold one (pairs × labels); the number itself for
    regression.
    """
    gold = _gold(aligned, pairs)
    return gold[:, None] if aligned.columns is None else aligned.columns[:, gold.astype(np.int64)].T
