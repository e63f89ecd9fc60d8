"""Language models as predictors of likelihood: the number predicted for a text is its
log-probability; and preferences, which of two texts a model finds better by a score for each.

The score of a language model is the log-probability of a text, that of a function what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from disorder.errors import BadModel, option
from disorder.models.outputs import softmax
from disorder.models.protocols import MadeOf, Scores
from disorder.types import Floats, Predictor, Texts
from disorder.types.predictions import ABSTAINS, ANSWERED, Predictions


def likelihood_of(name: str, predictor: Predictor) -> Predictor:
    """A predictor of likelihoods: the model itself, or one made of what it can score."""
    if isinstance(predictor, LikelihoodModel):
        return predictor
    if isinstance(predictor, Scores):
        return LikelihoodModel(predictor, predictor.fingerprint)
    raise BadModel(
        f"{name} does not give the likelihood of a text; {option('score', 'order_rank')} needs a "
        "causal: or "
        "masked: model"
    )


class TextScores(MadeOf):
    """What a model that scores texts is made into; a text that occurs again is scored once."""

    model: Scores

    def __init__(self, model: Scores, fingerprint: str) -> None:
        super().__init__(model)
        self.fingerprint = fingerprint

    def scores_of(self, pairs: Sequence[Texts]) -> dict[str, float]:
        """The score of every text."""
        single = list(dict.fromkeys(text for pair in pairs for text in pair if text is not None))
        return dict(zip(single, self.model.log_likelihoods(single).tolist(), strict=True))


class LikelihoodModel(TextScores):
    """Predicts the log-probability of a text; of a pair, the sum of both texts by themselves, so
    that a text that is not perturbed makes no difference.
    """

    labels: tuple[str, ...] = ()

    def __init__(self, model: Scores, fingerprint: str) -> None:
        super().__init__(model, f"{fingerprint}/likelihood" if fingerprint else "")

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """One log-probability per text or pair."""
        scores = self.scores_of(texts)
        return np.array(
            [[sum(scores[text] for text in pair if text is not None)] for pair in texts]
        )


PREFERRED = ("good", "bad")


def preference_of(name: str, predictor: Predictor) -> Predictor:
    """A predictor of preferences, made of what a model can score."""
    if isinstance(predictor, LikelihoodModel):
        return PreferenceModel(predictor.model, predictor.fingerprint)
    if isinstance(predictor, Scores):
        return PreferenceModel(predictor, predictor.fingerprint)
    raise BadModel(
        f"{name} gives no score for a text by itself; pairs need a causal: or masked: model, or a "
        "function that returns one number per text"
    )


class PreferenceModel(TextScores):
    """The share of either text of a pair: their scores through a softmax. A model that scores both
    alike prefers neither, and abstains.
    """

    labels = PREFERRED

    def __init__(self, model: Scores, fingerprint: str) -> None:
        super().__init__(model, f"{fingerprint}/preference" if fingerprint else "")

    def __call__(self, texts: Sequence[Texts], /) -> Predictions:
        """A row per pair: the share of its first text, and of its second."""
        scores = self.scores_of(texts)
        found = np.array([[scores[str(a)], scores[str(b)]] for a, b in texts]).reshape(-1, 2)
        is_tie = found[:, 0] == found[:, 1]
        outcomes = np.where(is_tie, ABSTAINS, ANSWERED).astype(object)
        return Predictions(np.where(is_tie[:, None], 0.0, softmax(found)), outcomes)


class ScoreFunction:
    """A function that gives one number per text, as a scorer of texts."""

    labels: tuple[str, ...] = ()

    def __init__(self, function: Callable[[list[str]], Any], fingerprint: str) -> None:
        self.function = function
        self.fingerprint = fingerprint

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """The score of each text."""
        return self.log_likelihoods([a for a, _ in texts])[:, None]

    def log_likelihoods(self, texts: Sequence[str], /) -> Floats:
        """The score of each text."""
        found = np.asarray(self.function(list(texts)), dtype=np.float64)
        if found.shape != (len(texts),) or not np.isfinite(found).all():
            raise BadModel(
                f"for pairs a function gets a list of {len(texts)} texts and returns one finite "
                f"number for each; got an array of the shape {found.shape}"
            )
        return found
