"""The plugin's own tests: our contract for every part, and one known answer each."""

from __future__ import annotations

import pytest
from disorder_stutter.esperanto import esperanto
from disorder_stutter.say import stuttered

import disorder
from disorder.testing import Check, parametrize_with_checks
from disorder.transformations.words import split


@parametrize_with_checks(
    "disorder_stutter",
    models=["longer_than:8"],
    data=["twisters"],
    rows={"odd_one_out": {"words": ["ant", "bee", "oak"], "odd": "oak"}},
)
def test_contract(check: Check) -> None:
    check()


def test_words_are_said_twice_where_they_stand() -> None:
    words = stuttered("one two three four five six").split()
    assert list(dict.fromkeys(words)) == ["one", "two", "three", "four", "five", "six"]
    assert len(words) == 8  # a share of 0.3


def test_the_endings_of_esperanto_say_the_class() -> None:
    [tags] = esperanto([split("La bela hundo kuris rapide.")])
    assert tags.tags.tolist() == ["DET", "ADJ", "NOUN", "VERB", "ADV", "PUNCT"]


def test_an_audit_in_threads_is_that_of_the_local_engine() -> None:
    local, threads = (
        disorder.audit(
            "longer_than:12", "twisters", with_="stutter", q=3, engine=engine, cache="off"
        )
        for engine in ("local", "threads")
    )
    assert [vars(score) for score in local.scores] == [vars(score) for score in threads.scores]


def test_the_network_learns_what_the_first_words_say(tmp_path: object) -> None:
    pytest.importorskip("torch", reason="needs torch")
    rows = [
        {"text_a": f"{word} {rest} came.", "label": label}
        for word, label in (("two", "more"), ("one", "single"))
        for rest in ("dog", "cat", "ant", "bee", "hen", "fox", "cow", "pig")
    ]
    trained = disorder.train(
        "half_perturbed",
        rows,
        dev=rows,
        model="first_words",
        out=f"{tmp_path}/m",
        settings={"epochs": 20},
    )
    assert trained.score.value == 1.0
