"""Does a scikit-learn estimator work by its natural predict and predict_proba, and a function by
whatever labels it gives?
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disorder.errors import BadModel
from disorder.models import load
from disorder.types import Task, Texts
from disorder.verbs.audit import audit

pytest.importorskip("sklearn", reason="needs scikit-learn")

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

TWO = Task("two", ("0", "1"))
WORDS = Task("words", ("bad", "good"))
TRAINING = ["a good film", "good and fine", "a bad film", "bad and dull"] * 3
TEXTS: list[Texts] = [("good film", None), ("dull film", None), ("fine", None)]
NUMBERS = [1, 1, 0, 0] * 3


def fitted(last: Any, labels: Any = NUMBERS) -> Pipeline:
    return make_pipeline(TfidfVectorizer(), last).fit(TRAINING, labels)


@pytest.mark.parametrize("labels", [NUMBERS, np.array(NUMBERS), [str(each) for each in NUMBERS]])
def test_a_classifier_with_probabilities(labels: Any) -> None:
    classifier = fitted(LogisticRegression(), labels)
    made = load(classifier, task=TWO)(TEXTS)
    theirs = classifier.predict_proba([a for a, _ in TEXTS])
    assert np.array_equal(made, theirs.astype(np.float32).astype(np.float64))


@pytest.mark.parametrize("labels", [NUMBERS, np.array(NUMBERS), [str(each) for each in NUMBERS]])
def test_a_classifier_without_probabilities(labels: Any) -> None:
    made = load(fitted(LinearSVC(), labels), task=TWO)(TEXTS)
    assert made.tolist() == [[0, 1], [1, 0], [0, 1]]


def test_classes_that_are_words_match_the_datas() -> None:
    labels = ["good" if each else "bad" for each in NUMBERS]
    for last in (LogisticRegression(), LinearSVC()):
        made = load(fitted(last, labels), task=WORDS)(TEXTS)
        assert made.argmax(axis=1).tolist() == [1, 0, 1]


def test_classes_that_are_fractions_are_labels_too() -> None:
    task = Task("floats", ("0.0", "1.0"))
    made = load(fitted(LinearSVC(), [float(each) for each in NUMBERS]), task=task)(TEXTS)
    assert made.argmax(axis=1).tolist() == [1, 0, 1]


def test_a_regressor_predicts_numbers() -> None:
    regressor = fitted(LinearRegression(), [4.5, 4.0, 1.0, 0.5] * 3)
    made = load(regressor, task=Task("stars", ()))(TEXTS)
    assert made[:, 0] == pytest.approx(regressor.predict([a for a, _ in TEXTS]), rel=1e-6)


def test_pairs_come_as_tuples_and_a_vectorizer_can_join_them() -> None:
    pairs = [(text, "it is so") for text in TRAINING]
    joined = make_pipeline(CountVectorizer(preprocessor=" ".join), LogisticRegression())
    model = load(joined.fit(pairs, NUMBERS), task=TWO)
    assert model([("a good film", "it is so"), ("dull", "bad")]).argmax(axis=1).tolist() == [1, 0]
    with pytest.raises(BadModel, match=r'preprocessor=" "\.join'):
        load(fitted(LogisticRegression()), task=TWO)([("a good film", "it is so")])


def test_an_estimator_that_is_not_fitted_is_one_line() -> None:
    with pytest.raises(BadModel, match="is not fitted"):
        load(make_pipeline(TfidfVectorizer(), LogisticRegression()), task=TWO)
    with pytest.raises(BadModel, match="LinearSVC is not fitted"):
        load(LinearSVC(), task=TWO)


def test_a_classifier_does_not_fit_a_number_task() -> None:
    with pytest.raises(BadModel, match="asks for one number"):
        load(fitted(LogisticRegression()), task=Task("sts", ()))


def test_labels_that_do_not_match_get_a_hint() -> None:
    with pytest.raises(BadModel, match="labels='0=bad,1=good'"):
        load(fitted(LinearSVC()), task=WORDS)


def test_a_fitted_classifier_with_integer_labels_is_audited() -> None:
    rows = [
        {"text_a": f"{text} number {i}", "label": NUMBERS[i]} for i, text in enumerate(TRAINING)
    ]
    for last in (LogisticRegression(), LinearSVC()):
        run = audit(fitted(last), rows, with_="derange", q=3)
        assert run.score("derange", "agreement").value == 1.0  # a bag of words cannot see order


@pytest.mark.parametrize(
    "given",
    [
        lambda texts: [1] * len(texts),
        lambda texts: np.ones(len(texts), dtype=np.int64),
        lambda texts: [np.int32(1)] * len(texts),
        lambda texts: ["1"] * len(texts),
        lambda texts: np.array(["1"] * len(texts)),
        lambda texts: [{1: 1.0, 0: 0.0}] * len(texts),
        lambda texts: tuple([1] * len(texts)),
    ],
)
def test_a_function_may_give_integers(given: Callable[[list[Any]], Any]) -> None:
    assert load(given, task=TWO)(TEXTS).tolist() == [[0, 1]] * 3


def test_fewer_answers_than_texts_are_counted() -> None:
    with pytest.raises(BadModel, match="gave 1 answer for 3 texts; it must give one per text"):
        load(lambda texts: ["1"], task=TWO)(TEXTS)


def test_a_function_of_single_texts_is_told_that_it_got_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "single.py").write_text("def lower(texts): return [t.lower() for t in texts]\n")
    monkeypatch.chdir(tmp_path)
    model = load("single.py:lower", task=TWO)
    with pytest.raises(BadModel, match=r"list of 1 pairs: .* gets .text_a, text_b.$"):
        model([("a b", "c d")])


def test_integers_of_a_number_task_are_numbers() -> None:
    model = load(lambda texts: [3] * len(texts), task=Task("stars", ()))
    assert model(TEXTS).tolist() == [[3.0]] * 3


def test_fractions_are_no_labels() -> None:
    with pytest.raises(BadModel, match="predictions have shape"):
        load(lambda texts: [0.25] * len(texts), task=TWO)(TEXTS)
    with pytest.raises(BadModel, match="predicted '2', which is none of 0, 1"):
        load(lambda texts: [2] * len(texts), task=TWO)(TEXTS)
