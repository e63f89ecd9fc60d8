"""The subject of an explanation: model, data, and predictions for perturbed texts.

Each is computed once and shared by all explanations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from disorder.data import vocabulary
from disorder.data.families import find_families
from disorder.errors import DoesNotApply, NothingToMeasure
from disorder.metrics import dev_r
from disorder.models import LoadedModel
from disorder.randomness import digest
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
from disorder.verbs.model_loading import RunContext
from disorder.verbs.outcomes import OutcomeFacts, build_outcomes, gold_of

CHUNK = 4096  # texts per step of progress
T = TypeVar("T")
Calls = dict[str, int]  # texts to predict, at most, by what they are


@dataclass(frozen=True, eq=False)
class PerturbedExamples:
    """The examples that a transformation applies to, their predictions, and what was left out."""

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

    @property
    def in_dev_r(self) -> PerturbedExamples:
        """Those of Out of Order's dev-r: one sentence is perturbed, the original is predicted right
        and labels are balanced; of numbers those of one sentence.
        """
        found = self.outcomes
        kept = found.is_simple if found.task.is_regression else dev_r(found)[-1][1]
        places = np.flatnonzero(kept)
        if not len(places):
            raise NothingToMeasure(
                "dev-r is empty: no balanced set of one-sentence texts is predicted right"
            )
        skips = {**self.skips, "not in dev-r": len(kept) - len(places)}
        return PerturbedExamples(
            [self.examples[i] for i in places.tolist()],
            [self.variants[i] for i in places.tolist()],
            found.take(kept),
            {reason: n for reason, n in skips.items() if n},
        )

    def by_seed(self, part: str, places: Ints, seed: int) -> list[int]:
        """The places of some examples, in an order drawn for a part."""
        return sorted(places.tolist(), key=lambda i: digest(seed, part, self.examples[i].id))

    def survivors(self, q: int) -> Bools:
        """The examples predicted right, original and under all of q shuffles (or all there are)."""
        outcomes = self.outcomes
        wanted = min(q, int(outcomes.n_variants.max()))
        is_always_right = outcomes.n_accepted == outcomes.n_variants
        return np.asarray(outcomes.is_right & is_always_right & (outcomes.n_variants >= wanted))


@dataclass(eq=False)
class Subject:
    """The model and the data that are explained; `transformation` perturbs texts, `allow` raises
    where the budget has no room for so many more.
    """

    model: LoadedModel
    dataset: Dataset
    settings: Settings
    transformation: str = "derange"
    progress: Progress = lambda *_: None
    allow: Callable[[LoadedModel, int], None] = lambda *_: None
    _kept: dict[tuple[object, ...], Any] = field(default_factory=dict)

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
        return self.examples[0].is_pair

    def predict(self, texts: Sequence[Texts], *, stage: str = "") -> Floats:
        """Probabilities, one row per text; `stage` names what is shown as progress."""
        predictions = []
        for start in range(0, len(texts), CHUNK):
            self.allow(self.model, len(texts[start : start + CHUNK]))
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

    @cached_property
    def family(self) -> Ints:
        """The family of each example: those that share a text count as one."""
        return find_families(self.examples).number

    @cached_property
    def splitter(self) -> str:
        """How texts are cut into words that move."""
        return self._parsed("shuffle_window").splitter_for(self.task)

    @property
    def n_words(self) -> float:
        """Words of an example, on average."""
        counts = [
            len(text.split()) if " " in text else len(text)
            for each in self.examples
            for text in each.texts
            if text
        ]
        return sum(counts) / len(self.examples)

    def perturbed_calls(self, spec: str | None = None, *, q: int | None = None) -> Calls:
        """How many texts `perturbed` would predict, at most."""
        count = q or self.settings.n_variants
        return {f"{spec or self.transformation} × {count}": count * len(self.examples)}

    def perturbed(
        self, spec: str | None = None, *, q: int | None = None, dev_r: bool = False
    ) -> PerturbedExamples:
        """The examples perturbed by a transformation, predicted once for all explanations; with
        `dev_r` those of dev-r alone.
        """
        transformation = self._parsed(spec or self.transformation)
        count = q or self.settings.n_variants
        key = (transformation.spec, count)
        found = self.once(key, lambda: self._predict_perturbed(transformation, count))
        return found.in_dev_r if dev_r else found

    def once(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """What was computed under this key, the first time only."""
        if key not in self._kept:
            self._kept[key] = compute()
        found: T = self._kept[key]
        return found

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
        examples = [self.examples[i] for i in places]
        outcomes = build_outcomes(
            OutcomeFacts(self.task, self.settings.seed, self.settings.fidelity),
            examples,
            self.original[places],
            _padded(predictions, [len(each) for each in kept]),
            transformation,
            n_skipped=sum(skips.values()),
        )
        return PerturbedExamples(examples, kept, outcomes, dict(sorted(skips.items())))

    def _predict_variants(self, variants: Sequence[Variants], stage: str) -> Floats:
        """Probabilities, one row per variant of every example in turn."""
        predictions = []
        step = max(1, CHUNK // max(map(len, variants)))
        for start in range(0, len(variants), step):
            some = variants[start : start + step]
            self.allow(self.model, sum(map(len, some)))
            found = self.model.predict_variants(some)
            predictions.append(self.model.answered(found))
            self.progress(stage, min(start + step, len(variants)), len(variants), "")
        return np.concatenate(predictions)


def _padded(predictions: Floats, counts: Sequence[int]) -> Floats:
    """Predictions as examples × variants × labels, NaN where an example has fewer variants."""
    padded = np.full((len(counts), max(counts), predictions.shape[1]), np.nan)
    is_there = np.arange(max(counts)) < np.array(counts)[:, None]
    padded[is_there] = predictions
    return padded
