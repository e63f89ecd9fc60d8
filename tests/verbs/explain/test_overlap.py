"""BLEU from positions is the BLEU of the texts; acceptance by bin is what one counts by hand."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disorder.errors import BadSetting, DisorderError
from disorder.transformations.words import split
from disorder.verbs.explain import explain
from disorder.verbs.explain.acceptance_bins import by_bin, edges_of, slope_within
from disorder.verbs.explain.bleu import bleu

WORDS = ["the", "The", "cat", "dog", "saw", "a", "ran", "home", ".", ","]


def reference_bleu(reference: list[str], candidate: list[str], n: int) -> float:
    """BLEU by its definition: clipped counts of n-grams, geometric mean, brevity penalty."""
    logs = 0.0
    for order in range(1, n + 1):
        theirs, ours = (
            Counter(tuple(w[i : i + order]) for i in range(len(w) - order + 1))
            for w in (reference, candidate)
        )
        matches = sum((theirs & ours).values())
        if not matches:
            return 0.0
        logs += math.log(matches / sum(ours.values())) / n
    return math.exp(logs + min(0.0, 1 - len(reference) / len(candidate)))


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=14),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_it_is_bleu_by_its_definition(words: list[str], seed: int, is_reference: bool) -> None:
    rng, sentence = np.random.default_rng(seed), split(" ".join(words), words="spaces")
    rows = rng.integers(len(words), size=(4, rng.integers(1, 16)))  # words dropped and repeated too
    found = bleu(sentence, rows, is_reference=is_reference)
    for row, scores in zip(rows.tolist(), found.tolist(), strict=True):
        other = [words[i] for i in row]
        pair = (other, words) if is_reference else (words, other)
        assert scores == pytest.approx([reference_bleu(*pair, n) for n in (1, 2, 3, 4)], abs=1e-12)


def test_it_is_nltks_sentence_bleu_on_thousands_of_pairs() -> None:
    nltk_bleu = pytest.importorskip("nltk.translate.bleu_score", reason="needs nltk")
    rng, n_pairs = np.random.default_rng(0), 0
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # NLTK warns where an order has no match, which is 0 for both
        for _ in range(150):
            words = rng.choice(WORDS, size=rng.integers(1, 25)).tolist()
            sentence = split(" ".join(words), words="spaces")
            width = len(words) if rng.random() < 0.7 else int(rng.integers(1, 25))
            rows = np.array(
                [
                    rng.permutation(len(words))
                    if width == len(words)
                    else rng.integers(len(words), size=width)
                    for _ in range(10)
                ]
            )
            for is_reference in (False, True):
                found = bleu(sentence, rows, is_reference=is_reference)
                for row, scores in zip(rows.tolist(), found.tolist(), strict=True):
                    other = [words[i] for i in row]
                    theirs, ours = (other, words) if is_reference else (words, other)
                    expected = [
                        nltk_bleu.sentence_bleu([theirs], ours, weights=[1 / n] * n)
                        for n in (2, 3, 4)
                    ]
                    assert scores[1:] == pytest.approx(expected, abs=1e-12)
                    n_pairs += 1
    assert n_pairs >= 3000


def test_the_text_itself_has_bleu_1_and_direction_does_not_matter_for_permutations() -> None:
    sentence = split("the cat saw the dog and The dog ran home")
    rows = np.stack([np.arange(10), *(np.random.default_rng(i).permutation(10) for i in range(50))])
    forth, back = (bleu(sentence, rows, is_reference=way) for way in (False, True))
    assert (forth[0] == 1).all()
    assert (forth == back).all()


def test_case_counts() -> None:
    sentence = split("The cat saw the dog")
    assert bleu(sentence, np.array([[3, 1, 2, 0, 4]]))[0, 1] < 1


def test_acceptance_by_bin_counts_variants_of_examples() -> None:
    values = np.array([[0.1, 0.4], [0.1, 0.1], [0.1, np.nan], [0.5, 0.4], [0.1, 0.1], [0.1, 1.0]])
    hits = np.array([[1, 0], [0, 1], [1, 0], [0, 0], [1, 1], [0, 1]], dtype=bool)
    [(row, score)] = by_bin(values, hits, np.array([0.0, 0.25, 0.5, 1.0]))
    assert (row["from"], row["to"], row["variants"], score.n) == (0.0, 0.25, 7, 5)
    assert score.value == pytest.approx(5 / 7)
    assert score.low < score.value < score.high


@given(st.floats(0.01, 1), st.sampled_from([1.0, 2.0]))
def test_every_value_falls_into_a_bin(width: float, most: float) -> None:
    values = np.tile(np.append(np.linspace(0, most, 41), np.arange(0, most, width)), (5, 1))
    found = by_bin(values, values > 0.5, edges_of(width, most))
    assert sum(row["variants"] for row, _ in found) == values.size
    assert [row["from"] for row, _ in found] == sorted({row["from"] for row, _ in found})


def test_texts_that_cannot_be_clumped_lose_that_picture_alone(jsonl: Callable[..., Path]) -> None:
    labels = ("entailment", "not_entailment")
    rows = [
        {"text_a": f"a{i} bee", "text_b": f"dog f{i}", "label": labels[i % 2]} for i in range(9)
    ]
    found = explain("uniform", str(jsonl(rows)), by="overlap", q=2, short="use", task="rte")[
        "overlap"
    ]
    assert [figure.name for figure in found.figures] == ["overlap"]
    assert found.notes[0].startswith("clumped permutations are not shown: ")


def test_the_slope_within_examples_does_not_see_what_examples_differ_in() -> None:
    rng = np.random.default_rng(0)
    level = rng.random(200)[:, None]
    values = level + 0.1 * rng.random((200, 40))
    unrelated = (
        rng.random((200, 40)) < level
    )  # examples with more overlap are accepted more, their variants are not
    score = slope_within(values, unrelated)
    assert score is not None
    assert score.low < 0 < score.high
    related = slope_within(values, rng.random((200, 40)) < values)
    assert related is not None
    assert related.low > 0.5
    assert slope_within(level, unrelated[:, :1]) is None


def test_one_variant_per_example_still_has_bins() -> None:
    found = explain("builtin", by="overlap:clumped=false", with_="reverse", limit=60)["overlap"]
    assert "within an example" not in found.finding
    assert found.figures[0].rows


def test_a_bag_of_words_does_not_mind() -> None:
    found = explain("builtin:bow", by="overlap", limit=120, q=12)["overlap"]
    assert found.scores["slope_within_bleu2"].value == 0
    clumped = [row for row in found.figures[1].rows if row["order"] == "BLEU-4"]
    assert max(row["to"] for row in clumped) > 0.6
    assert {row["order"] for row in found.figures[0].rows} == {"BLEU-2", "BLEU-3", "BLEU-4"}


def test_what_writes_words_has_no_positions_to_compare() -> None:
    with pytest.raises(DisorderError, match="overlap: copy_sort writes words or copies texts"):
        explain("builtin", by="overlap:clumped=false", with_="copy_sort", limit=60, q=2)
    with pytest.raises(BadSetting):
        explain("builtin", by="overlap:width=0", limit=60, q=2)
