"""Expected calibration error over 15 equal-width bins, as in Word Salad (Table 8).

On perturbed texts it measures how far confidence is from what the gold label of the original text
bears out.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.decomposition import BinnedGap
from disorder.registry import metric
from disorder.types import Bools, Floats, Ints, Outcomes

N_BINS = 15
PART = 1024  # examples at a time, so that memory stays flat


@metric(
    title="ECE",
    meaning="expected calibration error: mean distance between confidence and accuracy, in 15 bins",
    better="low",
    paper="WS, OOO",
    of="texts",
    shown="page",
    position=60,
    needs_probabilities=True,
)
def ece(outcomes: Outcomes) -> BinnedGap:
    """Mean distance between confidence and accuracy; texts on which the model abstains are left
    out.
    """
    gaps, counts = _by_example(outcomes)
    if not counts.any():
        raise NothingToMeasure("the model abstains on every text")
    return BinnedGap(gaps, counts)


def calibration_error(confidence: Floats, is_right: Bools) -> float:
    """The error of predictions made with these probabilities.

    >>> round(calibration_error(np.array([0.9, 0.9, 0.6]), np.array([True, False, True])), 4)
    0.4
    """
    gaps = np.bincount(bin_of(confidence), is_right - confidence.astype(np.float64), N_BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def bin_of(confidence: Floats) -> Ints:
    """The bin of each probability; a bin holds its upper bound."""
    return np.clip(np.ceil(confidence * N_BINS).astype(np.int64) - 1, 0, N_BINS - 1)


def _by_example(outcomes: Outcomes) -> tuple[Floats, Ints]:
    """For each example, right predictions minus their probabilities by bin, and how many there
    are.
    """
    gaps = np.zeros((len(outcomes), N_BINS))
    counts = np.zeros(len(outcomes), dtype=np.int64)
    for start in range(0, len(outcomes), PART):
        part = slice(start, start + PART)
        label = outcomes.label[part]
        rows, variants = np.nonzero(label >= 0)
        confidence = outcomes.predictions[part].max(axis=2)[rows, variants].astype(np.float64)
        is_right = label[rows, variants] == outcomes.gold[part][rows]
        cells = rows * N_BINS + bin_of(confidence)
        flat = np.bincount(cells, is_right - confidence, len(label) * N_BINS)
        gaps[part] = flat.reshape(len(label), N_BINS)
        counts[part] = (label >= 0).sum(axis=1)
    return gaps, counts
