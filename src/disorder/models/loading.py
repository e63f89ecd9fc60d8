"""Loading a model: from a spec or an object to a predictor, and from its labels to the data's."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from disorder.abstention import ABSTAINED, no_answer_codes
from disorder.errors import BadModel, DisorderError
from disorder.memo import Memo
from disorder.models.importance.by_word import MAX_KEPT, how, importance
from disorder.models.importance.by_word import key_of as pair_key
from disorder.models.inputs.variants import ModelInputs, TextInputs, VariantInputs
from disorder.models.likelihood import likelihood_of
from disorder.models.outputs.calibration import Calibration, calibration_of
from disorder.models.outputs.probabilities import are_shares, checked
from disorder.models.prompting import PromptedModel
from disorder.models.protocols import (
    Batching,
    Costly,
    Counting,
    Generates,
    Notes,
    Pieces,
    Precision,
    Streaming,
    Timed,
    TokenUnits,
)
from disorder.models.python import as_predictor
from disorder.registry import ModelPart, part, parts
from disorder.runs.prediction_cache import PredictionCache, key_of
from disorder.types import Costs, Floats, Pair, Predictor, Task, Texts, TokenUnit, Variants
from disorder.untrusted_files import reason

PROMPT = "prompt"  # what loaders of language models take beside the task
CACHE = "cache_folder"  # what loaders take that remember something beside predictions


def load(
    model: Any,
    *,
    task: Task,
    labels: Mapping[str, str] | None = None,
    batch_size: int | None = None,
    precision: str = "fp32",
    cache: Path | None = None,
    options: Mapping[str, Any] | None = None,
    no_answer: str = "skip",
) -> LoadedModel:
    """A predictor whose columns are the task's labels, from a spec or from any Python object that
    can predict.

    `options` are settings that only some loaders take, such as `base_url`; those of language models
    (`is_prompted`) take `prompt`. `no_answer` says what becomes of texts that the model does not
    answer: "skip", or "abstain".
    """
    title = model if isinstance(model, str) else name_of(model)
    predictor = _predictor(model, task, options or {}, cache)
    if task.is_likelihood:
        predictor = likelihood_of(title, predictor)
    if batch_size is not None and isinstance(predictor, Batching):
        predictor.batch_size = batch_size
    if precision != "fp32":
        _set_precision(title, predictor, precision)
    columns = _columns(title, predictor.labels, task, labels or {})
    return LoadedModel(
        predictor,
        title,
        task.labels,
        columns,
        precision,
        PredictionCache(cache) if cache is not None and _is_worth_caching(predictor) else None,
        calibration_of(model) if isinstance(model, str) and predictor.labels else None,
        no_answer,
    )


def _as_pairs(texts: Sequence[Texts] | Sequence[str]) -> list[Texts]:
    """Single texts may come as plain strings."""
    if isinstance(texts, str):
        raise BadModel("a model takes a list of texts, not one string")
    return [(text, None) if isinstance(text, str) else text for text in texts]


def name_of(model: Any) -> str:
    """What a model that is no spec is called: the name of a function, else of its class."""
    is_named = inspect.isroutine(model) or inspect.isclass(model)
    return str(model.__name__ if is_named else type(model).__name__)


def is_prompted(model: Any) -> bool:
    """Whether a model is a language model, which is asked by a prompt."""
    if not isinstance(model, str):
        return False
    entry = parts(ModelPart).get(model.partition(":")[0])
    return entry is not None and PROMPT in _options_of(entry.function)


def _predictor(model: Any, task: Task, options: Mapping[str, Any], cache: Path | None) -> Predictor:
    if not isinstance(model, str):
        _check_options(name_of(model), (), options)
        return as_predictor(model, task=task)
    name, _, address = model.partition(":")
    _check_spec(model, name)
    loader = part(ModelPart, name).function
    taken = _options_of(loader)
    _check_options(model, taken, options)
    if CACHE in taken:
        options = {**options, CACHE: cache}
    with loading(model):
        predictor: Predictor = loader(address, task=task, **options)
    return predictor


@contextmanager
def loading(spec: str) -> Iterator[None]:
    """Inside this, whatever a library raises on a damaged folder, or a user's module on import, is
    a `BadModel`: no list of types is complete, and the cause stays attached.
    """
    try:
        yield
    except (DisorderError, MemoryError):
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {reason(error)}"
        raise BadModel(f"{spec} cannot be loaded ({told})") from error


def _options_of(loader: Callable[..., Any]) -> list[str]:
    """The settings that a loader takes beside the task: its keyword-only parameters."""
    parameters = inspect.signature(loader).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "task"]


def _check_options(model: str, taken: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise on a setting that this kind of model does not take."""
    for name in options:
        if name not in taken:
            kinds = [
                f"{kind}:"
                for kind, entry in parts(ModelPart).items()
                if name in _options_of(entry.function)
            ]
            option = name.replace("_", "-")
            raise BadModel(f"--{option} is for {' and '.join(kinds)} models; {model} is none")


def _is_worth_caching(predictor: Predictor) -> bool:
    is_costly = isinstance(predictor, Costly) and predictor.is_costly
    return is_costly and bool(predictor.fingerprint)


def _check_spec(spec: str, name: str) -> None:
    """Say what was probably meant by a spec that names no kind of model."""
    if name in parts(ModelPart):
        return
    if Path(spec).is_dir():
        raise BadModel(f"{spec} is a folder: write hf:{spec}, or onnx:{spec} for an ONNX export")
    if Path(spec).is_file():
        raise BadModel(f"{spec} is a file, and the model comes first: disorder audit MODEL {spec}")
    if spec.count(":") == 1 and all(
        word.isidentifier() for word in spec.replace(":", ".").split(".")
    ):
        raise BadModel(f"unknown model {spec!r}; for a function of yours write python:{spec}")


def _set_precision(name: str, predictor: Predictor, precision: str) -> None:
    if not isinstance(predictor, Precision):
        raise BadModel(
            f"{name} runs in one precision only; --precision {precision} is for hf: models"
        )
    predictor.use_precision(precision)


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
    counts: Costs = field(default_factory=Costs)
    counted: Costs = field(default_factory=Costs)  # of the predictor's own counts
    weighed: Memo[tuple[object, ...], list[Floats]] = field(default_factory=lambda: Memo(MAX_KEPT))

    @property
    def fingerprint(self) -> str:
        """A hash of the model itself, and of the temperature of its logits."""
        if self.calibration is None or not self.predictor.fingerprint:
            return self.predictor.fingerprint
        return f"{self.predictor.fingerprint}/{self.calibration.temperature}"

    def __call__(self, texts: Sequence[Texts] | Sequence[str], /) -> Floats:
        """Probabilities of the task's labels, one row per text or pair of texts; zeros where the
        model gave no answer.
        """
        return self.answered(self.predict_texts(texts))

    def answered(self, found: Floats) -> Floats:
        """Predictions with zeros in the rows of `no_answer` (not a number for a regression)."""
        found[no_answer_codes(found) > 0] = 0.0 if self.labels else np.nan
        return found

    def predict_texts(self, texts: Sequence[Texts] | Sequence[str], /) -> Floats:
        """The same, with the rows of `disorder.abstention.no_answer` as they are."""
        return self._predict(TextInputs(_as_pairs(texts)))

    def predict_variants(self, variants: Sequence[Variants], /) -> Floats:
        """Probabilities of the task's labels, one row per variant of every example in turn.

        A model that takes tokens gets the positions; texts are made for the others, and for the
        keys of a cache. Rows of `no_answer` stay as they are.
        """
        return self._predict(VariantInputs(variants))

    def _predict(self, inputs: ModelInputs) -> Floats:
        if isinstance(self.predictor, Streaming):
            raw = self._streamed(inputs, self.predictor)
        else:
            raw = self._computed(inputs) if self.cache is None else self._cached(inputs, self.cache)
        calibrated = raw if self.calibration is None else self.calibration(raw)
        aligned = calibrated if self.columns is None else calibrated @ self.columns
        codes = no_answer_codes(raw)
        if codes.any():
            aligned[codes > 0] = raw[codes > 0, :1] if self.no_answer == "skip" else 0.0
        # What is kept on disk is single precision: round here, once, so that every path decides on
        # the same numbers.
        return aligned.astype(np.float32).astype(np.float64)

    def _cached(self, inputs: ModelInputs, cache: PredictionCache) -> Floats:
        """Predictions from the cache, and from the model where there are none."""
        fingerprint = self.predictor.fingerprint
        began = time.perf_counter()
        keys = [key_of(fingerprint, self.precision, each) for each in inputs.cache_keys()]
        predictions = cache.get(keys, max(1, len(self.predictor.labels)))
        if self.predictor.labels:
            predictions[~are_shares(predictions)] = np.nan  # no model predicted that
        missing = np.flatnonzero(np.isnan(predictions[:, 0]))
        self.counts["cached"] += len(inputs) - len(missing)
        self.counts["cache"] += time.perf_counter() - began
        if len(missing):
            computed = self._computed(inputs.take(missing)).astype(np.float32).astype(np.float64)
            cache.put([keys[i] for i in missing.tolist()], computed)
            predictions[missing] = computed
        return predictions

    def _streamed(self, inputs: ModelInputs, predictor: Streaming) -> Floats:
        """Predictions that come one by one, each kept in the cache the moment it is there; equal
        texts are predicted once.
        """
        texts = inputs.texts()
        labels = self.predictor.labels
        width = max(1, len(labels))
        keys = [key_of(self.predictor.fingerprint, self.precision, text) for text in texts]
        rows = np.full((len(texts), width + 1), np.nan)
        if self.cache is not None:
            rows = self.cache.get(keys, width + 1)
        missing = np.isnan(rows[:, 0])
        places = {keys[i]: i for i in np.flatnonzero(missing)[::-1].tolist()}
        wanted = sorted(places.values())
        began = time.perf_counter()
        coming = predictor.as_they_come([texts[i] for i in wanted]) if wanted else iter(())
        try:
            for number, row in coming:
                i = wanted[number]
                checked(self.name, row[None, :width], 1, labels)
                rows[i] = row.astype(np.float32)
                if self.cache is not None:
                    self.cache.put([keys[i]], rows[i : i + 1])
        finally:
            self.counts["forward"] += time.perf_counter() - began
            self._take_counts()
        for i in np.flatnonzero(missing).tolist():
            rows[i] = rows[places[keys[i]]]
        self.counts["predicted"] += len(wanted)
        self.counts["cached"] += len(texts) - len(wanted)
        has_mass = ~np.isnan(rows[:, width])
        self.counts["label_mass"] += float(rows[has_mass, width].sum())
        self.counts["label_mass_of"] += int(has_mass.sum())
        return rows[:, :width]

    def _take_counts(self) -> None:
        """Add what the predictor itself counted since last time: questions and tokens, also those
        of a probe before the first text.
        """
        if isinstance(self.predictor, Counting):
            self.counts.add(self.predictor.counts.since(self.counted))
            self.counted = Costs(self.predictor.counts)

    def _computed(self, inputs: ModelInputs) -> Floats:
        began = time.perf_counter()
        before = self._input_seconds
        found = inputs.predicted_by(self.predictor)
        self._take_counts()
        predictions = checked(self.name, found, len(inputs), self.predictor.labels)
        assembling = self._input_seconds - before
        self.counts["assemble"] += assembling
        self.counts["forward"] += time.perf_counter() - began - assembling
        self.counts["predicted"] += len(inputs)
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
        if self.calibration is not None:
            found.append(
                f"logits are divided by the temperature {self.calibration.temperature:.3g} "
                "(calibration.json)"
            )
        if self.abstains:
            found.append(
                f"a text that the model calls {ABSTAINED!r} gets none of the labels: "
                "it is accepted by no score"
            )
        return list(dict.fromkeys(found))

    def generate(self, requests: Sequence[str], *, max_tokens: Sequence[int]) -> list[str]:
        """The likeliest answer of a language model to each request."""
        if not isinstance(self.predictor, Generates):
            raise BadModel(f"{self.name} writes no text; it needs a language model (causal:…)")
        return self.predictor.generate(requests, max_tokens=max_tokens)

    def prompt_description(self, texts: Texts) -> dict[str, Any]:
        """How a language model is asked, with its question about one text; empty for others."""
        if not isinstance(self.predictor, PromptedModel):
            return {}
        return self.predictor.description(texts)

    @property
    def n_questions(self) -> int:
        """Questions that one text takes: one, or one per order of a prompt's options."""
        if isinstance(self.predictor, PromptedModel):
            return len(self.predictor.prompt.listings)
        return 1

    @property
    def is_remote(self) -> bool:
        """Whether predictions come one by one from elsewhere, and each is worth keeping."""
        return isinstance(self.predictor, Streaming)

    @property
    def abstains(self) -> bool:
        """Whether the model can say that a text is none."""
        return self.columns is not None and bool((self.columns.sum(axis=1) == 0).any())


def _columns(
    name: str, given: Sequence[str], task: Task, renamed: Mapping[str, str]
) -> Floats | None:
    """The matrix that turns the model's columns into the task's; None for regression."""
    if task.is_regression:
        if len(given) > 1:
            raise BadModel(
                f"{name} gives {len(given)} labels, but the task {task.name} asks for one number"
            )
        return None
    for label in renamed:
        if label not in given:
            raise BadModel(
                f"--labels names {label!r}, which is no label of {name}; "
                f"it has {', '.join(given) or 'none'}"
            )
    wanted = _by_name(task.labels)
    matrix = np.zeros((len(given), len(task.labels)))
    for row, label in enumerate(given):
        target = renamed.get(label, label)
        target = target if target in wanted else target.lower()
        if target == ABSTAINED and target not in wanted:
            # no column: what a row lacks to 1 is the probability of abstaining (`predicted_label`)
            continue
        if target not in wanted:
            raise BadModel(_mismatch(name, given, task))
        matrix[row, wanted[target]] = 1
    missing = [
        label for label, total in zip(task.labels, matrix.sum(axis=0), strict=True) if not total
    ]
    if missing:
        raise BadModel(f"{name} never predicts {missing[0]!r}; it has {', '.join(given)}")
    return matrix


def _by_name(labels: Sequence[str]) -> dict[str, int]:
    """The number of each label by its name, and by its name in small letters where that is clear:
    `Yes` and `yes` are two labels, if the data has both.
    """
    small = [label.lower() for label in labels]
    clear = {name: i for i, name in enumerate(small) if small.count(name) == 1}
    return clear | {label: i for i, label in enumerate(labels)}


def _mismatch(name: str, given: Sequence[str], task: Task) -> str:
    both = f"{name} predicts {', '.join(given)}; the data's labels are {', '.join(task.labels)}"
    if len(given) != len(task.labels):
        hint = "If labels belong together, say so with --labels"
        return f"{both}. Is it the right model for this data? {hint}"
    example = ",".join(f"{mine}={theirs}" for mine, theirs in zip(given, task.labels, strict=True))
    return f'{both}. Say which is which, for instance --labels "{example}"'
