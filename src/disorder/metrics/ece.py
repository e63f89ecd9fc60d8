"""Is a model as often right as it says? Expected calibration error over 15 equal-width bins, as in
Word Salad (Table 8).

On perturbed texts it asks how far certainty is from what the gold label of the original text bears out.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.intervals import _weights
from disorder.registry import metric
from disorder.types import Bools, Floats, Ints, Outcomes, Score

N_BINS = 15
PART = 1024  # examples at a time, so that memory stays flat


@metric(better="low", paper="WS, OOO", of="texts")
def ece(outcomes: Outcomes) -> Score:
    """Mean distance between how sure answers are and how often they are right; abstained texts are
    left out.
    """
    gaps, counts = _by_example(outcomes)
    gaps, counts = gaps[counts > 0], counts[counts > 0]
    if not len(counts):
        raise NothingToMeasure("the model answered no text")
    found = gaps.sum(axis=0) / counts.sum()
    value = float(np.abs(found).sum())
    drawn = np.concatenate([(w @ gaps) / (w @ counts)[:, None] for w in _weights(len(counts))])
    # Distances add up chance: this estimate lies too high, and its resamples higher. The true error
    # is at least the estimate
    # minus how far the bins move by chance (the triangle inequality), so a calibrated model keeps
    # an interval from 0.
    low = value - float(np.percentile(np.abs(drawn - found).sum(axis=1), 97.5))
    high = float(np.percentile(np.abs(drawn).sum(axis=1), 97.5))
    return Score(value, max(0.0, low), min(1.0, max(high, value)), len(counts), outcomes.n_skipped)


def calibration_error(sure: Floats, is_right: Bools) -> float:
    """The error of answers given with these probabilities.

    >>> round(calibration_error(np.array([0.9, 0.9, 0.6]), np.array([True, False, True])), 4)
    0.4
    """
    gaps = np.bincount(bin_of(sure), is_right - sure.astype(np.float64), N_BINS)
    return float(np.abs(gaps).sum() / len(sure))


def bin_of(sure: Floats) -> Ints:
    """The bin of each probability; a bin holds its upper bound."""
    return np.clip(np.ceil(sure * N_BINS).astype(np.int64) - 1, 0, N_BINS - 1)


def _by_example(outcomes: Outcomes) -> tuple[Floats, Ints]:
    """For each example, right answers minus their probabilities by bin, and how many answers there
    are.
    """
    gaps, counts = np.zeros((len(outcomes), N_BINS)), np.zeros(len(outcomes), dtype=np.int64)
    for start in range(0, len(outcomes), PART):
        part = slice(start, start + PART)
        label, sure = outcomes.label[part], outcomes.predictions[part].max(axis=2)
        rows, variants = np.nonzero(label >= 0)
        sure, is_right = (
            sure[rows, variants].astype(np.float64),
            label[rows, variants] == outcomes.gold[part][rows],
        )
        flat = np.bincount(rows * N_BINS + bin_of(sure), is_right - sure, len(label) * N_BINS)
        gaps[part], counts[part] = flat.reshape(len(label), N_BINS), (label >= 0).sum(axis=1)
    return gaps, counts
