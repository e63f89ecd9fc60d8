"""Each transformation does exactly what it says: known results, and properties of any words."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conftest import NLI, example
from disorder.data import read_data
from disorder.errors import BadSetting, DoesNotApply
from disorder.transformations import parse
from disorder.transformations.derange import released_orders
from disorder.transformations.rendering import variant_texts
from disorder.types import Texts, Variants
from disorder.verbs.perturb import perturb

SENTENCE = "The old dog, it seems, saw nine small cats near here."
WORDS = st.lists(
    st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "A", "the", "dog"]),
    min_size=2,
    max_size=14,
)
MANY_WORDS = st.lists(
    st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"]),
    min_size=5,
    max_size=14,
)


def apply(
    spec: str, text_a: str, text_b: str | None = None, *, q: int = 10, seed: int = 0
) -> Variants:
    return parse(spec).apply(example(text_a, text_b), task=NLI, q=q, seed=seed, short="use")


def texts(spec: str, text_a: str, text_b: str | None = None, *, q: int = 10) -> list[Texts]:
    return variant_texts(apply(spec, text_a, text_b, q=q))


def bigrams(words: list[str]) -> set[tuple[str, str]]:
    return set(itertools.pairwise(words))


class TestDerange:
    @given(words=WORDS, marks=st.sampled_from(["", ".", "?!", " ..."]), seed=st.integers(0, 99))
    def test_no_word_stays_rows_are_distinct_and_marks_stay(
        self, words: list[str], marks: str, seed: int
    ) -> None:
        text = ", ".join([words[0], " ".join(words[1:])]) + marks
        rows = apply("derange", text, q=20, seed=seed).a
        movable = rows.sentence.movable
        fixed = np.setdiff1d(np.arange(len(rows.sentence)), movable)
        assert (rows.positions[:, movable] != movable).all()
        assert (rows.positions[:, fixed] == fixed).all()
        assert len({tuple(row) for row in rows.positions.tolist()}) == len(rows)
        assert (np.sort(rows.positions, axis=1) == np.arange(len(rows.sentence))).all()

    @pytest.mark.parametrize(
        ("n", "n_orders"), [(2, 1), (3, 2), (4, 9), (5, 44), (6, 265), (7, 1854)]
    )
    def test_asked_for_more_than_exist_it_gives_all(self, n: int, n_orders: int) -> None:
        variants = apply("derange", " ".join("abcdefg"[:n]), q=2000)
        assert len(variants) == variants.available == n_orders

    def test_too_few_orders_are_a_counted_skip_that_names_both_numbers(self) -> None:
        with pytest.raises(DoesNotApply, match=r"^9 distinct variants exist, 10 asked for$"):
            parse("derange").apply(example("a b c d"), task=NLI, q=10, seed=0)

    @pytest.mark.parametrize("text", ["", "a", "Yes.", "?!"])
    def test_one_word_has_no_other_order(self, text: str) -> None:
        with pytest.raises(DoesNotApply, match="no other order"):
            apply("derange", text)

    def test_free_punctuation_moves_too(self) -> None:
        rows = apply("derange:punctuation=free", SENTENCE).a
        assert (rows.positions != np.arange(len(rows.sentence))).all()

    def test_both_texts_are_perturbed_unless_a_side_is_named(self) -> None:
        a, b = "one two three four five", "six seven eight nine ten"
        assert all(x != a and y != b for x, y in texts("derange", a, b))
        assert all(x == a and y != b for x, y in texts("derange:side=b", a, b))
        assert all(x != a and y == b for x, y in texts("derange:side=a", a, b))

    def test_the_two_texts_of_a_pair_are_permuted_apart(self) -> None:
        """Twenty variants in which both sides moved alike would come up once in D_9^20 draws."""
        variants = apply("derange", "a b c d e f g h i", "a b c d e f g h i", q=20)
        assert any(first != second for first, second in variants.positions())


def documented_order(n_movable: int, seed: int) -> list[int]:
    """REFERENCE.md, UNLI, released: seed the global generator, shuffle, and again until no index is
    at home.
    """
    random.seed(seed)
    order = list(range(n_movable))
    while True:
        random.shuffle(order)
        if all(order[i] != i for i in range(n_movable)):
            return order


class TestDerangeAsReleased:
    @pytest.mark.parametrize(
        ("n", "n_distinct"), [(4, 9), (5, 37), (6, 84), (7, 96), (8, 100), (9, 100), (20, 100)]
    )
    def test_distinct_orders_of_a_hundred_seeds(self, n: int, n_distinct: int) -> None:
        assert len(released_orders(n, 100)) == n_distinct
        assert len({tuple(documented_order(n, seed)) for seed in range(100)}) == n_distinct

    def test_it_is_the_documented_algorithm(self) -> None:
        pytest.importorskip("spacy", reason="needs spaCy")
        state = random.getstate()
        words = [
            "The",
            "old",
            "dog",
            ",",
            "it",
            "seems",
            ",",
            "saw",
            "nine",
            "small",
            "cats",
            "near",
            "here",
            ".",
        ]
        movable = [i for i, word in enumerate(words) if word not in ",."]
        expected = []
        for seed in range(100):
            row = list(words)
            for place, source in zip(movable, documented_order(len(movable), seed), strict=True):
                row[place] = words[movable[source]]
            expected.append(" ".join(row))
        random.setstate(state)
        variants = apply("derange:fidelity=released", SENTENCE, q=100)
        assert [text for text, _ in variant_texts(variants)] == expected
        assert random.getstate() == state, "no global seed is set or read"

    def test_it_uses_just_the_6655_examples_of_the_papers_table_7(self, shared_data: Path) -> None:
        pytest.importorskip("spacy", reason="needs spaCy")
        path = str(shared_data / "mnli" / "dev_matched.jsonl.gz")
        skips: Counter[str] = Counter()
        transformation = parse("derange:fidelity=released")
        n_used = 0
        dataset = read_data(path)
        assert len(dataset.examples) == 9815
        for each in dataset.examples:
            try:
                n_used += len(transformation.apply(each, task=dataset.task, q=100, seed=0)) == 100
            except DoesNotApply as reason:
                skips[str(reason)] += 1
        assert n_used == 6655
        assert n_used + sum(skips.values()) == 9815


class TestShuffle:
    @settings(max_examples=40)
    @given(words=WORDS)
    def test_no_old_neighbours_stand_together_again(self, words: list[str]) -> None:
        lowered = [word.lower() for word in words]
        try:
            made = texts("shuffle", " ".join(words) + ".")
        except DoesNotApply:
            assume(len(words) <= 7)  # beyond that orders are drawn, and too few may be found
            return
        for text, _ in made:
            assert text.endswith(".")
            new = text.removesuffix(".").lower().split()
            assert sorted(new) == sorted(lowered)
            assert not bigrams(new) & bigrams(lowered)

    def test_three_words_have_three_such_orders(self) -> None:
        assert {text for text, _ in texts("shuffle", "a b c")} == {"a c b", "b a c", "c b a"}

    def test_released_has_no_rule_about_neighbours(self) -> None:
        pytest.importorskip("nltk", reason="needs NLTK")
        made = {text for text, _ in texts("shuffle:fidelity=released", "One two three .", q=10)}
        assert made == {
            "one three two .",
            "two one three .",
            "two three one .",
            "three one two .",
            "three two one .",
        }


class TestSort:
    def test_words_are_sorted_ignoring_case_and_the_end_stays(self) -> None:
        assert texts("sort", "The cat and a Bat sat.") == [("a and Bat cat sat The.", None)]

    @given(words=WORDS)
    def test_it_is_sorted_and_sorting_again_changes_nothing(self, words: list[str]) -> None:
        (once, _), *more = texts("sort", " ".join(words))
        assert not more
        assert [word.casefold() for word in once.split()] == sorted(
            word.casefold() for word in words
        )
        assert texts("sort", once) == [(once, None)]

    def test_only_the_second_text_of_a_pair_is_sorted(self) -> None:
        assert texts("sort", "b a", "d c") == [("b a", "c d")]


class TestReverse:
    def test_words_are_reversed_and_the_end_stays(self) -> None:
        assert texts("reverse", "We ate the small fish!?") == [("fish small the ate We!?", None)]

    @given(words=WORDS, marks=st.sampled_from(["", ".", "?!"]))
    def test_twice_is_the_identity(self, words: list[str], marks: str) -> None:
        text = " ".join(words) + marks
        assert texts("reverse+reverse", text) == [(text, None)]
        assert texts("reverse", texts("reverse", text)[0][0]) == [(text, None)]

    def test_released_lowers_and_keeps_a_full_stop_alone_in_place(self) -> None:
        pytest.importorskip("nltk", reason="needs NLTK")
        assert texts("reverse:fidelity=released", "We ate fish.") == [("fish ate we .", None)]
        assert texts("reverse:fidelity=released", "We ate fish!") == [("! fish ate we", None)]


class TestShuffleNgrams:
    @given(words=MANY_WORDS, n=st.integers(1, 4))
    def test_runs_stay_whole_and_the_text_differs(self, words: list[str], n: int) -> None:
        text = " ".join(words) + "."
        runs = [tuple(range(i, min(i + n, len(words)))) for i in range(0, len(words), n)]
        try:
            variants = apply(f"shuffle_ngrams:n={n}", text)
        except DoesNotApply:
            assert (
                len({tuple(words[i] for i in run) for run in runs}) <= 2
            )  # so few that every order may read the same
            return
        for row, (made, _) in zip(
            variants.a.positions.tolist(), variant_texts(variants), strict=True
        ):
            assert made != text
            assert made.endswith(".")
            assert row[-1] == len(words)
            heads = [
                run
                for run in runs
                if tuple(row[row.index(run[0]) : row.index(run[0]) + len(run)]) == run
            ]
            assert heads == runs

    def test_a_word_may_keep_its_place(self) -> None:
        """Unlike a derangement: about two thirds of 1-gram shuffles of ten words keep one (1 − 1/e
        = 0.632).
        """
        rows = apply("shuffle_ngrams:q=1000", "a b c d e f g h i j").a.positions
        assert 0.57 < (rows == np.arange(10)).any(axis=1).mean() < 0.69

    def test_the_text_that_the_task_names_is_perturbed(self) -> None:
        assert all(a == "a b c d" for a, _ in texts("shuffle_ngrams", "a b c d", "e f g h"))

    @pytest.mark.parametrize("n", ["0", "-1"])
    def test_a_run_has_at_least_one_word(self, n: str) -> None:
        with pytest.raises(BadSetting, match="shuffle_ngrams: n="):
            texts(f"shuffle_ngrams:n={n}", "a b c d")

    @pytest.mark.parametrize("n", ["9", "99999999999999999999"])
    def test_one_run_has_no_other_order(self, n: str) -> None:
        with pytest.raises(DoesNotApply):
            texts(f"shuffle_ngrams:n={n}", "a b c d")


class TestClump:
    @settings(max_examples=60)
    @given(n=st.integers(6, 20), share=st.sampled_from([0.25, 0.5, 0.75]), seed=st.integers(0, 9))
    def test_one_run_of_that_share_stays_together_and_everything_moves(
        self, n: int, share: float, seed: int
    ) -> None:
        variants = apply(
            f"clump:share={share}", " ".join(f"w{i}" for i in range(n)) + ".", seed=seed
        )
        length = max(1, round(share * n))
        assert len({tuple(row) for row in variants.a.positions.tolist()}) == len(variants)
        for *row, last in variants.a.positions.tolist():
            assert last == n
            assert any(is_clump_order(row, start, length) for start in range(n - length + 1))

    def test_more_than_exist_ends_with_fewer(self) -> None:
        """Eight words, a quarter of them glued, are seven units: at most 7 × 1,854 derangements."""
        assert len(apply("clump:share=0.25,q=20000", "a b c d e f g h")) <= 7 * 1854

    @pytest.mark.parametrize("share", ["0", "1", "-0.5", "nan", "2"])
    def test_a_share_lies_between_0_and_1(self, share: str) -> None:
        with pytest.raises(BadSetting, match="clump: share="):
            texts(f"clump:share={share}", SENTENCE)


def is_clump_order(row: list[int], start: int, length: int) -> bool:
    """Whether the run is whole and, with the run as one unit, no unit is in its place."""
    at = row.index(start)
    if row[at : at + length] != list(range(start, start + length)):
        return False
    units = [i if i <= start else i - length + 1 for i in row if not start < i < start + length]
    return all(unit != place for place, unit in enumerate(units))


class TestPairs:
    def test_copy_sort_puts_the_sorted_first_text_second(self) -> None:
        assert texts("copy_sort", "The cat and a Bat sat.", "No.") == [
            ("The cat and a Bat sat.", "a and Bat cat sat The.")
        ]
        assert parse("copy_sort").is_copy

    def test_swap_texts(self) -> None:
        assert texts("swap_texts", "One. ", " Two") == [(" Two", "One. ")]

    def test_drop_text(self) -> None:
        assert texts("drop_text", "One.", "Two.") == [("", "Two.")]
        assert texts("drop_text:side=b", "One.", "Two.") == [("One.", "")]

    def test_empty(self) -> None:
        assert texts("empty", "One.", "Two.") == [("", "")]
        assert texts("empty", "One.") == [("", None)]
        assert texts("empty:side=a", "One.", "Two.") == [("", "Two.")]

    @pytest.mark.parametrize("spec", ["copy_sort", "swap_texts", "drop_text", "sort:side=b"])
    def test_one_text_alone_does_not_apply(self, spec: str) -> None:
        with pytest.raises(DoesNotApply, match="no second text"):
            texts(spec, "One.")


class TestChains:
    def test_steps_apply_from_left_to_right(self) -> None:
        assert texts("sort+reverse", "c a b.") == [("c b a.", None)]
        assert texts("reverse+sort", "c a b.") == [("a b c.", None)]
        assert texts("swap_texts+reverse", "a b", "c d") == [("c d", "b a")]
        assert texts("drop_text+reverse", "a b", "c d") == [("", "d c")]
        assert texts("copy_sort+reverse", "c a b", "x") == [("c a b", "c b a")]

    def test_every_variant_of_the_first_step_is_perturbed_again(self) -> None:
        first, chained = texts("derange", "a b c d e f"), texts("derange+reverse", "a b c d e f")
        assert len(first) == 10
        assert [text for text, _ in chained] == [
            " ".join(reversed(text.split())) for text, _ in first
        ]

    def test_one_variant_then_many(self) -> None:
        chained = texts("reverse+derange", "a b c d e f")
        assert len(set(chained)) == 10
        backwards = ["f", "e", "d", "c", "b", "a"]
        assert all(
            word != old
            for text, _ in chained
            for word, old in zip(text.split(), backwards, strict=True)
        )

    def test_a_single_draw_of_both_texts_then_many_of_one(self) -> None:
        chained = texts("derange:q=1+shuffle:side=b", "a b c d e f", "g h i j k l", q=10)
        assert len({a for a, _ in chained}) == 1
        assert len({b for _, b in chained}) == 10

    def test_a_chain_is_a_copy_if_one_step_is_and_keeps_words_if_all_do(self) -> None:
        assert parse("copy_sort+reverse").is_copy
        assert not parse("copy_sort+reverse").keeps_words
        assert parse("sort+reverse").keeps_words
        assert parse("sort+reverse").is_deterministic
        assert not parse("sort+derange").is_deterministic


def test_perturbed_texts_can_be_rebuilt_from_positions(jsonl: object) -> None:
    path = jsonl(
        [{"id": "1", "text_a": SENTENCE, "text_b": "So she did it twice.", "label": "neutral"}]
    )  # type: ignore[operator]
    for record in perturb(str(path), with_="derange:words=spaces", q=5):
        words = [
            "The",
            "old",
            "dog,",
            "it",
            "seems,",
            "saw",
            "nine",
            "small",
            "cats",
            "near",
            "here",
            ".",
        ]
        spaced = " ".join(words[i] for i in record["positions_a"])
        assert record["text_a"] == spaced.removesuffix(" .") + "."
