"""The parts of the ladder add up, and go to the kind of order that a model reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import pairs
from disorder.errors import BadSetting
from disorder.transformations.words import split
from disorder.verbs.explain import explain
from disorder.verbs.explain.explanations.ladder import differences
from disorder.verbs.explain.ladder_rungs import groups_of, orders_of

Write = Callable[..., Path]
SHARES = ("words alone", "global order", "word-class order", "local order")
LABELS = ("entailment", "neutral", "contradiction")
TEXT = "the old cat , it seems , saw a big dog near the house today ."
TAGS = "DET ADJ NOUN PUNCT PRON VERB PUNCT VERB DET ADJ NOUN ADP DET NOUN NOUN PUNCT".split()  # noqa: SIM905


@pytest.fixture(autouse=True)
def _tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Word classes without a package: words of three letters are nouns, others verbs."""

    def tag(sentences: Any, *, tagger: str) -> list[Any]:
        return [
            replace(
                s, tags=np.array(["NOUN" if len(w) == 3 else "VERB" for w in s.words], dtype="U5")
            )
            for s in sentences
        ]

    monkeypatch.setattr("disorder.verbs.explain.explanations.ladder.tagged", tag)


@pytest.mark.parametrize("first", ["windows", "classes"])
@pytest.mark.parametrize("model", ["builtin", "builtin:bow", "uniform"])
def test_the_parts_add_up_to_the_accuracy_above_chance(model: str, first: str) -> None:
    scores = explain(model, by=f"ladder:draws=3,first={first}", limit=120)["ladder"].scores
    assert sum(scores[share].value for share in SHARES) == pytest.approx(
        scores["total"].value, abs=1e-12
    )
    assert scores["total"].value == pytest.approx(scores["accuracy, original text"].value - 1 / 3)


def test_a_bag_of_words_is_all_words() -> None:
    scores = explain("builtin:bow", by="ladder:draws=3", limit=120)["ladder"].scores
    assert [scores[share].value for share in SHARES[1:]] == [0, 0, 0]
    assert scores["words alone"].value == pytest.approx(scores["total"].value)


def test_only_order_can_decide_the_examples_that_need_it() -> None:
    """Half of the built-in data needs order: the reader loses there and keeps the rest."""
    scores = explain("builtin", by="ladder:draws=5", limit=300)["ladder"].scores
    assert scores["words alone"].high < scores["total"].low
    assert scores["accuracy, words only"].value > 1 / 3


@pytest.mark.parametrize(
    ("reads", "share"),
    [
        (lambda words: words.index("ibis") < 5, "global order"),  # which window it stands in
        (lambda words: len(words[0]) != 3, "word-class order"),  # the class of the first word
        (lambda words: words[:2] == ["ibis", "hen"], "local order"),
    ],
)
def test_a_model_that_reads_one_kind_of_order_shows_it(
    jsonl: Write, reads: Any, share: str
) -> None:
    def answer(texts: Any) -> list[list[float]]:
        return [
            [1.0, 0.0, 0.0] if reads(b.rstrip(".").split()) else [0.0, 0.5, 0.5] for _, b in texts
        ]

    answer.labels = LABELS  # type: ignore[attr-defined]
    rows = [row | {"label": LABELS[max(0, i - 38)]} for i, row in enumerate(pairs(40))]
    scores = explain(
        answer, str(jsonl(rows)), by="ladder:draws=40,window=5", seed=1, language="en"
    )["ladder"].scores
    others = [scores[name].value for name in SHARES[1:] if name != share]
    assert scores[share].value > 0.2
    assert all(scores[share].value > other for other in others)
    if share == "global order":
        assert others == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("keeps_windows", [False, True])
@pytest.mark.parametrize("keeps_classes", [False, True])
def test_orders_keep_what_the_rung_keeps(keeps_windows: bool, keeps_classes: bool) -> None:
    sentence = replace(split(TEXT), tags=np.array(TAGS, dtype="U5"))
    groups = groups_of(sentence, 4, keeps_windows=keeps_windows, keeps_classes=keeps_classes)
    orders = orders_of(groups, 400, np.random.default_rng(0))
    assert (np.sort(orders, axis=1) == np.arange(len(sentence))).all()
    fixed = np.flatnonzero(sentence.is_punctuation)
    assert (orders[:, fixed] == fixed).all()
    window = np.full(len(sentence), -1)
    window[sentence.movable] = np.arange(len(sentence.movable)) // 4
    assert bool((window[orders] == window).all()) == keeps_windows
    assert sentence.tags is not None
    assert bool((sentence.tags[orders] == sentence.tags).all()) == keeps_classes


def test_every_order_of_a_group_is_equally_likely() -> None:
    orders = orders_of(np.array([5, 2, 5, 5]), 6000, np.random.default_rng(0))
    counts = Counter(map(tuple, orders.tolist()))
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())


def test_parts_add_up_in_every_resample_and_intervals_keep_a_width() -> None:
    steps = differences(np.ones((50, 4)), 0.25)
    drawn = steps[np.random.default_rng(0).integers(52, size=(100, 52))].mean(axis=1)
    assert steps[:50].sum(axis=1) == pytest.approx(np.full(50, 0.75))
    assert drawn.sum(axis=1).std() > 0
    assert steps[50:].sum(axis=1) == pytest.approx([-0.25, 0.75])


def test_the_parts_of_a_resample_add_up_to_its_accuracy_above_chance() -> None:
    rng = np.random.default_rng(0)
    right = rng.random((50, 4))
    block = rng.integers(50, size=(100, 50))
    parts = differences(right, 0.25)[block].mean(axis=1)
    assert parts.sum(axis=1) == pytest.approx(right[block][:, :, -1].mean(axis=1) - 0.25)
    assert parts[:, :2].sum(axis=1) == pytest.approx(right[block][:, :, 1].mean(axis=1) - 0.25)


def test_abstaining_is_not_right(jsonl: Write) -> None:
    """A model that abstains on everything has an accuracy of 0."""

    def abstains(texts: Any) -> list[list[float]]:
        return [[0.3, 0.0, 0.0, 0.7]] * len(texts)

    abstains.labels = (*LABELS, "invalid")  # type: ignore[attr-defined]
    scores = explain(abstains, str(jsonl(pairs(12))), by="ladder:draws=2", language="en")[
        "ladder"
    ].scores
    assert scores["accuracy, original text"].value == scores["accuracy, words only"].value == 0


def test_bad_settings_are_told() -> None:
    with pytest.raises(BadSetting):
        explain("builtin", by="ladder:window=1", limit=20)
