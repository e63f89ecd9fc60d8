"""Each rung of the ladder keeps just the structure it promises to keep."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from conftest import NLI, example
from disorder.errors import BadSetting, DoesNotApply, MissingData, MissingPackage, UnknownName
from disorder.randomness import generator
from disorder.transformations import parse, suite
from disorder.transformations.keep_bigrams import n_keeping
from disorder.transformations.positions.orders_within_groups import orders_within, readings
from disorder.transformations.rendering import variant_texts
from disorder.transformations.shuffle_clauses import clauses
from disorder.transformations.tags import tagged
from disorder.transformations.words import split
from disorder.types import Example, Sentence, Variants

P = 1e-3  # seeds are fixed: a good generator fails once or never
N_DRAWS = 3000
TEXT = (
    "Although it rained, the old dog chased two cats and the children laughed "
    "because they liked it."
)
SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9])
WORDS = st.lists(st.sampled_from([*"abcdefghijklmnop", "A", "B"]), min_size=2, max_size=16)


def apply(spec: str, text: str, *, q: int = 10, seed: int = 0) -> Variants:
    try:
        return parse(spec).apply(example(text), task=NLI, q=q, seed=seed, short="use")
    except (MissingPackage, MissingData) as missing:
        pytest.skip(str(missing))


def first_texts(spec: str, text: str) -> Counter[str]:
    """How often each text comes out first, over many examples that differ by id alone."""
    chosen = parse(spec)
    drawn = (
        chosen.apply(Example.of(str(i), text, None, ""), task=NLI, q=1, seed=7)
        for i in range(N_DRAWS)
    )
    return Counter(variant_texts(variants)[0][0] for variants in drawn)


def read(sentence: Sentence, row: list[int]) -> list[str]:
    return [sentence.words[i].casefold() for i in row]


def n_old_bigrams(old: list[str], new: list[str]) -> int:
    known = set(pairwise(old))
    return sum(pair in known for pair in pairwise(new))


def test_the_suite_climbs_from_no_bigram_to_the_syntax() -> None:
    assert suite("ladder") == [
        "keep_bigrams:share=0",
        "keep_bigrams:share=0.25",
        "keep_bigrams:share=0.5",
        "keep_bigrams:share=0.75",
        "shuffle_clauses",
        "shuffle_window:window=2",
        "shuffle_window:window=3",
        "shuffle_window:window=5",
        "trade_classes",
        "derange:share=0.25",
        "derange:share=0.5",
        "derange:share=0.75",
    ]
    assert all(parse(spec).keeps_words for spec in suite("ladder"))
    assert not set(suite("ladder")) & set(suite("full"))


class TestKeepBigrams:
    @settings(max_examples=60)
    @given(words=WORDS, share=SHARES, seed=st.integers(0, 9))
    def test_just_the_stated_number_is_kept(
        self, words: list[str], share: float, seed: int
    ) -> None:
        try:
            variants = apply(f"keep_bigrams:share={share}", " ".join(words) + ".", seed=seed)
        except DoesNotApply:
            return
        old = [word.casefold() for word in words]
        texts = [text.removesuffix(".").casefold().split() for text, _ in variant_texts(variants)]
        assert all(text.endswith(".") for text, _ in variant_texts(variants))
        for new in texts:
            assert sorted(new) == sorted(old)
            assert n_old_bigrams(old, new) == round(share * (len(words) - 1))
        assert len(set(map(tuple, texts))) == len(texts)

    @pytest.mark.parametrize("n", range(2, 7))
    @pytest.mark.parametrize("share", [0, 0.3, 0.5, 0.8])
    def test_all_orders_that_do_are_found_and_counted(self, n: int, share: float) -> None:
        words = list("abcdef"[:n])
        n_kept = round(share * (n - 1))
        expected = {
            " ".join(order)
            for order in permutations(words)
            if n_old_bigrams(words, list(order)) == n_kept
        }
        expected.discard(" ".join(words))
        assert n_keeping(np.arange(n), n_kept) == len(expected)
        if expected:
            variants = apply(f"keep_bigrams:share={share},q=1000", " ".join(words))
            assert {text for text, _ in variant_texts(variants)} == expected
            assert variants.available == len(expected)

    def test_the_count_holds_where_orders_are_drawn(self) -> None:
        """Eight words, six of seven joints kept: the text is cut once, and its two parts change
        places.
        """
        variants = apply("keep_bigrams:share=0.86,q=100", "a b c d e f g h")
        assert variants.available == len(variants) == 7
        assert ("e f g h a b c d", None) in variant_texts(variants)

    @pytest.mark.parametrize(("text", "share"), [("a b c d e", 0.5), ("a b c a d", 0.25)])
    def test_all_are_equally_likely(self, text: str, share: float) -> None:
        counts = first_texts(f"keep_bigrams:share={share}", text)
        assert len(counts) == apply(f"keep_bigrams:share={share}", text).available
        assert chisquare(list(counts.values())).pvalue > P

    def test_drawn_orders_are_equally_likely(self) -> None:
        """Eight words cut twice: 21 choices of the cuts times 3 orders of three runs."""
        counts = first_texts("keep_bigrams:share=0.71", "a b c d e f g h")
        assert len(counts) == 63
        assert chisquare(list(counts.values())).pvalue > P

    def test_no_share_is_the_rule_of_shuffle(self) -> None:
        found = {text for text, _ in variant_texts(apply("keep_bigrams:share=0,q=100", "a b c d"))}
        assert found == {text for text, _ in variant_texts(apply("shuffle:q=100", "a b c d"))}
        assert len(found) == 11

    @pytest.mark.parametrize("text", ["a b c d", "a b c d e f g h i j"])
    def test_a_whole_share_leaves_no_other_order(self, text: str) -> None:
        with pytest.raises(DoesNotApply, match="no other order"):
            apply("keep_bigrams:share=1", text)

    def test_long_texts_with_repeats_are_repaired(self) -> None:
        """Two hundred words of which two are in every second place: random orders hardly ever keep
        the rule.
        """
        words = [f"w{i // 2}" if i % 2 else ("the" if i % 4 else "of") for i in range(200)]
        for text, _ in variant_texts(apply("keep_bigrams:share=0.25,q=3", " ".join(words))):
            assert n_old_bigrams(words, text.split()) == round(0.25 * 199)

    @pytest.mark.parametrize("share", ["-0.1", "1.1", "nan"])
    def test_a_share_lies_from_0_to_1(self, share: str) -> None:
        with pytest.raises(BadSetting, match="keep_bigrams: share="):
            apply(f"keep_bigrams:share={share}", "a b c d")


class TestShuffleWindow:
    @given(words=WORDS, window=st.integers(2, 6), marks=st.sampled_from(["", ".", "?!"]))
    def test_each_window_keeps_its_words_and_marks_stay(
        self, words: list[str], window: int, marks: str
    ) -> None:
        text = ", ".join([words[0], " ".join(words[1:])]) + marks
        try:
            variants = apply(f"shuffle_window:window={window}", text)
        except DoesNotApply:
            blocks = [words[i : i + window] for i in range(0, len(words), window)]
            assert all(len({word.lower() for word in block}) == 1 for block in blocks)
            return
        sentence, movable = variants.a.sentence, variants.a.sentence.movable
        marks_at = np.flatnonzero(sentence.is_punctuation)
        assert (variants.a.positions[:, marks_at] == marks_at).all()
        moved = np.searchsorted(movable, variants.a.positions[:, movable])
        assert (moved // window == np.arange(len(movable)) // window).all()
        assert (abs(moved - np.arange(len(movable))) < window).all()
        new = {tuple(read(sentence, row)) for row in variants.a.positions.tolist()}
        assert len(new) == len(variants)
        assert tuple(read(sentence, list(range(len(sentence))))) not in new

    def test_all_orders_exist_and_are_equally_likely(self) -> None:
        counts = first_texts("shuffle_window:window=2", "a b c d e")
        assert set(counts) == {"b a c d e", "a b d c e", "b a d c e"}
        assert chisquare(list(counts.values())).pvalue > P
        assert apply("shuffle_window:window=3", "a b c d e f").available == 6 * 6 - 1

    @pytest.mark.parametrize("window", ["1", "0", "-3"])
    def test_a_window_holds_two_words(self, window: str) -> None:
        with pytest.raises(BadSetting, match="need 2 or more"):
            apply(f"shuffle_window:window={window}", "a b c d")

    def test_a_window_wider_than_the_text_is_the_text(self) -> None:
        assert apply("shuffle_window:window=99999999999999999999", "a b c d").available == 23


class TestWithin:
    @given(
        kinds=st.lists(st.integers(0, 3), min_size=1, max_size=6),
        groups=st.lists(st.integers(0, 2), min_size=6, max_size=6),
    )
    def test_every_reading_comes_once(self, kinds: list[int], groups: list[int]) -> None:
        k, g = np.array(kinds), np.array(groups[: len(kinds)])
        expected = {
            tuple(k[list(order)].tolist())
            for order in permutations(range(len(k)))
            if (g[list(order)] == g).all()
        } - {tuple(kinds)}
        orders, available = orders_within(g, k, 10_000, generator(0, "test"))
        found = [tuple(row) for row in k[orders].tolist()]
        assert (g[orders] == g).all()
        assert set(found) == expected
        assert len(found) == available == len(expected)

    def test_drawing_is_uniform_too(self) -> None:
        """Two groups of seven different words are too many to list: each word goes to each place of
        its group alike.
        """
        groups = np.arange(14) % 2
        rows = np.concatenate(
            [
                orders_within(groups, np.arange(14), 1, generator(i, "test"))[0]
                for i in range(N_DRAWS)
            ]
        )
        assert (groups[rows] == groups).all()
        for place in range(14):
            assert chisquare(np.bincount(rows[:, place] // 2, minlength=7)).pvalue > P / 14
        assert (
            orders_within(groups, np.arange(14), 1, generator(0, "test"))[1]
            == factorial(7) ** 2 - 1
        )

    def test_readings_begin_with_the_things_as_they_are(self) -> None:
        kinds = np.array([2, 0, 2, 1])
        assert kinds[readings(kinds)[0]].tolist() == kinds.tolist()
        assert (
            len({tuple(row) for row in kinds[readings(kinds)].tolist()})
            == len(readings(kinds))
            == 12
        )

    def test_nearly_all_that_exist_can_be_asked_for(self) -> None:
        """8! readings less the text: more than are listed by habit, and every one is asked for."""
        orders, available = orders_within(
            np.zeros(8, dtype=int), np.arange(8), 40_319, generator(0, "test")
        )
        assert len({tuple(row) for row in orders.tolist()}) == available == 40_319


def clauses_of(text: str, *, words: str = "simple", tagger: str = "spacy") -> list[list[str]]:
    try:
        [sentence] = tagged([split(text, words=words)], tagger=tagger)
    except (MissingPackage, MissingData) as missing:
        pytest.skip(str(missing))
    numbers = clauses(sentence).tolist()
    spoken = [(n, word) for n, word in zip(numbers, sentence.words, strict=True) if n >= 0]
    return [
        [word for n, word in spoken if n == clause] for clause in sorted({n for n, _ in spoken})
    ]


class TestShuffleClauses:
    def test_marks_and_conjunctions_between_verbs_end_a_clause(self) -> None:
        assert [" ".join(clause) for clause in clauses_of(TEXT)] == [
            "Although it rained",
            "the old dog chased two cats",
            "and the children laughed",
            "because they liked it",
        ]

    @pytest.mark.parametrize(
        "text",
        ["The cats and dogs slept.", "Dogs chase cats and mice.", "And then he left.", "Stop!"],
    )
    def test_other_conjunctions_do_not(self, text: str) -> None:
        assert len(clauses_of(text)) == 1

    def test_chinese(self) -> None:
        found = clauses_of(
            "因为下雨，苹果、香蕉和他们没去公园；但是天气好。", words="jieba", tagger="jieba"
        )
        assert ["".join(clause) for clause in found] == [
            "因为下雨",
            "苹果香蕉和他们没去公园",
            "但是天气好",
        ]

    def test_each_clause_keeps_its_words_and_place(self) -> None:
        variants = apply("shuffle_clauses", TEXT, q=50)
        numbers = clauses(variants.a.sentence)
        assert (numbers[variants.a.positions] == numbers).all()
        assert len(set(variant_texts(variants))) == len(variants)
        assert (TEXT, None) not in variant_texts(variants)

    def test_one_clause_is_just_shuffled(self) -> None:
        assert apply("shuffle_clauses", "The old dog slept.").available == factorial(4) - 1

    def test_marks_alone_have_no_clause(self) -> None:
        with pytest.raises(DoesNotApply):
            apply("shuffle_clauses", "?! ...")


class TestTradeClasses:
    def test_the_sequence_of_classes_is_kept(self) -> None:
        variants = apply("trade_classes", TEXT, q=50)
        tags = variants.a.sentence.tags
        assert tags is not None
        assert (tags[variants.a.positions] == tags).all()
        assert (np.sort(variants.a.positions, axis=1) == np.arange(len(tags))).all()
        assert len(set(variant_texts(variants))) == len(variants)
        assert (TEXT, None) not in variant_texts(variants)

    def test_all_orders_exist_and_only_those(self) -> None:
        text = "The dog saw the cat and John fed Mary."
        sides = [("dog", "cat"), ("saw", "fed"), ("John", "Mary")]
        expected = set()
        for flips in product([False, True], repeat=3):
            made = text
            for (a, b), flip in zip(sides, flips, strict=True):
                made = made.replace(a, "?").replace(b, a).replace("?", b) if flip else made
            expected.add(made)
        variants = apply("trade_classes:q=100", text)
        assert {made for made, _ in variant_texts(variants)} == expected - {text}
        assert variants.available == 7

    def test_classes_can_be_named(self) -> None:
        text = "The dog saw the cat and John fed Mary."
        assert {made for made, _ in variant_texts(apply("trade_classes:tags=VERB,q=9", text))} == {
            "The dog fed the cat and John saw Mary."
        }
        nouns = apply("trade_classes:tags=NOUN,q=9", text)
        assert (
            nouns.available == 3
        )  # proper nouns are nouns by the older name, and still trade among themselves

    def test_an_unknown_class_gets_a_hint(self) -> None:
        with pytest.raises(UnknownName, match="did you mean 'NOUN'"):
            apply("trade_classes:tags=NOUNS", TEXT)

    def test_no_two_words_of_a_class_is_a_skip(self) -> None:
        with pytest.raises(DoesNotApply, match="no other order"):
            apply("trade_classes", "Dogs bark.")


def test_a_share_of_the_words_is_moved_and_stop_words_can_stay() -> None:
    words = [f"w{i}" for i in range(20)]
    text = " ".join(words)
    for share, moved in ((0.25, 5), (0.5, 10), (1.0, 20)):
        given = example(text)
        found = parse(f"derange:share={share}").apply(given, task=NLI, q=8, seed=3)
        assert (found.a.positions != np.arange(20)).sum(axis=1).tolist() == [moved] * 8
        assert len({tuple(row) for row in found.a.positions.tolist()}) == 8
    kept = parse("derange:keep=stopwords").apply(
        example("the old dog saw a cat and the bird"), task=NLI, q=5, seed=0
    )
    stays = np.array([0, 4, 6, 7])
    assert (kept.a.positions[:, stays] == stays).all()
    assert (kept.a.positions[:, [1, 2, 3, 5, 8]] != np.array([1, 2, 3, 5, 8])).all()
    for wrong in ("derange:share=0", "derange:share=0.5,fidelity=released"):
        with pytest.raises(BadSetting):
            parse(wrong).apply(example(text), task=NLI, q=1, seed=0)


def test_the_ladder_draws_skill_against_how_much_was_moved() -> None:
    import disorder
    from disorder.results.charts import dose_curve, dose_points

    run = disorder.audit(
        "builtin",
        "builtin",
        with_=["derange", "derange:share=0.25", "derange:share=0.5"],
        limit=60,
        q=3,
        cache="off",
        out=None,
    )
    points = dose_points(run)
    assert [share for share, _ in points] == [0.25, 0.5, 1.0]
    values = dose_curve(points)["data"]["values"]
    assert values[0] == {"share": 0.0, "kept": 1.0}
    assert values[-1]["kept"] == run["derange", "skill_kept"].value
