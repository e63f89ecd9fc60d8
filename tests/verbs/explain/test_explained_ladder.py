"""The parts of the ladder add up, from the best constant answer on, and go to what a model uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mechanisms import MECHANISMS

from conftest import pairs
from disorder.errors import BadSetting, DisorderError
from disorder.transformations.words import split
from disorder.verbs.explain import explain
from disorder.verbs.explain.explanations.ladder import (
    PARTS,
    orders_of_runs,
    other_words,
    within_runs,
)

Write = Callable[..., Path]
LABELS = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize("model", ["builtin", "builtin:bow", "uniform"])
def test_the_parts_add_up_to_the_skill(model: str) -> None:
    scores = explain(model, by="ladder:draws=3", limit=120)["ladder"].scores
    total = scores["total"].value
    assert sum(scores[part].value for part in PARTS) == pytest.approx(total, abs=1e-12)
    original = scores["balanced accuracy, original text"].value
    assert total == pytest.approx(original - 1 / 3)


def test_a_bag_of_words_is_all_words() -> None:
    scores = explain("builtin:bow", by="ladder:draws=3", limit=120)["ladder"].scores
    assert scores["order"].value == scores["global order"].value == scores["local order"].value == 0
    assert scores["words"].low > 0


def test_a_constant_answer_on_uneven_labels_gets_nothing() -> None:
    """80 of 100 labels are positive: plain accuracy is 0.8, and no word was read."""
    rows = [
        row | {"label": "pos" if i % 5 else "neg"}
        for i, row in enumerate(MECHANISMS["bag of words"].rows(100))
    ]
    found = explain(lambda texts: ["pos"] * len(texts), rows, by="ladder")["ladder"]
    assert found.finding.startswith("no skill to split: balanced accuracy 0.500")
    assert all(found.scores[part].value == 0 for part in PARTS)
    assert found.claims == {}


def test_one_gold_label_has_no_skill_to_split() -> None:
    rows = [row | {"label": "pos"} for row in MECHANISMS["bag of words"].rows(30)]
    with pytest.raises(DisorderError, match="one gold label"):
        explain(lambda texts: ["pos"] * len(texts), rows, by="ladder")


def test_an_abstention_counts_as_a_guess(jsonl: Write) -> None:
    def abstains(texts: Any) -> list[list[float]]:
        return [[0.3, 0.0, 0.0, 0.7]] * len(texts)

    abstains.labels = (*LABELS, "invalid")  # type: ignore[attr-defined]
    scores = explain(abstains, str(jsonl(pairs(12))), by="ladder:draws=2")["ladder"].scores
    assert scores["total"].value == pytest.approx(0)


def test_numbers_have_a_ladder_of_rank_correlations() -> None:
    """A number that is a count of one word, and one that is the place of it."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(60):
        words = ["cat"] * int(rng.integers(0, 6)) + [f"w{k}" for k in rng.integers(0, 30, 8)]
        words = [words[k] for k in rng.permutation(len(words))]
        rows.append({"text": " ".join(words), "label": str(words.count("cat") + i / 1000)})

    def counts(texts: Sequence[str]) -> list[float]:
        return [float(text.split().count("cat")) for text in texts]

    found = explain(counts, rows, by=["ladder", "leave_one_out", "overview"])
    scores = found["ladder"].scores
    assert scores["rank correlation, original text"].value > 0.9
    assert scores["order"].value == pytest.approx(0, abs=1e-12)
    assert scores["words"].low > 0
    assert "heaviest words: cat (1.00" in found["leave_one_out"].finding
    assert "heaviest words: cat" in found["overview"].finding


def test_orders_keep_what_their_rung_keeps() -> None:
    rng = np.random.default_rng(0)
    own = np.arange(10)
    for orders in (within_runs(10, 400, rng, window=3), orders_of_runs(10, 400, rng, window=3)):
        assert (np.sort(orders, axis=1) == own).all()
    assert (within_runs(10, 400, rng, window=3) // 3 == own // 3).all()
    runs = orders_of_runs(10, 400, rng, window=3)
    is_next = np.diff(runs, axis=1) == 1
    kept = [is_next[row, np.flatnonzero(runs[row] % 3 < 2)[:-1]] for row in range(5)]
    assert all(len(each) for each in kept)
    starts = [order[order % 3 == 0].tolist() for order in runs]
    assert len({tuple(each) for each in starts}) == 24  # every order of four runs


def test_every_order_is_equally_likely() -> None:
    orders = within_runs(3, 6000, np.random.default_rng(0), window=None)
    counts = Counter(map(tuple, orders.tolist()))
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())


def test_other_words_keep_their_number_and_all_else() -> None:
    sentence = split("Well, the old cat sat!")
    [text] = other_words(["x", "y"], sentence, 1, np.random.default_rng(0))
    assert len(split(text).movable) == len(sentence.movable)
    assert text.replace("x", "").replace("y", "") == ",    !"


def test_bad_settings_are_told() -> None:
    with pytest.raises(BadSetting):
        explain("builtin", by="ladder:window=1", limit=20)
