"""The word-matching head is found in a BERT whose weights are set by hand so that one known head
does all the matching.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disorder.errors import BadSetting, DisorderError
from disorder.models import attentions, load, predict_without
from disorder.requests.settings import Settings
from disorder.results.render import render
from disorder.types import Dataset, Example, Floats, Task
from disorder.verbs.explain import Subject, explain
from disorder.verbs.explain.explanations.heads import random_heads
from disorder.verbs.explain.head_matching import distances, found_heads
from disorder.verbs.explain.word_importance import cut

torch = pytest.importorskip("torch", reason="needs torch")
transformers = pytest.importorskip("transformers", reason="needs transformers")
pytest.importorskip("rapidfuzz", reason="needs rapidfuzz")

SAME = Task("same", ("no", "yes"), "b", "no", "yes")
LIST = """apple river stone cloud tiger piano candle window forest garden bridge hammer rocket
pencil mirror basket ladder button castle dragon engine feather guitar island jacket kettle
lemon magnet needle orange"""
WORDS = LIST.split()
PLANTED, GATHERS = (
    (0, 1),
    (1, 0),
)  # (layer, head): the one that matches words, and the one that brings it to [CLS]
N, H = 64, 128  # size of a head and of the network


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT that says `yes` when the words of the first text stand in the second, by head 1 of
    layer 0 alone.
    """
    folder = tmp_path_factory.mktemp("matcher")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *WORDS]
    transformers.BertTokenizerFast(
        vocab={word: i for i, word in enumerate(vocabulary)}
    ).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=H,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=64,
        num_labels=2,
        id2label={0: "no", 1: "yes"},
        label2id={"no": 0, "yes": 1},
    )
    network = transformers.BertForSequenceClassification(config)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            weights.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        plant(network, len(vocabulary))
    network.save_pretrained(folder)
    return folder


def plant(network: Any, n_words: int) -> None:
    """Word identity in the first 64 numbers, text (+1 first, −1 second) and what was found in the
    last 64, all without mean.
    """
    basis = torch.tensor(hadamard(N), dtype=torch.float32)
    bert, is_text, is_found = network.bert, basis[1], basis[2]
    bert.embeddings.word_embeddings.weight[:, :N] = basis[torch.arange(n_words) % (N - 4) + 4]
    bert.embeddings.token_type_embeddings.weight[:, N:] = torch.stack([is_text, -is_text])
    first, second = (layer.attention for layer in bert.encoder.layer)
    rows = slice(PLANTED[1] * N, (PLANTED[1] + 1) * N)
    # The same word scores 4, the other text 1, the own text −1: a word looks for itself in the
    # other text, else at itself.
    scale = 8.0
    to_text = torch.outer(basis[3], is_text) / N
    first.self.query.weight[rows, :N] = torch.eye(N) * scale
    first.self.query.weight[rows, N:] = 0.5 * scale * to_text
    first.self.key.weight[rows, :N] = torch.eye(N)
    first.self.key.weight[rows, N:] = -0.5 * to_text
    first.self.value.weight[rows, N:] = (
        torch.outer(is_found, is_text) / N
    )  # which text was looked at
    first.output.dense.weight[N:, rows] = torch.eye(N)
    rows = slice(GATHERS[1] * N, (GATHERS[1] + 1) * N)
    second.self.query.bias[rows] = 8 * is_text  # everyone looks at the first text alone
    second.self.key.weight[rows, N:] = torch.outer(is_text, is_text) / N
    second.self.value.weight[rows, N:] = torch.outer(is_found, is_found) / N
    second.output.dense.weight[N:, rows] = 4 * torch.eye(N)
    bert.pooler.dense.weight[:, N:] = torch.outer(torch.ones(H), -is_found) / N
    network.classifier.weight[1] = 0.2
    network.classifier.bias[0] = 1.0


def hadamard(n: int) -> Floats:
    """Rows of ±1 that are orthogonal; all but the first add up to 0."""
    found = np.ones((1, 1))
    while len(found) < n:
        found = np.block([[found, found], [found, -found]])
    return found


def texts(n: int) -> list[Example]:
    """Six words, and the same or six others in another order; words in turn, so that none is told
    by its label.
    """
    examples = []
    for i in range(n):
        words = [WORDS[(i * 11 + k * 7) % 30] for k in range(12)]
        others = words[5::-1] if i % 2 else words[6:]
        examples.append(
            Example.of(
                f"e{i:03d}",
                " ".join(words[:6]) + ".",
                " ".join(others) + ".",
                "yes" if i % 2 else "no",
            )
        )
    return examples


@pytest.fixture
def data() -> Dataset:
    return Dataset("same", SAME, texts(40), fingerprint="same")


def test_the_planted_model_is_right_for_the_planted_reason(matcher: Path, data: Dataset) -> None:
    model = load(f"hf:{matcher}", task=SAME)
    asked, gold = (
        [e.texts for e in data.examples],
        np.array([e.label == "yes" for e in data.examples]),
    )
    assert (model(asked).argmax(axis=1) == gold).all()
    assert (predict_without(model, asked, [(0, 0), (1, 1)]).argmax(axis=1) == gold).all()
    assert (predict_without(model, asked, [PLANTED]).argmax(axis=1) == 0).all()
    assert (model(asked).argmax(axis=1) == gold).all()


def test_exactly_the_planted_head_is_found_and_the_model_fails_without_it(
    matcher: Path, data: Dataset
) -> None:
    found = explain(f"hf:{matcher}", data, by="heads:draws=20")["heads"]
    histogram = next(figure for figure in found.figures if figure.name == "heads_histogram")
    assert [(row["layer"], row["head"]) for row in histogram.rows if row["examples"]] == [PLANTED]
    assert found.scores["match both"].value == 1
    assert found.scores["positives, without the matching heads"].value == 0
    assert found.scores["balanced, without the matching heads"].value == 0.5
    assert found.scores["all, without the matching heads"].value == 0.5
    assert found.scores["all, without random heads"].value > 0.6
    ablated = next(figure for figure in found.figures if figure.name == "heads_ablation")
    words = set(re.findall(r">([^<>]+)</text>", ablated.svg)) | {
        *re.findall(r">([^<>]+)</tspan>", ablated.svg)
    }
    assert {"showed", "the heads", "both labels"} <= words, "an axis says what its sets are"
    assert not {"positives", "balanced", "random", "dev-r"} & words
    about = Subject(load(f"hf:{matcher}", task=SAME), data, Settings())
    breaks = sum(head == GATHERS for [head] in random_heads(about, [PLANTED], 20))
    assert {(row["draws"], row["draws as low"]) for row in ablated.rows} == {(20, breaks)}
    table = next(table for table in found.tables if table.name == "heads_distances")
    assert table.rows[0]["shuffled"] == table.rows[0]["original"] == 20
    [tied] = [figure for figure in found.figures if figure.name == "heads_pair"]
    assert all(row["word a"] == row["word b"] for row in tied.rows)
    assert tied.svg.count("<path") == 6


def test_random_heads_are_others_and_the_same_for_a_seed(matcher: Path, data: Dataset) -> None:
    about = Subject(load(f"hf:{matcher}", task=SAME), data, Settings())
    drawn = random_heads(about, [PLANTED], 30)
    assert drawn == random_heads(about, [PLANTED], 30)
    assert {head for [head] in drawn} == {(0, 0), (1, 0), (1, 1)}
    assert {head for [head] in random_heads(about, [PLANTED], 30, of="layers")} == {(0, 0)}
    assert all(
        len(set(heads)) == 3 for heads in random_heads(about, [(0, 0), PLANTED, (1, 0)], 5)
    )  # others do not suffice


def test_tokens_are_merged_to_words(tiny_bert: Path) -> None:
    """A word cut into letters gets the sum of its keys and the mean of its queries, from the
    network's own numbers.
    """
    task = Task("nli", ("entailment", "neutral", "contradiction"), "b")
    model = load(f"hf:{tiny_bert}", task=task)
    pair = cut(("The man, well-known, slept.", "A man was half-asleep"))
    seen: list[Floats] = []
    attentions(model, [pair], lambda _, weights: seen.append(weights))
    network: Any = model.predictor
    network.network.set_attn_implementation("eager")
    encoded = network.tokenizer(pair.a.text, pair.b.text, return_tensors="pt")
    with torch.no_grad():
        weights = torch.stack(network.network(**encoded, output_attentions=True).attentions)[
            :, 0
        ].numpy()
    words = {
        side: [
            [
                t
                for t, (owner, span) in enumerate(
                    zip(
                        encoded.sequence_ids(0),
                        encoded["offset_mapping"][0].tolist()
                        if "offset_mapping" in encoded
                        else network.encoding(pair).offsets,
                        strict=True,
                    )
                )
                if owner == side and start <= span[0] < end
            ]
            for start, end in zip(each.starts, each.ends, strict=True)
        ]
        for side, each in enumerate(pair.sides)
    }
    for i, queries in enumerate(words[0]):
        for j, keys in enumerate(words[1]):
            there = weights[:, :, queries][:, :, :, keys].sum(axis=3).mean(axis=2)
            back = weights[:, :, keys][:, :, :, queries].sum(axis=3).mean(axis=2)
            assert seen[0][:, :, i, j] == pytest.approx(np.maximum(there, back), abs=1e-6)
    assert any(len(tokens) > 1 for tokens in words[0])


def test_distances_are_of_letters_and_ignore_case() -> None:
    pair = cut(("He managed, Tom.", "Manage tom"))
    assert distances(pair).tolist() == [[5, 3], [1, 7], [6, 0]]


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize(
    "name",
    ["Bert", "Roberta", "DistilBert", "Electra", "Albert", "MPNet", "ModernBert", "DebertaV2"],
)
def test_zeroing_works_in_many_encoders(name: str) -> None:
    """Without any head nothing of other tokens can reach the answer: one text of a length is as
    good as another.
    """
    network = encoder(name)
    model = Bare(network)
    one, two = np.array([[1, 5, 6, 7, 8, 2]]), np.array([[1, 9, 10, 11, 12, 2]])
    every = [(layer, head) for layer in range(2) for head in range(4)]
    assert abs(model(one, []) - model(two, [])).max() > 1e-5
    assert model(one, every) == pytest.approx(model(two, every), abs=1e-7)
    assert abs(model(one, [(1, 2)]) - model(one, [])).max() > 1e-7
    assert model(one, []) == pytest.approx(
        network(torch.tensor(one)).logits.detach().numpy(), abs=1e-7
    )


def encoder(name: str) -> Any:
    torch.manual_seed(0)
    sizes = {
        "vocab_size": 20,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 32,
    }
    own = {
        "DistilBert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 32},
        "Albert": {"embedding_size": 16},
    }
    more = own.get(name, {})
    config = getattr(transformers, f"{name}Config")(
        **{**sizes, "pad_token_id": 0, "max_position_embeddings": 40, **more}
    )
    for setting, value in {
        "initializer_range": 0.3,
        "cls_token_id": 1,
        "sep_token_id": 2,
        "classifier_pooling": "cls",
    }.items():
        setattr(config, setting, value)
    return getattr(transformers, f"{name}ForSequenceClassification")(config).eval()


class Bare:
    """A network without a tokenizer."""

    def __init__(self, network: Any) -> None:
        self.network = network

    def __call__(self, ids: Any, heads: Sequence[tuple[int, int]]) -> Floats:
        from disorder.models.importance.attention import without_heads

        with torch.no_grad(), without_heads(self.network, (2, 4), heads):
            found: Floats = self.network(torch.tensor(ids)).logits.numpy()
        return found


def test_a_model_without_attentions_is_one_line_and_the_rest_stays(
    jsonl: Callable[..., Path],
) -> None:
    found = explain("builtin", "builtin", by=["heads", "omega_curve"], limit=20, q=5)
    assert found.sections[0].reason.startswith("builtin shows no attentions; ")
    assert "builtin shows no attentions; " in render(found.result, "page")
    assert "<svg" in render(found.result, "page")


def test_single_texts_and_unknown_labels_are_told(matcher: Path, data: Dataset) -> None:
    alone = Dataset("x", SAME, [Example.of(e.id, e.text_a, None, e.label) for e in data.examples])
    with pytest.raises(DisorderError, match="between two texts"):
        explain(f"hf:{matcher}", alone, by="heads")
    with pytest.raises(BadSetting, match="20 draws or more"):
        explain(f"hf:{matcher}", data, by="heads:draws=19")
    with pytest.raises(DisorderError, match="did you mean 'yes'"):
        explain(f"hf:{matcher}", data, by="heads:label=yess")


def test_given_heads_are_looked_at_again(matcher: Path, data: Dataset) -> None:
    model = load(f"hf:{matcher}", task=SAME)
    pairs = [cut(e.texts) for e in data.examples if e.label == "yes"][:4]
    assert {each.head for each in found_heads(model, pairs)} == {PLANTED}
    assert {each.head for each in found_heads(model, pairs, [(1, 1)] * 4)} == {(1, 1)}
