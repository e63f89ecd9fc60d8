"""Leave one out: how much probability does the predicted label lose without each word?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.registry import explanation
from disorder.types import Floats, Ints, Pair
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


@explanation(
    asks="Which words does the prediction rest on, one left out at a time?",
    paper="after OOO §3.3",
    on="any",
    calls=lambda subject, **given: weighing_calls(subject, subject.n_words + 1, **given),
)
def leave_one_out(
    subject: Subject, *, n: int = 100, q: int = 5, among: Among = RIGHT, lexicon: str = ""
) -> Explained:
    """Weigh words by leaving each out once, on original texts and on shuffled ones; cheap, and the
    same for every seed.
    """
    return importance(
        subject, by_leaving_out, "leave_one_out", n=n, q=q, among=among, lexicon=lexicon
    )


def by_leaving_out(subject: Subject, pairs: Sequence[Pair], columns: Ints) -> list[list[Floats]]:
    """Probability of the label in `columns` (−1: of abstaining) minus that without the word."""
    kept = [
        np.concatenate([np.ones((1, n_words(pair)), bool), ~np.eye(n_words(pair), dtype=bool)])
        for pair in pairs
    ]
    texts = [text for pair, rows in zip(pairs, kept, strict=True) for text in masked(pair, rows)]
    together = with_abstention(subject.predict(texts, stage="one word left out"))
    predictions = np.split(together, np.cumsum([len(rows) for rows in kept])[:-1])
    return [
        by_side(pair, predicted[0, column] - predicted[1:, column])
        for pair, predicted, column in zip(pairs, predictions, columns.tolist(), strict=True)
    ]
