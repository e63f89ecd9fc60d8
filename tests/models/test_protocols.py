"""Do models offer what they can do by protocol, and is what they lack said in one line?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from conftest import NLI
from disorder.data import read_data
from disorder.errors import BadModel
from disorder.models import load, n_heads, some_variants
from disorder.models.inputs.variants import all_texts, take_variants
from disorder.models.protocols import (
    Attention,
    Batching,
    Costly,
    Gradients,
    Notes,
    Pieces,
    Precision,
    Timed,
    Tokens,
    TokenUnits,
)
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Floats, Predictor, Texts, Variants
from disorder.verbs.audit import audit

EVERYTHING = {
    Attention,
    Batching,
    Costly,
    Gradients,
    Notes,
    Pieces,
    Precision,
    Timed,
    Tokens,
    TokenUnits,
}
VARIANTS = [
    parse("derange").apply(example, task=NLI, q=4, seed=0, short="use")
    for example in read_data("builtin").examples[:12]
]


def offered(model: object) -> set[type]:
    return {protocol for protocol in EVERYTHING if isinstance(model, protocol)}


@pytest.mark.parametrize(
    ("spec", "capabilities"),
    [
        ("builtin", {Batching, Costly, Notes, Timed, Tokens, TokenUnits}),
        ("builtin:bow", set()),
        ("uniform", set()),
        ("always:neutral", set()),
    ],
)
def test_what_the_built_in_models_offer(spec: str, capabilities: set[type]) -> None:
    model = load(spec, task=NLI).predictor
    assert isinstance(model, Predictor)
    assert offered(model) == capabilities


def test_an_hf_classifier_offers_everything(tiny_bert: Path) -> None:
    assert offered(load(f"hf:{tiny_bert}", task=NLI).predictor) == EVERYTHING


class Bare:
    """The least that a model can be."""

    labels = NLI.labels
    fingerprint = "bare"

    def __init__(self) -> None:
        self.texts: list[Texts] = []

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        self.texts += texts
        return np.tile([0.5, 0.3, 0.2], (len(texts), 1))


def test_a_predictor_needs_nothing_else() -> None:
    model = load(Bare(), task=NLI, batch_size=3)
    assert offered(model.predictor) == set()
    assert model.notes == []
    assert not model.vocabulary()
    with pytest.raises(BadModel, match="does not show its tokens"):
        model.pieces("a text")
    with pytest.raises(BadModel, match="Bare shows no attentions"):
        n_heads(model)
    run = audit(Bare(), "builtin", with_=["derange"], limit=5, q=3)
    assert run.n_predictions == 5 * 4 + 5 * 3, "derange, and its control of surfaces"


def test_a_model_without_tokens_gets_the_texts() -> None:
    bare = Bare()
    made = load(bare, task=NLI).predict_variants(VARIANTS).values
    assert bare.texts == all_texts(VARIANTS)
    assert made.shape == (len(bare.texts), 3)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("kind", ["hf", "onnx"])
def test_variants_are_predicted_as_their_texts(
    tiny_bert: Path, tmp_path: Path, kind: str, cached: bool
) -> None:
    from disorder.models.builtin import MODELS

    spec = f"hf:{tiny_bert}" if kind == "hf" else f"onnx:{MODELS / 'nli'}"
    texts = all_texts(VARIANTS)
    usual = load(spec, task=NLI)(texts)
    model = load(spec, task=NLI, cache=tmp_path if cached else None)
    if cached:
        model(texts[5:17])  # some of them are known, across examples
    assert np.allclose(model.predict_variants(VARIANTS).values, usual, atol=1e-6)
    if cached:
        assert model.counts["predicted"] == len(texts)
        again = load(spec, task=NLI, cache=tmp_path)
        assert np.allclose(again.predict_variants(VARIANTS).values, usual, atol=1e-6)
        assert again.counts["predicted"] == 0
    else:
        assert np.array_equal(model.predict_variants(VARIANTS).values, usual)


class Counting(Bare):
    """A model that takes tokens and looks at no text."""

    def predict_variants(self, variants: Sequence[Variants], /) -> Floats:
        return np.tile([0.2, 0.3, 0.5], (sum(map(len, variants)), 1))


def test_a_model_with_tokens_gets_no_texts() -> None:
    counting = Counting()
    made = load(counting, task=NLI).predict_variants(VARIANTS).values
    assert counting.texts == []
    assert made[0].tolist() == np.array([0.2, 0.3, 0.5], np.float32).tolist()


def test_some_variants_have_the_texts_of_those() -> None:
    texts = all_texts(VARIANTS)
    chosen = np.array([0, 3, 4, 5, 6, 7, 11, len(texts) - 1])
    assert all_texts(take_variants(VARIANTS, chosen)) == [texts[i] for i in chosen]
    assert take_variants(VARIANTS, np.array([], dtype=np.int64)) == []
    one = VARIANTS[0]
    assert variant_texts(some_variants(one, np.arange(1, 3))) == variant_texts(one)[1:3]
