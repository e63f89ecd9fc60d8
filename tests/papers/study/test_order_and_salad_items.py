"""Items of Out of Order and Word Salad give the known numbers for models that are understood."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import NLI, outcomes, pairs
from disorder.data import read_data
from disorder.errors import DisorderError
from disorder.metrics.statistics.intervals import mean as interval_of
from disorder.models import load
from disorder.papers.study import Workbench, study_items
from disorder.papers.study.part_settings import StudySettings
from disorder.papers.study.pipelines.designs_table import MitigationTable
from disorder.papers.study.pipelines.measurements import mean_over_transformations
from disorder.papers.study.pipelines.training_table import is_trained
from disorder.store.store import Store
from disorder.types import Example, Task
from disorder.verbs.train.comparison import EQUAL_ARMS

NAMES = ("film", "actor", "plot", "scene", "song", "dog", "town", "war", "king", "ship")
TONES = {"good": "positive", "fine": "positive", "bad": "negative", "dull": "negative"}
SENTIMENT = "builtin:sentiment"
MODEL_FREE = [
    name
    for name, item in study_items().items()
    if name.startswith(("ooo/", "ws/")) and not item.pipeline.needs_model
]
INSIDE = (
    "ooo/table3",
    "ooo/tableA1",
    "ooo/fig4",
    "ooo/figA1",
)  # those that look at attention heads
OTHERS = ("ooo/fig2", "ooo/tableA3", "ws/transfer")  # numbers, word lists, many trainings: below
PREDICTING = [
    name
    for name, item in study_items().items()
    if name.startswith(("ooo/", "ws/"))
    and item.pipeline.needs_model
    and name not in (*INSIDE, *OTHERS)
]


def rows_of(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences with two nouns, whose label one word gives away."""
    made = [
        {
            "id": f"{name}-{tone}",
            "text_a": f"The {name} of the old {other} was {tone} today.",
            "label": label,
        }
        for name, other in zip(NAMES, reversed(NAMES), strict=True)
        for tone, label in TONES.items()
    ]
    return rows_of(tmp_path_factory.mktemp("reviews") / "reviews.jsonl", made)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of pairs, to train and to test on."""
    return rows_of(tmp_path_factory.mktemp("small") / "pairs.jsonl", pairs(30))


def bag(data: Path) -> dict[str, Any]:
    """A bag of words that learned this data by heart."""
    pytest.importorskip("torch", reason="needs torch")
    return {
        "models": ["bow"],
        "data": [str(data)],
        "train": str(data),
        "set_": {"epochs": "20", "lr": "0.1"},
    }


class Reader:
    """Knows the original texts by heart and takes every other text for the first label."""

    def __init__(self, data: Any) -> None:
        found = read_data(str(data))
        self.labels = found.task.labels
        self.known = {example.texts: self.labels.index(example.label) for example in found.examples}

    def __call__(self, texts: Sequence[Any]) -> np.ndarray[Any, Any]:
        asked = [text if isinstance(text, tuple) else (text, None) for text in texts]
        return np.eye(len(self.labels))[[self.known.get(each, 0) for each in asked]]


def test_a_bag_of_words_does_not_notice_a_shuffle(reviews: Path) -> None:
    pytest.importorskip("spacy", reason="needs spacy")
    found = disorder.study("ooo/table2", q=3, **bag(reviews))
    for transformation in (
        "swap_nouns",
        "shuffle_ngrams:n=1",
        "shuffle_ngrams:n=2",
        "shuffle_ngrams:n=3",
    ):
        assert found.cell("wos", transformation=transformation).value == 0
        assert found.cell("accuracy", transformation=transformation).value == 1
    assert found.cell("accuracy", transformation="original").value == 1, (
        "dev-r holds right predictions only"
    )


def test_a_model_that_knows_only_original_texts_falls_to_chance(reviews: Path) -> None:
    pytest.importorskip("spacy", reason="needs spacy")
    found = disorder.study("ooo/table2", Reader(reviews), str(reviews), q=2)
    cell = found.cell("wos", transformation="shuffle_ngrams:n=1")
    assert cell.value == pytest.approx(1)
    assert found.cell("accuracy", transformation="shuffle_ngrams:n=1").value == pytest.approx(0.5)
    assert cell.row["model"] == "Reader"


def test_numbers_are_compared_on_simple_texts_alone(tmp_path: Path) -> None:
    """A model that is right about one sentence and wrong about two correlates fully on dev-r."""
    pytest.importorskip("spacy", reason="needs spacy")
    simple = [
        {
            "text_a": "The old dog saw a red cat.",
            "text_b": f"A dog saw the cat {name} now.",
            "label": str(i / 4),
        }
        for i, name in enumerate((*NAMES, "home", "tree"))
    ]
    double = [{**row, "text_a": f"{row['text_a']} It was so."} for row in simple]
    data = [{"id": str(i), **row} for i, row in enumerate([*simple, *double])]
    gold = {row["text_b"]: float(row["label"]) for row in data}

    def reader(texts: Sequence[Any]) -> np.ndarray[Any, Any]:
        return np.array(
            [[-gold[second] if "so" in first else gold[second]] for first, second in texts]
        )

    found = disorder.study("ooo/table2", reader, data, q=2, task="stsb", out=tmp_path)
    for transformation in ("original", "shuffle_ngrams:n=1"):
        cell = found.cell("spearman", transformation=transformation)
        assert (cell.value, cell.n) == (1, 12)


def test_mitigations_get_seed_fidelity_and_the_papers_settings(
    reviews: Path, tmp_path: Path
) -> None:
    given: dict[str, Any] = {}

    def record(train: Any, test: Any, **settings: Any) -> list[Any]:
        given.update(settings)
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("disorder.papers.study.training_models.mitigations", record)
        settings = StudySettings(seed=7, seeds=2, fidelity="released", set={"epochs": "1"})
        bench = Workbench(
            Store(tmp_path), ["hf:encoder"], [str(reviews)], settings, lambda *_: None, str(reviews)
        )
        list(study_items()["ws/table12"].pipeline(bench))
    assert (given["seed"], given["seeds"], given["fidelity"]) == (7, 2, "released")
    ours = {"epoch": "last", "epochs": "1", "lr": "2e-5"}
    assert given["settings"] == {**EQUAL_ARMS, **ours}, "the paper's, except for what was given"


def test_a_training_is_announced_at_once(
    reviews: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.MonkeyPatch.context() as patch, caplog.at_level("INFO", logger="disorder"):
        patch.setattr("disorder.papers.study.training_models.mitigations", lambda *_, **__: [])
        bench = Workbench(
            Store(tmp_path), ["bow"], [str(reviews)], StudySettings(), lambda *_: None, str(reviews)
        )
        list(study_items()["ws/table12"].pipeline(bench))
    assert caplog.messages == ["bow: training on reviews.jsonl, testing on reviews.jsonl"]


def test_where_no_balanced_set_is_left_the_reason_is_said(reviews: Path) -> None:
    pytest.importorskip("spacy", reason="needs spacy")

    def cheerful(texts: Sequence[Any]) -> list[str]:
        return ["positive"] * len(texts)

    with pytest.raises(DisorderError, match="no balanced set is left"):
        disorder.study("ooo/table2", cheerful, str(reviews), q=2)


def test_sensitivity_is_made_of_the_accuracy_beside_it() -> None:
    pytest.importorskip("spacy", reason="needs spacy")
    found = disorder.study("ooo/table2", "builtin", SENTIMENT, q=3, limit=40)
    for transformation in ("shuffle_ngrams:n=1", "shuffle_ngrams:n=3"):
        accuracy = found.cell("accuracy", transformation=transformation).value
        assert found.cell("wos", transformation=transformation).value == pytest.approx(
            (1 - accuracy) / 0.5, abs=1e-5
        )


def test_steps_of_the_filter_only_take_away() -> None:
    found = disorder.study("ooo/tableA4", "builtin", SENTIMENT, limit=80)
    for label in ("negative", "positive"):
        steps = [
            found.cell(column, label=label).value for column in ("dev", "step1", "step2", "step3")
        ]
        assert steps == sorted(steps, reverse=True)
    kept = {found.cell("step3", label=label).value for label in ("negative", "positive")}
    assert len(kept) == 1
    assert found.cell("total", label="all").value == 2 * kept.pop()


@pytest.mark.parametrize("data", ["cola:dev", "rte:dev", "mrpc:dev", "sst2:dev"])
def test_the_first_filter_leaves_as_many_as_the_paper_says(data: str, shared_data: Path) -> None:
    model = Reader.__new__(Reader)
    model.labels, model.known = read_data(data, data_dir=str(shared_data)).task.labels, {}
    found = disorder.study("ooo/tableA4", model, data, data_dir=str(shared_data))
    compared = [cell.same for cell in found.cells if cell.column in ("dev", "step1")]
    assert len(compared) == 4
    assert all(same is not None and same.is_within for same in compared)


def test_a_bag_of_words_predicts_the_same_for_all_reorderings(reviews: Path) -> None:
    found = disorder.study("ws/table6", q=2, **bag(reviews))
    for transformation in ("sort", "reverse", "shuffle", "mean of lexical"):
        assert found.cell("agreement", transformation=transformation).value == 1
    assert found.cell("agreement", transformation="mean of all").value < 1, (
        "words are lost under the others"
    )


def test_means_are_of_transformations_not_of_texts() -> None:
    first = outcomes([0, 0, 0, 0], [0, 0, 0, 0], [[0], [0], [0], [0]], transformation="sort")
    second = outcomes([0, 0], [0, 0], [[1], [1]], transformation="reverse")
    score = mean_over_transformations([first, second], "agreement")
    assert score.value == 0.5
    assert score.n == 4


def test_a_mean_of_transformations_is_as_unsure_as_each_of_them() -> None:
    kept = [outcomes([0] * 8, [0] * 8, [[0]] * 8, transformation=name) for name in ("sort", "swap")]
    both = mean_over_transformations(kept, "agreement")
    one = mean_over_transformations(kept[:1], "agreement")
    alone = interval_of(np.ones(8))
    assert (one.value, one.low, one.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert both == one, "eight examples that agree are no proof, under however many ways"


def test_the_mean_of_agreements_is_the_mean_of_the_cells_above_it(tmp_path: Path) -> None:
    learned = rows_of(tmp_path / "train.jsonl", pairs(90))
    found = disorder.study(
        "ws/table6", "builtin", "builtin", q=2, limit=12, set_={"pbsmt.train": str(learned)}
    )
    rows = {cell.row["transformation"]: cell.value for cell in found.cells}
    assert rows["chance"] == pytest.approx(1 / 3, abs=1e-6)
    single = [value for name, value in rows.items() if not name.startswith(("mean", "chance"))]
    assert len(single) in (8, 9), "PBSMT needs a package of its own"
    assert found.cell("agreement", transformation="mean of all").value == pytest.approx(
        np.mean(single), abs=1e-6
    )
    assert found.cell("agreement", transformation="mean of lexical").value == pytest.approx(
        np.mean(single[:4]), abs=1e-6
    )


def test_a_model_is_tested_on_the_data_whose_labels_it_has(reviews: Path, small: Path) -> None:
    found = disorder.study("ooo/tableA6", models=[Reader(reviews)], data=[str(reviews), str(small)])
    assert {(cell.row["model"], cell.row["data"]) for cell in found.cells} == {
        ("Reader", str(reviews))
    }
    assert any("Reader on pairs.jsonl: left out" in note for note in found.notes)


def test_a_network_is_trained_for_each_task(reviews: Path, tmp_path: Path) -> None:
    """Each set of data has its own training part; one without is left out, with the reason."""
    pytest.importorskip("torch", reason="needs torch")
    rows = [json.loads(line) for line in reviews.read_text(encoding="utf-8").splitlines()]
    other = {"positive": "acceptable", "negative": "unacceptable"}
    for name, splits, labels in (
        ("sst2", ("train", "dev"), {}),
        ("cola", ("train", "dev"), other),
        ("qnli", ("dev",), {}),
    ):
        (tmp_path / name).mkdir()
        for split in splits:
            named = [{**row, "label": labels.get(row["label"], row["label"])} for row in rows]
            rows_of(tmp_path / name / f"{split}.jsonl", named)
    given: dict[str, Any] = {
        "data": ["sst2:dev", "cola:dev", "qnli:dev"],
        "data_dir": str(tmp_path),
        "set_": {"epochs": "1"},
    }
    found = disorder.study("ooo/tableA6", "bow", **given)
    assert {cell.row["data"] for cell in found.cells} == {"sst2:dev", "cola:dev"}
    assert any("qnli:train, to train on, is not available" in note for note in found.notes)


def test_a_model_of_another_task_alone_is_a_mistake() -> None:
    with pytest.raises(DisorderError, match="labels"):
        disorder.study(
            "ooo/tableA6", "builtin", "builtin:acceptability", limit=20, labels={"no": "such"}
        )


def test_what_is_trained_and_what_is_to_be(tiny_bert: Path, tmp_path: Path) -> None:
    assert [is_trained(model) for model in ("bow", "bilstm", "convnet")] == [False] * 3
    assert all(
        is_trained(model)
        for model in ("builtin", "bilstm:folder", "python:a:b", f"hf:{tiny_bert}", len)
    )
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    (encoder / "config.json").write_text(
        json.dumps({"architectures": ["BertModel"]}), encoding="utf-8"
    )
    assert not is_trained(f"hf:{encoder}")


def test_files_need_training_data_to_be_named(jsonl: Any) -> None:
    path = jsonl(
        [{"text_a": f"a b c d e {i}", "text_b": None, "label": "xy"[i % 2]} for i in range(20)]
    )
    with pytest.raises(DisorderError, match="is not known: say train='DATA'"):
        disorder.study("ooo/tableA6", "bow", str(path))


@pytest.mark.parametrize("name", PREDICTING)
def test_each_item_runs_with_a_tiny_model(name: str, small: Path, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"models": ["builtin:bow"], "limit": 6}
    if study_items()[name].pipeline.trains:
        pytest.importorskip("torch", reason="needs torch")
        asked = {"models": ["bow"], "train": str(small), "set_": {"epochs": "1"}}
    if name == "ooo/section33":  # too small a set for right predictions of every label
        asked["set_"] = {"lime.dev_r": "false"}
    found = disorder.study(name, data=[str(small)], q=2, out=tmp_path / "study", **asked)
    assert found.status == "done"
    assert found.cells or found.pictures
    assert all(
        cell.low is None or cell.high is None or cell.low <= cell.value <= cell.high
        for cell in found.cells
    )
    assert all((tmp_path / "study" / link.page).is_file() for link in found.links)


@pytest.fixture(scope="module")
def its_own(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs with the labels that the tiny network gives them. Words of one letter are near each
    other: every head matches.
    """
    letters = "bcdfghjklmnpqrstvwxz"
    examples = [
        Example.of(str(i), " ".join(letters[i : i + 6]), " ".join(letters[i + 6 : i + 11]), "")
        for i in range(10)
    ]
    answers = load(f"hf:{tiny_bert}", task=Task("nli", NLI.labels, "b"))(
        [e.texts for e in examples]
    ).argmax(axis=1)
    usual = np.bincount(answers).argmax()
    swapped = {NLI.labels[usual]: NLI.labels[0], NLI.labels[0]: NLI.labels[usual]}
    labels = [swapped.get(NLI.labels[each], NLI.labels[each]) for each in answers]
    made = [
        {"id": e.id, "text_a": e.text_a, "text_b": e.text_b, "label": x}
        for e, x in zip(examples, labels, strict=True)
    ]
    return rows_of(tmp_path_factory.mktemp("own") / f"{NLI.labels[usual]}.jsonl", made)


@pytest.mark.parametrize("name", INSIDE)
def test_items_that_look_at_heads_run_with_a_tiny_model(
    name: str, tiny_bert: Path, its_own: Path
) -> None:
    pytest.importorskip("rapidfuzz", reason="needs rapidfuzz")
    labels = {its_own.stem: "entailment", "entailment": its_own.stem}
    asked: dict[str, Any] = {"limit": 60, "q": 1, "labels": labels, "task": "mnli"}
    asked["set_"] = {"heads.dev_r": "false"}  # it gives every text one label
    found = disorder.study(name, f"hf:{tiny_bert}", str(its_own), **asked)
    assert found.pictures
    assert found.cells
    if name == "ooo/table3":
        samples = {cell.row["sample"] for cell in found.cells}
        assert samples >= {"positives where heads match", "random positives"}
        assert all(cell.value == 1 for cell in found.cells if cell.row["heads_out"] == "none")


def test_numbers_are_drawn_as_distributions(jsonl: Any) -> None:
    rows = [
        {"text_a": f"one two three four {i}", "text_b": "a b c d e", "label": str(i / 7)}
        for i in range(30)
    ]

    def longer(texts: Sequence[Any]) -> list[float]:
        return [float(len(a)) for a, _ in texts]

    found = disorder.study("ooo/fig2", longer, str(jsonl(rows)), q=2)
    assert found.cell("change").value == pytest.approx(0)
    assert "similarity" in {picture.name for picture in found.pictures}


def test_polarity_is_looked_up_in_every_list_at_hand(tmp_path: Path) -> None:
    words = sorted(
        {
            word.strip(".,").lower()
            for e in read_data(SENTIMENT).examples[:400]
            for word in e.text_a.split()
        }
    )
    folder = tmp_path / "opinion_lexicon"
    folder.mkdir()
    rows = [
        {"text_a": word, "label": ("positive", "negative")[i % 2]} for i, word in enumerate(words)
    ]
    (folder / "words.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    found = disorder.study(
        "ooo/tableA3", "builtin", SENTIMENT, limit=8, q=1, data_dir=str(tmp_path)
    )
    assert found.cell("found_share", dictionary="Opinion Lexicon").value > 0.5
    with pytest.raises(DisorderError, match="polarity"):
        disorder.study("ooo/tableA3", "builtin", SENTIMENT, limit=8, q=1, data_dir=str(folder))


def test_a_mitigation_is_tested_on_all_transformations(reviews: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    pipeline = MitigationTable(
        {"plain": "plain"}, transfer="invalid_class", transformations=("sort", "reverse")
    )
    bench = Workbench(
        Store(tmp_path),
        ["bow"],
        [str(reviews)],
        StudySettings(set={"epochs": "1"}),
        lambda *_: None,
        str(reviews),
    )
    cells = [cell for portion in pipeline(bench) for cell in portion.cells]
    caught = {
        (cell.row["trained_on"], cell.row["transformation"])
        for cell in cells
        if cell.column == "caught"
    }
    assert caught == {(a, b) for a in ("sort", "reverse") for b in ("sort", "reverse")}
    assert {cell.row["trained_on"] for cell in cells if cell.column == "accuracy"} == {
        "sort",
        "reverse",
    }


@pytest.mark.parametrize("name", MODEL_FREE)
def test_an_item_without_a_model_says_what_to_type(name: str) -> None:
    found = disorder.study(name)
    assert found.commands
    assert all(command.startswith("disorder ") for command in found.commands)
    assert found.published or found.kind == "drawing", (
        "what the paper found stands there all the same"
    )
