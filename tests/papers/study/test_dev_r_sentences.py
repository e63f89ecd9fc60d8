"""What counts as one sentence in dev-r is a setting: fixed unless said, recorded where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import disorder
from disorder.errors import BadSetting, MissingData, UnknownName
from disorder.papers.study import preflight
from disorder.papers.study.pipelines import measurements
from disorder.transformations.words import nltk_sentences
from disorder.transformations.words.nltk_sentences import has_sentences

SINGLE = "The dog was fine in the rain"
# the rules of disorder do not know this abbreviation, Punkt does
ABBREVIATED = "The dog of Lt. Smith was fine in the rain"


def rows(*texts: str) -> list[dict[str, str]]:
    return [
        {"id": f"{label}{i}", "text_a": f"{text} {word} today.", "label": label}
        for i, text in enumerate(texts)
        for label, word in (("positive", "good"), ("negative", "bad"))
    ]


def knows(texts: Any) -> Any:
    return [[0.0, 1.0] if "good" in text else [1.0, 0.0] for text in texts]


knows.labels = ["negative", "positive"]  # type: ignore[attr-defined]


def counted(**settings: Any) -> Any:
    return disorder.study(
        "ooo/tableA4", knows, rows(SINGLE, ABBREVIATED), fidelity="paper", **settings
    )


@pytest.fixture
def without_punkt(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: str) -> None:
        raise MissingData("NLTK's sentence splitter needs its data")

    monkeypatch.setattr(nltk_sentences, "sentence_splitter", missing)


def test_the_rules_are_used_unless_the_user_says_otherwise(without_punkt: None) -> None:
    found = counted()
    assert found.cell("step1", label="positive").value == 1
    assert "dev_r.sentences" not in found.request["set"]


@pytest.mark.skipif(not has_sentences(), reason="needs NLTK's sentence splitter")
def test_punkt_finds_other_sentences_and_the_study_says_so() -> None:
    found = counted(set_={"dev_r.sentences": "punkt"})
    assert found.cell("step1", label="positive").value == 2
    assert found.request["set"] == {"dev_r.sentences": "punkt"}
    assert "dev_r with sentences=punkt" in found.notes


def test_a_missing_splitter_shows_before_anything_is_predicted(
    without_punkt: None, tmp_path: Path
) -> None:
    with pytest.raises(MissingData, match="sentence splitter needs its data"):
        counted(set_={"dev_r.sentences": "punkt"}, out=tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_an_unknown_splitter_or_setting_is_the_users_mistake() -> None:
    with pytest.raises(BadSetting, match="rules or punkt"):
        counted(set_={"dev_r.sentences": "spacy"})
    with pytest.raises(UnknownName, match="sentences"):
        counted(set_={"dev_r.sentence": "punkt"})


def test_the_splitter_changes_word_order_sensitivity_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a splitter for which nothing is one sentence, no dev-r is left."""
    monkeypatch.setattr(
        measurements, "SPLITTERS", {**measurements.SPLITTERS, "none": lambda text: False}
    )
    monkeypatch.setattr(
        preflight, "_why_not", lambda spec, language: "no tagger" if "nouns" in spec else ""
    )
    usual = disorder.study("ooo/table2", knows, rows(SINGLE, ABBREVIATED), q=2)
    assert usual.cell("wos", transformation="shuffle_ngrams:n=1").value == 0
    with pytest.raises(disorder.DisorderError, match="nothing was found"):
        disorder.study("ooo/table2", knows, rows(SINGLE), q=2, set_={"dev_r.sentences": "none"})
