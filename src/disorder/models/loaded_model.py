"""A loaded model: a predictor seen through the task's labels, with its cache, calibration and
counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.embed import Similarity
from disorder.models.importance.by_word import MAX_KEPT, how, importance
from disorder.models.importance.by_word import key_of as pair_key
from disorder.models.inputs.variants import (
    ModelInputs,
    SegmentInputs,
    TextInputs,
    VariantInputs,
    are_texts,
    texts_of,
    variant_segments,
)
from disorder.models.outputs import IS_UNREAD, Calibration, UnreadReplies, are_shares, checked
from disorder.models.prompting import PromptedModel
from disorder.models.protocols import (
    Counting,
    Generates,
    Notes,
    Pieces,
    Streaming,
    Timed,
    TokenUnits,
    Truncates,
)
from disorder.store.prediction_cache import KeptPredictions, PredictionCache, key_of
from disorder.store.store import Memo
from disorder.types import (
    Costs,
    Floats,
    Pair,
    Predictor,
    Segments,
    Texts,
    TokenUnit,
    Variants,
)
from disorder.types.predictions import (
    ABSTAINED,
    ABSTAINS,
    ANSWERED,
    Prediction,
    Predictions,
    is_declined,
)


@dataclass
class LoadedModel:
    """A predictor seen through the task's labels: columns reordered, or added up where several mean
    one label.

    What else the predictor can do (see `disorder.models.protocols`) is passed on: `pieces`,
    `vocabulary`, `importance` and `notes` say so in one line where it cannot.
    """

    predictor: Predictor
    name: str
    labels: tuple[str, ...]
    columns: Floats | None
    precision: str = "fp32"
    cache: PredictionCache | None = None
    calibration: Calibration | None = None
    no_answer: str = "skip"
    repeat: int = 0  # how often the same texts were predicted before: those answers do not count
    counts: Costs = field(default_factory=Costs)
    counted: Costs = field(default_factory=Costs)  # of the predictor's own counts
    unread: UnreadReplies = field(default_factory=UnreadReplies)
    weighed: Memo[tuple[object, ...], list[Floats]] = field(default_factory=lambda: Memo(MAX_KEPT))

    @property
    def fingerprint(self) -> str:
        """A hash of the model itself, of the temperature of its logits and of its threshold."""
        found = self.predictor.fingerprint
        if self.calibration is None or not found:
            return found
        found = f"{found}/{self.calibration.temperature}"
        threshold = self.calibration.threshold
        return found if threshold is None else f"{found}/{threshold}"

    def __call__(self, texts: Sequence[Texts] | Sequence[str], /) -> Floats:
        """Probabilities of the task's labels, one row per text or pair of texts; zeros where the
        model gave no answer.
        """
        return self.answered(self.predict_texts(texts))

    def answered(self, found: Predictions) -> Floats:
        """The values of predictions, with zeros where there is none (not a number for a
        regression).
        """
        found.values[found.is_failed] = 0.0 if self.labels else np.nan
        return found.values

    def readable(self, texts: Texts, /) -> Texts:
        """The texts of an example, cut at a word where the model says how far it reads them."""
        return self.predictor.readable(texts) if isinstance(self.predictor, Truncates) else texts

    def predict_texts(self, texts: Sequence[Texts] | Sequence[str], /) -> Predictions:
        """Probabilities of the task's labels, and an outcome for each text."""
        return self._predict(TextInputs(_as_pairs(texts)))

    def predict_segments(self, inputs: Sequence[Segments], /) -> Predictions:
        """The same for inputs of named segments, all of the same names."""
        if inputs and are_texts(inputs[0]):
            return self.predict_texts([texts_of(each) for each in inputs])
        return self._predict(SegmentInputs(inputs))

    def predict_variants(self, variants: Sequence[Variants], /) -> Predictions:
        """The same, one row per variant of every example in turn.

        A model that takes tokens gets the positions; texts are made for the others, and for the
        keys of a cache.
        """
        if variants and not are_texts(variants[0].segments):
            inputs = [each for one in variants for each in variant_segments(one)]
            return self.predict_segments(inputs)
        return self._predict(VariantInputs(variants))

    def n_cached(self, texts: Sequence[Texts], variants: Sequence[Variants]) -> int:
        """How many of these texts and variants the cache has a prediction for."""
        if self.cache is None:
            return 0
        keys = [*self._keys(TextInputs(texts)), *self._keys(VariantInputs(variants))]
        return int(self._kept(keys).is_kept.sum())

    def _predict(self, inputs: ModelInputs) -> Predictions:
        if isinstance(self.predictor, Streaming):
            raw = self._streamed(inputs, self.predictor)
        else:
            raw = self._computed(inputs) if self.cache is None else self._cached(inputs, self.cache)
        values = raw.values if self.calibration is None else self.calibration(raw.values)
        aligned = values if self.columns is None else values @ self.columns
        outcomes = raw.outcomes
        if self.labels and self.no_answer != "skip":
            is_said = raw.is_failed if self.no_answer == "abstain" else is_declined(outcomes)
            outcomes = np.where(is_said, ABSTAINS, outcomes)
        # What is kept on disk is single precision: round here, once, so that every path decides on
        # the same numbers.
        aligned = aligned.astype(np.float32).astype(np.float64)
        if self.threshold is not None:
            assert self.calibration is not None
            is_below = self.calibration.abstains_on(aligned) & (outcomes == ANSWERED)
            outcomes = np.where(is_below, ABSTAINS, outcomes)
        if (outcomes != ANSWERED).any():
            aligned[outcomes == ABSTAINS] = 0.0 if self.labels else np.nan
        return Predictions(aligned, outcomes)

    def _cached(self, inputs: ModelInputs, cache: PredictionCache) -> Predictions:
        """Predictions from the cache, and from the model where there are none."""
        began = time.perf_counter()
        keys = self._keys(inputs)
        kept = self._kept(keys)
        predictions = kept.predictions
        missing = np.flatnonzero(~kept.is_kept)
        self.counts["cached"] += len(inputs) - len(missing)
        self.counts["cache"] += time.perf_counter() - began
        if len(missing):
            found = self._computed(inputs.take(missing))
            rounded = found.values.astype(np.float32).astype(np.float64)
            computed = Predictions(rounded, found.outcomes)
            cache.put([keys[i] for i in missing.tolist()], computed)
            predictions.put(missing, computed)
        return predictions

    def _streamed(self, inputs: ModelInputs, predictor: Streaming) -> Predictions:
        """Predictions that come one by one, each kept in the cache the moment it is there; equal
        inputs are predicted once.
        """
        keys = self._keys(inputs)
        kept = self._kept(keys)
        missing = np.flatnonzero(~kept.is_kept)
        self.unread.count(self.name, kept.predictions.outcomes[kept.is_kept].tolist())
        places = {keys[i]: i for i in missing[::-1].tolist()}
        wanted = np.array(sorted(places.values()), dtype=np.int64)
        began = time.perf_counter()
        try:
            if len(wanted):
                with closing(predictor.as_they_come(inputs.take(wanted).given())) as coming:
                    for number, prediction in coming:
                        self._take(kept, int(wanted[number]), prediction)
                        self._keep(keys, kept, int(wanted[number]))
        finally:
            self.counts["forward"] += time.perf_counter() - began
            self._take_counts()
        first = np.array([places[keys[i]] for i in missing.tolist()], dtype=np.int64)
        kept.predictions.put(missing, kept.predictions.take(first))
        kept.masses[missing] = kept.masses[first]
        self.counts["predicted"] += len(wanted)
        self.counts["cached"] += len(keys) - len(wanted)
        has_mass = ~np.isnan(kept.masses)
        self.counts["label_mass"] += float(kept.masses[has_mass].sum())
        self.counts["label_mass_of"] += int(has_mass.sum())
        return kept.predictions

    def _keys(self, inputs: ModelInputs) -> list[bytes]:
        fingerprint = self.predictor.fingerprint
        again = [("repeat", str(self.repeat))] if self.repeat else []
        return [key_of(fingerprint, self.precision, [*each, *again]) for each in inputs.key_parts()]

    def _kept(self, keys: Sequence[bytes]) -> KeptPredictions:
        """What the cache has; a row that no model can have predicted does not count, nor does a
        reply that could not be read.
        """
        width = max(1, len(self.predictor.labels))
        if self.cache is None:
            return KeptPredictions.none(len(keys), width)
        kept = self.cache.get(keys, width)
        predictions = kept.predictions
        kept.is_kept[predictions.outcomes == IS_UNREAD] = False
        if self.predictor.labels:
            is_sound = are_shares(predictions.values) | (predictions.outcomes != ANSWERED)
            self.cache.n_damaged += int((kept.is_kept & ~is_sound).sum())
            kept.is_kept[~is_sound] = False
        return kept

    def _take(self, kept: KeptPredictions, place: int, prediction: Prediction) -> None:
        """Enter a prediction that came, as the cache would give it; raises once too many replies
        cannot be read.
        """
        outcomes = np.array([prediction.outcome], dtype=object)
        given = Predictions(np.asarray(prediction.values)[None, :], outcomes)
        found = checked(self.name, given, 1, self.predictor.labels)
        self.unread.count(self.name, [prediction.outcome])
        kept.predictions.values[place] = found.values[0].astype(np.float32)
        kept.predictions.outcomes[place] = prediction.outcome
        kept.masses[place] = np.float32(prediction.mass)

    def _keep(self, keys: Sequence[bytes], kept: KeptPredictions, place: int) -> None:
        """Put a prediction into the cache; not a reply that cannot be read."""
        if self.cache is not None and kept.predictions.outcomes[place] != IS_UNREAD:
            chosen = slice(place, place + 1)
            self.cache.put([keys[place]], kept.predictions.take(chosen), kept.masses[chosen])

    def _take_counts(self) -> None:
        """Add what the predictor itself counted since last time: questions and tokens, also those
        of a probe before the first text.
        """
        if isinstance(self.predictor, Counting):
            self.counts.add(self.predictor.counts.since(self.counted))
            self.counted = Costs(self.predictor.counts)

    def _computed(self, inputs: ModelInputs) -> Predictions:
        began = time.perf_counter()
        before = self._input_seconds
        n = len(inputs)
        found = inputs.predicted_by(self.predictor)
        self._take_counts()
        predictions = checked(self.name, found, n, self.predictor.labels)
        assembling = self._input_seconds - before
        self.counts["assemble"] += assembling
        self.counts["forward"] += time.perf_counter() - began - assembling
        self.counts["predicted"] += n
        return predictions

    @property
    def _input_seconds(self) -> float:
        return self.predictor.input_seconds if isinstance(self.predictor, Timed) else 0.0

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Where the model's own tokens lie in a text."""
        if not isinstance(self.predictor, Pieces):
            raise BadModel(
                f"{self.name} does not show its tokens; "
                "fidelity=released, words=pieces and unit=subword need an hf: model"
            )
        return self.predictor.pieces(text)

    def token_units(self, texts: Texts) -> list[list[TokenUnit]]:
        """The model's own tokens of each text of an example, as units that can be moved."""
        if not isinstance(self.predictor, TokenUnits):
            raise BadModel(
                f"{self.name} takes texts, not token numbers; unit=token is for hf:, onnx: and "
                "causal: models"
            )
        return self.predictor.token_units(texts)

    def vocabulary(self) -> Sequence[str]:
        """The whole words that the model has a token for; empty when it does not say."""
        return self.predictor.vocabulary() if isinstance(self.predictor, Pieces) else ()

    def importance(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        """How much the loss depends on each word, texts of a pair apart: by gradient where there is
        one, else by leaving the word out.

        Kept, since several transformations need it for the same pairs.
        """
        keys = [pair_key(pair) for pair in pairs]
        return self.weighed(keys, lambda missing: self._weigh([pairs[i] for i in missing]))

    def _weigh(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        began = time.perf_counter()
        before = dict(self.counts)
        found = importance(self, pairs)
        is_counted = any(
            self.counts.get(name) != before.get(name) for name in ("predicted", "cached")
        )
        if not is_counted:  # gradients: one pass forward and back per pair
            self.counts["forward"] += time.perf_counter() - began
            self.counts["predicted"] += len(pairs)
        return found

    @property
    def how_importance(self) -> str:
        """A line that says how the importance of words is found with this model."""
        return how(self)

    @property
    def notes(self) -> list[str]:
        """What the user should know about how the model is run."""
        found = list(self.predictor.notes) if isinstance(self.predictor, Notes) else []
        if self.cache is not None:
            found += self.cache.notes
            if self.cache.n_damaged:
                found.append(
                    f"the prediction cache {self.cache.path} holds rows that are damaged or no "
                    f"predictions ({self.cache.n_damaged:,}); these texts were predicted again"
                )
        if self.calibration is not None:
            found.append(
                f"logits are divided by the temperature {self.calibration.temperature:.3g} "
                "(calibration.json)"
            )
        if self.threshold is not None:
            found.append(
                f"the model abstains where its top probability is below {self.threshold:.3g} "
                "(calibration.json)"
            )
        if self._has_invalid_label:
            found.append(
                f"a text that the model calls {ABSTAINED!r} gets none of the labels: "
                "it is accepted by no score"
            )
        return list(dict.fromkeys(found))

    def generate(self, requests: Sequence[str], *, max_tokens: Sequence[int]) -> list[str]:
        """The likeliest answer of a language model to each request."""
        if not isinstance(self.predictor, Generates):
            raise BadModel(
                f"{self.name} writes no text; it needs a language model (causal:…, openai:…)"
            )
        return self.predictor.generate(requests, max_tokens=max_tokens)

    def prompt_description(self, given: Segments) -> dict[str, Any]:
        """How a language model is asked, with its question about one input; empty for others."""
        if not isinstance(self.predictor, PromptedModel):
            return {}
        return self.predictor.description(given)

    @property
    def n_questions(self) -> int:
        """Questions that one text takes: one, or one per order of a prompt's options."""
        if isinstance(self.predictor, PromptedModel):
            return len(self.predictor.prompt.listings)
        return 1

    @property
    def similar_above(self) -> float | None:
        """The cosine above which an embedder takes a pair for similar; None for other models."""
        return self.predictor.threshold if isinstance(self.predictor, Similarity) else None

    @property
    def is_remote(self) -> bool:
        """Whether predictions come one by one from elsewhere, and each is worth keeping."""
        return isinstance(self.predictor, Streaming)

    @property
    def abstains(self) -> bool:
        """Whether the model can say that a text is none."""
        return self._has_invalid_label or self.threshold is not None

    @property
    def threshold(self) -> float | None:
        """The top probability below which the model abstains, where its folder says so."""
        return None if self.calibration is None else self.calibration.threshold

    @property
    def _has_invalid_label(self) -> bool:
        return self.columns is not None and bool((self.columns.sum(axis=1) == 0).any())


def _as_pairs(texts: Sequence[Texts] | Sequence[str]) -> list[Texts]:
    """Single texts may come as plain strings."""
    if isinstance(texts, str):
        raise BadModel("a model takes a list of texts, not one string")
    return [(text, None) if isinstance(text, str) else text for text in texts]
