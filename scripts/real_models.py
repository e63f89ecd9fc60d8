"""Two models of scripts/real_conclusions.py, trained when they are first called; and the tweets.

python scripts/real_models.py > tweets.jsonl
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import zoo
from disorder.data import read_data
from disorder.models.embed import embedder_in

KINDS = ("hashtag", "name", "url", "exclamation", "fraction", "emoticon", "emoji", "dots")
N_TRAINED = 2000


def rows(seed: int) -> list[dict[str, str]]:
    """Rows like tweets: what is glued to a word decides."""
    found = [row for kind in KINDS for row in zoo.evidence_rows(kind, 100, seed=seed)]
    return [row | {"id": str(i)} for i, row in enumerate(found)]


@cache
def _tweets() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    vectors = TfidfVectorizer(token_pattern=r"\S+", lowercase=False)
    train = rows(seed=1)
    model = make_pipeline(vectors, LogisticRegression(C=100.0))
    return model.fit([row["text"] for row in train], [row["label"] for row in train])


def tweets(texts: Sequence[str]) -> list[str]:
    """A bag of what stands between spaces."""
    return list(map(str, _tweets().predict(list(texts))))


@cache
def _encoder() -> Any:
    return embedder_in(os.environ["ENCODER"])


@cache
def _sst2() -> Any:
    from sklearn.linear_model import LogisticRegression

    train = read_data("sst2:train").examples
    chosen = [train[i] for i in np.random.default_rng(0).choice(len(train), N_TRAINED, False)]
    vectors = _encoder().embed([each.text_a for each in chosen])
    return LogisticRegression(C=10.0, max_iter=1000).fit(vectors, [each.label for each in chosen])


def sst2(texts: Sequence[str]) -> list[str]:
    """Sentiment by a linear layer on the vectors of an encoder."""
    return list(map(str, _sst2().predict(_encoder().embed(list(texts)))))


if __name__ == "__main__":
    for row in rows(seed=2):
        print(json.dumps(row, ensure_ascii=False))
