"""Is the importance of a word what the loss would change by? Finite differences by architecture,
closed forms for bags.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from disorder.data import read_data
from disorder.data.builtin import TASKS
from disorder.errors import BadData, BadModel
from disorder.models import LoadedModel, load
from disorder.models.bow import Bow, features
from disorder.models.importance.by_word import BY_GRADIENT, BY_LEAVING_OUT, leave_one_out
from disorder.transformations.words import split
from disorder.types import Floats, Pair, Task, Texts

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*")  # DeBERTa-v2 in transformers
NLI = TASKS["nli"]
SENTENCES = (
    ("The nurse, it seems, sang well.", "A nurse was singing.", "entailment"),
    ("Nobody saw the unbelievably tall dentist.", "The dentist wasn't seen by anybody!", "neutral"),
    ("In the forest a cook slept.", "The cook was awake.", "contradiction"),
)


def pair_of(a: str, b: str | None, label: str) -> Pair:
    return Pair(split(a), None if b is None else split(b), label)


PAIRS = [pair_of(*row) for row in SENTENCES]


class TestGradients:
    """With transformers models of random weights: code paths, not findings."""

    torch = pytest.importorskip("torch", reason="needs torch")
    transformers = pytest.importorskip("transformers", reason="needs transformers")

    def test_it_is_the_slope_of_the_loss_on_three_sentences(self, tiny_bert: Path) -> None:
        model = load(f"hf:{tiny_bert}", task=NLI)
        assert model.how_importance == BY_GRADIENT
        for pair, found in zip(PAIRS, model.importance(PAIRS), strict=True):
            assert [len(scores) for scores in found] == [len(side) for side in pair.sides]
            check_slopes(model.predictor, pair, found, [model.predictor.labels.index(pair.label)])

    @pytest.mark.parametrize("batch_size", [None, 1, 2])
    def test_many_pairs_are_as_one_by_one(self, tiny_bert: Path, batch_size: int | None) -> None:
        pairs = [pair_of(*e.texts, e.label) for e in read_data("builtin").examples[:30]]
        together = load(f"hf:{tiny_bert}", task=NLI, batch_size=batch_size).importance(pairs)
        alone = load(f"hf:{tiny_bert}", task=NLI)
        for pair, found in zip(pairs, together, strict=True):
            for one, other in zip(found, alone.importance([pair])[0], strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5, rtol=1e-4)

    def test_labels_that_mean_one_label_are_added_up(self, tiny_bert: Path) -> None:
        task = Task("two", ("entailment", "not"), "b")
        model = load(
            f"hf:{tiny_bert}", task=task, labels={"neutral": "not", "contradiction": "not"}
        )
        pair = Pair(PAIRS[0].a, PAIRS[0].b, "not")
        own = model.predictor.labels
        check_slopes(
            model.predictor,
            pair,
            model.importance([pair])[0],
            [own.index("neutral"), own.index("contradiction")],
        )

    def test_words_that_are_cut_off_get_nothing(self, tiny_bert: Path) -> None:
        long = pair_of("the nurse sang", " ".join(["dentist"] * 90), "neutral")
        [(first, second)] = load(f"hf:{tiny_bert}", task=NLI).importance([long])
        n_seen = 64 - 3 - len(load(f"hf:{tiny_bert}", task=NLI).pieces("the nurse sang"))
        assert np.count_nonzero(first) == 3
        assert np.count_nonzero(second) == n_seen
        assert not second[n_seen:].any()

    @pytest.mark.parametrize("precision", ["bf16", "int8"])
    @pytest.mark.filterwarnings("ignore:.*quantiz.*", "ignore:.*deprecated.*")
    def test_it_is_found_in_single_precision_whatever_predictions_are(
        self, tiny_bert: Path, precision: str
    ) -> None:
        usual, other = (
            load(f"hf:{tiny_bert}", task=NLI),
            load(f"hf:{tiny_bert}", task=NLI, precision=precision),
        )
        if precision == "bf16":  # which has rounded the weights themselves
            usual.predictor.network.to(self.torch.bfloat16).float()  # type: ignore[attr-defined]
        for one, two in zip(
            usual.importance(PAIRS),
            other.importance(PAIRS),
            strict=True,
        ):
            for mine, theirs in zip(one, two, strict=True):
                np.testing.assert_allclose(theirs, mine, rtol=1e-4, atol=1e-6)

    def test_the_network_is_left_as_it_was(self, tiny_bert: Path) -> None:
        model = load(f"hf:{tiny_bert}", task=NLI)
        network: Any = model.predictor.network  # type: ignore[attr-defined]
        network.train()
        model.importance(PAIRS)
        assert network.training
        assert all(
            weights.requires_grad and weights.grad is None for weights in network.parameters()
        )
        assert not any(layer._forward_hooks for layer in network.modules())

    def test_a_user_without_gradients_gets_them_all_the_same(self, tiny_bert: Path) -> None:
        usual = load(f"hf:{tiny_bert}", task=NLI).importance(PAIRS)
        model = load(f"hf:{tiny_bert}", task=NLI)
        model.predictor._pool = None  # type: ignore[attr-defined]
        with self.torch.no_grad():
            found = model.importance(PAIRS)
        np.testing.assert_allclose(found[0][1], usual[0][1], rtol=1e-4, atol=1e-6)

    def test_it_is_worked_out_once(self, tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        model = load(f"hf:{tiny_bert}", task=NLI)
        first = model.importance(PAIRS)
        monkeypatch.setattr(model.predictor, "importance", None)
        again = model.importance(PAIRS)
        assert all(
            a is b
            for one, two in zip(first, again, strict=True)
            for a, b in zip(one, two, strict=True)
        )

    def test_a_tokenizer_without_offsets_means_leaving_words_out(self, tiny_bert: Path) -> None:
        model = load(f"hf:{tiny_bert}", task=NLI)
        model.predictor.tokenizer = Slow(model.predictor.tokenizer)  # type: ignore[attr-defined]
        assert model.how_importance == BY_LEAVING_OUT
        with pytest.raises(BadModel, match="no fast form"):
            model.pieces("the nurse sang")

    def test_a_network_without_word_embeddings_means_leaving_words_out(
        self, tiny_bert: Path
    ) -> None:
        model = load(f"hf:{tiny_bert}", task=NLI)
        network: Any = model.predictor.network  # type: ignore[attr-defined]
        network.get_input_embeddings = lambda: network.bert.embeddings.LayerNorm
        assert model.how_importance == BY_LEAVING_OUT


class Slow:
    """A tokenizer as those without a fast core are."""

    is_fast = False

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tokenizer, name)


SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 80,
}
DISTIL = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
XL = {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32}
SEQUENCE = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}
RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0}
ARCHITECTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("Bert", "wordpiece", SIZES),
    "minilm": ("Bert", "wordpiece", SIZES | {"num_hidden_layers": 3}),
    "distilbert": ("DistilBert", "wordpiece", DISTIL),
    "electra": ("Electra", "wordpiece", SIZES | {"embedding_size": 8}),
    "roberta": ("Roberta", "bytes", SIZES),
    "bart": ("Bart", "bytes", SEQUENCE),
    "bart scaled": ("Bart", "bytes", SEQUENCE | {"scale_embedding": True}),
    "deberta": ("Deberta", "bytes", SIZES | RELATIVE),
    "deberta-v2": ("DebertaV2", "unigram", SIZES | RELATIVE),
    "albert": ("Albert", "unigram", SIZES | {"embedding_size": 8}),
    "xlnet": ("XLNet", "xlnet", XL),
}
KINDS = ("wordpiece", "bytes", "unigram", "xlnet")
SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"]


@lru_cache
def trained(kind: str) -> str:
    """A small tokenizer of this kind with its family's way to join a pair, learned from the
    built-in data.
    """
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

    texts = [
        text for e in read_data("builtin").examples[:300] for text in (e.text_a, str(e.text_b))
    ]
    size = {"vocab_size": 400, "special_tokens": SPECIAL, "show_progress": False}
    if kind == "wordpiece":
        core = tokenizers.Tokenizer(models.WordPiece(unk_token="<unk>"))
        core.normalizer = normalizers.BertNormalizer(lowercase=True)
        core.pre_tokenizer, core.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
        trainer: Any = trainers.WordPieceTrainer(**size)
        single, double = "<s> $A </s>", "<s> $A </s> $B:1 </s>:1"
    elif kind == "bytes":
        core = tokenizers.Tokenizer(models.BPE())
        core.pre_tokenizer, core.decoder = (
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            decoders.ByteLevel(),
        )
        trainer = trainers.BpeTrainer(**size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
        single, double = "<s> $A </s>", "<s> $A </s> </s> $B </s>"
    else:
        core = tokenizers.Tokenizer(models.Unigram())
        core.pre_tokenizer, core.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
        trainer = trainers.UnigramTrainer(**size, unk_token="<unk>")
        single, double = "<s> $A </s>", "<s> $A </s> $B:1 </s>:1"
        if kind == "xlnet":
            single, double = "$A </s> <s>:2", "$A </s> $B:1 </s>:1 <s>:2"
    core.train_from_iterator(texts, trainer)
    core.post_processor = processors.TemplateProcessing(
        single=single, pair=double, special_tokens=[("<s>", 2), ("</s>", 3)]
    )
    found: str = core.to_str()
    return found


def tokenizer_of(kind: str) -> Any:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(trained(kind)),
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        model_max_length=64,
        padding_side="left" if kind == "xlnet" else "right",
        model_input_names=[
            "input_ids",
            "attention_mask",
            *([] if kind == "bytes" else ["token_type_ids"]),
        ],
    )


def transformer_of(name: str, *, n_labels: int = 3, **more: Any) -> Any:
    """A classifier of this architecture with random weights, large enough that words differ."""
    import torch
    import transformers

    from disorder.models.hf import HFClassifier

    family, kind, sizes = ARCHITECTURES[name]
    tokenizer = tokenizer_of(kind)
    if family in ("DistilBert", "DebertaV2", "Deberta"):
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    names = dict(enumerate(NLI.labels))
    config = getattr(transformers, f"{family}Config")(
        vocab_size=len(tokenizer),
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=3,
        num_labels=n_labels,
        **({"id2label": names} if n_labels > 1 else {}),
        **sizes,
        **more,
    )
    torch.manual_seed(0)
    network = getattr(transformers, f"{family}ForSequenceClassification")(config)
    with torch.no_grad():
        for weights in network.parameters():
            if weights.dim() > 1:
                weights.normal_(0, 0.3)
    return HFClassifier(network, tokenizer, "")


@contextmanager
def scaled(network: Any, rows: Any, by: float) -> Iterator[None]:
    """While this lasts, the embeddings of the tokens at these places are a little larger, wherever
    they are embedded.
    """
    import torch

    weights = network.get_input_embeddings().weight
    layers = [
        m for m in network.modules() if isinstance(m, torch.nn.Embedding) and m.weight is weights
    ]
    is_decoder = iter([False, True])

    def grow(_: Any, given: Any, output: Any) -> Any:
        length = len(rows)
        factor = torch.tensor([1 + by * row for row in rows])
        if len(layers) > 1 and next(is_decoder):  # a decoder reads the same tokens one place later
            factor = torch.cat([torch.ones(1), factor[:-1]])
        return output * (
            factor[:, None, None]
            if output.shape[0] == length and output.shape[1] == 1
            else factor[None, :, None]
        )

    hooks = [layer.register_forward_hook(grow) for layer in layers]
    yield
    for hook in hooks:
        hook.remove()


def check_slopes(
    predictor: Any, pair: Pair, found: list[Floats], gold: list[int], *, number: float | None = None
) -> None:
    """Compare with the loss when exactly the tokens of one word, by the tokenizer's own offsets,
    are scaled.
    """
    import torch

    second = None if pair.b is None else pair.b.text
    given = predictor.tokenizer(pair.a.text, second, return_offsets_mapping=True)
    owners, spans = given.sequence_ids(0), given["offset_mapping"]
    network = predictor.network.double()
    is_rough = (
        network.config.model_type == "deberta"
    )  # whose LayerNorm rounds to single precision on its own
    step, least = (1e-2, 1e-3) if is_rough else (1e-5, 1e-4)
    inputs = {name: torch.tensor([given[name]]) for name in predictor.tokenizer.model_input_names}

    def loss(rows: list[bool], by: float) -> float:
        with scaled(network, rows, by), torch.inference_mode():
            logits = network(**inputs).logits[0]
        return float(
            (logits[0] - number) ** 2
            if number is not None
            else -logits.softmax(-1)[gold].sum().log()
        )

    for side, (sentence, scores) in enumerate(zip(pair.sides, found, strict=True)):
        slopes = []
        for start, end in zip(sentence.starts, sentence.ends, strict=True):
            rows = [
                owners[i] == side and spans[i][0] < end and spans[i][1] > start
                for i in range(len(owners))
            ]
            assert any(rows)
            slopes.append((loss(rows, step) - loss(rows, -step)) / (2 * step))
        np.testing.assert_allclose(
            scores, slopes, rtol=1e-3, atol=least * abs(np.array(slopes)).max()
        )
    predictor.network.float()


@pytest.mark.parametrize("name", ARCHITECTURES)
class TestArchitectures:
    @pytest.fixture(autouse=True)
    def _needed(self) -> None:
        pytest.importorskip("torch", reason="needs torch")
        pytest.importorskip("transformers", reason="needs transformers")

    def test_both_texts_of_a_pair_and_a_single_text(self, name: str) -> None:
        predictor = transformer_of(name)
        assert predictor.has_gradients()
        pairs = [
            pair_of(a, b, label)
            for a, b, label in (*SENTENCES, ("The nurse sang well.", None, "neutral"))
        ]
        golds = [NLI.labels.index(pair.label) for pair in pairs]
        found = predictor.importance(pairs, np.eye(3)[golds])
        for pair, scores, gold in zip(pairs, found, golds, strict=True):
            check_slopes(predictor, pair, scores, [gold])

    def test_a_model_of_one_number(self, name: str) -> None:
        predictor = transformer_of(name, n_labels=1)
        [scores] = predictor.importance([PAIRS[0]], np.array([[2.5]]))
        check_slopes(predictor, PAIRS[0], scores, [], number=2.5)


@pytest.mark.parametrize("name", ["deberta", "deberta-v2"])
def test_embeddings_whose_length_is_normalised_away_tell_nothing(name: str) -> None:
    """As DeBERTa is published: each embedding is normalised on its own, so embedding · gradient is
    0 but for rounding.
    """
    pytest.importorskip("transformers", reason="needs transformers")
    predictor = transformer_of(name, position_biased_input=False)
    assert not predictor.has_gradients()
    model = load(predictor, task=NLI)
    assert model.how_importance == BY_LEAVING_OUT
    assert all(abs(scores).max() > 1e-3 for pair in model.importance(PAIRS) for scores in pair)


@pytest.mark.parametrize("kind", KINDS)
class TestTokens:
    @pytest.fixture
    def predictor(self, kind: str) -> Any:
        pytest.importorskip("transformers", reason="needs transformers")
        return transformer_of(
            next(name for name, (_, of, _) in ARCHITECTURES.items() if of == kind)
        )

    @pytest.mark.parametrize(
        "text", ["The nurse, it seems,  wasn't singing.", "👩‍👩‍👧 hugs Größe", "", " ", "我喜欢"]
    )
    def test_pieces_are_the_tokens_without_white_space(
        self, predictor: Any, kind: str, text: str
    ) -> None:
        spans = predictor.pieces(text)
        assert all(start < end for start, end in spans)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        assert not any(
            char.isspace() for start, end in spans for char in (text[start], text[end - 1])
        )
        assert "".join(text[start:end] for start, end in spans) == "".join(text.split())

    def test_the_vocabulary_is_whole_words(self, predictor: Any, kind: str) -> None:
        words = predictor.vocabulary()
        assert words == sorted(set(words))
        assert all(word.isalpha() for word in words)
        assert "the" in words
        assert not {"unk", "pad"} & set(words)
        assert words is predictor.vocabulary()


def adder() -> Any:
    """A network that only adds its embeddings up, so that without a word just that word's part is
    missing.
    """
    import torch
    import transformers

    from disorder.models.hf import HFClassifier

    class Adder(torch.nn.Module):
        def __init__(self, n: int) -> None:
            super().__init__()
            self.config = transformers.BertConfig(
                id2label=dict(enumerate(NLI.labels)), num_labels=3
            )
            self.device = torch.device("cpu")
            self.words = torch.nn.Embedding(n, 8)
            self.output = torch.nn.Linear(8, 3)
            self.words.weight.data.mul_(0.004)  # so small that the second order does not count

        def get_input_embeddings(self) -> Any:
            return self.words

        def forward(self, input_ids: Any, **_: Any) -> Any:
            return SimpleNamespace(logits=self.output(self.words(input_ids).sum(dim=1)))

    torch.manual_seed(0)
    tokenizer = tokenizer_of("wordpiece")
    return HFClassifier(Adder(len(tokenizer)), tokenizer, "")


def labelled(weights: dict[str, float]) -> Bow:
    """A bag of words for sentiment with these weights for "positive"."""
    table = np.zeros((2**18, 2))
    for word, weight in weights.items():
        [_, number] = features(frozenset([word]), None).tolist()
        table[number, 1] = weight
    return Bow(("negative", "positive"), table)


WEIGHTS = {"good": 1.5, "bad": -2.0, "film": 0.25}


class TestLeavingOut:
    TASK = Task("sentiment", ("negative", "positive"))

    def test_a_bag_of_words_has_a_closed_form(self) -> None:
        """The log-odds are the sum of the weights, so leaving a word out takes its weight away."""
        model = load(labelled(WEIGHTS), task=self.TASK)
        assert model.how_importance == BY_LEAVING_OUT
        [[found]] = model.importance([pair_of("A good film, not bad.", None, "positive")])
        odds = sum(WEIGHTS.values())
        without = [WEIGHTS.get(word, 0.0) for word in ("a", "good", "film", ",", "not", "bad", ".")]
        expected = [
            np.log1p(np.exp(-odds)) - np.log1p(np.exp(-(odds - weight))) for weight in without
        ]
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert (
            found[1] < 0 < found[5]
        )  # "good" speaks for the gold label: without it the loss is higher

    def test_a_word_that_stands_twice_is_missed_by_no_bag(self) -> None:
        [[found]] = load(labelled(WEIGHTS), task=self.TASK).importance(
            [pair_of("good good film", None, "positive")]
        )
        assert found[:2].tolist() == [0, 0]
        assert found[2] < 0

    def test_a_sure_model_still_tells_words_apart(self) -> None:
        sure = load(labelled({"good": 20.0, "film": 10.0}), task=self.TASK)
        [[found]] = sure.importance([pair_of("good film", None, "positive")])
        np.testing.assert_allclose(
            found, [np.exp(-30) - np.log1p(np.exp(-10)), np.exp(-30) - np.exp(-20)], rtol=1e-4
        )

    def test_it_is_what_the_gradient_estimates(self) -> None:
        """To first order the two are the same number, sign and all: checked on a model that adds
        small embeddings up.
        """
        pytest.importorskip("transformers", reason="needs transformers")
        model, pair = (
            load(adder(), task=NLI),
            pair_of("The nurse, it seems, sang well.", "A dog was loud.", "neutral"),
        )
        assert model.how_importance == BY_GRADIENT
        [by_gradient] = model.importance([pair])
        [left_out] = leave_one_out(model, [pair], np.array([float(NLI.labels.index("neutral"))]))
        for one, other in zip(by_gradient, left_out, strict=True):
            np.testing.assert_allclose(
                one, other, rtol=0.05, atol=0.02 * abs(other).max()
            )  # the second order
            assert abs(one).max() > 1e-3

    def test_many_pairs_are_as_one_by_one(self) -> None:
        together = load("builtin", task=NLI).importance(PAIRS)
        alone = load("builtin", task=NLI)
        for pair, found in zip(PAIRS, together, strict=True):
            for one, other in zip(found, alone.importance([pair])[0], strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5)

    def test_all_texts_are_predicted_in_one_call(self) -> None:
        sizes: list[int] = []

        def model(texts: list[Texts]) -> Floats:
            sizes.append(len(texts))
            return np.tile([0.5, 0.3, 0.2], (len(texts), 1))

        load(model, task=NLI).importance(PAIRS)
        assert sizes == [
            sum(1 + len(side_a) + len(side_b) for side_a, side_b in (pair.sides for pair in PAIRS))
        ]

    def test_numbers_lose_by_their_squared_error(self) -> None:
        def n_words(texts: list[Any]) -> list[float]:
            return [float(len(b.split())) for _, b in texts]

        n_words.labels = ()  # type: ignore[attr-defined]
        model = load(n_words, task=Task("sts", ()))
        [[first, second]] = model.importance([pair_of("one", "a b c", "1.0")])
        assert first.tolist() == [0.0]
        assert second.tolist() == [4.0 - 1.0] * 3

    def test_a_label_the_task_does_not_know_is_the_users_mistake(self) -> None:
        with pytest.raises(BadData, match="'maybe' is none of"):
            load("builtin", task=NLI).importance([pair_of("one", "two", "maybe")])

    def test_an_empty_text_has_no_words_to_leave_out(self) -> None:
        [[first, second]] = load("builtin", task=NLI).importance([pair_of("", "a b", "neutral")])
        assert (len(first), len(second)) == (0, 2)


def test_a_model_that_hides_its_tokens_says_so() -> None:
    model: LoadedModel = load("builtin", task=NLI)
    assert not model.vocabulary()
    with pytest.raises(BadModel, match="does not show its tokens"):
        model.pieces("one two")
