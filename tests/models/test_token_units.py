"""`unit=token`: the numbers that reach a network are those of the original, in another order."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import NLI
from disorder import audit, explain
from disorder.data import read_data
from disorder.errors import BadModel, BadSetting, DisorderError, DoesNotApply
from disorder.models import LoadedModel, load
from disorder.models.inputs.tokens import token_units
from disorder.transformations import parse
from disorder.types import Example, Texts, Variants
from disorder.verbs.model_loading import RunContext

pytest.importorskip("transformers", reason="needs transformers")

EXAMPLES = [
    Example.of(
        "0", "The oldest man didn't see unbelievable dogs.", "Dogs saw a very old man!", "neutral"
    ),
    Example.of("1", "ok 👨‍👩‍👧 fine, 身上裹一件 naïve café", "it was untrue", "neutral"),
]


def variants_of(model: LoadedModel, spec: str, examples: Sequence[Example]) -> list[Variants]:
    made = parse(spec).apply_all(
        examples, task=NLI, q=5, seed=0, short="use", context=RunContext(model)
    )
    return [each for each in made if not isinstance(each, DoesNotApply)]


def fed(model: Any, work: Any) -> list[list[int]]:
    """The token numbers that reach the network, one list per input."""
    seen: list[list[int]] = []
    forward = model.forward

    def spy(feed: dict[str, Any]) -> Any:
        seen.extend(feed["input_ids"].tolist())
        return forward(feed)

    model.forward = spy
    work()
    del model.forward
    return seen


@pytest.fixture(scope="module")
def folder(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small BERT with a vocabulary that cuts words into pieces."""
    from transformers import BertTokenizerFast

    found = tmp_path_factory.mktemp("pieces") / "model"
    shutil.copytree(tiny_bert, found)
    tokens = (tiny_bert / "vocab.txt").read_text(encoding="utf-8").split("\n")
    pieces = [*"abcdefghijklmnopqrstuvwxyz", *(f"##{x}" for x in "abcdefghijklmnopqrstuvwxyz")]
    words = ["the", "man", "dogs", "old", "##est", "saw", "un"]
    tokens = [*tokens[:20], *dict.fromkeys([*pieces, *words])]
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
    BertTokenizerFast(vocab=vocabulary).save_pretrained(found)
    return found


@pytest.fixture(scope="module")
def bert(folder: Path) -> LoadedModel:
    return load(f"hf:{folder}", task=NLI)


def test_the_network_reads_the_original_tokens_in_another_order(bert: LoadedModel) -> None:
    [variants] = variants_of(bert, "derange:unit=token", EXAMPLES[:1])
    [before] = fed(bert.predictor, lambda: bert([EXAMPLES[0].texts]))
    after = fed(bert.predictor, lambda: bert.predict_variants([variants]))
    tokenizer = bert.predictor.tokenizer  # type: ignore[attr-defined]
    special = [
        i
        for i, token in enumerate(before)
        if token in (tokenizer.cls_token_id, tokenizer.sep_token_id)
    ]
    assert len(special) == 3
    assert tokenizer.unk_token_id not in before
    assert len(after) == len({tuple(row) for row in after}) == 5
    for row in after:
        assert sorted(row) == sorted(before)
        assert [row[i] for i in special] == [before[i] for i in special]
        assert row != before


def test_no_text_would_be_cut_into_what_the_network_reads(bert: LoadedModel) -> None:
    """As pieces of text the same order is cut again, into other tokens."""
    [variants] = variants_of(bert, "reverse:unit=token", EXAMPLES[:1])
    [as_text] = variants_of(bert, "reverse:unit=subword", EXAMPLES[:1])
    assert np.array_equal(variants.a.positions, as_text.a.positions)
    [tokens] = fed(bert.predictor, lambda: bert.predict_variants([variants]))
    [cut_again] = fed(bert.predictor, lambda: bert.predict_variants([as_text]))
    assert tokens != cut_again


@pytest.mark.parametrize("example", EXAMPLES, ids=["pair", "scripts"])
def test_the_order_of_the_text_is_its_input_to_the_letter(
    bert: LoadedModel, example: Example
) -> None:
    [variants] = variants_of(bert, "reverse:unit=token", [example])
    sides = [
        rows.__class__(rows.sentence, np.arange(len(rows.sentence))[None, :])
        for rows in variants.sides
    ]
    identity = Variants(sides[0], sides[1])
    assert np.array_equal(bert.predict_variants([identity]).values, bert([example.texts]))


@pytest.mark.parametrize("side", ["right", "left"])
def test_what_is_too_long_is_cut_off_as_the_tokenizer_cuts_it(folder: Path, side: str) -> None:
    from tokenizers import Tokenizer

    from disorder.models.inputs.tokens import WordTokens

    core = Tokenizer.from_file(str(folder / "tokenizer.json"))
    core.no_padding()
    core.enable_truncation(12, direction=side)
    words = WordTokens(core, 12)

    class Model:
        def token_units(self, texts: Texts) -> Any:
            return [words.units(str(text)) for text in texts]

    transformation = parse("reverse:unit=token,side=a")
    variants = transformation.apply(EXAMPLES[0], task=NLI, q=1, seed=0, context=Model())  # type: ignore[arg-type]
    found = words.encode_variants([variants])
    whole = core.encode(*EXAMPLES[0].texts)
    assert len(found.ids) == 12
    kept = whole.sequence_ids.count(0)
    every = [token for _, _, tokens in words.units(EXAMPLES[0].text_a) for token in tokens]
    moved = [token for i in variants.a.positions[0] for token in variants.a.sentence.tokens[i]]  # type: ignore[index]
    expected = moved[:kept] if side == "right" else moved[len(moved) - kept :]
    assert found.ids.tolist()[1 : 1 + kept] == expected
    assert sorted(moved) == sorted(every)
    assert found.ids.tolist()[1 + kept :] == whole.ids[1 + kept :]


def test_tokens_that_share_a_letter_move_together() -> None:
    units = token_units("a 👍 b", [1, 2, 3, 4, 5], [(0, 1), (1, 3), (2, 3), (3, 4), (4, 5)])
    assert units == [(0, 1, (1,)), (2, 3, (2, 3)), (4, 5, (4, 5))]


def test_a_causal_model_reads_its_prompt_with_moved_tokens(tiny_llama: Path) -> None:
    model = load(f"causal:{tiny_llama}", task=NLI)
    variants = variants_of(model, "derange:unit=token", EXAMPLES[:1])
    causal: Any = model.predictor
    [original] = causal.tokens(causal.prompt.questions([EXAMPLES[0].texts]))
    seen: list[Any] = []
    scores = causal.network.answer_scores

    def spy(prompts: Any, stem: Any) -> Any:
        seen.extend(prompts)
        return scores(prompts, stem)

    causal.network.answer_scores = spy
    found = model.predict_variants(variants).values
    units = sum(len(each) for each in causal.token_units(EXAMPLES[0].texts))
    assert found.shape == (5, 3)
    assert units > 12
    for prompt in seen:
        assert sorted(prompt.shared) == sorted(original.shared)
        assert prompt.tails == original.tails
        changed = sum(x != y for x, y in zip(prompt.shared, original.shared, strict=True))
        assert units / 2 < changed <= units


def test_a_causal_model_gets_the_original_back(tiny_chat: Path) -> None:
    model = load(f"causal:{tiny_chat}", task=NLI)
    [variants] = variants_of(model, "reverse:unit=token", EXAMPLES[:1])
    identity = Variants(
        *(
            rows.__class__(rows.sentence, np.arange(len(rows.sentence))[None, :])
            for rows in variants.sides
        )
    )
    assert np.allclose(
        model.predict_variants([identity]).values, model([EXAMPLES[0].texts]), atol=1e-6
    )


def test_a_cache_tells_moved_tokens_from_texts(folder: Path, tmp_path: Path) -> None:
    model = load(f"hf:{folder}", task=NLI, cache=tmp_path)
    for spec in ("reverse:unit=subword", "reverse:unit=token"):
        first = model.predict_variants(variants_of(model, spec, EXAMPLES)).values
        before = model.counts["predicted"]
        again = model.predict_variants(variants_of(model, spec, EXAMPLES)).values
        assert np.array_equal(first, again)
        assert model.counts["predicted"] == before
    assert model.counts["predicted"] == 4


def test_audit_and_explain_take_it(tiny_bert: Path, tmp_path: Path) -> None:
    data = read_data("builtin").examples[:12]
    rows = [{"id": e.id, "text_a": e.text_a, "text_b": e.text_b, "label": e.label} for e in data]
    spec = "derange:unit=token"
    run = audit(
        f"hf:{tiny_bert}", rows, with_=spec, q=3, task="mnli", cache="off", out=tmp_path / "run"
    )
    assert run.score(spec, "agreement") is not None
    assert run.score(spec, "wos") is None  # words are broken
    found = explain(
        f"hf:{tiny_bert}", rows, by="omega_curve", with_=spec, q=3, task="mnli", cache="off"
    )
    assert found["omega_curve"].finding


def test_other_models_and_uses_say_so_in_one_line() -> None:
    with pytest.raises(BadModel, match="takes texts, not token numbers"):
        audit("uniform", "builtin", with_="derange:unit=token", limit=5, q=2)
    with pytest.raises(BadSetting, match="steps that move the same unit"):
        parse("derange:unit=token+reverse")


def test_nothing_is_trained_on_what_has_no_text(tmp_path: Path) -> None:
    from disorder import train

    with pytest.raises(DisorderError, match=r"derange:unit=token: .* no text can say"):
        train(
            "plain", "builtin:nli:train", with_="derange:unit=token", limit=20, out=tmp_path / "x"
        )


def test_perturbed_texts_cannot_be_written(tiny_bert: Path) -> None:
    from disorder import perturb

    with pytest.raises(DisorderError, match="no text can say"):
        list(perturb("builtin", with_="derange:unit=token", model=f"hf:{tiny_bert}", limit=2, q=1))
