"""The contract that every registered part must keep, built-in or from a plugin.

Its checks are those of `disorder.testing`, which a plugin's tests call too.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import pairs
from disorder.models.builtin import MODELS
from disorder.registry import (
    KINDS,
    NetworkPart,
    TransformationPart,
    parts,
    parts_of,
    transformation,
    unregister,
)
from disorder.testing import Check, model_checks
from disorder.testing.contract import part_checks, words_cover_the_text
from disorder.types import PositionRows, Sentence, Task

CHECKS = [
    check for kind in KINDS for entry in parts_of(kind).values() for check in part_checks(entry)
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_parts(kind: str) -> None:
    assert parts_of(kind)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_part_keeps_its_contract(check: Check) -> None:
    check()


def test_a_part_that_breaks_its_promise_is_found() -> None:
    """Each check can fail: one that keeps no word, draws from elsewhere and says nothing."""

    @transformation(keeps="words", keeps_words=True, destroys="order")
    def forgetful(sentence: Sentence, rng: Any, count: int) -> PositionRows:
        """half a sentence"""
        return PositionRows(sentence, sentence.body[None, 1:])

    try:
        broken = []
        for check in part_checks(parts(TransformationPart)["forgetful"]):
            try:
                check()
            except AssertionError:
                broken.append(check.name.partition(": ")[2])
    finally:
        unregister(TransformationPart, "forgetful")
    assert {
        "a sentence says what it does",
        "seeds matter just where chance is at work",
        "what keeps the words keeps every letter",
    } <= set(broken)


ANY_TEXT = st.one_of(
    st.text(max_size=60),
    st.text(st.sampled_from("ab .,'\"`-?!(“”’…\n\t\r1我の️👩‍\u0301שa\0"), max_size=60),
    st.lists(
        st.sampled_from(
            ["it's", "3.5", "e.g.", "``", "''", '"', "cannot", "--", "我们", "❤️", "\u00a0", "a/b"]
        )
    ).map(" ".join),
)


@pytest.mark.parametrize("splitter", parts_of("words"))
@settings(max_examples=200)
@given(text=ANY_TEXT)
def test_any_text_can_be_rebuilt(splitter: str, text: str) -> None:
    words_cover_the_text(splitter, text)


OFFLINE_MODELS = {
    "always": "always:neutral",
    "uniform": "uniform",
    "longer_than": "longer_than:8",  # of the example plugin
    "python": "python:conftest_model:answer",
}


def model_spec(name: str, request: pytest.FixtureRequest) -> str:
    """A spec that loads this model without a network."""
    if name == "hf":
        return f"hf:{request.getfixturevalue('tiny_bert')}"
    if name in ("builtin", "bow", "onnx"):
        return f"onnx:{MODELS / 'nli'}" if name == "onnx" else name
    if name in parts(NetworkPart):
        return f"{name}:{trained(name)}"
    if name == "sklearn":
        return f"sklearn:{pickled()}"
    return OFFLINE_MODELS[name]


@lru_cache
def trained(name: str) -> str:
    """A folder with this network, hardly trained."""
    pytest.importorskip("torch", reason="needs torch")
    from disorder.verbs.train import train

    folder = f"{tempfile.mkdtemp()}/{name}"
    settings = {"epochs": "1", "width": "8"}
    train("plain", pairs(60), dev=pairs(12), model=name, out=folder, settings=settings)
    return folder


@lru_cache
def pickled() -> str:
    """A file with a scikit-learn model of pairs."""
    joblib = pytest.importorskip("joblib", reason="needs scikit-learn")
    text = pytest.importorskip("sklearn.feature_extraction.text", reason="needs scikit-learn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(text.TfidfVectorizer(preprocessor=" ".join), LogisticRegression())
    rows = pairs(60)
    model.fit([(row["text_a"], row["text_b"]) for row in rows], [row["label"] for row in rows])
    path = f"{tempfile.mkdtemp()}/model.joblib"
    joblib.dump(model, path)
    return path


@pytest.fixture
def model_module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module with a model in it, in the folder that the user works in."""
    (tmp_path / "conftest_model.py").write_text(
        "def answer(texts):\n    return [[0.5, 0.3, 0.2] for _ in texts]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


# language models are asked by prompts: tests/models/test_causal.py and tests/models/servers
BY_PROMPT = ("causal", "masked", "openai")
NUMBERS = Task("number")  # what embedders and rerankers give for two texts
OF_NUMBERS = {"embed": "tiny_bert", "rerank": "tiny_reranker"}
NEEDS = {"sklearn": {"allow_pickle": True}}  # options without which a model is not loaded


@pytest.mark.usefixtures("model_module")
@pytest.mark.parametrize(
    "name", [name for name in parts_of("model") if name not in {*BY_PROMPT, *OF_NUMBERS}]
)
def test_every_model_keeps_its_contract(name: str, request: pytest.FixtureRequest) -> None:
    for check in model_checks(model_spec(name, request), **NEEDS.get(name, {})):
        check()


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_every_model_of_numbers_keeps_it(name: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(OF_NUMBERS[name])
    for check in model_checks(f"{name}:{folder}", task=NUMBERS):
        check()
