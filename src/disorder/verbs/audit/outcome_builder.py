"""The outcomes of an audit: predictions put together with examples, and with how many variants each
example has where not all of them are predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.runs.settings import Settings
from disorder.transformations import Transformation
from disorder.types import Example, Floats, Ints, Outcomes
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.predicted import Predicted
from disorder.verbs.outcomes import build_outcomes


@dataclass(frozen=True)
class OutcomeBuilder:
    """Builds outcomes as the settings of one audit say."""

    predictor: BlockPredictor
    settings: Settings
    gives_probabilities: bool | None = None  # as in `Outcomes`

    def build(
        self,
        examples: Sequence[Example],
        original: Floats,
        predictions: Floats,
        transformation: Transformation | None = None,
        *,
        n_skipped: int = 0,
        n_unanswered: Ints | None = None,
    ) -> Outcomes:
        """The outcomes of some examples; without a transformation, of their original texts."""
        planned = self._planned(transformation, examples)
        if planned is not None and n_unanswered is not None:
            planned = planned - n_unanswered
        return build_outcomes(
            self.predictor.task,
            examples,
            original,
            predictions,
            transformation,
            n_skipped=n_skipped,
            seed=self.settings.seed,
            fidelity=self.settings.fidelity,
            n_planned=planned,
            gives_probabilities=self.gives_probabilities,
        )

    def at(
        self, places: Ints, examples: Sequence[Example], original: Floats, predicted: Predicted
    ) -> Outcomes | None:
        """The outcomes of the examples with these numbers, as far as their original texts have a
        prediction; None where that is true of none.
        """
        places = places[~np.isnan(original[places, 0])]
        if not len(places):
            return None
        return self.build(
            [examples[i] for i in places.tolist()],
            original[places],
            predicted.probabilities[places],
            predicted.stage.transformation,
            n_unanswered=predicted.n_unanswered[places],
        )

    def _planned(
        self, transformation: Transformation | None, examples: Sequence[Example]
    ) -> Ints | None:
        """How many variants each example has, where not all are predicted."""
        if transformation is None or not self.predictor.decided_at:
            return None
        if self.settings.short == "skip":
            return np.full(len(examples), transformation.count(self.settings.q))
        spec = transformation.spec
        return np.array([len(self.predictor.perturbed(spec, example)) for example in examples])
