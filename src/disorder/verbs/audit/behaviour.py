"""What a model does whatever is perturbed: does it read long texts to the end, and how often does
it change its prediction by itself (the noise floor)?

Some texts are predicted again, past every cache, in other batches and at other places. Their
samples are kept under their repeat number, so that a resumed or repeated run predicts none again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from disorder.metrics.statistics.noise_floor import noise_floor, repeated_texts
from disorder.metrics.statistics.planned_looks import FIRST
from disorder.models.inputs.truncation import N_TEXTS, reads_beginning_only
from disorder.randomness import generator
from disorder.requests.settings import Settings
from disorder.store.samples import predictions_of
from disorder.store.store import records
from disorder.types import ORIGINAL, Dataset, Floats, Ints, Score
from disorder.types.predictions import predicted_label
from disorder.verbs.audit.division import Stage
from disorder.verbs.audit.sampling import BlockSource
from disorder.verbs.transformation_samples import ExampleNumbers, TransformationSamples

NO_ROOM = "the budget has no room to predict some texts again: no noise floor"


@dataclass(frozen=True)
class ModelBehaviour:
    """What was found out so far."""

    reads_beginning_only: bool = False
    noise: Score | None = None  # share of the same texts that get another label


@dataclass
class BehaviourProbe:
    """Finds out what a model does, as far as the budget of the run has room for it."""

    source: BlockSource
    dataset: Dataset
    settings: Settings
    notes: list[str] = field(default_factory=list)
    _is_cut: bool = False
    _begun: set[str] = field(default_factory=set)  # the stages of which texts are predicted again
    _first: list[Ints] = field(default_factory=list)
    _again: list[Ints] = field(default_factory=list)

    def under(
        self, samples: TransformationSamples, original: Floats, stages: Mapping[str, Stage]
    ) -> ModelBehaviour:
        """What is known once a transformation is sampled: before the first some original texts are
        predicted again, then some of its variants.
        """
        if not self._begun:
            self._begun.add(ORIGINAL)
            self._is_cut = self._reads_beginning_only()
            self._predict_again(stages[ORIGINAL], original, samples.numbers)
        is_control = samples.transformation is not None and samples.transformation.is_control
        if not is_control and len(self._begun) == 1:
            self._begun.add(samples.spec)
            self._predict_again(stages[samples.spec], samples.values[:, 0], samples.numbers)
        noise = None
        if self._first:
            noise = noise_floor(np.concatenate(self._first), np.concatenate(self._again))
        return ModelBehaviour(self._is_cut, noise)

    def _predict_again(self, stage: Stage, before: Floats, numbers: ExampleNumbers) -> None:
        answered = np.flatnonzero(~np.isnan(before[:, 0]))
        if self.settings.is_until_decided:  # the same texts when such a run is continued
            answered = answered[:FIRST]
        rng = generator(self.settings.seed, "repeats", stage.spec)
        for repeat in range(1, self.settings.repeats + 1):
            places = answered[repeated_texts(len(answered), rng)]
            block = stage.again([self.dataset.examples[i] for i in places.tolist()], repeat)
            is_known = block.part in self.source.parts.written
            if not len(places) or not (is_known or self._has_room(len(places))):
                return
            for _, result in self.source.in_order([block], stage.count):
                ids, _, values = predictions_of(result.table)
                again = numbers.places(ids)
                self._first.append(predicted_label(before[again].astype(np.float64)))
                self._again.append(_labels(values))

    def _has_room(self, n_texts: int) -> bool:
        """Whether so many more texts fit into the budget."""
        room, _ = self.source.budget.room(self.source.costs)
        fits = n_texts * self.source.predictor.model.n_questions <= room
        if not fits and NO_ROOM not in self.notes:
            self.notes.append(NO_ROOM)
        return fits

    def _reads_beginning_only(self) -> bool:
        """Whether the model cuts long texts off; some are predicted with another end."""
        texts = [example.texts for example in self.dataset.examples]
        gold = [example.label for example in self.dataset.examples]
        model = self.source.predictor.model
        parts = self.source.parts

        def probe() -> bool:
            if self.dataset.task.has_own_chance or not self._has_room(N_TEXTS):
                return False
            before = dict(model.counts)
            found = reads_beginning_only(
                lambda given: model.predict_texts(given).values, texts, gold
            )
            self.source.costs.add(model.counts.since(before))
            return found

        return parts.kept.once("truncation", probe, records(bool), of=parts.of)


def _labels(values: Floats) -> Ints:
    """The predicted label numbers; −1 where there is no answer."""
    return np.where(np.isnan(values[:, 0]), -1, predicted_label(np.nan_to_num(values)))
