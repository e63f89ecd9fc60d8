"""Question answering: a model learns where answers stand, and is audited, resumed and scored as in
SQuAD 2.0.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import Command
from disorder.data import read_data
from disorder.errors import BadData, BadModel, BadSetting
from disorder.metrics.answer_match import exact_match, f1, normalised
from disorder.models import load
from disorder.models.question_answering import BestSpans, Window, best_spans, gathered, windows
from disorder.types import Task
from disorder.verbs.train import Job, TrainedModel, resume, train
from disorder.verbs.train.network_rows import (
    SpanScores,
    span_loss,
    span_rows,
    span_target,
    tune_threshold,
)
from disorder.verbs.train.trainable import SPANS
from disorder.verbs.train.trainable_encoder import TrainableEncoder

torch = pytest.importorskip("torch", reason="needs torch")
transformers = pytest.importorskip("transformers", reason="needs transformers")

NAMES = ["anna", "bob", "cid", "dora"]
COLOURS = ["red", "blue", "green", "grey"]
THINGS = ["boat", "house", "tent", "hut"]
SQUAD = Task("squad2", ("answerable", "unanswerable"), "a", "unanswerable")
FEW: dict[str, Any] = {"lr": 3e-3, "batch_size": 16, "patience": 0}


def questions(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows as the hub's squad_v2 has them: who, which colour, what thing; some passages do not say
    the colour.
    """
    rng, rows = np.random.default_rng(seed), []
    for i in range(n):
        who, colour, thing = (str(rng.choice(words)) for words in (NAMES, COLOURS, THINGS))
        is_said = i % 3 > 0
        passage = (
            f"we heard that {who} owns a {f'{colour} ' if is_said else ''}{thing} by the lake ."
        )
        kind = int(rng.integers(3)) if is_said else 1
        question = ("who owns it ?", "which colour is it ?", "what thing is it ?")[kind]
        answer = [(who, colour, thing)[kind]] if is_said else []
        answers = {
            "text": answer,
            "answer_start": [passage.index(f" {text} ") + 1 for text in answer],
        }
        rows.append(
            {
                "id": f"q{i:04d}",
                "title": "made up",
                "question": question,
                "context": passage,
                "answers": answers,
            }
        )
    return rows


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small BERT of random weights that knows the words."""
    folder = tmp_path_factory.mktemp("encoder")
    words = {
        w
        for row in questions(200)
        for text in (row["question"], row["context"])
        for w in text.split()
    }
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    transformers.BertTokenizerFast(vocab={word: i for i, word in enumerate(known)}).save_pretrained(
        folder
    )
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(known),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=40,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return f"hf:{folder}"


@pytest.fixture(scope="module")
def trained(encoder: str, tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    out = tmp_path_factory.mktemp("models") / "m"
    return train(
        "plain",
        questions(240),
        dev=questions(60, 1),
        model=encoder,
        out=out,
        settings=FEW | {"epochs": 8},
    )


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "overlap"),
    [
        ("The Normans", ["Normans"], 1, 1),  # articles do not count
        ("in France", ["France"], 0, 2 / 3),  # precision 1/2, recall 1
        ("10th and 11th centuries", ["in the 10th and 11th centuries"], 0, 8 / 9),  # 4 of 4, 4 of 5
        ("France", ["Denmark", "France!"], 1, 1),  # the nearest of several
        ("a cat cat", ["cat dog"], 0, 0.5),  # a word counts as often as it stands in both
        ("", [], 1, 1),
        ("France", [], 0, 0),
        ("", ["France"], 0, 0),
        ("the", ["France"], 0, 0),
        ("", ["the"], 1, 1),  # nothing is left of an article: no gold answer
        ("U.S.", ["us"], 1, 1),
        ("well-known", ["wellknown"], 1, 1),
        ("Ünïcode", ["ünïcode"], 1, 1),
    ],
)
def test_exact_match_and_f1_by_hand(
    answer: str, gold: list[str], exact: float, overlap: float
) -> None:
    assert exact_match(answer, gold) == exact
    assert f1(answer, gold) == pytest.approx(overlap)


def test_what_is_left_of_an_answer() -> None:
    assert normalised("  An  apple, a  PEAR and the-tree. ") == "apple pear and thetree"


def test_the_best_span_is_the_best_of_all_that_are_allowed() -> None:
    rng = np.random.default_rng(0)
    starts, ends = rng.normal(size=(2, 5, 40))
    allowed = np.zeros((5, 40), dtype=bool)
    allowed[:, 4:39] = True
    scores, first, last = best_spans(starts, ends, allowed)
    for row in range(5):
        every = {
            (i, j): starts[row, i] + ends[row, j]
            for i in range(4, 39)
            for j in range(i, min(39, i + 30))
        }
        best = max(every, key=lambda span: every[span])
        assert (first[row], last[row]) == best
        assert scores[row] == pytest.approx(every[best])


def test_windows_together_hold_the_passage_and_count_the_lowest_null_score(encoder: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder.removeprefix("hf:"))
    passage = " ".join(["anna", "owns", "a", "red", "boat", "."] * 12)
    texts = [("who owns it ?", passage), ("which colour is it ?", "a red boat")]
    read = windows(tokenizer, texts, 40)
    assert [window.owner for window in read] == [0] * (len(read) - 1) + [1]
    assert max(len(window.ids) for window in read) == 40
    covered = {
        int(i)
        for w in read
        if w.owner == 0
        for a, b in w.places[w.is_passage].tolist()
        for i in range(a, b)
    }
    assert covered == {i for i, char in enumerate(passage) if char != " "}
    assert [w.places.tolist() for w in windows(tokenizer, texts[1:], 40)] == [
        read[-1].places.tolist()
    ]
    logits = [np.zeros((len(window.ids), 2)) for window in read]
    logits[0][0], logits[1][0] = (5, 5), (2, 3)
    place = int(np.flatnonzero(read[1].is_passage)[3])
    logits[1][place] = (4, 4)
    found = gathered(read, logits, 2)
    assert found.null[0] == 0.0, "the third window's"
    assert found.best.tolist() == [8, 0]
    assert found.spans(texts)[0] == (passage[slice(*read[1].places[place])], *read[1].places[place])
    spaced = BestSpans(np.zeros(1), np.zeros(1), np.array([[1, 7]]))
    assert spaced.spans([("who ?", "a  boat .")]) == [("boat", 3, 7)], (
        "a token may bring its space along"
    )
    long = windows(tokenizer, [("who " * 100, passage)], 40)
    assert all(window.is_passage.sum() > 13 for window in long[:-1]), (
        "a long question leaves room for the passage"
    )
    with pytest.raises(BadModel, match="a question"):
        windows(tokenizer, [("who ?", None)], 40)


def test_targets_are_tokens_of_the_window_or_none() -> None:
    window = Window(
        0,
        [0] * 6,
        [0] * 6,
        np.array([[-1, -1], [-1, -1], [10, 13], [14, 18], [18, 19], [-1, -1]]),
        0,
    )
    assert span_target(window, (("boat", 14),)) == (3, 3)
    assert span_target(window, (("ed boat.", 11),)) == (2, 4), "tokens are not cut"
    assert span_target(window, (("a red", 8),)) == (0, 0), "it begins before the window"
    assert span_target(window, ()) == (0, 0)
    assert span_target(window, (("red", -1),)) == (-1, -1)


def test_the_loss_by_hand() -> None:
    logits = torch.full((2, 3, 2), -torch.inf)
    logits[:, :2] = 0.0
    assert span_loss(logits, torch.tensor([[0, 1], [1, 1]]), None).item() == pytest.approx(
        np.log(2)
    )
    assert span_loss(logits, torch.tensor([[0, 1], [-1, -1]]), None).item() == pytest.approx(
        np.log(2)
    )
    logits[0, 1, 0] = np.log(3)  # its start is found with 3/4, its end with 1/2
    value = span_loss(logits[:1], torch.tensor([[1, 1]]), None).item()
    assert value == pytest.approx((np.log(4 / 3) + np.log(2)) / 2)


def test_a_threshold_by_hand() -> None:
    margin = np.array([-3.0, -1.0, 2.0, 5.0])
    answered = np.array([1, 0.5, 0, 0])
    left = np.array([0.0, 0, 1, 1])
    assert tune_threshold(margin, answered, left) == 0.5
    assert tune_threshold(margin, 1 - left, left) == 0.5
    assert tune_threshold(margin, left, 1 - left) < -3, "better never to answer"
    assert tune_threshold(margin, np.ones(4), np.zeros(4)) > 5, "better always to answer"
    tied = tune_threshold(np.zeros(4), answered, left)
    assert tied < 0, (
        "equal margins cannot be separated: two right answers left out are more than 1.5"
    )


def test_a_threshold_is_not_scored_on_what_it_was_tuned_on() -> None:
    """With answers that tell nothing, the tuned score is too good and the cross-fitted one is not,
    on average.
    """
    rng, gaps = np.random.default_rng(0), []
    for _ in range(200):
        right = rng.integers(2, size=20).astype(float)
        found = SpanScores(rng.normal(size=20), {"f1": right}, {"f1": 1 - right})
        gaps.append((found.best_f1(), found.cross_fitted()["f1"].mean()))
    tuned_mean, fair_mean = np.mean(gaps, axis=0)
    assert tuned_mean > 0.6
    assert abs(fair_mean - 0.5) < 0.05


def test_a_head_for_spans_learns_and_is_audited(trained: TrainedModel) -> None:
    assert trained.metric == "f1"
    assert trained.score.value > 0.9
    scores = trained.record["after"]["spans"]["scores"]
    assert scores["f1, unanswerable"]["n"] == 20
    assert {record["phase"] for record in trained.record["curve"]} == {"task"}
    model = load(trained.spec, task=SQUAD)
    rows = questions(60, 1)
    texts = [(row["question"], row["context"]) for row in rows]
    found = model.predictor.spans(texts)  # type: ignore[attr-defined]
    right = [
        exact_match(span.text, row["answers"]["text"])
        for span, row in zip(found, rows, strict=True)
    ]
    assert np.mean(right) == pytest.approx(scores["exact, all"]["value"], abs=0.1)
    for span, (_, passage) in zip(found, texts, strict=True):
        assert passage[span.start : span.end] == span.text
    says_none = model(texts)[:, 1] > 0.5
    assert says_none.tolist() == [span.text == "" for span in found]
    run = disorder.audit(trained.spec, rows, with_=["derange", "drop_least"], q=3, cache="off")
    assert run.score("original", "accuracy").value > 0.9  # type: ignore[union-attr]
    assert run.score("drop_least", "accuracy") is not None, (
        "words are left out where there are no gradients"
    )
    record = json.loads((trained.folder / "config.json").read_text())
    assert record["architectures"] == ["BertForQuestionAnswering"]
    assert record["null_threshold"] == pytest.approx(
        trained.record["after"]["spans"]["null_threshold"], abs=1e-5
    )


def test_other_rows_of_a_batch_change_no_prediction(trained: TrainedModel) -> None:
    model = TrainableEncoder(trained.spec.removeprefix("hf:"), SPANS, 40, seed=0)
    inputs = Job(read_data(questions(8)), read_data(questions(8)), finds_spans=True).inputs()
    rows, _ = span_rows(model, inputs)
    together = model.logits(model.network.eval(), _tensors(model.collate(rows.encoded)))
    for i, each in enumerate(rows.encoded):
        alone = model.logits(model.network, _tensors(model.collate([each])))
        n = len(each["input_ids"])
        assert torch.allclose(together[i, :n].exp(), alone[0].exp(), atol=1e-4), (
            "exp: −∞ where no answer can be"
        )
        assert (together[i, n:] == -torch.inf).all(), "padding is never an answer"


def _tensors(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def test_a_pre_task_comes_before_spans_and_a_model_is_trained_further(
    encoder: str, trained: TrainedModel, tmp_path: Path
) -> None:
    settings = FEW | {"epochs": 1}
    done = train(
        "order_pretask",
        questions(60),
        dev=questions(30, 1),
        model=encoder,
        out=tmp_path / "m",
        settings=settings,
    )
    assert [record["phase"] for record in done.record["curve"]] == ["real or fake", "task"]
    assert done.metric == "f1"
    more = train(
        "plain",
        questions(30),
        dev=questions(30, 1),
        model=trained.spec,
        out=tmp_path / "n",
        settings={"epochs": 1, "lr": 1e-6},
    )
    assert more.score.value > 0.9, "its head stays"


BERT_LIKE = {
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "pad_token_id": 0,
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "Roberta": BERT_LIKE,
    "Electra": BERT_LIKE | {"embedding_size": 16},
    "DistilBert": {"dim": 16, "n_heads": 2, "hidden_dim": 16, "n_layers": 1},
    "XLNet": {"d_model": 16, "n_head": 2, "d_inner": 16, "n_layer": 1},
    "Bart": {
        "d_model": 16,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "encoder_ffn_dim": 16,
        "decoder_attention_heads": 2,
        "decoder_ffn_dim": 16,
        "pad_token_id": 0,
        "eos_token_id": 3,
        "bos_token_id": 2,
        "decoder_start_token_id": 2,
        "max_position_embeddings": 64,
    },
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_heads_change_whatever_the_architecture(name: str, encoder: str, tmp_path: Path) -> None:
    """Labels first, then spans, then the folder is loaded: every weight of the encoder is kept."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder.removeprefix("hf:"))
    tokenizer.save_pretrained(tmp_path / "e")
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(tokenizer), **ARCHITECTURES[name]
    )
    getattr(transformers, f"{name}Model")(config).save_pretrained(tmp_path / "e")
    settings = {"epochs": 1, "batch_size": 8}
    done = train(
        "order_pretask",
        questions(16),
        dev=questions(9, 1),
        model=f"hf:{tmp_path / 'e'}",
        out=tmp_path / "m",
        settings=settings,
    )
    assert done.metric == "f1"
    texts = [(row["question"], row["context"]) for row in questions(9, 1)]
    model = load(done.spec, task=SQUAD)
    alone = np.concatenate([model([text]) for text in texts])
    assert np.abs(model(texts) - alone).max() < 1e-5
    assert len(model.predictor.spans(texts)) == 9  # type: ignore[attr-defined]


def test_training_on_perturbed_questions_but_not_on_perturbed_passages(
    encoder: str, tmp_path: Path
) -> None:
    settings = FEW | {"epochs": 1}
    done = train(
        "plain",
        questions(40),
        model=encoder,
        with_=["reverse:side=a"],
        out=tmp_path / "m",
        settings=settings,
    )
    assert done.metric == "f1"
    with pytest.raises(BadData, match="perturb the question"):
        train(
            "plain",
            questions(40),
            model=encoder,
            with_=["reverse:side=b"],
            out=tmp_path / "n",
            settings=settings,
        )


def test_a_stopped_training_of_spans_is_resumed_to_the_same_bits(
    encoder: str, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    data = str(jsonl(questions(60)))
    settings = FEW | {"epochs": 2, "save_every": 1}

    def stop(stage: str, done: int, total: int, note: str) -> None:
        if stage == "epoch 2" and done >= 32:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(
            "order_pretask",
            data,
            model=encoder,
            out=tmp_path / "stopped",
            settings=settings,
            progress=stop,
        )
    resume(tmp_path / "stopped")
    train("order_pretask", data, model=encoder, out=tmp_path / "whole", settings=settings)
    one, two = (
        (tmp_path / name / "model.safetensors").read_bytes() for name in ("stopped", "whole")
    )
    assert one == two


LAYOUTS: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "hub": lambda text, start: {
        "answers": {"text": [text] * 3, "answer_start": [start] * 3}
        if text
        else {"text": [], "answer_start": []}
    },
    "squad": lambda text, start: {
        "answers": [{"text": text, "answer_start": start}] if text else []
    },
    "columns": lambda text, start: {
        "answer": text or None,
        "answer_start": start if text else None,
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_answers_are_read_from_every_layout(layout: str, jsonl: Callable[..., Path]) -> None:
    rows = [
        {
            "id": "1",
            "question": "Where is it?",
            "context": "It is in France.",
            **LAYOUTS[layout]("France", 9),
        },
        {
            "id": "2",
            "question": "Who is it?",
            "context": "It is in France.",
            **LAYOUTS[layout]("", -1),
        },
    ]
    data = read_data(str(jsonl(rows)))
    assert [(e.label, e.answers) for e in data.examples] == [
        ("answerable", (("France", 9),)),
        ("unanswerable", ()),
    ]
    assert data.task.labels == SQUAD.labels
    assert data.task.breaks == "a", "the question"
    other = [{**rows[0], **LAYOUTS[layout]("is", 3)}, rows[1]]
    assert read_data(other).fingerprint != read_data(rows).fingerprint


def test_answers_without_places_are_trained_on_request(encoder: str, tmp_path: Path) -> None:
    rows = [
        {
            "id": row["id"],
            "text_a": row["question"],
            "text_b": row["context"],
            "answers": row["answers"]["text"],
            "label": SQUAD.labels[not row["answers"]["text"]],
        }
        for row in questions(40)
    ]
    settings = {"epochs": 1}
    assert (
        train("plain", rows, model=encoder, out=tmp_path / "a", settings=settings).metric
        == "accuracy"
    )
    lost = [{**rows[1], "id": "lost", "answers": ["zebra"]}, *rows]
    found = train(
        "plain",
        lost,
        dev=rows,
        model=encoder,
        out=tmp_path / "b",
        settings=settings | {"head": "spans"},
    )
    assert found.metric == "f1"
    assert found.record["skipped"] == {"the answer does not stand in the passage": 1}


@pytest.mark.parametrize(
    ("recipe", "model", "change", "error", "says"),
    [
        ("plain", "bilstm", {}, BadSetting, "hf:ENCODER"),
        ("threshold", None, {}, BadSetting, "plain"),
        (
            "plain",
            None,
            {"answers": None, "label": "answerable"},
            BadData,
            "head=spans needs answers",
        ),
        (
            "plain",
            None,
            {"answers": {"text": ["boat"], "answer_start": [0]}},
            BadData,
            "does not start at 0",
        ),
        (
            "plain",
            None,
            {"answers": {"text": ["boat"], "answer_start": []}},
            BadData,
            "1 texts and 0 starts",
        ),
        (
            "plain",
            None,
            {"answers": {"text": ["boat"], "answer_start": ["x"]}},
            BadData,
            "must be a number",
        ),
    ],
)
def test_what_cannot_be_learned_says_so(
    recipe: str,
    model: str | None,
    change: dict[str, Any],
    error: type[Exception],
    says: str,
    encoder: str,
    tmp_path: Path,
) -> None:
    rows = [{**row, **change} for row in questions(10)]
    with pytest.raises(error, match=says):
        train(recipe, rows, model=model or encoder, out=tmp_path / "m", settings={"head": "spans"})
    assert not (tmp_path / "m").exists()


def test_from_the_command_line(
    encoder: str, jsonl: Callable[..., Path], tmp_path: Path, command: Command
) -> None:
    data, out = jsonl(questions(40)), tmp_path / "m"
    code, shown, _ = command(
        "train", "plain", data, "--dev", data, "--model", encoder, "--set", "epochs=1", "--out", out
    )
    assert code == 0
    for words in ("dev f1", "exact, all", "f1, unanswerable", "no answer where the null score"):
        assert words in shown
    assert "unanswerable" in (out / "README.md").read_text()
