"""The papers' figures, for models whose predictions are known."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import pairs
from disorder.errors import DisorderError
from disorder.verbs.explain import explain

Write = Callable[..., Path]
LABELS = ("entailment", "neutral", "contradiction")


def first_word(texts: Any) -> list[list[float]]:
    """Sure of entailment while the second text begins with its own first word, of neutral
    otherwise.
    """
    return [[0.9, 0.05, 0.05] if b.startswith("ibis") else [0.1, 0.8, 0.1] for _, b in texts]


first_word.labels = LABELS  # type: ignore[attr-defined]


def mostly_entailment() -> list[dict[str, str]]:
    """31 entailments, which `first_word` gets right as original texts, one neutral and one
    contradiction.
    """
    return [row | {"label": LABELS[max(0, i - 30)]} for i, row in enumerate(pairs(33))]


def doubtful(texts: Any) -> list[list[float]]:
    return [[1 / 3 + 1e-9, 1 / 3, 1 / 3 - 1e-9]] * len(texts)


doubtful.labels = LABELS  # type: ignore[attr-defined]


def test_a_bag_of_words_draws_a_flat_omega_curve_at_its_accuracy() -> None:
    found = explain("builtin:bow", by="omega_curve", limit=150, q=10)["omega_curve"]
    assert {row["value"] for row in found.figures[0].rows} == {
        round(found.scores["accuracy"].value, 6)
    }


def test_omega_falls_at_once_for_a_model_that_minds(jsonl: Write) -> None:
    path = jsonl(mostly_entailment())
    found = explain(first_word, str(path), by="omega_curve", q=20, limit=33)["omega_curve"]
    assert found.scores["accuracy"].value == pytest.approx(31 / 33)
    assert found.scores["omega@0"].value <= 2 / 33  # only what is accepted as neutral


def test_the_omega_curve_ends_with_examples_whose_every_permutation_is_accepted(
    jsonl: Write,
) -> None:
    rows = (
        explain(doubtful, str(jsonl(pairs(30))), by="omega_curve", q=5)["omega_curve"]
        .figures[0]
        .rows
    )
    assert [row["x"] for row in rows] == sorted(row["x"] for row in rows)
    assert rows[-1]["x"] == 1
    assert rows[-1]["value"] == pytest.approx(1 / 3, abs=1e-5)


def test_entropy_of_equally_likely_labels_is_the_logarithm_of_the_labels(jsonl: Write) -> None:
    found = explain(doubtful, str(jsonl(pairs(30))), by="entropy", q=5)["entropy"]
    assert found.scores["entropy_c"].value == pytest.approx(math.log(3), abs=1e-6)
    [row] = found.figures[0].rows
    assert row["lowest"] == pytest.approx(row["highest"]) == pytest.approx(math.log(3), abs=1e-5)


def test_a_group_without_accepted_permutations_is_not_drawn(jsonl: Write) -> None:
    path = jsonl(
        [row | {"label": LABELS[max(0, 2 - i)]} for i, row in enumerate(pairs(9))]
    )  # one neutral, one contradiction

    def never(texts: Any) -> list[list[float]]:
        return [[0.0, 0.4, 0.6]] * len(texts)

    never.labels = LABELS  # type: ignore[attr-defined]
    found = explain(never, str(path), by="entropy", q=5)["entropy"]
    assert [row["n"] for row in found.figures[0].rows] == [1]


def test_length_has_the_words_of_the_perturbed_texts(jsonl: Write) -> None:
    rows = [row | {"id": f"{n}-{row['id']}"} for n in (6, 9) for row in pairs(15, n_words=n)]
    both = explain("uniform", str(jsonl(rows)), by="accepted_by_length", q=5)["accepted_by_length"]
    assert {(row["from"], row["to"]) for row in both.figures[0].rows} <= {
        (14, 19),
        (20, 20),
        (14, 20),
    }
    second = explain(
        "uniform", str(jsonl(rows)), by="accepted_by_length", q=5, with_="derange:side=b"
    )["accepted_by_length"]
    assert max(row["to"] for row in second.figures[0].rows) == 10


def test_an_axis_of_words_counts_whole_words(jsonl: Write) -> None:
    rows = [row | {"id": f"{n}-{row['id']}"} for n in (4, 5) for row in pairs(15, n_words=n)]
    found = explain("uniform", str(jsonl(rows)), by="accepted_by_length:bins=2", q=3)
    [figure] = found["accepted_by_length"].figures
    texts = re.findall(r">([^<>]+)</text>", figure.svg)
    ticks = texts[: texts.index("words in the perturbed texts (middle of the bin)")]
    assert ticks
    assert all(tick.isdecimal() for tick in ticks)


def test_sides_tell_a_model_that_reads_the_second_text_only(jsonl: Write) -> None:
    path = jsonl(mostly_entailment())
    found = explain(first_word, str(path), by="sides", q=20, limit=33)["sides"]
    assert found.scores["mean acceptance, first text only"].value == pytest.approx(31 / 33)
    assert found.scores["mean acceptance, second text only"].value <= 2 / 33
    assert found.scores["mean acceptance, both texts"].value <= 2 / 33


def test_single_texts_have_no_sides() -> None:
    with pytest.raises(DisorderError, match="sides: the texts come alone"):
        explain("builtin", "builtin:sentiment", by="sides", limit=20, q=2)
    with pytest.raises(DisorderError, match="sides: copy_sort always takes both texts"):
        explain("builtin", by="sides", with_="copy_sort", limit=20, q=2)


def number_in(text: str) -> str:
    """The word of a made-up text that tells it from all others."""
    return re.findall(r"\ba\d+", text)[0]


@pytest.mark.parametrize(("reads", "change"), [(False, 0.0), (True, -1.0)])
def test_similarity_of_shuffled_texts(jsonl: Write, reads: bool, change: float) -> None:
    rows = [row | {"label": str(i % 6)} for i, row in enumerate(pairs(60))]
    gold = {number_in(row["text_a"]): float(row["label"]) for row in rows}

    def rate(texts: Any) -> list[list[float]]:
        """Knows the gold number by one word of the first text; a reader takes 1 off where the order
        is perturbed.
        """
        return [
            [gold[number_in(a)] - (reads and not a.startswith("ant bee cat dog"))] for a, _ in texts
        ]

    found = explain(rate, str(jsonl(rows)), by="similarity", q=5, task="stsb")["similarity"]
    assert found.scores["change"].value == pytest.approx(change, abs=0.02)
    shares = {(row["texts"], row["range"]): row["value"] for row in found.figures[0].rows}
    assert sum(
        value for (texts, _), value in shares.items() if texts == "original"
    ) == pytest.approx(1, abs=1e-5)
    assert found.scores["spearman_original"].value == pytest.approx(1)
    assert np.isclose(found.scores["spearman_shuffled"].value, 1, atol=0.05)
