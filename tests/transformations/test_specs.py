"""Is a spec read as the user means it, and is a mistake answered with what would work?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conftest import NLI, example
from disorder.errors import BadSetting, DisorderError, UnknownName
from disorder.registry import MetricPart, part, parts_of
from disorder.transformations import parse, suite
from disorder.transformations.rendering import variant_texts
from disorder.transformations.words import default_splitter, split


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("derange", "derange"),
        (" derange ", "derange"),
        ("derange:", "derange"),
        ("derange:side=both", "derange"),
        ("derange:punctuation=fixed,fidelity=paper", "derange"),
        ("derange:side=b,punctuation=free", "derange:punctuation=free,side=b"),
        ("derange:words=spaces,q=7,side=a", "derange:q=7,side=a,words=spaces"),
        ("shuffle_ngrams:n=1", "shuffle_ngrams"),
        ("shuffle_ngrams:n=02", "shuffle_ngrams:n=2"),
        ("clump:share=0.50", "clump"),
        ("drop_text:side=a+reverse:side=b", "drop_text+reverse:side=b"),
        ("shuffle_ngrams:n=2+reverse+sort", "shuffle_ngrams:n=2+reverse+sort"),
    ],
)
def test_a_spec_has_one_canonical_name(spec: str, canonical: str) -> None:
    assert parse(spec).spec == canonical
    assert parse(canonical).spec == canonical


def test_fidelity_reaches_the_parts_that_know_it() -> None:
    assert parse("derange", fidelity="released").spec == "derange:fidelity=released"
    assert parse("derange:fidelity=paper", fidelity="released").spec == "derange"
    assert parse("shuffle_ngrams+empty", fidelity="released").spec == "shuffle_ngrams+empty"
    assert parse("derange", fidelity="paper").spec == "derange"


def test_each_paper_has_its_splitter() -> None:
    assert parse("derange").splitter_for(NLI) == "icu"
    assert parse("derange:fidelity=released").splitter_for(NLI) == "spacy"
    assert parse("reverse:fidelity=released").splitter_for(NLI) == "nltk"
    assert parse("shuffle_ngrams").splitter_for(NLI) == "spaces"
    assert parse("shuffle_ngrams:words=simple").splitter_for(NLI) == "simple"


def test_draws_follow_the_spec_then_the_paper_then_the_run() -> None:
    assert parse("derange").count(100) == 100
    assert parse("shuffle").count(100) == 10
    assert parse("shuffle").count(3) == 3
    assert parse("shuffle:q=50").count(100) == 50
    assert parse("sort:q=50").count(100) == 1
    assert parse("sort+derange").count(100) == 100


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("derang", "unknown transformation 'derang'; did you mean 'derange'?"),
        ("shuffel", "unknown transformation 'shuffel'; did you mean 'shuffle'?"),
        ("derange+revers", "did you mean"),
        ("derange:sides=b", "unknown setting of derange 'sides'"),
        (
            "derange:punctuatio=free",
            "unknown setting of derange 'punctuatio'; did you mean 'punctuation'?",
        ),
        ("sort:n=2", "unknown setting of sort 'n'"),
        ("empty:n=2", "unknown setting of empty 'n'; known: (it has none)"),
        ("derange:words=spacey", "unknown words 'spacey'; did you mean 'spacy'?"),
    ],
)
def test_an_unknown_name_gets_a_hint(spec: str, message: str) -> None:
    with pytest.raises(UnknownName) as caught:
        parse(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("derange:side=c", "derange: side='c' does not work; need a or b or both or task or last"),
        ("drop_text:side=both", "drop_text: side='both' does not work; need a or b"),
        ("drop_text:side=ab", "drop_text: side='ab' does not work; need a or b"),
        (
            "derange:punctuation=loose",
            "derange: punctuation='loose' does not work; need fixed or free",
        ),
        (
            "derange:fidelity=exact",
            "derange: fidelity='exact' does not work; need natural or paper or released",
        ),
        ("derange:q=0", "derange: q='0' does not work; need a whole number of variants, 1 or more"),
        ("derange:q=-3", "q='-3'"),
        ("derange:q=2.5", "q='2.5'"),
        ("shuffle_ngrams:n=two", "shuffle_ngrams: n='two' does not work; need a value of type int"),
        ("clump:share=half", "clump: share='half' does not work; need a value of type float"),
    ],
)
def test_a_bad_value_is_named_with_what_would_work(spec: str, message: str) -> None:
    with pytest.raises(BadSetting) as caught:
        parse(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "spec",
    ["shuffle_ngrams:n", "shuffle_ngrams:n=", "derange:=2", "derange::", "derange:side=a,,b"],
)
def test_settings_are_written_as_key_and_value(spec: str) -> None:
    with pytest.raises(DisorderError):
        parse(spec)


def test_suites() -> None:
    assert suite("order") == [
        "derange",
        "reverse",
        "shuffle_ngrams:n=1",
        "shuffle_ngrams:n=2",
        "shuffle_ngrams:n=3",
        "sort",
    ]
    assert suite("salad") == [
        "copy_one",
        "copy_sort",
        "drop_least",
        "repeat_most",
        "replace_least",
        "reverse",
        "shuffle",
        "sort",
    ]
    assert {*suite("order"), *suite("salad")} <= set(suite("full"))
    with pytest.raises(UnknownName, match="did you mean 'order'"):
        suite("ordre")


def test_unknown_kinds_and_parts() -> None:
    with pytest.raises(UnknownName, match="did you mean 'metric'"):
        parts_of("metrics")
    with pytest.raises(UnknownName, match="did you mean 'omega_max'"):
        part(MetricPart, "omegamax")


@pytest.mark.parametrize(
    ("splitter", "text", "words"),
    [
        (
            "simple",
            "Don't panic: it's 3.5 well-known dogs.",
            ["Don't", "panic", ":", "it's", "3.5", "well-known", "dogs", "."],
        ),
        ("simple", "我们去 Paris。", ["我", "们", "去", "Paris", "。"]),
        ("simple", "👩‍👩‍👧 hugs 👩‍❤️‍👨", ["👩‍👩‍👧", "hugs", "👩‍❤️‍👨"]),
        ("simple", "I ❤️ you", ["I", "❤️", "you"]),
        ("simple", "می‌خواهم بروم", ["می‌خواهم", "بروم"]),
        ("simple", "cafe\u0301 か\u3099", ["cafe\u0301", "か\u3099"]),
        ("spaces", "Yes, it 's a dog?!", ["Yes,", "it", "'s", "a", "dog", "?!"]),
        ("spaces", "So ...", ["So", "..."]),
        ("spacy", "It's a dog, isn't it?", ["It", "'s", "a", "dog", ",", "is", "n't", "it", "?"]),
        ("nltk", 'He said "no". ', ["He", "said", '"', "no", '"', "."]),
        ("jieba", "我喜欢吃苹果。", ["我", "喜欢", "吃", "苹果", "。"]),
    ],
)
def test_words_are_cut_as_people_count_them(splitter: str, text: str, words: list[str]) -> None:
    package = {"jieba": "rjieba", "spacy": "spacy", "nltk": "nltk"}.get(splitter)
    if package:
        pytest.importorskip(package, reason=f"needs {package}")
    assert split(text, words=splitter).words == words


@pytest.mark.parametrize(
    ("text", "reversed_text"),
    [
        ("我们去。", "去们我。"),
        ("The dog (a pug) slept.", "slept) pug a (dog The."),
        ("  two  words ", "words two"),
    ],
)
def test_gaps_follow_the_words(text: str, reversed_text: str) -> None:
    """Words that were not neighbours get one space, none in Chinese; marks cling to a neighbour as
    they did.
    """
    made = variant_texts(parse("reverse:words=simple").apply(example(text), task=NLI, q=1, seed=0))
    assert made == [(reversed_text, None)]


def test_chinese_is_never_cut_at_spaces() -> None:
    chinese = replace(NLI, language="zh")
    assert parse("shuffle_ngrams").splitter_for(chinese) == default_splitter("zh")
    assert parse("shuffle_ngrams:words=spaces").splitter_for(chinese) == "spaces"


@pytest.mark.parametrize("spec", ["swap_texts:side=a", "copy_sort:side=b"])
def test_a_side_that_would_have_no_effect_is_an_error(spec: str) -> None:
    with pytest.raises(BadSetting, match="always takes both texts"):
        parse(spec)
