"""Are word classes right, one for each word however it was cut, and found only once?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from disorder.errors import BadSetting, MissingData, MissingPackage, UnknownName
from disorder.registry import Part, SplitterPart, TaggerPart, parts
from disorder.transformations import parse
from disorder.transformations.tags import Tags, classes_named, is_of, tagged
from disorder.transformations.tags.word_classes import UNIVERSAL
from disorder.transformations.words import split
from disorder.types import Sentence

ENGLISH = "I don't think John's well-known dog can bark, because it slept."
CHINESE = "小明在北京吃了三个苹果。"


def tags(text: str, tagger: str, words: str = "simple") -> dict[str, str]:
    """The class of each word."""
    try:
        [sentence] = tagged([split(text, words=words)], tagger=tagger)
    except (MissingPackage, MissingData) as missing:
        pytest.skip(str(missing))
    assert sentence.tags is not None
    return dict(zip(sentence.words, sentence.tags.tolist(), strict=True))


@pytest.mark.parametrize(
    ("tagger", "words", "text", "expected"),
    [
        (
            "spacy",
            "simple",
            ENGLISH,
            {"don't": "AUX", "John's": "PROPN", "dog": "NOUN", "because": "SCONJ", ".": "PUNCT"},
        ),
        (
            "spacy",
            "spacy",
            ENGLISH,
            {"do": "AUX", "n't": "PART", "John": "PROPN", "bark": "VERB", ",": "PUNCT"},
        ),
        (
            "nltk",
            "nltk",
            ENGLISH,
            {"do": "VERB", "n't": "ADV", "John": "PROPN", "because": "ADP", "can": "AUX"},
        ),
        (
            "nltk",
            "simple",
            ENGLISH,
            {"don't": "VERB", "John's": "PROPN", "well-known": "ADJ", "I": "PRON", ".": "PUNCT"},
        ),
        (
            "jieba",
            "jieba",
            CHINESE,
            {"小明": "PROPN", "北京": "PROPN", "苹果": "NOUN", "吃": "VERB", "。": "PUNCT"},
        ),
        (
            "jieba",
            "simple",
            CHINESE,
            {"京": "PROPN", "苹": "NOUN", "果": "NOUN", "吃": "VERB", "。": "PUNCT"},
        ),
    ],
)
def test_known_sentences(tagger: str, words: str, text: str, expected: dict[str, str]) -> None:
    found = tags(text, tagger, words)
    assert {word: found[word] for word in expected} == expected
    assert set(found.values()) <= set(UNIVERSAL)


@pytest.mark.parametrize("words", list(parts(SplitterPart)))
@pytest.mark.parametrize("tagger", list(parts(TaggerPart)))
@pytest.mark.parametrize(
    "text", ["", " ", "?!", ENGLISH, CHINESE, "half \ud83d of it", "a\0b  c\n"]
)
def test_every_word_of_any_splitter_has_a_class(text: str, tagger: str, words: str) -> None:
    try:
        [sentence] = tagged([split(text, words=words)], tagger=tagger)
    except (MissingPackage, MissingData) as missing:
        pytest.skip(str(missing))
    assert sentence.tags is not None
    assert len(sentence.tags) == len(sentence)
    assert set(sentence.tags.tolist()) <= set(UNIVERSAL)
    assert sentence.is_head is None or len(sentence.is_head) == len(sentence)


def test_spacy_finds_the_heads_of_noun_phrases() -> None:
    tags(ENGLISH, "spacy")
    [sentence] = tagged([split("The old dog saw him.")], tagger="spacy")
    assert sentence.is_head is not None
    assert [sentence.words[i] for i in np.flatnonzero(sentence.is_head)] == ["dog", "him"]


def test_no_text_is_tagged_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def count(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
        seen.extend(sentence.text for sentence in sentences)
        return [Tags.of(["X"] * len(sentence)) for sentence in sentences]

    def counting(kind: type[Part], name: str) -> Any:
        return Part(name=name, function=count)

    monkeypatch.setattr("disorder.transformations.tags.part", counting)
    sentences = [split(text) for text in ("one two", "three", "one two")]
    for _ in range(2):
        found = tagged(sentences, tagger="counting")
    assert seen == ["one two", "three"]
    assert [sentence.text for sentence in found] == ["one two", "three", "one two"]
    tagged([split("one-two"), split("one two", words="spaces")], tagger="counting")
    assert seen == ["one two", "three", "one-two"], (
        "the same cut by another splitter is known already"
    )


def test_older_classes_contain_the_newer_ones() -> None:
    names = np.array(["NOUN", "PROPN", "AUX", "VERB", "CCONJ", "SCONJ", "ADP"])
    assert is_of(names, classes_named("NOUN")).tolist() == [
        True,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert is_of(names, classes_named("propn")).tolist() == [
        False,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert is_of(names, classes_named("VERB + CONJ")).tolist() == [
        False,
        False,
        True,
        True,
        True,
        False,
        False,
    ]
    assert is_of(names, classes_named("ADP")).tolist() == [
        False,
        False,
        False,
        False,
        False,
        True,
        True,
    ]


def test_mistakes_say_what_would_work() -> None:
    with pytest.raises(UnknownName, match="unknown word class 'NUON'; did you mean 'NOUN'"):
        classes_named("NUON")
    with pytest.raises(UnknownName, match="unknown tagger 'spacey'; did you mean 'spacy'"):
        parse("drop_pos:tagger=spacey")
    with pytest.raises(BadSetting, match="it has one model"):
        tagged([split("a b")], tagger="nltk:big")


def test_a_missing_pipeline_says_how_to_get_one() -> None:
    pytest.importorskip("spacy", reason="needs spaCy")
    with pytest.raises(MissingData, match="spacy download"):
        tagged([split("a b")], tagger="spacy:no_such_pipeline")


def test_missing_data_of_nltk_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pytest.importorskip("nltk.data", reason="needs NLTK")
    from disorder.transformations.tags import nltk

    monkeypatch.setattr(data, "path", [])
    nltk._tagger.cache_clear()
    try:
        with pytest.raises(MissingData, match=r"nltk\.downloader averaged_perceptron_tagger_eng"):
            tagged([split("never seen before")], tagger="nltk")
    finally:
        nltk._tagger.cache_clear()
