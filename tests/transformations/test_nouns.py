"""Just two words trade places, and they are the nouns that they should be."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from conftest import NLI, example
from disorder.data import read_data
from disorder.errors import BadSetting, DoesNotApply, MissingData, MissingPackage
from disorder.randomness import generator
from disorder.transformations import parse
from disorder.transformations.move_word import moves
from disorder.transformations.positions.orders import distinct_pairs, n_later_equal, n_pairs
from disorder.transformations.rendering import variant_texts
from disorder.types import Example, Variants

P = 1e-3  # seeds are fixed: a good generator fails once or never
N_DRAWS = 3000
KINDS = st.lists(st.integers(0, 4), max_size=9).map(lambda kinds: np.array(kinds, dtype=np.int64))


def apply(spec: str, text: str, *, q: int = 1, seed: int = 0, name: str = "1") -> Variants:
    try:
        return parse(spec).apply(example(text, name=name), task=NLI, q=q, seed=seed, short="use")
    except (MissingPackage, MissingData) as missing:
        pytest.skip(str(missing))


def made(spec: str, text: str, *, q: int = 1) -> set[str]:
    return {text for text, _ in variant_texts(apply(spec, text, q=q))}


class TestSwapNouns:
    @pytest.mark.parametrize(
        ("text", "swaps"),
        [
            ("John saw Mary near the old house.", {"Mary saw John near the old house."}),
            ("The dog chased a small cat.", {"The cat chased a small dog."}),
            ("The dog chased John.", {"The John chased dog."}),
            ("He loves her.", {"her loves He."}),
            ("Dogs often hate (big) cats!", {"cats often hate (big) Dogs!"}),
        ],
        ids=[
            "proper nouns first",
            "nouns",
            "a noun and a proper one",
            "heads of noun phrases",
            "marks and case stay put",
        ],
    )
    def test_the_order_of_preference(self, text: str, swaps: set[str]) -> None:
        assert made("swap_nouns:q=10", text) == swaps

    def test_a_possessive_ending_stays_with_its_place(self) -> None:
        assert made("swap_nouns", "The king's horse slept.") == {"The horse's king slept."}

    def test_every_pair_comes_up_and_equally_often(self) -> None:
        text = "The dog saw a cat, a horse and a pig."
        nouns = ["dog", "cat", "horse", "pig"]
        counts = Counter(
            variant_texts(apply("swap_nouns", text, name=str(i)))[0][0] for i in range(N_DRAWS)
        )
        expected = {
            text.replace(a, "?").replace(b, a).replace("?", b) for a, b in combinations(nouns, 2)
        }
        assert set(counts) == expected
        assert chisquare(list(counts.values())).pvalue > P
        variants = apply("swap_nouns:q=10", text)
        assert len(variants) == variants.available == 6

    def test_equal_words_do_not_trade(self) -> None:
        assert made("swap_nouns:q=10", "The dog saw a dog and a cat.") == {
            "The cat saw a dog and a dog.",
            "The dog saw a cat and a dog.",
        }

    @pytest.mark.parametrize("text", ["It rained.", "The dog saw the Dog.", "Yes.", "", "..."])
    def test_no_pair_is_a_counted_skip_or_the_text_itself(self, text: str) -> None:
        with pytest.raises(DoesNotApply, match="fewer than two different nouns"):
            apply("swap_nouns", text)
        for spec in ("swap_nouns:unable=keep", "swap_nouns:fidelity=released"):
            assert variant_texts(apply(f"{spec},q=3", text)) == [(text, None)] * 3

    def test_a_wrong_setting_says_what_works(self) -> None:
        with pytest.raises(BadSetting, match="need skip or keep"):
            parse("swap_nouns:unable=drop")

    @pytest.mark.shared
    def test_nltk_finds_nouns_but_no_heads(self) -> None:
        assert made("swap_nouns:tagger=nltk", "The dog chased a cat.") == {"The cat chased a dog."}
        with pytest.raises(DoesNotApply, match="fewer than two"):
            apply("swap_nouns:tagger=nltk", "He loves her.")

    def test_on_real_sentences_just_two_words_differ_and_all_are_nouns(
        self, shared_data: Path
    ) -> None:
        dataset = read_data(str(shared_data / "sst2" / "dev.jsonl.gz"))
        n_swapped = 0
        swap = parse("swap_nouns:q=5")
        try:
            found = list(
                swap.apply_all(dataset.examples[:200], task=dataset.task, q=1, seed=0, short="use")
            )
        except (MissingPackage, MissingData) as missing:
            pytest.skip(str(missing))
        for variants in found:
            if isinstance(variants, DoesNotApply):
                continue
            sentence, n_swapped = variants.a.sentence, n_swapped + 1
            assert sentence.tags is not None
            assert sentence.is_head is not None
            is_noun = np.isin(sentence.tags, ["NOUN", "PROPN"]) | sentence.is_head
            moved = variants.a.positions != np.arange(len(sentence))
            assert (moved.sum(axis=1) == 2).all()
            assert is_noun[np.flatnonzero(moved.any(axis=0))].all()
            assert len(set(variant_texts(variants))) == len(variants)
        assert n_swapped > 150


class TestPairs:
    @given(kinds=KINDS)
    def test_they_are_counted_and_drawn_as_listing_them_would(self, kinds: np.ndarray) -> None:
        listed = {(i, j) for i, j in combinations(range(len(kinds)), 2) if kinds[i] != kinds[j]}
        drawn = distinct_pairs(kinds, 100, generator(0, "test"))
        assert {(i, j) for i, j in drawn.tolist()} == listed
        assert len(drawn) == n_pairs(kinds) == len(listed)

    @given(kinds=KINDS)
    def test_later_equals(self, kinds: np.ndarray) -> None:
        assert n_later_equal(kinds).tolist() == [
            int((kinds[i + 1 :] == kinds[i]).sum()) for i in range(len(kinds))
        ]

    def test_ten_thousand_words_are_no_trouble(self) -> None:
        pairs = distinct_pairs(np.arange(10_000) % 3, 50, generator(0, "test"))
        assert len({(i, j) for i, j in pairs.tolist()}) == 50


class TestSwapWords:
    @given(
        words=st.lists(st.sampled_from("abcdeA"), min_size=2, max_size=9), seed=st.integers(0, 9)
    )
    def test_all_swaps_of_different_words_and_no_other(self, words: list[str], seed: int) -> None:
        lowered = [word.lower() for word in words]
        expected = set()
        for i, j in combinations(range(len(words)), 2):
            if lowered[i] != lowered[j]:
                swapped = list(words)
                swapped[i], swapped[j] = swapped[j], swapped[i]
                expected.add(" ".join(swapped) + ".")
        assume(expected)
        variants = apply("swap_words:q=100", " ".join(words) + ".", seed=seed)
        assert {text for text, _ in variant_texts(variants)} == expected
        assert len(variants) == variants.available == len(expected)

    @pytest.mark.parametrize("text", ["", "Yes.", "no No NO!"])
    def test_equal_words_have_no_swap(self, text: str) -> None:
        for spec in ("swap_words", "move_word"):
            with pytest.raises(DoesNotApply, match="no other order"):
                apply(spec, text)

    def test_one_variant_is_drawn_unless_more_are_asked_for(self) -> None:
        assert len(apply("swap_words", "a b c d e", q=100)) == 1
        assert len(apply("swap_words:q=7", "a b c d e", q=100)) == 7


def moved(kinds: list[int]) -> set[tuple[int, ...]]:
    """Every reading that one move makes, by trying them all."""
    made = set()
    for i in range(len(kinds)):
        rest = kinds[:i] + kinds[i + 1 :]
        made |= {(*rest[:j], kinds[i], *rest[j:]) for j in range(len(kinds))}
    return made - {tuple(kinds)}


class TestMoveWord:
    @given(kinds=KINDS)
    def test_every_reading_that_one_move_makes_comes_once(self, kinds: np.ndarray) -> None:
        orders, available = moves(kinds, 1000, generator(0, "test"))
        readings = [tuple(row) for row in kinds[orders].tolist()]
        assert set(readings) == moved(kinds.tolist())
        assert len(readings) == len(set(readings)) == available

    @pytest.mark.parametrize(
        "kinds", [[0, 1, 0, 1], [0, 1, 0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1, 0, 1, 0, 1, 2]]
    )
    def test_moves_there_and_back_that_read_the_same_count_once(self, kinds: list[int]) -> None:
        assert moves(np.array(kinds), 1000, generator(0, "test"))[1] == len(moved(kinds))

    @pytest.mark.parametrize("n", [2, 3, 4, 10])
    def test_different_words_have_n_minus_1_squared(self, n: int) -> None:
        assert apply("move_word", " ".join("abcdefghij"[:n])).available == (n - 1) ** 2

    @pytest.mark.parametrize(("text", "n"), [("a b c d", 9), ("a b a b", 4)])
    def test_all_are_equally_likely(self, text: str, n: int) -> None:
        move = parse("move_word")
        drawn = (
            move.apply(Example.of(str(i), text, None, ""), task=NLI, q=1, seed=7)
            for i in range(N_DRAWS)
        )
        counts = Counter(variant_texts(variants)[0][0] for variants in drawn)
        assert len(counts) == n
        assert chisquare(list(counts.values())).pvalue > P

    def test_punctuation_keeps_its_place(self) -> None:
        variants = apply("move_word:q=4,words=simple", "One, two three!")
        assert all("," in text[:6] and text.endswith("!") for text, _ in variant_texts(variants))
        assert len(variants) == 4
