"""Language models as predictors of likelihood: the number predicted for a text is its
log-probability.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import BadModel, option
from disorder.models.protocols import Costly, Precision, Scores
from disorder.types import Floats, Predictor, Texts


def likelihood_of(name: str, predictor: Predictor) -> Predictor:
    """A predictor of likelihoods: the model itself, or one made of what it can score."""
    if isinstance(predictor, LikelihoodModel):
        return predictor
    if isinstance(predictor, Scores):
        return LikelihoodModel(predictor, predictor.fingerprint, [])
    raise BadModel(
        f"{name} does not give the likelihood of a text; {option('score', 'order_rank')} needs a "
        "causal: or "
        "masked: model"
    )


class LikelihoodModel:
    """Predicts the log-probability of a text; of a pair, the sum of both texts by themselves, so
    that a text that is not perturbed makes no difference.
    """

    labels: tuple[str, ...] = ()

    def __init__(self, scorer: Scores, fingerprint: str, notes: list[str]) -> None:
        self.scorer = scorer
        self.is_costly = isinstance(scorer, Costly) and scorer.is_costly
        self.fingerprint = f"{fingerprint}/likelihood" if fingerprint else ""
        self.notes = notes
        self.precisions = scorer.precisions if isinstance(scorer, Precision) else ("fp32",)

    def use_precision(self, precision: str) -> None:
        """Predict in this number format from now on."""
        if isinstance(self.scorer, Precision):
            self.scorer.use_precision(precision)

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """One log-probability per text or pair; a text that occurs again is scored once."""
        single = list(dict.fromkeys(text for pair in texts for text in pair if text is not None))
        scores = dict(zip(single, self.scorer.log_likelihoods(single).tolist(), strict=True))
        return np.array(
            [[sum(scores[text] for text in pair if text is not None)] for pair in texts]
        )
