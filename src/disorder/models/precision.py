"""The choice of a number format: a faster one is used only if, on this model and this data, it
gives the same predictions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from disorder.errors import DisorderError
from disorder.models.loaded_model import LoadedModel
from disorder.models.protocols import Precision
from disorder.types import Floats, Texts
from disorder.types.predictions import predicted_label

CANDIDATES = ("bf16", "int8")
WORTH = 1.15  # times faster, or it is not worth it


def choose_precision(
    load: Callable[[str], LoadedModel], texts: Sequence[Texts], agree: float
) -> tuple[str, str]:
    """The fastest precision whose predictions agree with fp32 on at least `agree` of a sample, and
    a line that says so.
    """
    sample = list(texts)
    exact = load("fp32")
    expected, seconds = _timed(exact, sample)
    best = "fp32"
    note = "precision fp32: no faster one agrees"
    for precision in _offered(exact):
        try:
            predictions, took = _timed(load(precision), sample)
        except DisorderError as error:
            return "fp32", f"precision fp32: {error}"
        rate = float((predicted_label(predictions) == predicted_label(expected)).mean())
        if rate >= agree and took * WORTH < seconds:
            best = precision
            seconds = took
            note = (
                f"precision {precision}: {rate:.3f} of {len(sample)} sampled predictions "
                f"agree with fp32 (bound {agree})"
            )
    return best, note


def _offered(model: LoadedModel) -> tuple[str, ...]:
    """The faster precisions that a model can run in; all, to be told why, if it has but one."""
    if not isinstance(model.predictor, Precision):
        return CANDIDATES
    return tuple(each for each in CANDIDATES if each in model.predictor.precisions)


def _timed(predictor: LoadedModel, sample: Sequence[Texts]) -> tuple[Floats, float]:
    """Predictions without the cache, the time of the second of two runs."""
    predictor.cache = None
    predictions = predictor(sample)
    began = time.perf_counter()
    predictor(sample)
    return predictions, time.perf_counter() - began
