"""Characters, subwords, sentences and lines are moved by the same code as words."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import NLI, RunContext, example
from disorder.errors import BadSetting, DoesNotApply
from disorder.languages import segments
from disorder.registry import TransformationPart, parts
from disorder.transformations import parse, suite
from disorder.transformations.rendering import render, variant_texts
from disorder.transformations.words import split
from disorder.types import Example, Task, Variants
from disorder.verbs.perturb import perturb

UNITS = ("char", "subword", "sentence", "line")
WITH_UNITS = [name for name, entry in parts(TransformationPart).items() if entry.units]
PASSAGE = "The dog slept. Dr. Li saw it! Was it old? It ran off. Then it came back."
LINES = "one two three\nfour five\n\nsix\nseven eight"
TEXT = "Reading typoglycemia, people recognise jumbled words."


def made(spec: str, text: str, *, q: int = 4, seed: int = 0) -> Variants:
    return parse(spec).apply(
        example(text), task=NLI, q=q, seed=seed, short="use", context=RunContext()
    )


def texts(spec: str, text: str, **more: Any) -> list[str]:
    return [first for first, _ in variant_texts(made(spec, text, **more))]


def clusters(text: str) -> Counter[str]:
    bounds = segments(text, "character")
    return Counter(text[i:j] for i, j in pairwise(bounds))


def test_the_order_transformations_take_units() -> None:
    assert {
        *("derange", "shuffle", "shuffle_ngrams", "shuffle_window", "reverse", "sort"),
        *("keep_bigrams", "rotate", "swap_adjacent", "swap_words", "move_word", "clump"),
    } <= set(WITH_UNITS)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", WITH_UNITS)
def test_every_unit_is_kept_and_some_move(name: str, unit: str) -> None:
    text = LINES if unit == "line" else PASSAGE
    try:
        variants = made(f"{name}:unit={unit}", text)
    except DoesNotApply:
        return  # too few of them for its rule
    rows = variants.a
    n = len(rows.sentence)
    assert (np.sort(rows.positions, axis=1) == np.arange(n)).all()
    for text_made in variant_texts(variants):
        if unit == "char":
            assert clusters(str(text_made[0])) == clusters(text)


def test_known_orders() -> None:
    assert texts("reverse:unit=char", "abc def.") == ["fed cba."]
    assert texts("reverse:unit=line", LINES) == ["seven eight\nsix\nfour five\none two three"]
    assert texts("reverse:unit=sentence", "One. Two! Three?") == ["Three? Two! One."]
    assert texts("reverse:unit=sentence", "我来了。他走了。") == ["他走了。我来了。"]
    assert texts("sort:unit=char", "cab") == ["abc"]


def test_words_are_the_usual_unit() -> None:
    assert parse("derange:unit=word").spec == "derange"
    assert parse("derange:unit=char").spec == "derange:unit=char"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("derange:unit=letter", "word or char or subword"),
        ("drop_pos:unit=char", "it is about words"),
        ("derange:unit=char,words=icu", "one of the two"),
        ("derange:sentences=punkt", "unit=sentence beside it"),
        ("derange:unit=sentence,sentences=spacy", "icu or punkt"),
        ("derange:unit=char+reverse", "steps that move the same unit"),
        ("shuffle_letters+reverse", "steps that move the same unit"),
        ("shuffle_letters:share=0", "a share above 0"),
        ("shuffle_letters:share=1.5", "a share above 0"),
        ("swap_adjacent:k=0", "1 or more"),
        ("insert:k=0", "1 or more"),
        ("delete:k=0", "1 or more"),
    ],
)
def test_what_cannot_work_is_said(spec: str, message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        made(spec, PASSAGE)


def test_letters_and_words_are_measured_apart() -> None:
    assert parse("derange").keeps_words
    assert parse("derange:unit=sentence").keeps_words
    assert not parse("derange:unit=char").keeps_words
    assert not parse("shuffle_letters").keeps_words


def words_of(text: str) -> list[str]:
    return split(text).words


@pytest.mark.parametrize("keep", ["none", "first", "ends"])
def test_letters_move_inside_their_word(keep: str) -> None:
    for text in texts(f"shuffle_letters:keep={keep}", TEXT, q=20):
        for old, new in zip(words_of(TEXT), words_of(text), strict=True):
            assert sorted(old) == sorted(new)
            if keep != "none":
                assert old[0] == new[0]
            if keep == "ends":
                assert old[-1] == new[-1]
        assert text != TEXT


def test_every_word_that_can_change_does() -> None:
    for text in texts("shuffle_letters:keep=ends", "abcd aaaa on abca", q=30):
        assert text == "acbd aaaa on acba"
    with pytest.raises(DoesNotApply, match="two different letters"):
        made("shuffle_letters:keep=ends", "it is on aaa")


def changed(text: str) -> set[int]:
    pairs = zip(words_of(TEXT), words_of(text), strict=True)
    return {i for i, (old, new) in enumerate(pairs) if old != new}


@pytest.mark.parametrize("name", ["shuffle_letters", "replace_letters"])
def test_a_larger_share_contains_a_smaller_one(name: str) -> None:
    found = [texts(f"{name}:keep=ends,share={share}", TEXT, q=10) for share in (0.2, 0.5, 0.8, 1.0)]
    for few, more in pairwise(found):
        for one, other in zip(few, more, strict=True):
            assert changed(one) < changed(other)


def test_the_control_changes_the_same_words_and_places() -> None:
    shuffled = made("shuffle_letters:keep=ends,share=0.5", TEXT, q=10)
    replaced = made("replace_letters:keep=ends,share=0.5", TEXT, q=10)
    for one, other in zip(variant_texts(shuffled), variant_texts(replaced), strict=True):
        assert changed(str(one[0])) == changed(str(other[0]))
        assert len(str(one[0])) == len(str(other[0]))
    own = replaced.a.sentence.kinds
    moved = replaced.a.positions != np.arange(len(own))
    assert (own[replaced.a.positions][moved] != np.broadcast_to(own, moved.shape)[moved]).all()


def test_the_suite_of_characters_has_each_with_its_control() -> None:
    specs = suite("characters")
    for keep in ("none", "first", "ends"):
        assert f"shuffle_letters:keep={keep}" in specs
        assert f"replace_letters:keep={keep}" in specs


CLUSTERED = [
    "e\u0301ta\u0301t ve\u0301rite\u0301 naïve",
    "👩‍👩‍👧 hugs 🏳️‍🌈 family👍🏽name",
    "नमस्ते विद्यालय क्षत्रिय",
    "ที่นี่ภาษาไทยน้ำใจ",
    "مَرْحَبًا بِالعَالَم",
    "𝒳𝒴𝒵 😀b😀c",
    "한국어 문장입니다",
]


@pytest.mark.parametrize("text", CLUSTERED)
@pytest.mark.parametrize(
    "spec",
    ["derange:unit=char", "reverse:unit=char", "shuffle_letters:keep=none", "sort:unit=char"],
)
def test_no_character_is_ever_cut(spec: str, text: str) -> None:
    try:
        variants = made(spec, text)
    except DoesNotApply:
        return
    whole = variants.a.sentence.words
    assert Counter(whole) == clusters(text)
    for row in variants.a.positions:
        assert Counter(whole[i] for i in row) == Counter(whole)


@given(st.text(max_size=60))
def test_the_identity_gives_any_text_back(text: str) -> None:
    for splitter in ("characters", "sentences", "lines", "icu"):
        sentence = split(text, words=splitter)
        assert render(sentence, np.arange(len(sentence))[None, :]) == [text]


def test_a_long_text_of_characters_is_no_burden() -> None:
    text = " ".join(f"word{i % 977}" for i in range(10_000))
    for spec in (
        "derange:unit=char",
        "shuffle_letters",
        "shuffle_window:unit=char",
        "reverse:unit=char",
    ):
        variants = made(spec, text, q=2)
        assert len(variants.a.sentence) == len(text)


def test_rotations_are_distinct_readings() -> None:
    assert sorted(texts("rotate", "a b c d.", q=9)) == ["b c d a.", "c d a b.", "d a b c."]
    assert texts("rotate", "a b a b", q=9) == ["b a b a"]
    with pytest.raises(DoesNotApply):
        made("rotate", "a a a")


def test_swaps_of_neighbours() -> None:
    assert sorted(texts("swap_adjacent", "a b c", q=9)) == ["a c b", "b a c"]
    assert texts("swap_adjacent:k=2", "a b c d", q=9) == ["b a d c"]
    for row in made("swap_adjacent:k=3", "a b c d e f g h i j", q=30).a.positions:
        assert np.abs(row - np.arange(10)).max() == 1
        assert (row != np.arange(10)).sum() == 6
    with pytest.raises(DoesNotApply, match="no 2 pairs"):
        made("swap_adjacent:k=2", "a b c")


def test_words_inserted_and_deleted() -> None:
    for text in texts("insert:k=2", "a b c d.", q=20):
        assert len(text.split()) == 6
        kept = iter(text.replace(".", "").split())
        assert all(word in kept for word in "abcd")  # in their order, with others between
        assert text.endswith(".")
    assert sorted(texts("delete", "a b c.", q=9)) == ["a b.", "a c.", "b c."]
    with pytest.raises(DoesNotApply, match="no more than 3 words"):
        made("delete:k=3", "a b c.")


QUESTIONS = [
    {
        "id": "q1",
        "question": "Who saw the dog?",
        "context": "The dog slept. Dr. Li saw it! Was it old? It ran off. Then it came back.",
        "answers": {"text": ["Dr. Li", "Li"], "answer_start": [15, 19]},
    },
    {
        "id": "q2",
        "question": "What did it do?",
        "context": "The dog slept. Dr. Li saw it! Was it old? It ran off. Then it came back.",
        "answers": {"text": ["came back"], "answer_start": [62]},
    },
]


def test_answers_follow_their_sentence() -> None:
    found = list(perturb(QUESTIONS, with_="derange:unit=sentence,side=b", q=3))
    assert len(found) == 6
    for record in found:
        assert record["text_b"] != QUESTIONS[0]["context"]
        for answer in record["answers"]:
            start = answer["answer_start"]
            assert record["text_b"][start : start + len(answer["text"])] == answer["text"]


def test_an_answer_whose_place_is_not_told_follows_too() -> None:
    """As in files that give the texts of answers alone; an equal word elsewhere is no answer's
    piece.
    """
    row = {**QUESTIONS[0], "label": "answerable", "answers": ["Dr. Li", "it", "saw it! Was"]}
    row = {**row, "text_a": row["question"], "text_b": row["context"]}
    [record] = perturb([row], with_="reverse:unit=sentence,side=b", q=1)
    assert record["text_b"].startswith("Then it came back.")
    starts = [answer["answer_start"] for answer in record["answers"]]
    text = record["text_b"]
    assert text[starts[0] :].startswith("Dr. Li saw it!")
    assert text[starts[1] :].startswith("it! ")  # the first "it" of the passage
    assert starts[2] is None


def test_punkt_finds_sentences_where_it_is_asked_for(nltk_data: Path) -> None:
    spec = "reverse:sentences=punkt,unit=sentence"
    transformation = parse("reverse:unit=sentence,sentences=punkt")
    assert transformation.spec == spec
    assert parse("reverse:unit=sentence,sentences=icu").spec == "reverse:unit=sentence"
    assert transformation.splitter_for(Task("x", language="en")) == "punkt:en"
    assert transformation.splitter_for(Task("x", language="de")) == "punkt:de"
    german = Task("x", language="de")
    text = "Am 3. Mai kam Dr. Weiß bzw. sein Sohn. Er blieb."
    found = transformation.apply(Example.of("1", text, None, ""), task=german, q=1, seed=0)
    assert variant_texts(found)[0][0] == "Er blieb. Am 3. Mai kam Dr. Weiß bzw. sein Sohn."
    with pytest.raises(BadSetting, match="sentences=icu for Thai"):
        transformation.splitter_for(Task("x", language="th"))


def test_an_answer_that_is_torn_apart_has_no_place() -> None:
    [record] = [r for r in perturb(QUESTIONS, with_="reverse:side=b") if r["id"] == "q2"]
    assert record["answers"] == [{"text": "came back", "answer_start": None}]
    [kept] = [r for r in perturb(QUESTIONS, with_="reverse:side=a") if r["id"] == "q2"]
    assert kept["answers"] == [{"text": "came back", "answer_start": 62}]


def test_a_text_of_one_word_again_and_again_has_no_other_order() -> None:
    rows = [
        {"id": "same", "text_a": "la la la", "label": "x"},
        {"id": "turned", "text_a": "no yes no yes", "label": "x"},
    ]
    found = list(perturb(rows, with_="derange", q=9, short="use"))
    assert {row["id"] for row in found} == {"turned"}
    assert all(row["text_a"] != "no yes no yes" for row in found)
