"""Anything in Python that can answer: a function, a scikit-learn classifier, a transformers
pipeline, a predictor.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.outputs.probabilities import checked, from_pipeline_output
from disorder.registry import model
from disorder.types import Floats, Predictor, Task, Texts


@model(form="python:MODULE:FUNCTION")
def python(address: str, *, task: Task) -> Predictor:
    """A function of yours: gets a list of texts (pairs as tuples), gives label names, score dicts
    or rows of probabilities.

    The columns of probabilities stand in the order of its attribute `labels`, else of the data's
    labels (alphabetical; for the papers' sets as `disorder list data` shows them).
    """
    module, _, name = address.partition(":")
    if not module or not name:
        raise BadModel(f"python:{address}: write python:MODULE:FUNCTION")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        thing = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise BadModel(f"python:{address} cannot be loaded: {error}") from None
    return as_predictor(thing, task=task)


def as_predictor(thing: Any, *, task: Task) -> Predictor:
    """The predictor that an object is, or can be made into."""
    if isinstance(thing, Predictor) and callable(thing):
        return thing
    if hasattr(thing, "predict_proba") and hasattr(thing, "classes_"):
        labels = tuple(str(label) for label in thing.classes_)
        return Function(thing.predict_proba, labels, _fingerprint(thing))
    if hasattr(thing, "tokenizer") and hasattr(thing, "model"):
        from disorder.models.hf import from_pipeline

        return from_pipeline(thing)
    if not callable(thing):
        raise BadModel(
            f"{type(thing).__name__} cannot answer: need a function, a classifier with predict_proba, or a pipeline"
        )
    labels = tuple(str(label) for label in getattr(thing, "labels", task.labels))
    return Function(thing, labels, _fingerprint(thing))


@dataclass
class Function:
    """A Python function as a predictor: it gets strings for single texts and tuples for pairs."""

    function: Callable[[list[Any]], Any]
    labels: tuple[str, ...]
    fingerprint: str

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, whatever form the function answers in."""
        answers = self.function([a if b is None else (a, b) for a, b in texts])
        if isinstance(answers, str):
            raise BadModel(
                f"the function gave one string for {len(texts)} texts; it gets a list and must give a list"
            )
        if not hasattr(answers, "__len__"):
            raise BadModel(
                f"python: answers must be a list or an array, one entry a text; got {type(answers).__name__}"
            )
        if (
            len(answers)
            and isinstance(answers[0], str | dict | list)
            and not _is_numbers(answers[0])
        ):
            return from_pipeline_output("python", answers, self.labels)
        return checked("python", answers, len(texts), self.labels)


def _is_numbers(answer: Any) -> bool:
    return isinstance(answer, list) and (
        not answer or isinstance(answer[0], int | float | np.number)
    )


def _fingerprint(thing: Any) -> str:
    """A hash of the source where there is one; empty means: never trust a cache for it."""
    try:
        source = inspect.getsource(thing)
    except (OSError, TypeError):
        return ""
    return "python:" + blake2b(source.encode(), digest_size=16).hexdigest()
