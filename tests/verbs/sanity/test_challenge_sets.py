"""Challenge sets: overlap that is the same in every row, templated rows, and `role`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_data import ZOO, hans_like

import disorder
from disorder.verbs.sanity import Sanity
from disorder.verbs.sanity.features import overlap

pytest.importorskip("sklearn", reason="needs scikit-learn")

HANS = hans_like(np.random.default_rng(0), 400)
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def found() -> Sanity:
    return disorder.sanity(HANS, check=["texts", "baselines", "overlap"])


@pytest.fixture(scope="module")
def challenge() -> Sanity:
    return disorder.sanity(HANS, check=["texts", "baselines", "words"], role="challenge")


def test_overlap_does_not_see_length() -> None:
    """Shares and no counts: texts of any length with the same share are the same to the model."""
    short, long = ("a b c d", "a b x y"), ("a b c d e f g h", "a b c d w x y z")
    _, [of_short, of_long, of_more] = overlap([short, long, ("a b c d", "a b c y")])
    assert of_short == of_long
    assert of_short != of_more


def test_overlap_that_is_the_same_in_every_row_tells_nothing(found: Sanity) -> None:
    verdict = found.verdict("overlap only")
    assert verdict.answer == "no information"
    assert verdict.because == "In every row text_a has the same share of text_b's words (1.000)"
    assert found.verdict("length only").answer == "gives away"
    [reason] = [section.reason for section in found.sections if section.name == "overlap"]
    assert reason == "in every row text_a has the same share of text_b's words (1.000)"


def test_templated_rows_suggest_the_role(found: Sanity) -> None:
    assert found.own_words == 0.0
    assert any("the rows look templated" in note for note in found.notes)
    assert any("--role challenge" in note for note in found.notes)
    natural = disorder.sanity(ZOO["random labels"].rows(300), check=["texts"])
    assert natural.own_words is not None
    assert natural.own_words > 0.5
    assert not any("templated" in note for note in natural.notes)


def test_a_note_says_once_that_the_model_knew_the_templates(found: Sanity) -> None:
    assert found.verdict("both texts").answer == "not needed"
    [note] = [note for note in found.notes if "as far as this model gets" in note]
    assert note.endswith(", and it was trained on rows of the same templates")
    assert not any("same templates" in verdict.because for verdict in found.verdicts)


def test_a_challenge_set_is_read_for_models_trained_elsewhere(challenge: Sanity) -> None:
    assert challenge.settings["role"] == "challenge"
    both = challenge.verdict("both texts")
    assert both.answer == "not needed if trained on it"
    assert both.because.endswith("A model trained elsewhere may need it")
    length = challenge.verdict("length only")
    assert length.answer == "gives away if trained on it"
    assert length.because.endswith("A model trained elsewhere does not know that")
    assert challenge.verdict("label words").answer == "found if trained on it"
    assert not any("templated" in note for note in challenge.notes)


def test_a_model_that_was_trained_elsewhere_needs_no_caveat() -> None:
    train = hans_like(np.random.default_rng(5), 300)
    found = disorder.sanity(HANS, train=train, check="texts", role="challenge")
    assert "trained elsewhere" not in found.verdict("both texts").because


def test_an_unknown_role_is_one_line(run: Command) -> None:
    code, out, err = run("sanity", "builtin", "--role", "exam")
    assert (code, out) == (2, "")
    assert "--role exam does not work; need benchmark or challenge" in err


def test_page_card_and_json_say_the_same(challenge: Sanity, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    challenge.save(tmp_path)
    stored = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    front = yaml.safe_load(card.split("---\n")[1])["disorder_sanity"]
    assert front["role"] == stored["settings"]["role"] == "challenge"

    def answers(verdicts: Any) -> list[tuple[str, str]]:
        return [(each["question"], each["answer"]) for each in verdicts]

    said = [(verdict.question, verdict.answer) for verdict in challenge.verdicts]
    assert answers(stored["verdicts"]) == answers(front["verdicts"]) == said
    for question, answer in said:
        assert f"| {question} | **{answer}** |" in card
        assert f">{question}</th>" in page
        assert f">{answer}</td>" in page
    assert page.count("A model trained elsewhere may need it") >= 1
