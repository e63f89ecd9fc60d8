"""How does a model spec become a predictor, and how do its labels meet the data's?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from disorder.abstention import ABSTAINED
from disorder.errors import BadModel
from disorder.memo import Memo
from disorder.models.importance.by_word import MAX_KEPT, how, importance
from disorder.models.importance.by_word import key_of as pair_key
from disorder.models.importance.leave_one_out import WithoutEachWord
from disorder.models.outputs.calibration import Calibration, calibration_of
from disorder.models.outputs.probabilities import checked
from disorder.models.python import as_predictor
from disorder.registry import ModelPart, part, parts
from disorder.runs.prediction_cache import Cache, key_of
from disorder.types import Costs, Floats, Pair, Predictor, Task, Texts


def load(
    model: Any,
    *,
    task: Task,
    labels: Mapping[str, str] | None = None,
    batch_size: int | None = None,
    precision: str = "fp32",
    cache: Path | None = None,
) -> LoadedModel:
    """A predictor whose columns are the task's labels, from a spec or from any Python object that
    can answer.
    """
    if isinstance(model, str):
        name, _, address = model.partition(":")
        _check_spec(model, name)
        predictor: Predictor = part(ModelPart, name).function(address, task=task)
    else:
        name, predictor = (
            getattr(model, "__name__", type(model).__name__),
            as_predictor(model, task=task),
        )
    title = model if isinstance(model, str) else name
    if batch_size is not None and hasattr(predictor, "batch_size"):
        predictor.batch_size = batch_size
    if precision != "fp32":
        _set_precision(title, predictor, precision)
    kept = (
        Cache(cache)
        if cache and predictor.fingerprint and getattr(predictor, "is_costly", False)
        else None
    )
    columns = _columns(title, predictor.labels, task, labels or {})
    calibration = calibration_of(model) if isinstance(model, str) and predictor.labels else None
    return LoadedModel(predictor, title, task.labels, columns, precision, kept, calibration)


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


def _set_precision(name: str, predictor: Any, precision: str) -> None:
    if not hasattr(predictor, "use_precision"):
        raise BadModel(
            f"{name} runs in one precision only; --precision {precision} is for hf: models"
        )
    predictor.use_precision(precision)


@dataclass
class LoadedModel:
    """A predictor seen through the task's labels: columns reordered, or added up where several mean
    one label.
    """

    predictor: Predictor
    name: str
    labels: tuple[str, ...]
    columns: Floats | None
    precision: str = "fp32"
    cache: Cache | None = None
    calibration: Calibration | None = None
    counts: Costs = field(default_factory=Costs)
    weighed: Memo[tuple[object, ...], list[Floats]] = field(default_factory=lambda: Memo(MAX_KEPT))

    @property
    def fingerprint(self) -> str:
        """A hash of the model itself, and what its answers are divided by."""
        heat = (
            f"/{self.calibration.temperature}"
            if self.calibration and self.predictor.fingerprint
            else ""
        )
        return self.predictor.fingerprint + heat

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities of the task's labels, one row a text."""
        answers = self._fresh(texts) if self.cache is None else self._kept(texts, self.cache)
        answers = answers if self.calibration is None else self.calibration(answers)
        aligned = answers if self.columns is None else answers @ self.columns
        # What is kept on disk is single precision: round here, once, so that every path decides on
        # the same numbers.
        return aligned.astype(np.float32).astype(np.float64)

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Where the model's own tokens lie in a text."""
        find: Callable[[str], list[tuple[int, int]]] | None = getattr(
            self.predictor, "pieces", None
        )
        if find is None:
            raise BadModel(
                f"{self.name} does not show its tokens; fidelity=released and words=pieces need an hf: model"
            )
        return find(text)

    def vocabulary(self) -> Sequence[str]:
        """The whole words that the model has a token for; empty when it does not say."""
        words: Callable[[], Sequence[str]] = getattr(self.predictor, "vocabulary", tuple)
        return words()

    def importance(
        self, pairs: Sequence[Pair], without_each_word: WithoutEachWord
    ) -> list[list[Floats]]:
        """How much the loss hangs on each word, texts of a pair apart: by gradient where there is
        one, else leaving it out.

        Memo, since several transformations ask it of the same pairs.
        """
        keys = [pair_key(pair) for pair in pairs]
        return self.weighed(
            keys, lambda missing: self._weigh([pairs[i] for i in missing], without_each_word)
        )

    def _weigh(
        self, pairs: Sequence[Pair], without_each_word: WithoutEachWord
    ) -> list[list[Floats]]:
        began, before = time.perf_counter(), dict(self.counts)
        found = importance(self, pairs, without_each_word)
        if all(
            self.counts.get(name) == before.get(name) for name in ("predicted", "cached")
        ):  # gradients: forward and back
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
        found = [*getattr(self.predictor, "notes", []), *(self.cache.notes if self.cache else [])]
        if self.calibration is not None:
            found.append(
                f"logits are divided by the temperature {self.calibration.temperature:.3g} (calibration.json)"
            )
        if self.abstains:
            found.append(
                f"a text that the model calls {ABSTAINED!r} gets none of the labels: it is accepted by no score"
            )
        return list(dict.fromkeys(found))

    @property
    def abstains(self) -> bool:
        """Whether the model can say that a text is none."""
        return self.columns is not None and bool((self.columns.sum(axis=1) == 0).any())

    def _kept(self, texts: Sequence[Texts], cache: Cache) -> Floats:
        """Answers from the cache, and from the model where there are none."""
        keys = [key_of(self.predictor.fingerprint, self.precision, text) for text in texts]
        began = time.perf_counter()
        answers = cache.get(keys, max(1, len(self.predictor.labels)))
        missing = np.flatnonzero(np.isnan(answers[:, 0])).tolist()
        self.counts["cached"] += len(texts) - len(missing)
        self.counts["cache"] += time.perf_counter() - began
        if missing:
            fresh = self._fresh([texts[i] for i in missing]).astype(np.float32).astype(np.float64)
            cache.put([keys[i] for i in missing], fresh)
            answers[missing] = fresh
        return answers

    def _fresh(self, texts: Sequence[Texts]) -> Floats:
        began, assembled = time.perf_counter(), getattr(self.predictor, "assembling", 0.0)
        answers = checked(self.name, self.predictor(texts), len(texts), self.predictor.labels)
        assembling = getattr(self.predictor, "assembling", 0.0) - assembled
        self.counts["assemble"] += assembling
        self.counts["forward"] += time.perf_counter() - began - assembling
        self.counts["predicted"] += len(texts)
        return answers


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
                f"--labels names {label!r}, which is no label of {name}; it has {', '.join(given) or 'none'}"
            )
    wanted = {label.lower(): i for i, label in enumerate(task.labels)}
    matrix = np.zeros((len(given), len(task.labels)))
    for row, label in enumerate(given):
        target = renamed.get(label, label).lower()
        if target == ABSTAINED and target not in wanted:
            # no column: what a row then lacks to 1 is the probability of abstaining, see `predicted_label`
            continue
        if target not in wanted:
            raise BadModel(_mismatch(name, given, task))
        matrix[row, wanted[target]] = 1
    missing = [
        label for label, total in zip(task.labels, matrix.sum(axis=0), strict=True) if not total
    ]
    if missing:
        raise BadModel(f"{name} never answers {missing[0]!r}; it has {', '.join(given)}")
    return matrix


def _mismatch(name: str, given: Sequence[str], task: Task) -> str:
    both = f"{name} answers {', '.join(given)}; the data's labels are {', '.join(task.labels)}"
    if len(given) != len(task.labels):
        return f"{both}. Is it the right model for this data? If labels belong together, say so with --labels"
    example = ",".join(f"{mine}={theirs}" for mine, theirs in zip(given, task.labels, strict=True))
    return f'{both}. Say which is which, for instance --labels "{example}"'
