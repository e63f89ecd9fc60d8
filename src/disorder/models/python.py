"""Anything in Python that can predict: a function, a scikit-learn estimator, a transformers
pipeline, a predictor.

A function or estimator gets a list of strings for single texts, and a list of (first, second)
tuples for pairs. It may return label names (strings, integers, numpy integers), one number per text
for a number task, rows of probabilities, or scores by label. A vectorizer of scikit-learn takes
pairs once it is told how to join them: `TfidfVectorizer(preprocessor=" ".join)`.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import sys
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from disorder.errors import BadModel, DisorderError, option
from disorder.models.answering import ChoosingFunction, Graded
from disorder.models.embed import LABELS, Similarity, from_embedder, is_embedder
from disorder.models.likelihood import ScoreFunction
from disorder.models.outputs import checked, from_label_scores
from disorder.models.pipeline import from_network, from_pipeline, is_pipeline, network_of
from disorder.models.protocols import (
    ClassEstimator,
    Estimator,
    Labelled,
    ProbabilityEstimator,
)
from disorder.models.ranking import RankingFunction
from disorder.models.rerank import from_reranker, is_reranker
from disorder.models.servers.event_loop import run
from disorder.registry import model
from disorder.registry.own import make_importable, module_in
from disorder.safe_io import reason
from disorder.types import Floats, Predictor, Task, Texts
from disorder.types.predictions import ABSTAINED, ABSTAINS, ANSWERED, Predictions

PAIRS = "pairs: this data has two texts per example, and the function gets (text_a, text_b)"
logger = logging.getLogger(__name__)


@model(form="python:MODULE:FUNCTION, FILE.py:FUNCTION")
def python(address: str, *, task: Task, threshold: float | None = None) -> Predictor:
    """A function of yours: gets a list of texts (pairs as tuples), gives label names, score dicts
    or rows of probabilities.

    The columns of probabilities stand in the order of its attribute `labels`, else of the data's
    labels (alphabetical; for the papers' sets as `disorder list data` shows them). Label names may
    differ from the data's: --labels says what they mean.
    """
    predictor = as_predictor(object_named(address), task=task, threshold=threshold)
    if isinstance(predictor, PythonModel):
        return replace(predictor, spec=f"python:{address}")
    if isinstance(predictor, ChoosingFunction | ScoreFunction | Graded | RankingFunction):
        predictor.function = partial(_called_as, f"python:{address}", predictor.function)
    return predictor


def object_named(address: str) -> Any:
    """The object that MODULE:NAME or FILE.py:NAME means."""
    module, _, name = address.rpartition(":")
    is_file = module.endswith(".py")
    words = f"{'' if is_file else module + '.'}{name}".split(".")
    if not module or not all(word.isidentifier() for word in words):
        raise BadModel(
            f"python:{address}: write python:MODULE:FUNCTION with the module as after import, or "
            "FILE.py:FUNCTION"
        )
    make_importable(os.getcwd())
    if is_file and not Path(module).is_file():
        raise BadModel(f"{module}: no such file")
    if not is_file:
        _check_not_shadowed(module)
    try:
        with _as_before():
            found = module_in(Path(module)) if is_file else importlib.import_module(module)
            return attrgetter(name)(found)
    except (ImportError, AttributeError) as error:
        raise BadModel(f"python:{address} cannot be loaded: {error}") from None
    except (SyntaxError, SystemExit) as error:
        told = f"{type(error).__name__}: {error}"
        raise BadModel(f"python:{address} cannot be loaded: {told}") from None


def check_importable(address: str) -> None:
    """Raise where no function can be there; no code of the user's is run."""
    module = address.rpartition(":")[0]
    if module.endswith(".py"):
        is_there = Path(module).is_file()
    else:
        make_importable(os.getcwd())
        is_there = find_spec(module.partition(".")[0] or " ") is not None
    if not is_there:
        raise BadModel(f"python:{address}: no such {'file' if '.py' in module else 'module'}")


def _check_not_shadowed(module: str) -> None:
    """Raise where a module of the user is called like one of Python's own."""
    first = module.partition(".")[0]
    if first in sys.stdlib_module_names and Path(f"{first}.py").is_file():
        raise BadModel(
            f"python:{module}: a module of Python's own is called {first}; name the file, "
            f"{first}.py:FUNCTION"
        )


def as_predictor(thing: Any, *, task: Task, threshold: float | None = None) -> Predictor:
    """The predictor that an object is, or can be made into; `threshold` is for embedders."""
    if isinstance(thing, Predictor) and callable(thing):
        return thing
    if is_embedder(thing):
        return from_embedder(thing, task, threshold)
    if is_reranker(thing):
        return from_reranker(thing)
    if is_pipeline(thing):  # before estimators: a pipeline has a `predict` as well
        return from_pipeline(thing)
    network = network_of(thing)
    if network is not None:
        return from_network(*network)
    if isinstance(thing, ProbabilityEstimator | Estimator):
        return _estimator(thing, task)
    if not callable(thing):
        raise BadModel(
            f"{type(thing).__name__} cannot predict: need a function, an estimator with predict or "
            "predict_proba, a pipeline, or (model, tokenizer) of transformers"
        )
    fingerprint = _source_fingerprint(thing)
    if task.kind == "choice":
        return ChoosingFunction(thing, task.labels, fingerprint)
    if task.kind == "pair":
        return ScoreFunction(thing, fingerprint)
    if task.kind == "text":
        return Graded(thing, fingerprint)
    if task.kind == "ranking":
        return RankingFunction(thing, fingerprint)
    lists_labels = isinstance(thing, Labelled)
    labels = _names(thing.labels) if lists_labels else task.labels
    return PythonModel(thing, labels, fingerprint, lists_labels=lists_labels)


def with_own_names(predictor: Predictor, renamed: Mapping[str, str], task: Task) -> Predictor:
    """A function that does not list its labels, told by --labels which names it uses beside the
    data's, or an embedder that is told what similar means; any other predictor as it is.
    """
    if isinstance(predictor, Similarity) and set(renamed) == set(LABELS):
        predictor.use_own_labels()
    if not isinstance(predictor, PythonModel) or predictor.lists_labels or not renamed:
        return predictor
    wanted = {ABSTAINED, *(label.lower() for label in task.labels)}
    for own, label in renamed.items():
        if label.lower() not in wanted:
            known = ", ".join(task.labels)
            raise BadModel(f"{option('labels', f'{own}={label}')}: the data's labels are {known}")
    own_names = tuple(own for own in renamed if own not in task.labels)
    labels = (*task.labels, *own_names)
    return replace(predictor, labels=labels, renamed=renamed, own_names=own_names)


def _estimator(thing: Any, task: Task) -> PythonModel:
    """A scikit-learn estimator: by its probabilities where it has any, else by its predictions."""
    _check_fitted(thing)
    lists_labels = isinstance(thing, ClassEstimator)
    labels = _names(thing.classes_) if lists_labels else task.labels
    made = partial(
        PythonModel,
        labels=labels,
        fingerprint="",
        estimator=type(thing).__name__,
        lists_labels=lists_labels,
    )
    if isinstance(thing, ProbabilityEstimator):
        return made(thing.predict_proba)
    return made(partial(_label_names, thing.predict) if labels else thing.predict)


def _label_names(predict: Callable[[list[Any]], Any], texts: list[Any]) -> list[str]:
    return [str(label) for label in np.asarray(predict(texts)).ravel()]


def _check_fitted(thing: Any) -> None:
    if "sklearn" not in sys.modules:
        return
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if isinstance(thing, BaseEstimator):
        try:
            check_is_fitted(thing)
        except NotFittedError:
            raise BadModel(
                f"{type(thing).__name__} is not fitted: call fit before it is audited"
            ) from None


@dataclass
class PythonModel:
    """A Python function as a predictor."""

    function: Callable[[list[Any]], Any]
    labels: tuple[str, ...]
    fingerprint: str
    estimator: str = ""  # the class of a scikit-learn estimator
    spec: str = ""  # where it was named, not given
    lists_labels: bool = True  # else `labels` are the data's
    renamed: Mapping[str, str] = field(default_factory=dict)  # what --labels says
    own_names: tuple[str, ...] = ()  # of these, none of the data's: no column is known of them
    has_said: bool = field(default=False, compare=False)  # in which order columns are read

    def __call__(self, texts: Sequence[Texts], /) -> Floats | Predictions:
        """Probabilities, whatever form the function predicts in; `Predictions` where it says which
        texts it could not answer.
        """
        predictions = self._called(texts)
        if isinstance(predictions, Predictions):
            return checked("python", predictions, len(texts), self.labels)
        if isinstance(predictions, str):
            raise BadModel(
                f"the function gave one string for {len(texts)} texts; "
                "it gets a list and must give a list"
            )
        if not isinstance(predictions, Sized):
            raise BadModel(
                "python: predictions must be a list or an array, one entry per text; "
                f"got {type(predictions).__name__}"
            )
        if isinstance(predictions, np.ndarray | list | tuple):
            entries = list(predictions)
        else:
            entries = list(np.atleast_1d(np.asarray(predictions)))  # a series, a tensor
        if entries and all(map(_is_label, entries)) and len(entries) != len(texts):
            n = f"{len(entries):,} answer{'s' * (len(entries) != 1)}"
            raise BadModel(
                f"python: the function gave {n} for {len(texts):,} texts; it must give one per text"
            )
        answered = np.array([each is not None for each in entries], dtype=bool)
        if answered.all():
            return self._read(predictions, entries, len(texts))
        # None: the function declines to answer
        given = [each for each in entries if each is not None]
        values = np.zeros((len(entries), max(1, len(self.labels))))
        if given:
            found = self._read(given, given, len(given))
            values[answered] = found.values if isinstance(found, Predictions) else found
        outcomes = np.where(answered, ANSWERED, ABSTAINS).astype(object)
        return checked("python", Predictions(values, outcomes), len(texts), self.labels)

    def _read(self, predictions: Any, entries: list[Any], n: int) -> Floats | Predictions:
        """The answers to n texts as probabilities, given as they came and as a list."""
        if self.labels and entries and all(map(_is_label, entries)):
            entries = [str(each) for each in entries]
        if entries and _is_scores(entries[0]):
            self._check_labels(entries[0])
            return from_label_scores("python", entries, self.labels, self._hint)
        if self.own_names:
            raise BadModel(
                "python: rows of probabilities do not say which column is which label; give the "
                "function an attribute `labels` with its own names, in the order of the columns"
            )
        self._say_order()
        return checked("python", predictions, n, self.labels)

    def _say_order(self) -> None:
        """Say once which column is which label, where the function does not say it itself."""
        if self.has_said or self.lists_labels or not self.labels:
            return
        self.has_said = True
        logger.info(
            "%s: columns are read as %s; an attribute `labels` of the function says otherwise",
            self.spec or "python",
            ", ".join(self.labels),
        )

    def _hint(self, label: str) -> str:
        """What to do about a prediction that is none of the labels."""
        if self.lists_labels:
            return ", which its attribute `labels` lists; it must list all of its own"
        known = [name for name in self.labels if name not in self.own_names]
        unused = [name for name in known if name not in self.renamed.values()]
        meant = {**self.renamed, label: (unused or known)[0]}
        pairs = ",".join(f"{own}={name}" for own, name in meant.items())
        return f"; say what its labels mean, for instance {option('labels', pairs)}"

    def _check_labels(self, prediction: Any) -> None:
        """Raise where a task of numbers gets labels."""
        if not self.labels:
            raise BadModel(
                "python: the task asks for one number per text, but the function gave a "
                f"{type(prediction).__name__}"
            )

    def _called(self, texts: Sequence[Texts]) -> Any:
        given = [a if b is None else (a, b) for a, b in texts]
        is_pairs = bool(given) and not isinstance(given[0], str)
        try:
            return _called_as(self.spec, self.function, given, PAIRS if is_pairs else "texts")
        except (AttributeError, TypeError, ValueError, BadModel) as error:
            cause = error.__cause__ or error
            if not self.estimator:
                raise
            if is_pairs and isinstance(cause, AttributeError | TypeError):
                raise BadModel(
                    f"{self.estimator} gets pairs as (first, second) tuples and failed ({cause}); "
                    'a vectorizer joins them with preprocessor=" ".join'
                ) from error
            if isinstance(cause, ValueError):
                raise BadModel(
                    f"{self.estimator} cannot predict a list of texts ({reason(cause)}); give a "
                    "Pipeline of scikit-learn that begins with its vectorizer"
                ) from error
            raise


def _called_as(
    spec: str, function: Callable[[list[Any]], Any], given: list[Any], what: str = "entries"
) -> Any:
    """What a function of the user gives; what it raises is told in a line, but for one that was
    given as an object: its owner sees it as it is.
    """
    try:
        with _as_before():
            found = function(given)
            return _awaited(found) if inspect.isawaitable(found) else found
    except (DisorderError, KeyboardInterrupt):
        raise
    except BaseException as error:  # the user's own code, which may raise anything
        if _is_torch_module(function):
            raise BadModel(
                f"{type(function).__name__} is a torch module that takes no list of texts "
                f"({reason(error)}); give (model, tokenizer) of transformers, or a function "
                "from texts to probabilities"
            ) from error
        if not spec:
            raise
        told = f"{_failure(error)} when it got a list of {len(given):,} {what}"
        raise BadModel(f"{spec} {told}") from error


def _awaited(found: Awaitable[Any]) -> Any:
    """What an async function gives, in a loop of its own: a notebook has one already."""

    async def wait() -> Any:
        return await found

    return run(wait(), inside=nullcontext())


def _is_torch_module(thing: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.nn.Module)


_calls = Counter[int]()  # process → how many calls of others' code are under way in it
_exit_at_once = os._exit


@contextmanager
def _as_before() -> Iterator[None]:
    """Run code of others so that our own goes on once, and in the folder that it was in: where
    that code changed the folder, it is changed back; a process that it made ends with it, and it
    cannot end ours without a word (`os._exit(0)` would pass every gate).
    """
    process = os.getpid()
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = ""
    _calls[process] += 1
    os._exit = _exit_with_a_word
    try:
        yield
    finally:
        if os.getpid() != process:
            _exit_at_once(1)
        _calls[process] -= 1
        if folder:
            os.chdir(folder)


def _exit_with_a_word(status: int) -> NoReturn:
    """In place of `os._exit`: in our own process, while others' code runs, an exception."""
    if _calls[os.getpid()]:
        raise SystemExit(f"os._exit({status})")
    _exit_at_once(status)


def _failure(error: BaseException) -> str:
    """What a function of the user raised, and where."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__
    ]
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"raised {type(error).__name__}: {reason(error)}{where}"


def _names(labels: Any) -> tuple[str, ...]:
    return tuple(str(label) for label in labels)


def _is_label(prediction: Any) -> bool:
    """Whether a prediction is the name of a label: a string, an integer or a truth value."""
    return isinstance(prediction, str | int | np.integer | np.bool_)


def _is_scores(prediction: Any) -> bool:
    """Whether a prediction gives scores by label, not a row of numbers."""
    if isinstance(prediction, list):
        return bool(prediction) and not isinstance(prediction[0], int | float | np.number)
    return isinstance(prediction, str | dict)


def _source_fingerprint(thing: Any) -> str:
    """A hash of the source where there is one; empty means: never trust a cache for it."""
    try:
        source = inspect.getsource(thing)
    except (OSError, TypeError):
        return ""
    return "python:" + blake2b(source.encode(), digest_size=16).hexdigest()
