"""The Python API: what a user of a notebook or a script types, with its errors."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import pairs

ROOT = Path(__file__).parents[1]
FUNCTIONS = (
    "audit",
    "compare",
    "explain",
    "gate",
    "load_model",
    "perturb",
    "read_data",
    "read_run",
    "resume",
    "sanity",
    "train",
)
SMALL: dict[str, Any] = {"q": 3, "with_": "derange", "cache": "off"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, disorder.Run]:
    """Two runs on the same examples."""
    folder = tmp_path_factory.mktemp("runs")
    return {
        name: disorder.audit(model, pairs(30), out=folder / name, **SMALL)
        for name, model in (("guess", "uniform"), ("one", "always:neutral"))
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_shows_and_documents_its_parameters(name: str) -> None:
    function = getattr(disorder, name)
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert len(inspect.getdoc(function) or "") > 60


def test_the_signature_is_the_same_before_and_after_the_first_audit() -> None:
    code = (
        "import disorder, inspect; before = str(inspect.signature(disorder.audit));"
        "disorder.audit('uniform', 'builtin', with_='sort', limit=5, cache='off');"
        "assert str(inspect.signature(disorder.audit)) == before; print(before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in ("with_", "suite", "q", "seed", "limit", "out", "columns", "progress"):
        assert f"{name}:" in done.stdout


@pytest.mark.parametrize(
    ("name", "typo", "meant"),
    [
        ("audit", "sead", "seed"),
        ("explain", "limmit", "limit"),
        ("sanity", "checks", "check"),
        ("train", "seeed", "seed"),
        ("compare", "metrix", "metrics"),
        ("perturb", "seeed", "seed"),
        ("resume", "modell", "model"),
        ("gate", "onn", "on"),
    ],
)
def test_a_typo_is_one_line_with_the_nearest_name(name: str, typo: str, meant: str) -> None:
    with pytest.raises(disorder.DisorderError, match=f"did you mean '{meant}'"):
        getattr(disorder, name)(**{typo: 1})


ROWS = [
    {"text_a": f"this {word} film number {i} was seen by us today", "label": label}
    for i in range(15)
    for word, label in (("good", 1), ("fine", 1), ("bad", 0), ("poor", 0))
]


@pytest.fixture(scope="module")
def classifier() -> Any:
    """A fitted scikit-learn classifier with integer labels."""
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    made = make_pipeline(CountVectorizer(), LogisticRegression())
    return made.fit([row["text_a"] for row in ROWS], np.array([row["label"] for row in ROWS]))


class TestEstimator:
    def test_it_is_audited_as_it_is(self, classifier: Any) -> None:
        run = disorder.audit(classifier, ROWS, **SMALL)
        assert run["original", "accuracy"].value == 1
        assert run["derange", "p_c"].value == 1

    def test_predict_alone_is_enough(self, classifier: Any) -> None:
        class OnlyPredict:
            classes_ = classifier.classes_

            def predict(self, texts: Any) -> Any:
                return classifier.predict(texts)

        run = disorder.audit(OnlyPredict(), ROWS, **SMALL)
        assert run["derange", "agreement"].value == 1


class TestRun:
    def test_one_score_or_a_clear_error(self, runs: dict[str, disorder.Run]) -> None:
        run = runs["one"]
        assert run["derange", "accuracy"].n == 30
        assert run["derange", "accuracy", "all"] is run["derange", "accuracy"]
        with pytest.raises(disorder.DisorderError, match="did you mean 'derange'"):
            run["derang", "accuracy"]
        with pytest.raises(disorder.DisorderError, match="did you mean 'accuracy'"):
            run["derange", "acuracy"]

    def test_scores_make_a_data_frame(self, runs: dict[str, disorder.Run]) -> None:
        pandas = pytest.importorskip("pandas", reason="needs pandas")
        columns = ["transformation", "metric", "group", "value", "low", "high", "n", "skipped"]
        frame = pandas.DataFrame(runs["one"].scores)
        assert list(frame.columns) == columns
        assert frame.equals(runs["one"].to_frame())

    def test_a_run_is_read_back(self, runs: dict[str, disorder.Run]) -> None:
        run = runs["one"]
        assert run.folder is not None
        again = disorder.read_run(str(run.folder))
        assert again.scores == run.scores
        assert again.folder == run.folder
        assert again.samples().num_rows == 30 * (1 + 1 + 3)  # original, control, variants

    def test_without_out_it_can_still_be_saved(self, tmp_path: Path) -> None:
        run = disorder.audit("uniform", pairs(12), **SMALL)
        saved = run.save(tmp_path / "kept")
        assert disorder.read_run(saved).scores == run.scores
        with pytest.raises(disorder.DisorderError, match="is there already"):
            run.save(tmp_path / "kept")

    def test_it_shows_itself(self, runs: dict[str, disorder.Run]) -> None:
        run = runs["guess"]
        assert repr(run).startswith("Run(uniform on ")
        assert run._repr_html_().startswith("<iframe")
        for name in ("forest", "omega_curve", "acceptance"):
            assert "<svg" in run.plot(name)._repr_svg_()
        with pytest.raises(disorder.DisorderError, match="did you mean 'forest'"):
            run.plot("forrest")

    def test_runs_and_folders_are_compared_alike(self, runs: dict[str, disorder.Run]) -> None:
        guess, one = runs["guess"], runs["one"]
        assert guess.folder is not None
        by_run = disorder.compare(guess, one)
        by_folder = disorder.compare(str(guess.folder), one)
        assert by_run.model_dump() == by_folder.model_dump()
        assert "<iframe" in by_run._repr_html_()
        assert len(by_run.to_frame()) == len(by_run.differences)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: disorder.audit("uniform", pairs(4), limit=2.5), "limit=2.5 does not work"),
        (lambda: disorder.audit("uniform", pairs(4), with_=3), "with_=3 does not work"),
        (lambda: disorder.audit("uniform", pairs(4), progress=3), "progress=3 does not work"),
        (lambda: disorder.audit("uniform", pairs(4), "derange"), "too many positional"),
        (lambda: disorder.gate("x"), "missing a required argument: 'fail_if'"),
        (lambda: disorder.gate(3, "p_c > 1"), "not from int"),
        (lambda: disorder.resume(3), "not from int"),
        (lambda: disorder.compare(3, 4), "not from int"),
        (lambda: disorder.read_run(None), "not from NoneType"),
        (lambda: disorder.read_data(pairs(4), group_bye="x"), "did you mean 'group_by'"),
    ],
)
def test_a_wrong_argument_is_one_line(call: Any, message: str) -> None:
    with pytest.raises(disorder.DisorderError, match=message):
        call()


def test_plain_arguments_are_converted() -> None:
    run = disorder.audit("uniform", pairs(12), **SMALL | {"q": "3"}, omega=0.25)
    assert run.settings["q"] == 3
    assert run["derange", "omega@0.25"].n == 12


def test_settings_of_reading_do_not_go_with_data_that_was_read() -> None:
    data = disorder.read_data(pairs(12), group_by="label")
    assert data.examples[0].groups["label"] == data.examples[0].label
    with pytest.raises(disorder.DisorderError, match="is for reading data"):
        disorder.audit("uniform", data, group_by="label", **SMALL)


def test_a_score_that_does_not_apply_is_named() -> None:
    with pytest.raises(disorder.DisorderError, match="none of the requested scores applies"):
        disorder.audit("uniform", pairs(12), score="spearman", **SMALL)


def test_copies_of_a_run_share_its_folder_and_a_lost_one_is_an_error() -> None:
    run = disorder.audit("uniform", pairs(12), **SMALL)
    copied = copy.deepcopy(run)
    pickled = pickle.dumps(run)
    n_rows = run.samples().num_rows
    del run
    gc.collect()
    assert copied.samples().num_rows == n_rows
    del copied
    gc.collect()
    lost = pickle.loads(pickled)
    with pytest.raises(disorder.DisorderError, match="has no samples"):
        lost.samples()
    with pytest.raises(disorder.DisorderError, match="is not there"):
        lost.save("anywhere")


def test_a_run_is_saved_on_shared_storage(runs: dict[str, disorder.Run]) -> None:
    pytest.importorskip("upath", reason="needs universal_pathlib")
    saved = runs["one"].save("memory://kept/run")
    again = disorder.read_run(str(saved))
    assert again.scores == runs["one"].scores
    assert again.samples().num_rows == runs["one"].samples().num_rows


def test_a_single_string_is_a_list_of_one() -> None:
    run = disorder.audit("uniform", pairs(12), score="p_c", **SMALL)
    assert {r.metric for r in run.scores if r.transformation == "derange"} == {"p_c"}


def test_parts_can_be_listed() -> None:
    names = {part["name"] for part in disorder.list_parts("metric")}
    assert {"p_c", "omega_max", "wos"} <= names
    assert disorder.list_parts("metrics") == disorder.list_parts("metric")
    with pytest.raises(disorder.DisorderError, match="did you mean 'metric'"):
        disorder.list_parts("metrix")
    assert {part["kind"] for part in disorder.list_parts()} >= {"model", "data", "check"}


def test_every_public_function_is_used_by_the_example(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    script = ROOT / "examples" / "every_function.py"
    text = script.read_text(encoding="utf-8")
    assert all(f"disorder.{name}(" in text for name in set(FUNCTIONS) - {"train"})  # needs torch
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
