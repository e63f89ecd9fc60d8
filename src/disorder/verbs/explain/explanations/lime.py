"""LIME: which words does the prediction rest on? Ribeiro et al. (2016), as in Out of Order §3.3.

Words are left out at random, the model predicts again, and a weighted ridge regression finds what
each word adds. As in the `lime` package: how many are left out is uniform, samples count by a
kernel of width 25 on 100 × their cosine distance, the ridge penalty is 1. Every place of a word is
a feature of its own (the package's bow=False) and all features are kept (feature_selection="none"),
since a mean over words needs every word. Our own, since equal samples are predicted once and those
of many examples share batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from disorder.errors import BadSetting
from disorder.randomness import generator
from disorder.registry import explanation
from disorder.types import Bools, Floats, Ints, Pair
from disorder.types.predictions import with_abstention
from disorder.verbs.explain.result import Explained
from disorder.verbs.explain.subject import Subject
from disorder.verbs.explain.word_importance import (
    RIGHT,
    Among,
    by_side,
    importance,
    masked,
    n_words,
    weighing_calls,
)

KERNEL_WIDTH = 25.0
DIGITS = 10  # of a coefficient, which do not depend on the processor's order of summation
PENALTY = 1.0
TOGETHER = 2**15  # samples predicted in one go


@explanation(
    asks="Which words does the prediction rest on, with others left out at random?",
    paper="OOO §3.3, 3.4.1",
    on="any",
    calls=lambda subject, samples, **given: weighing_calls(subject, samples, **given),
)
def lime(
    subject: Subject,
    *,
    samples: int = 1000,
    n: int = 100,
    q: int = 5,
    among: Among = RIGHT,
    lexicon: str = "",
    dev_r: bool = False,
) -> Explained:
    """Weigh words by LIME on original texts and on shuffled ones; with `lexicon`, look up the word
    that weighs most.

    `dev_r` begins with Out of Order's dev-r: one sentence, predicted right, balanced labels.
    """
    if samples < 2:
        raise BadSetting("lime", samples=samples, need="2 or more")
    weigh = partial(by_lime, samples=samples)
    return importance(subject, weigh, "lime", n=n, q=q, among=among, lexicon=lexicon, dev_r=dev_r)


def by_lime(
    subject: Subject, pairs: Sequence[Pair], columns: Ints, *, samples: int
) -> list[list[Floats]]:
    """LIME's coefficients of every word, for the label in `columns` (−1: for abstaining)."""
    found: list[list[Floats]] = []
    step = max(1, TOGETHER // samples)
    for start in range(0, len(pairs), step):
        found += _some(subject, pairs[start : start + step], columns[start : start + step], samples)
        subject.progress("LIME", len(found), len(pairs), "")
    return found


def _some(
    subject: Subject, pairs: Sequence[Pair], columns: Ints, samples: int
) -> list[list[Floats]]:
    drawn = [masks(pair, samples, subject.settings.seed) for pair in pairs]
    distinct = [np.unique(kept, axis=0, return_inverse=True) for kept in drawn]
    texts = [
        text for pair, (kept, _) in zip(pairs, distinct, strict=True) for text in masked(pair, kept)
    ]
    cuts = np.cumsum([len(kept) for kept, _ in distinct])[:-1]
    predictions = np.split(with_abstention(subject.predict(texts)), cuts)
    found = []
    for i, (pair, column) in enumerate(zip(pairs, columns.tolist(), strict=True)):
        _, places = distinct[i]
        probabilities = predictions[i][places.ravel(), column]
        found.append(by_side(pair, coefficients(drawn[i], probabilities)))
    return found


def masks(pair: Pair, samples: int, seed: int) -> Bools:
    """Which words each sample keeps (samples × words of both texts); the first keeps all."""
    size = n_words(pair)
    rng = generator(seed, "lime", *(side.text for side in pair.sides))
    n_out = rng.integers(1, size + 1, samples - 1)
    ranks = rng.random((samples - 1, size)).argsort(axis=1).argsort(axis=1)
    return np.concatenate([np.ones((1, size), dtype=bool), ranks >= n_out[:, None]])


def coefficients(kept: Bools, probabilities: Floats) -> Floats:
    """The ridge regression of probabilities on which words are there, near samples first."""
    features = kept.astype(np.float64)
    weights = nearness(kept)
    share = weights / weights.sum()
    # centring takes the intercept out, unpenalised
    centred = features - share @ features
    target = probabilities - share @ probabilities
    rows = centred * np.sqrt(weights)[:, None]
    goal = target * np.sqrt(weights)
    n_samples, n_features = rows.shape
    if n_features > n_samples:  # the same solution from the smaller matrix
        found = rows.T @ np.linalg.solve(rows @ rows.T + PENALTY * np.eye(n_samples), goal)
    else:
        found = np.linalg.solve(rows.T @ rows + PENALTY * np.eye(n_features), rows.T @ goal)
    return np.asarray(found.round(DIGITS))


def nearness(kept: Bools) -> Floats:
    """LIME's kernel: the cosine of a sample is the root of the share of words that stay."""
    distances = 100 * (1 - np.sqrt(kept.mean(axis=1)))
    return np.asarray(np.exp(-(distances**2) / (2 * KERNEL_WIDTH**2)))
