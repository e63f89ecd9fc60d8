"""Embedders: vectors as sentence-transformers gives them, cosines as numbers, labels by a threshold
from other data, and what needs no gold.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import Command
from disorder.errors import BadModel, DisorderError, ModelStopped
from disorder.models import Similarity, load
from disorder.models.embed import embedder_in, similar_label
from disorder.types import Floats, Task
from disorder.verbs.model_loading import best_threshold
from fake_server import Body, FakeServer, Fault

NUMBER = Task("sts")
PARAPHRASE = Task("pairs", ("not_paraphrase", "paraphrase"))
TEXTS = [
    "the man walks home",
    "A dog sleeps, and the woman walks to the man!",
    "no",
    "the man and the dog and the woman " * 12,
]


class Bag:
    """Counts words, and so cannot see order; `asked` is what it was given."""

    fingerprint = ""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], /) -> Floats:
        self.asked += texts
        found = np.zeros((len(texts), 64))
        for row, text in zip(found, texts, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % 64] += 1
        return found


@pytest.fixture(scope="session")
def tiny_embedder(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers folder with a small network of random weights."""
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    folder = tmp_path_factory.mktemp("tiny-embedder")
    transformers.AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    transformers.AutoModel.from_pretrained(tiny_bert).save_pretrained(folder)
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 32, "do_lower_case": False})
    )
    set_pooling(folder, "mean_tokens")
    return folder


def set_pooling(folder: Path, chosen: str) -> None:
    names = ("cls_token", "mean_tokens", "max_tokens")
    config = {f"pooling_mode_{name}": name == chosen for name in names}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    content = {"word_embedding_dimension": 32, **config}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(content))


def by_hand(folder: Path, pooling: str) -> Floats:
    """Padded batches and masks, as the model card of any embedder shows them."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModel.from_pretrained(folder).eval()
    given = tokenizer(TEXTS, padding=True, truncation=True, max_length=32, return_tensors="pt")
    with torch.no_grad():
        tokens = network(**given).last_hidden_state
    mask = given["attention_mask"][:, :, None]
    if pooling == "cls_token":
        return np.asarray(tokens[:, 0].numpy())
    if pooling == "max_tokens":
        return np.asarray(tokens.masked_fill(mask == 0, -1e9).max(1).values.numpy())
    return np.asarray(((tokens * mask).sum(1) / mask.sum(1)).numpy())


@pytest.mark.parametrize("pooling", ["mean_tokens", "cls_token", "max_tokens"])
def test_vectors_are_those_of_padded_batches(tiny_embedder: Path, pooling: str) -> None:
    set_pooling(tiny_embedder, pooling)
    found = embedder_in(str(tiny_embedder)).embed(TEXTS)
    set_pooling(tiny_embedder, "mean_tokens")
    np.testing.assert_allclose(found, by_hand(tiny_embedder, pooling), atol=1e-5)


def test_vectors_are_those_of_sentence_transformers(tiny_embedder: Path) -> None:
    library = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    theirs = library.SentenceTransformer(str(tiny_embedder), device="cpu")
    ours = Similarity(embedder_in(str(tiny_embedder)), NUMBER)
    np.testing.assert_allclose(ours.vectors(TEXTS), theirs.encode(TEXTS), atol=1e-5)
    model = load(theirs, task=NUMBER)
    np.testing.assert_allclose(
        model([(TEXTS[0], TEXTS[1])]), ours([(TEXTS[0], TEXTS[1])]), atol=1e-5
    )


def test_modules_that_do_more_take_the_library(tiny_embedder: Path, tmp_path: Path) -> None:
    modules = json.loads((tiny_embedder / "modules.json").read_text())
    modules[2]["type"] = "sentence_transformers.models.Dense"
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(DisorderError, match=r"sentence-transformers|cannot be loaded"):
        load(f"embed:{tmp_path}", task=NUMBER)


def test_a_text_is_embedded_once() -> None:
    bag = Bag()
    model = Similarity(bag, NUMBER)
    found = model([("a b", "b a"), ("a b", "c"), ("b a", "c")])
    assert sorted(bag.asked) == ["a b", "b a", "c"]
    np.testing.assert_allclose(found[:, 0], [1.0, 0.0, 0.0], atol=1e-6)
    model([("c", "a b")])
    assert len(bag.asked) == 3


def test_the_rank_correlation_of_a_bag_is_kept_in_full() -> None:
    words = ["red", "dog", "old", "man", "big", "house", "new", "car"]
    rows = [
        {
            "text_a": " ".join(words[:5]),
            "text_b": " ".join([*words[: i % 6], "x", f"y{i}", "z"]),
            "label": i % 6 + i / 1000,
        }
        for i in range(60)
    ]
    run = disorder.audit(
        Bag(), rows, with_="derange", q=2, limit=60, fidelity="natural", short="use"
    )
    scores = {(s.transformation, s.metric): s.value for s in run.scores}
    assert scores["original", "spearman"] > 0.95
    assert scores["derange", "spearman"] == pytest.approx(scores["original", "spearman"], abs=1e-6)


def test_the_best_threshold_is_that_of_balanced_accuracy() -> None:
    cosines = np.array([0.9, 0.2, 0.8, 0.3, 0.7, 0.7, 0.6])
    is_similar = np.array([True, False, True, False, True, False, True])
    cut, accuracy = best_threshold(cosines, is_similar)
    # the two at 0.7 cannot be told apart: with both above, 4 of 4 and 2 of 3 are right
    assert cut == pytest.approx(0.45)
    assert accuracy == pytest.approx(5 / 6)


def test_the_label_of_similar_texts() -> None:
    assert similar_label(PARAPHRASE) == "paraphrase"
    assert similar_label(Task("pairs", ("duplicate", "non-duplicate"))) == "duplicate"
    assert similar_label(Task("pairs", ("yes", "no"), default_label="yes")) == "yes"
    assert similar_label(Task("pairs", ("0", "1"))) is None


def paired(n: int, start: int = 0) -> list[dict[str, Any]]:
    """Paraphrases that share their words, and pairs that share one."""
    rows = []
    for i in range(start, start + n):
        same = f"w{i} walks to the market on day d{i}"
        other = same if i % 2 else f"v{i} sleeps the whole night n{i} long"
        rows.append(
            {
                "id": str(i),
                "text_a": same,
                "text_b": " ".join(reversed(other.split())),
                "label": "paraphrase" if i % 2 else "not_paraphrase",
            }
        )
    return rows


def test_labels_by_a_threshold_from_other_data(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps(row) + "\n" for row in [*paired(5), *paired(40, 100)]))
    bag = Bag()
    run = disorder.audit(
        bag,
        paired(40),
        with_="derange",
        q=2,
        threshold_from=str(other),
        fidelity="natural",
        short="use",
    )
    scores = {(s.transformation, s.metric): s.value for s in run.scores}
    assert scores["original", "accuracy"] == scores["derange", "accuracy"] == 1.0
    assert 0 < run.settings["threshold"] < 1
    # rows that are audited do not count, wherever they stand
    assert any("on 40 other pairs" in note for note in run.notes)


def test_what_cannot_be_compared_is_one_line() -> None:
    with pytest.raises(BadModel, match="compares two texts"):
        load(Bag(), task=NUMBER)(["one text"])
    with pytest.raises(BadModel, match="threshold_from"):
        load(Bag(), task=PARAPHRASE)([("a", "b")])
    with pytest.raises(BadModel, match="which of the labels 0, 1"):
        load(Bag(), task=Task("pairs", ("0", "1")))([("a", "b")])
    told = load(
        Bag(),
        task=Task("pairs", ("0", "1")),
        labels={"different": "0", "similar": "1"},
        options={"threshold": 0.5},
    )
    assert told([("a b", "b a"), ("a", "c")]).argmax(axis=1).tolist() == [1, 0]
    with pytest.raises(BadModel, match="no such folder"):
        load("embed:./nowhere", task=NUMBER)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (lambda texts: [[1.0] * len(text) for text in texts], "no row of finite numbers"),
        (lambda texts: [["x"] for _ in texts], "no row of finite numbers"),
        (lambda texts: np.ones((len(texts), len(texts))), "vectors of 2 numbers, then of 1"),
    ],
)
def test_an_embedder_whose_rows_differ_is_one_line(vectors: Any, message: str) -> None:
    bag = Bag()
    bag.embed = vectors  # type: ignore[method-assign]
    model = load(bag, task=NUMBER)
    with pytest.raises(BadModel, match=message):
        list(map(model, ([("a", "a"), ("bb", "a")], [("c", "c")])))


def letters(text: str) -> list[float]:
    return [1.0 + text.count(letter) for letter in "abcdef"]


def test_vectors_of_a_server_come_back_in_order() -> None:
    pytest.importorskip("httpx2", reason="needs httpx2")
    texts = [f"{'abcdef'[i % 6] * (i + 1)}" for i in range(70)]
    with FakeServer(embeds=letters) as server:
        model = load("embed:fake", task=NUMBER, options={"base_url": server.url})
        assert isinstance(model.predictor, Similarity)
        found = model.predictor.vectors(texts)
        assert len(server.questions) == 3
    wanted = np.array([letters(text) for text in texts])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert model.predictor.counts["questions"] == 3


class InBase64(FakeServer):
    """Vectors as OpenAI's own client asks for them."""

    def _embeddings(self, body: Body, embeds: Callable[[str], Sequence[float]]) -> Body:
        reply = super()._embeddings(body, embeds)
        for each in reply["data"]:
            numbers = np.array(each["embedding"], "<f4").tobytes()
            each["embedding"] = base64.b64encode(numbers).decode()
        return reply


def of_few_texts(body: Body) -> Any:
    n = len(body["input"])
    if n > 8:
        return 422, {"error": f"batch size {n} > maximum allowed batch size 8"}
    return "too long" if "f" * 36 in body["input"] else ""


@pytest.mark.parametrize("kind", [FakeServer, InBase64])
def test_vectors_of_servers_with_small_batches_and_numbers_in_base64(
    kind: type[FakeServer],
) -> None:
    pytest.importorskip("httpx2", reason="needs httpx2")
    texts = [f"{'abcdef'[i % 6] * (i + 1)}" for i in range(35)]
    busy = Fault(status=503, headers={"Retry-After": "0"}, content=b"{}")
    with kind(
        embeds=letters, refuses=of_few_texts, faults=lambda n, path: busy if n == 2 else None
    ) as server:
        model = load("embed:fake", task=NUMBER, options={"base_url": server.url})
        assert isinstance(model.predictor, Similarity)
        found = model.predictor.vectors(texts)
        assert any("sent again: 1" in note for note in model.predictor.notes)
        with pytest.raises(BadModel, match=r"refuses \(HTTP 400\): too long"):
            model.predictor.vectors(["a b", "f" * 36])
    wanted = np.array([letters(text) for text in texts])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize(
    "content",
    [
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [1, null]}]}',
        b'{"data": [{"index": 7, "embedding": [1, 2]}]}',
        b'{"data": [{"index": [0], "embedding": [1, 2]}]}',
    ],
)
def test_a_reply_without_vectors_stops_with_one_line(content: bytes) -> None:
    pytest.importorskip("httpx2", reason="needs httpx2")
    with FakeServer(faults=lambda number, path: Fault(content=content)) as server:
        model = load("embed:fake", task=NUMBER, options={"base_url": server.url})
        with pytest.raises(ModelStopped, match="vector"):
            model([("a", "a")])


def test_cosines_need_no_gold() -> None:
    found = disorder.explain(Bag(), paired(40), by="cosine", fidelity="natural", short="use")
    scores = found["cosine"].scores
    # a bag of words: its own words in another order are the text itself, and so is a paraphrase
    assert scores["shuffled"].value == pytest.approx(1)
    assert scores["paraphrase"].value == pytest.approx(1)
    assert scores["other"].value < 0.8
    assert "of two paraphrases 1.000" in found["cosine"].finding


def test_paraphrases_may_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "paraphrases.jsonl"
    rows = [row for row in paired(20) if row["label"] == "paraphrase"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    singles = [{"text_a": row["text_a"], "label": i % 2} for i, row in enumerate(paired(30))]
    alone = disorder.explain(Bag(), singles, by="cosine", fidelity="natural", short="use")
    assert "no pairs are marked" in alone["cosine"].finding
    found = disorder.explain(
        Bag(), singles, by=f"cosine:paraphrases={file}", fidelity="natural", short="use"
    )
    assert found["cosine"].scores["paraphrase"].n == 10


def test_texts_alone_are_enough(tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    file.write_text("text\n" + "".join(f"{row['text_a']}\n" for row in paired(30)))
    found = disorder.explain(Bag(), str(file), by="cosine", fidelity="natural", short="use")
    assert found["cosine"].scores["shuffled"].n == 30
    with pytest.raises(DisorderError, match="gold label"):
        disorder.explain(Bag(), str(file), by=["cosine", "overlap"])
    with pytest.raises(DisorderError, match="gold label"):
        disorder.audit(Bag(), str(file))


def test_cosines_are_for_embedders(run: Command) -> None:
    code, _, told = run("explain", "builtin", "builtin", "--by", "cosine", "--limit", "20")
    assert code == 2
    assert "is no embedder" in told
