"""The subject of an explanation: model, data, and predictions for perturbed texts.

Each is computed once and shared by all explanations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from disorder.data import vocabulary
from disorder.errors import DoesNotApply, NothingToMeasure
from disorder.models import LoadedModel
from disorder.requests.settings import Settings
from disorder.transformations import Transformation, parse
from disorder.types import (
    Bools,
    Dataset,
    Example,
    Floats,
    Ints,
    Outcomes,
    Progress,
    Task,
    Texts,
    Variants,
)
from disorder.verbs.context import RunContext
from disorder.verbs.outcomes import OutcomeFacts, build_outcomes, gold_of

LIMIT = 500  # examples looked at unless the user says otherwise
CHUNK = 4096  # texts per step of progress


@dataclass(frozen=True, eq=False)
class PerturbedExamples:
    """The examples that a transformation applies to: their variants, the predictions, and how many
    examples were left out, by reason.
    """

    examples: Sequence[Example]
    variants: Sequence[Variants]
    outcomes: Outcomes
    skips: dict[str, int]

    def check_positions(self) -> None:
        """Raise unless every variant chooses words of its own text by position."""
        for example, variants in zip(self.examples, self.variants, strict=True):
            sides = zip(variants.sides, example.texts, strict=False)
            if any(rows.written is not None or rows.sentence.text != text for rows, text in sides):
                name = self.outcomes.transformation
                raise NothingToMeasure(
                    f"{name} writes words or copies texts; this is for words chosen by position"
                )

    def survivors(self, q: int) -> Bools:
        """The examples predicted right, original and under all of q shuffles (or as many as any
        example has).
        """
        outcomes = self.outcomes
        wanted = min(q, int(outcomes.n_variants.max()))
        is_always_right = outcomes.n_accepted == outcomes.n_variants
        return np.asarray(outcomes.is_right & is_always_right & (outcomes.n_variants >= wanted))


@dataclass(eq=False)
class Subject:
    """The model and the data that are explained.

    `transformation` is how texts are perturbed unless an explanation names its own.
    """

    model: LoadedModel
    dataset: Dataset
    settings: Settings
    transformation: str = "derange"
    progress: Progress = lambda *_: None
    _perturbed: dict[tuple[str, int], PerturbedExamples] = field(default_factory=dict)

    @property
    def task(self) -> Task:
        """Labels, language and chance of the data."""
        return self.dataset.task

    @property
    def examples(self) -> Sequence[Example]:
        """The examples that are looked at."""
        return self.dataset.examples

    @property
    def is_pairs(self) -> bool:
        """Whether examples have two texts."""
        return self.examples[0].text_b is not None

    def predict(self, texts: Sequence[Texts], *, stage: str = "") -> Floats:
        """Probabilities, one row per text; `stage` names what is shown as progress."""
        predictions = []
        for start in range(0, len(texts), CHUNK):
            predictions.append(self.model(texts[start : start + CHUNK]))
            if stage:
                self.progress(stage, min(start + CHUNK, len(texts)), len(texts), "")
        if not predictions:
            return np.empty((0, max(1, len(self.task.labels))))
        return np.concatenate(predictions)

    @cached_property
    def original(self) -> Floats:
        """The predictions for the original texts."""
        return self.predict([example.texts for example in self.examples], stage="original texts")

    @cached_property
    def gold(self) -> Ints | Floats:
        """The gold label of each example as a number."""
        return gold_of(self.task, self.examples)

    def perturbed(self, spec: str | None = None, *, q: int | None = None) -> PerturbedExamples:
        """The examples perturbed by a transformation, with predictions; predicted once for all
        explanations.
        """
        transformation = self._parsed(spec or self.transformation)
        count = q or self.settings.n_variants
        key = (transformation.spec, count)
        if key not in self._perturbed:
            self._perturbed[key] = self._predict_perturbed(transformation, count)
        return self._perturbed[key]

    def variants(self, spec: str, *, q: int | None = None) -> list[Variants | DoesNotApply]:
        """The variants of every example, or why it has none; the model is not called."""
        transformation = self._parsed(spec)
        words = vocabulary(self.dataset) if "vocabulary" in transformation.needs else ()
        made = transformation.apply_all(
            self.examples,
            task=self.task,
            q=q or self.settings.n_variants,
            seed=self.settings.seed,
            short=self.settings.short_texts,
            context=RunContext(self.model, words, self.settings.data_dir),
        )
        return list(made)

    def _parsed(self, spec: str) -> Transformation:
        return parse(spec, fidelity=self.settings.fidelity)

    def _predict_perturbed(self, transformation: Transformation, q: int) -> PerturbedExamples:
        made = self.variants(transformation.spec, q=q)
        skips = Counter(str(each) for each in made if isinstance(each, DoesNotApply))
        places = [i for i, each in enumerate(made) if not isinstance(each, DoesNotApply)]
        kept = [each for each in made if not isinstance(each, DoesNotApply)]
        if not kept:
            reasons = "; ".join(sorted(skips))
            raise NothingToMeasure(
                f"{transformation.spec}: no example can be perturbed ({reasons})"
            )
        predictions = self._predict_variants(kept, transformation.spec)
        outcomes = self._outcomes(
            transformation,
            np.array(places),
            _padded(predictions, [len(each) for each in kept]),
            n_skipped=sum(skips.values()),
        )
        examples = [self.examples[i] for i in places]
        return PerturbedExamples(examples, kept, outcomes, dict(sorted(skips.items())))

    def _predict_variants(self, variants: Sequence[Variants], stage: str) -> Floats:
        """Probabilities, one row per variant of every example in turn."""
        predictions = []
        step = max(1, CHUNK // max(map(len, variants)))
        for start in range(0, len(variants), step):
            found = self.model.predict_variants(variants[start : start + step])
            predictions.append(self.model.answered(found))
            self.progress(stage, min(start + step, len(variants)), len(variants), "")
        return np.concatenate(predictions)

    def _outcomes(
        self, transformation: Transformation, places: Ints, predictions: Floats, *, n_skipped: int
    ) -> Outcomes:
        facts = OutcomeFacts(self.task, self.settings.seed, self.settings.fidelity)
        return build_outcomes(
            facts,
            [self.examples[i] for i in places.tolist()],
            self.original[places],
            predictions,
            transformation,
            n_skipped=n_skipped,
        )


def _padded(predictions: Floats, counts: Sequence[int]) -> Floats:
    """Predictions as examples × variants × labels, NaN where an example has fewer variants."""
    padded = np.full((len(counts), max(counts), predictions.shape[1]), np.nan)
    is_there = np.arange(max(counts)) < np.array(counts)[:, None]
    padded[is_there] = predictions
    return padded
