"""Are a model's predictions checked before they are used, and do its labels match the data's?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from conftest import NLI
from disorder.errors import BadModel, UnknownName
from disorder.models import load
from disorder.models.inputs.batches import by_length
from disorder.models.outputs import checked, softmax
from disorder.types import Task, Texts

TEXTS: list[Texts] = [("a b", "c"), ("d", "e f")]
TWO = Task("two", ("no", "yes"))


def test_softmax_is_safe_for_large_logits() -> None:
    made = softmax(np.array([[1000.0, 1000.0], [0.0, np.log(3)]]))
    np.testing.assert_allclose(made, [[0.5, 0.5], [0.25, 0.75]])


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([[0.5, 0.5]], "predictions have shape (1, 2); need (2, 2)"),
        ([0.5, 0.5], "predictions have shape (2,)"),
        ([[0.5, 0.5], [2.0, -1.0]], "must be probabilities that sum to 1; apply a softmax"),
        ([[3.0, 1.0], [0.5, 0.5]], "must be probabilities"),
        ([[np.nan, 1.0], [np.inf, 0.5]], "NaN or infinity"),
        ([["a", "b"], ["c", "d"]], "must be numbers"),
        ([[0.5, 0.5], [1.0]], "must be numbers"),
        (None, "predictions have shape ()"),
    ],
)
def test_what_is_no_set_of_probabilities_is_an_error(predictions: Any, message: str) -> None:
    with pytest.raises(BadModel) as caught:
        checked("mine", predictions, 2, ("no", "yes"))
    assert message in str(caught.value)
    assert str(caught.value).startswith("mine: ")


def test_a_row_that_is_not_finite_failed() -> None:
    found = checked("mine", [[np.nan, 1.0], [0.25, 0.75]], 2, ("no", "yes"))
    assert found.outcomes.tolist() == ["failed: its numbers are not finite", "answered"]
    assert np.isnan(found.values[0]).all()
    assert found.values[1].tolist() == [0.25, 0.75]


def test_a_regression_may_give_a_flat_list() -> None:
    assert checked("mine", [1.5, -7], 2, ()).values.tolist() == [[1.5], [-7]]


@pytest.mark.parametrize(
    "function",
    [
        lambda texts: [[0.25, 0.75]] * len(texts),
        lambda texts: np.array([[0.25, 0.75]] * len(texts)),
        lambda texts: tuple([0.25, 0.75] for _ in texts),
        lambda texts: [{"no": 0.25, "yes": 0.75} for _ in texts],
        lambda texts: [
            [{"label": "yes", "score": 0.75}, {"label": "no", "score": 0.25}] for _ in texts
        ],
    ],
    ids=["lists", "array", "tuple", "dictionaries", "pipeline"],
)
def test_a_function_may_predict_in_many_forms(function: Any) -> None:
    assert load(function, task=TWO)([("a", None), ("b", None)]).tolist() == [[0.25, 0.75]] * 2


def test_a_function_gets_strings_for_texts_and_tuples_for_pairs() -> None:
    seen: list[Any] = []

    def model(texts: list[Any]) -> list[str]:
        seen.extend(texts)
        return ["yes"] * len(texts)

    load(model, task=TWO)([("a", None)])
    load(model, task=TWO)([("a", "b")])
    assert seen == ["a", ("a", "b")]


def test_the_order_of_columns_is_said_once_where_the_function_does_not_say_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = load(lambda texts: [[0.2, 0.3, 0.5]] * len(texts), task=NLI)
    with caplog.at_level("INFO"):
        model.predict_texts([("a", "b")])
        model.predict_texts([("c", "d")])
    told = [record.getMessage() for record in caplog.records if "columns" in record.getMessage()]
    assert len(told) == 1
    assert ", ".join(NLI.labels) in told[0]


def test_a_python_file_as_a_model_gets_the_spec_to_write(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("")
    with pytest.raises(BadModel, match=r"mine.py:FUNCTION"):
        load(str(path), task=NLI)
    with pytest.raises(BadModel, match="has no attribute 'predict'"):
        load(f"{path}:predict", task=NLI)


def test_label_names_are_certain_and_unknown_ones_are_an_error() -> None:
    assert load(lambda texts: ["yes"] * len(texts), task=TWO)([("a", None)]).tolist() == [[0, 1]]
    with pytest.raises(BadModel, match="predicted 'maybe', which is none of no, yes"):
        load(lambda texts: ["maybe"] * len(texts), task=TWO)([("a", None)])


@pytest.mark.parametrize(
    "function",
    [
        lambda texts: ["LABEL_1"] * len(texts),
        lambda texts: [{"LABEL_0": 0.0, "LABEL_1": 1.0} for _ in texts],
        lambda texts: ["yes"] * len(texts),
    ],
    ids=["names", "dictionaries", "the data's own"],
)
def test_labels_of_a_function_that_lists_none_can_be_renamed(function: Any) -> None:
    renamed = {"LABEL_0": "no", "LABEL_1": "yes"}
    assert load(function, task=TWO, labels=renamed)([("a", None)]).tolist() == [[0, 1]]


def test_an_unknown_label_of_a_function_gets_a_hint_that_works() -> None:
    def numbers(texts: list[Any]) -> list[int]:
        return [1] * len(texts)

    with pytest.raises(BadModel, match="say what its labels mean, for instance labels='1=no'"):
        load(numbers, task=TWO)([("a", None)])
    assert load(numbers, task=TWO, labels={"1": "no"})([("a", None)]).tolist() == [[1, 0]]


def test_the_hint_keeps_the_names_given_before_and_proposes_a_label_of_the_data() -> None:
    model = load(lambda texts: ["LABEL_1"], task=TWO, labels={"LABEL_0": "no"})
    with pytest.raises(BadModel, match="for instance labels='LABEL_0=no,LABEL_1=yes'"):
        model([("a", None)])
    every = {"0": "no", "1": "yes"}
    with pytest.raises(BadModel, match="for instance labels='0=no,1=yes,2=no'"):
        load(lambda texts: [2], task=TWO, labels=every)([("a", None)])


@pytest.mark.parametrize("given", [{"a": 0.5}, "good", [{"label": "a", "score": 1.0}]])
def test_labels_for_a_task_of_numbers_are_one_line(given: Any) -> None:
    with pytest.raises(BadModel, match="asks for one number per text, but the function gave a"):
        load(lambda texts: [given], task=Task("sts", ()))([("a", None)])


@pytest.mark.parametrize(
    ("renamed", "expected"),
    [({"no": "no"}, [0.25, 0.75]), ({"yes": "no", "no": "yes"}, [0.75, 0.25])],
    ids=["identity", "swap"],
)
def test_columns_of_the_datas_labels_may_be_renamed(
    renamed: dict[str, str], expected: list[float]
) -> None:
    model = load(lambda texts: [[0.25, 0.75]], task=TWO, labels=renamed)
    assert model([("a", None)]).tolist() == [expected]


def test_renamed_labels_do_not_say_which_column_is_which() -> None:
    model = load(lambda texts: [[0.25, 0.75]], task=TWO, labels={"LABEL_0": "yes", "LABEL_1": "no"})
    with pytest.raises(BadModel, match="give the function an attribute `labels`"):
        model([("a", None)])


def test_labels_are_renamed_to_labels_of_the_data_only() -> None:
    with pytest.raises(BadModel, match="labels='LABEL_1=perhaps': the data's labels are no, yes"):
        load(lambda texts: ["LABEL_1"], task=TWO, labels={"LABEL_1": "perhaps"})


NONSENSE = [
    None,
    3,
    [[{"score": 1.0}]],
    [{"yes": "much"}],
    [[{"label": "yes", "score": None}]],
    iter("x"),
]


@pytest.mark.parametrize("given", NONSENSE, ids=range(len(NONSENSE)))
def test_a_function_that_gives_nonsense_is_the_users_mistake(given: Any) -> None:
    with pytest.raises(BadModel, match=r"python|lambda"):
        load(lambda texts: given, task=TWO)([("a", None)])


class Labelled:
    """A model with labels of its own."""

    fingerprint = "test"

    def __init__(self, *labels: str) -> None:
        self.labels = labels

    def __call__(self, texts: Any) -> Any:
        row = np.arange(1, len(self.labels) + 1)
        return np.tile(row / row.sum(), (len(texts), 1))


class TestLabels:
    def test_columns_are_put_in_the_datas_order_ignoring_case(self) -> None:
        made = load(Labelled("CONTRADICTION", "Entailment", "neutral"), task=NLI)(TEXTS)
        np.testing.assert_allclose(made, [[2 / 6, 3 / 6, 1 / 6]] * 2)

    def test_labels_can_be_renamed_and_added_up(self) -> None:
        task = Task("rte", ("entailment", "not_entailment"))
        renamed = {"neutral": "not_entailment", "contradiction": "not_entailment"}
        made = load(Labelled("entailment", "neutral", "contradiction"), task=task, labels=renamed)(
            TEXTS
        )
        np.testing.assert_allclose(made, [[1 / 6, 5 / 6]] * 2)

    def test_strange_labels_get_a_hint_that_can_be_typed(self) -> None:
        with pytest.raises(BadModel) as caught:
            load(Labelled("LABEL_0", "LABEL_1", "LABEL_2"), task=NLI)
        hint = "labels='LABEL_0=entailment,LABEL_1=neutral,LABEL_2=contradiction'"
        assert hint in str(caught.value)

    def test_a_label_that_is_never_predicted_is_an_error(self) -> None:
        with pytest.raises(BadModel, match="never predicts 'contradiction'"):
            load(Labelled("entailment", "neutral"), task=NLI)

    def test_renaming_what_is_not_there_is_an_error(self) -> None:
        with pytest.raises(BadModel, match="labels names 'LABEL_7'"):
            load(Labelled(*NLI.labels), task=NLI, labels={"LABEL_7": "neutral"})

    def test_a_classifier_does_not_fit_a_regression(self) -> None:
        with pytest.raises(BadModel, match="asks for one number"):
            load(Labelled("a", "b"), task=Task("sts", ()))


@pytest.mark.parametrize(
    "spec",
    [
        "always:maybe",
        "uniform:x",
        "onnx:/nowhere",
        "bow:/nowhere",
        "python:json",
        "python:nowhere:f",
        "python:json:nothing",
        "builtin:x",
    ],
)
def test_a_model_that_cannot_be_loaded_is_one_line(spec: str) -> None:
    with pytest.raises((BadModel, UnknownName)) as caught:
        load(spec, task=NLI)
    assert "\n" not in str(caught.value)


def test_unknown_models_get_a_hint() -> None:
    with pytest.raises(UnknownName, match="did you mean 'uniform'"):
        load("unifrom", task=NLI)
    with pytest.raises(BadModel, match="int cannot predict"):
        load(3, task=NLI)


def test_uniform_is_uniform_and_the_same_for_the_same_text() -> None:
    texts: list[Texts] = [(f"text {i}", "b") for i in range(3000)]
    first, again, other = (
        load(spec, task=NLI)(texts).argmax(axis=1) for spec in ("uniform", "uniform:0", "uniform:1")
    )
    assert (first == again).all()
    assert (first != other).any()
    assert chisquare(list(Counter(first.tolist()).values())).pvalue > 1e-3


def test_batches_hold_inputs_of_one_length_and_every_input_once() -> None:
    lengths = [5, 3, 5, 5, 3, 9]
    for size in (None, 1, 2):
        batches = list(by_length(lengths, batch_size=size))
        assert sorted(i for batch in batches for i in batch.tolist()) == list(range(6))
        assert all(len({lengths[i] for i in batch}) == 1 for batch in batches)
        assert size is None or all(len(batch) <= size for batch in batches)


FILMS = [
    {"text_a": f"the {word} film {i}", "text_b": None, "label": label}
    for i, (word, label) in enumerate(
        [("good", "yes"), ("fine", "yes"), ("bad", "no"), ("dull", "no")] * 5
    )
]


class TestBow:
    def test_it_learns_words_cannot_see_order_and_survives_being_saved(
        self, tmp_path: Path
    ) -> None:
        from disorder.models.bow import Bow, fit

        model = fit(FILMS, TWO.labels)
        texts: list[Texts] = [("a good film", None), ("film good a", None), ("dull and bad", None)]
        made = model(texts)
        assert made.argmax(axis=1).tolist() == [1, 1, 0]
        assert (made[0] == made[1]).all()
        model.save(tmp_path / "bow")
        loaded = load(f"bow:{tmp_path / 'bow'}", task=TWO)
        np.testing.assert_allclose(
            loaded(texts), made, atol=1e-2
        )  # weights are stored as half precision
        assert Bow.load(tmp_path / "bow").fingerprint == loaded.fingerprint

    @pytest.mark.parametrize("damage", ["", "{}", '{"labels": ["no", "yes"]}'])
    def test_a_damaged_folder_is_one_line(self, tmp_path: Path, damage: str) -> None:
        (tmp_path / "config.json").write_text(damage)
        (tmp_path / "weights.npz").write_bytes(b"PK nothing")
        with pytest.raises(BadModel, match="is no bag-of-words folder"):
            load(f"bow:{tmp_path}", task=TWO)
