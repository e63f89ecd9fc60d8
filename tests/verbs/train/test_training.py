"""Training: it learns, repeats itself, fails early, and leaves a folder that predicts as the
trained network did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Command
from disorder.errors import BadData, BadModel, BadSetting, DisorderError, UnknownName
from disorder.metrics import scores
from disorder.models import load
from disorder.registry import NetworkPart, parts
from disorder.types import Outcomes, Task
from disorder.verbs.train import Job, Phase, TrainedModel, learned_nothing, train
from disorder.verbs.train.loop import rate_at
from disorder.verbs.train.network_rows import epoch_batches, share_batches
from disorder.verbs.train.request import build_job, check_request, held_out, training_request

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("safetensors", reason="needs safetensors")

NETWORKS = [name for name, entry in parts(NetworkPart).items() if entry.is_built_in]
SMALL = {"width": 16, "hidden": 16, "min_count": 1, "batch_size": 8, "patience": 0}
LABELS = ("negative", "positive")
SENTIMENT = Task("sentiment", LABELS)


def order_rows(n: int = 32) -> list[dict[str, Any]]:
    """Pairs whose label is decided by order alone: does the second text repeat the first?"""
    names = ["ann", "bob", "cid", "dot", "eve", "fay"]
    rows = []
    for i in range(n):
        k = i // 2  # each pair of names comes with both labels
        x, y = names[k % 6], names[(k + 1 + k // 6 % 4) % 6]
        same = i % 2 == 0
        second = f"{x} saw {y}" if same else f"{y} saw {x}"
        rows.append(
            {
                "id": f"{i:03d}",
                "text_a": f"{x} saw {y} today",
                "text_b": second,
                "label": "yes" if same else "no",
            }
        )
    return rows


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / "model.safetensors"))


def learned(
    folder: Path, model: str = "bilstm", data: Any = None, *, seed: int = 0, **settings: Any
) -> TrainedModel:
    rows = order_rows() if data is None else data
    given = settings if model in ("bow",) else SMALL | settings
    return train("plain", rows, dev=rows, model=model, out=folder, seed=seed, settings=given)


@pytest.mark.parametrize("model", NETWORKS)
def test_each_network_memorises_32_examples(model: str, tmp_path: Path) -> None:
    rows = [{**row, "text_b": f"{row['text_b']} no{i}"} for i, row in enumerate(order_rows())]
    done = learned(tmp_path / "m", model, rows, epochs=40, lr=0.005, hidden=32, dropout=0.0)
    losses = [record["loss"] for record in done.record["curve"]]
    assert losses[-1] < losses[0] / 2
    assert done.score.value == 1.0


@pytest.mark.parametrize("model", [*NETWORKS, "bow"])
def test_the_folder_predicts_as_the_network_did(model: str, tmp_path: Path) -> None:
    rows = order_rows()
    settings: dict[str, Any] = {"epochs": 2} if model == "bow" else {**SMALL, "epochs": 2}
    done = train("plain", rows, dev=rows, model=model, out=tmp_path / "m", settings=settings)
    predictor = load(done.spec, task=Task("t", ("no", "yes")))
    predictions = predictor([(row["text_a"], row["text_b"]) for row in rows])
    gold = [("no", "yes").index(row["label"]) for row in rows]
    assert (predictions.argmax(axis=1) == gold).mean() == done.score.value
    again = load(done.spec, task=Task("t", ("no", "yes")))
    assert np.array_equal(predictions, again([(row["text_a"], row["text_b"]) for row in rows]))
    assert predictor.fingerprint == again.fingerprint != ""
    files = {path.name for path in done.folder.iterdir()}
    assert {"README.md", "result.json", "config.json"} <= files
    assert "checkpoints" not in files


def test_a_bag_of_words_cannot_learn_what_order_decides(tmp_path: Path) -> None:
    done = learned(tmp_path / "m", "bow", epochs=30)
    assert done.score.value == 0.5
    assert "learned nothing" in learned_nothing(done.record)
    assert "learned nothing" in (done.folder / "README.md").read_text()
    reads = learned(tmp_path / "n", "bilstm", epochs=30, lr=0.01)
    assert reads.score.low > 0.5
    assert learned_nothing(reads.record) == ""


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    state = torch.get_rng_state()
    runs = [
        learned(tmp_path / str(i), seed=seed, epochs=2, dropout=0.3)
        for i, seed in enumerate((0, 0, 1))
    ]
    assert torch.equal(state, torch.get_rng_state()), "the user's own draws are left alone"
    first, second, other = [weights(run.folder) for run in runs]
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_numbers_can_be_learned(tmp_path: Path) -> None:
    words = ["bad", "poor", "fair", "good", "fine"]
    rows = [
        {"id": str(i), "text_a": f"a {words[i % 5]} thing {i % 3}", "label": f"{i % 5 + 0.5}"}
        for i in range(40)
    ]
    for model in ("bilstm", "bow"):
        done = learned(tmp_path / model, model, rows, epochs=40, lr=0.02)
        assert done.metric == "spearman"
        assert done.score.value > 0.9
        predictions = load(done.spec, task=Task("t", ()))(
            [(str(row["text_a"]), None) for row in rows]
        )
        assert predictions.shape == (40, 1)
        assert np.abs(predictions[:, 0] - [float(row["label"]) for row in rows]).mean() < 0.8


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"settings": {"lr": "fast"}}, BadSetting, "lr='fast'"),
        ({"settings": {"lr": "-1"}}, BadSetting, "lr"),
        ({"settings": {"epochs": "0"}}, BadSetting, "epochs"),
        ({"settings": {"warmup": "1.5"}}, BadSetting, "warmup"),
        ({"settings": {"patience": "-1"}}, BadSetting, "patience"),
        ({"settings": {"epohcs": "3"}}, UnknownName, "did you mean 'epochs'"),
        ({"settings": {"precision": "int8"}}, BadSetting, "precision"),
        ({"settings": {"vectors": "none.txt"}}, BadData, "no such file"),
        ({"settings": {"words": "nobody"}}, UnknownName, "nobody"),
        ({"settings": {"hidden": "8"}, "model": "bow"}, UnknownName, "hidden"),
        ({"with_": ["derang"]}, UnknownName, "did you mean 'derange'"),
        ({"with_": ["shuffle_ngrams:n=0"]}, BadSetting, "n=0"),
        ({"model": "bilsm"}, UnknownName, "did you mean 'bilstm'"),
        ({"model": "bilstm:/nowhere"}, BadModel, "no such folder"),
        ({"model": "hf:./nowhere"}, BadModel, "no such folder"),
        ({"recipe": "plan"}, UnknownName, "did you mean 'plain'"),
        ({"limit": 0}, DisorderError, "limit"),
    ],
)
def test_a_mistake_fails_before_any_data_is_read(
    asked: dict[str, Any],
    error: type[Exception],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_reading(*given: Any) -> None:
        raise AssertionError("data was read")

    monkeypatch.setattr("disorder.verbs.train.request.selected_data", no_reading)
    recipe = asked.pop("recipe", "plain")
    with pytest.raises(error, match=says):
        train(recipe, "builtin", out=tmp_path / "m", **asked)
    assert not (tmp_path / "m").exists()


def test_training_on_perturbed_texts(tmp_path: Path) -> None:
    data = held_out(_dataset(order_rows(40)), 0)[0]
    job = Job(data, data, 0, ["reverse:side=both"])
    inputs = job.inputs()
    assert inputs.is_perturbed.all()
    assert inputs.texts[0][0].split()[::-1] == data.examples[0].text_a.split()
    several = Job(data, data, 0, ["original", "reverse:side=both"]).inputs()
    assert len(several) == 2 * len(inputs)
    assert several.is_perturbed.sum() == len(inputs)
    again = Job(data, data, 0, ["shuffle_ngrams"]).inputs().texts
    assert again == Job(data, data, 0, ["shuffle_ngrams"]).inputs().texts
    assert again != Job(data, data, 1, ["shuffle_ngrams"]).inputs().texts
    done = train(
        "plain",
        order_rows(),
        dev=order_rows(),
        model="bilstm",
        with_=["reverse"],
        out=tmp_path / "m",
        settings={**SMALL, "epochs": 1},
    )
    assert done.record["on"] == ["reverse"]


def test_perturbed_copies_are_written_as_an_audit_writes_them() -> None:
    """By default a model learns from words with their marks, as an audit shuffles them; otherwise
    it would learn to notice the marks alone.
    """
    rows = [{"text_a": "Well, it is superb!", "label": label} for label in ("yes", "no")]

    def copy(**options: Any) -> str:
        request = training_request("plain", rows, {"model": "bow", "with_": ["reverse"], **options})
        return build_job(check_request(request)).inputs().texts[0][0]

    assert copy() == "superb! is it Well,"
    assert copy(fidelity="paper") == "superb is it, Well!"


def test_examples_that_cannot_be_perturbed_are_counted() -> None:
    rows = [*order_rows(10), {"id": "x", "text_a": "yes", "text_b": "no", "label": "yes"}]
    job = Job(_dataset(rows), _dataset(rows), 0, ["shuffle_ngrams:side=b"])
    assert len(job.inputs()) == 10
    assert sum(job.skips["shuffle_ngrams:side=b"].values()) == 1
    only = _dataset([rows[-1], {"id": "y", "text_a": "no", "text_b": "yes", "label": "no"}])
    with pytest.raises(BadData, match="no example can be perturbed"):
        Job(only, only, 0, ["shuffle_ngrams:side=b"]).inputs()


def _dataset(rows: list[dict[str, Any]]) -> Any:
    from disorder.data import read_data

    return read_data(rows)


def test_held_out_examples_depend_on_ids_and_seed_alone() -> None:
    data = _dataset(order_rows(50))
    kept, apart = held_out(data, 0)
    assert len(apart.examples) == 5
    assert {e.id for e in kept.examples} | {e.id for e in apart.examples} == {
        e.id for e in data.examples
    }
    assert [e.id for e in held_out(data, 0)[1].examples] == [e.id for e in apart.examples]
    assert [e.id for e in held_out(data, 1)[1].examples] != [e.id for e in apart.examples]


def test_the_learning_rate_rises_and_falls_in_lines() -> None:
    rates = [rate_at(step, 100, 0.1) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == 1.0
    assert rates[55] == pytest.approx(0.5)
    assert rates[99] == pytest.approx(1 / 90)
    assert rate_at(0, 10, 0.0) == 1.0


def test_an_epoch_holds_every_row_once_with_little_padding() -> None:
    lengths = np.random.default_rng(0).integers(5, 60, size=5000)
    batches = epoch_batches(lengths, 32, 0, "0", "0")
    assert sorted(np.concatenate(batches).tolist()) == list(range(5000))
    padded = sum(len(batch) * lengths[batch].max() for batch in batches)
    assert padded / lengths.sum() < 1.05
    assert [b.tolist() for b in batches] == [
        b.tolist() for b in epoch_batches(lengths, 32, 0, "0", "0")
    ]
    assert [b.tolist() for b in batches] != [
        b.tolist() for b in epoch_batches(lengths, 32, 0, "0", "1")
    ]


def test_processes_get_equally_many_batches() -> None:
    batches = [np.array([i]) for i in range(5)]
    shares = [share_batches(batches, rank, 2) for rank in range(2)]
    assert [len(share) for share in shares] == [3, 3]
    assert sorted(int(b[0]) for share in shares for b, counts in share if counts) == [0, 1, 2, 3, 4]
    assert sum(not counts for share in shares for _, counts in share) == 1, (
        "one process runs a batch that counts for nothing"
    )


def test_early_stopping_keeps_the_best_epoch(tmp_path: Path) -> None:
    rows = order_rows()
    wrong = [{**row, "label": "no" if row["label"] == "yes" else "yes"} for row in rows]
    done = train(
        "plain",
        rows,
        dev=wrong,
        model="bilstm",
        out=tmp_path / "m",
        settings={**SMALL, "epochs": 60, "lr": 0.01, "patience": 2},
    )
    dev = [record["dev"] for record in done.record["curve"]]
    assert len(dev) < 60, "the better it learns, the worse the dev score: it must stop"
    assert done.score.value == pytest.approx(max(dev), abs=1e-6)


def test_given_vectors_are_used_and_stay(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("3 3\nsaw 1 2 3\nzebra 4 5 6\nonce 7 8 9\n", encoding="utf-8")
    first, *rows = order_rows()
    rows = [{**first, "text_a": f"{first['text_a']} once"}, *rows]
    done = learned(
        tmp_path / "m", data=rows, vectors=str(tmp_path / "v.txt"), epochs=2, min_count=2
    )
    known = json.loads((done.folder / "vocabulary.json").read_text())
    table = weights(done.folder)["words.table.weight"]
    assert table[known.index("saw") + 2].tolist() == [1, 2, 3]
    assert table[known.index("zebra") + 2].tolist() == [4, 5, 6]
    assert table[known.index("once") + 2].tolist() == [7, 8, 9], (
        "rare in the data, but there is a vector for it"
    )
    (tmp_path / "bad.txt").write_text("saw 1 2 3\ndog 1 two 3\n", encoding="utf-8")
    with pytest.raises(BadData, match="line 2"):
        learned(tmp_path / "n", vectors=str(tmp_path / "bad.txt"), epochs=1)


def test_vectors_as_an_array_with_its_words_beside(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    with pytest.raises(BadData, match=r"beside it in v\.txt"):
        learned(tmp_path / "n", vectors=str(tmp_path / "v.npy"), epochs=1)
    (tmp_path / "v.txt").write_text("saw\ntoday\nann\n", encoding="utf-8")
    done = learned(tmp_path / "m", vectors=str(tmp_path / "v.npy"), epochs=1)
    known = json.loads((done.folder / "vocabulary.json").read_text())
    assert weights(done.folder)["words.table.weight"][known.index("today") + 2].tolist() == [
        0,
        1,
        0,
    ]


def test_training_continues_from_a_trained_folder(tmp_path: Path) -> None:
    first = learned(tmp_path / "first", epochs=60, lr=0.01)
    rows = order_rows()
    second = train(
        "plain",
        rows,
        dev=rows,
        model=first.spec,
        out=tmp_path / "second",
        settings={"epochs": 1, "lr": 1e-6},
    )
    assert second.score.value == 1.0


@pytest.mark.parametrize("model", ["convnet", "bow"])
def test_a_head_stays_if_its_labels_come_in_another_order(model: str, tmp_path: Path) -> None:
    rows = [
        {**row, "text_b": f"{row['text_b']} {row['label']}"} for row in order_rows()
    ]  # a bag can learn these
    first = learned(tmp_path / "first", model, rows, epochs=20, lr=0.02)
    assert first.score.value == 1.0
    data = _dataset(rows)
    turned = replace(data, task=replace(data.task, labels=data.task.labels[::-1]))
    done = train(
        "temperature",
        turned,
        dev=turned,
        model=first.spec,
        out=tmp_path / "m",
        settings={"learn": "false"},
    )
    assert done.score.value == 1.0
    predictions = load(done.spec, task=data.task)([example.texts for example in data.examples])
    assert [data.task.labels[i] for i in predictions.argmax(axis=1)] == [
        example.label for example in data.examples
    ]


def test_a_model_with_one_more_label_is_not_taken_for_fine_tuned(tmp_path: Path) -> None:
    settings = {**SMALL, "epochs": 1}
    more = train(
        "invalid_class",
        order_rows(),
        model="convnet",
        with_=["reverse:side=b"],
        out=tmp_path / "m",
        settings=settings,
    )
    with pytest.raises(DisorderError, match="learn=false needs a model"):
        train(
            "temperature",
            order_rows(),
            model=more.spec,
            out=tmp_path / "n",
            settings={"learn": "false"},
        )


def test_perturbed_copies_make_no_word_less_rare(tmp_path: Path) -> None:
    """With copies counted, no word would be rare, and the vector of unknown words would never be
    learned.
    """
    rows = [{**row, "text_b": f"{row['text_b']} once{i}"} for i, row in enumerate(order_rows())]
    known, settings = [], {**SMALL, "min_count": 2, "epochs": 1}
    for recipe, on in (("plain", ()), ("invalid_class", ["reverse:side=b"]), ("order_pretask", ())):
        done = train(
            recipe, rows, model="convnet", with_=on, out=tmp_path / recipe, settings=settings
        )
        known.append(json.loads((done.folder / "vocabulary.json").read_text()))
    assert known[0] == known[1] == known[2]
    assert not any(word.startswith("once") for word in known[0])
    assert "today" in known[0], "it stands in the first texts alone"
    perturbed = train(
        "plain",
        rows,
        model="convnet",
        with_="drop_text:side=a",
        out=tmp_path / "b",
        settings=settings,
    )
    words = json.loads((perturbed.folder / "vocabulary.json").read_text())
    assert "today" not in words, "it knows the words it was trained on"


def test_a_training_that_diverges_says_so(tmp_path: Path) -> None:
    from disorder.registry import RecipePart, recipe, unregister

    def diverging(job: Job) -> list[Phase]:
        """A loss that is no number."""
        return [
            Phase(
                "task",
                job.inputs(),
                job.dev_inputs(),
                job.task.labels,
                lambda logits, *_: logits.sum() * float("nan"),
            )
        ]

    recipe()(diverging)
    try:
        with pytest.raises(DisorderError, match=r"try a lower lr than 0\.005"):
            train("diverging", order_rows(), model="bow", out=tmp_path / "m")
    finally:
        unregister(RecipePart, "diverging")


def test_resume_takes_no_other_settings(command: Command, tmp_path: Path) -> None:
    code, _, said = command("train", "plain", "builtin", "--resume", tmp_path)
    assert code == 2
    assert "name nothing else" in said


def test_a_folder_is_not_trained_over(tmp_path: Path) -> None:
    learned(tmp_path / "m", epochs=1)
    with pytest.raises(DisorderError, match="holds a training already"):
        learned(tmp_path / "m", epochs=1)


def test_a_model_and_data_that_do_not_fit_say_so(tmp_path: Path) -> None:
    done = learned(tmp_path / "m", epochs=1)
    with pytest.raises(BadModel, match="trained on pairs"):
        load(done.spec, task=Task("t", ("no", "yes")))([("one text", None)])
    with pytest.raises(BadModel, match="holds a bilstm"):
        load(f"convnet:{done.folder}", task=Task("t", ("no", "yes")))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"modle": "bow"}, "unknown keyword of train 'modle'; did you mean 'model'"),
        ({"epochs": 3}, "write epochs as settings={'epochs': …}"),
    ],
)
def test_a_misspelt_keyword_is_the_users_mistake(
    given: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(DisorderError, match=re.escape(says)):
        train("plain", "builtin", out=tmp_path / "m", **given)


def test_a_path_and_a_single_transformation_are_recorded_as_text(
    tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    path = jsonl(order_rows())
    settings = {"epochs": 1}
    done = train(
        "plain", path, dev=path, with_="reverse", model="bow", out=tmp_path / "m", settings=settings
    )
    request = done.record["request"]
    assert (request["data"], request["dev"], request["on"]) == (str(path), str(path), ["reverse"])


def test_the_dev_score_is_measured_with_the_task_of_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Outcomes] = []

    def watched(outcomes: Outcomes, **given: Any) -> Any:
        measured.append(outcomes)
        return scores(outcomes, **given)

    monkeypatch.setattr("disorder.verbs.train.evaluation.scores", watched)
    data = _dataset(order_rows())
    chinese = replace(data, task=replace(data.task, language="zh"))
    train("plain", chinese, model="bow", out=tmp_path / "m", settings={"epochs": 1})
    assert measured[0].task == chinese.task


def test_the_keyword_of_before_is_taken(tmp_path: Path) -> None:
    before: dict[str, Any] = {"on": ["reverse"], "model": "bow", "settings": {"epochs": 1}}
    with pytest.warns(DeprecationWarning, match="on is now written with_"):
        done = train("plain", order_rows(), out=tmp_path / "m", **before)
    assert done.record["on"] == ["reverse"]
