"""Recover and the other explanations, for language models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from disorder.errors import DisorderError
from disorder.models.causal import CausalModel
from disorder.verbs.explain import explain
from disorder.verbs.explain.explanations.recover import distance

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("rapidfuzz", reason="needs rapidfuzz")


def test_distance_counts_words_whatever_their_case_and_marks() -> None:
    assert distance("The dog, it seems, saw us.", "the dog it seems saw us") == 0
    assert distance("a b c", "a c b") == 2
    assert distance("a b c", "") == 3


def recovered(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: Any) -> Any:
    def generate(self: CausalModel, requests: Any, /, *, max_tokens: Any) -> list[str]:
        return [answer(request.split("Words: ")[1].split("\nText:")[0]) for request in requests]

    monkeypatch.setattr(CausalModel, "generate", generate)
    return explain(f"causal:{folder}", "builtin", by="recover:n=8", limit=12)["recover"]


def test_who_writes_the_words_as_they_are_removes_nothing(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = recovered(tiny_llama, monkeypatch, lambda scrambled: scrambled)
    assert (found.scores["removed"].value, found.scores["exact"].value) == (0, 0)


def test_who_restores_the_text_removes_everything(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import disorder

    by_words = {
        tuple(sorted(word.strip(".,").lower() for word in str(e.text_b).split())): str(e.text_b)
        for e in disorder.read_data("builtin").examples
    }

    def restored(scrambled: str) -> str:
        key = tuple(sorted(word.strip(".,").lower() for word in scrambled.split()))
        return by_words[key]

    found = recovered(tiny_llama, monkeypatch, restored)
    assert found.scores["removed"].value > 0.5  # some words have two orders in the data
    assert found.scores["removed"].n == 8


@pytest.mark.parametrize("kind", ["tiny_llama", "tiny_chat"])
def test_a_real_model_writes_something_of_bounded_length(
    kind: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(kind)
    first, second = (
        explain(f"causal:{folder}", "builtin", by="recover:n=2", limit=2)["recover"].tables[0].rows
        for _ in range(2)
    )
    assert list(first) == list(second), "the likeliest words, not drawn ones"


def test_leave_one_out_works_for_a_language_model(tiny_llama: Path) -> None:
    found = explain(f"causal:{tiny_llama}", "builtin", by="leave_one_out:n=2,among=all", limit=2)[
        "leave_one_out"
    ]
    assert found.finding


def test_a_classifier_writes_no_text() -> None:
    with pytest.raises(DisorderError, match="builtin writes no text"):
        explain("builtin", "builtin", by="recover", limit=6)
