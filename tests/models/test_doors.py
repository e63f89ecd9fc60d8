"""Doors: models as people have them, in a file, in memory, async, and what was probably meant."""

from __future__ import annotations

import asyncio
import io
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import disorder
from conftest import NLI, Command
from disorder.errors import BadModel
from disorder.models import load
from disorder.types import Task

TWO = Task("reviews", ("no", "yes"))
TEXTS = ["good good film", "a bad film", "good"]
ROWS = [
    {"text_a": f"{word} film number {i} here", "label": label}
    for i in range(12)
    for word, label in (("good", "yes"), ("bad", "no"))
]


def fitted() -> Any:
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = [str(row["text_a"]) for row in ROWS]
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        texts, [row["label"] for row in ROWS]
    )


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    joblib = pytest.importorskip("joblib", reason="needs scikit-learn")
    path = tmp_path / "sentiment.joblib"
    joblib.dump(fitted(), path)
    return path


def test_a_saved_estimator_is_loaded_where_the_user_trusts_it(saved: Path, tmp_path: Path) -> None:
    plain = tmp_path / "sentiment.pkl"
    plain.write_bytes(pickle.dumps(fitted()))
    wanted = fitted().predict_proba(TEXTS)
    for spec in (f"sklearn:{saved}", str(saved), saved, str(plain)):
        model = load(spec, task=TWO, options={"allow_pickle": True})
        np.testing.assert_allclose(model(TEXTS), wanted, atol=1e-6)
        assert model.name.startswith("sklearn:")
        assert model.fingerprint


def test_a_pickle_is_not_loaded_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "trap.pkl"
    trap.write_bytes(b"cos\nsystem\n(S'touch sprung'\ntR.")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadModel, match=r"can run any code.*allow_pickle"):
        load("trap.pkl", task=TWO)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(("answer", "is_loaded"), [("y\n", True), ("\n", False)])
def test_a_person_is_asked(
    saved: Path, monkeypatch: pytest.MonkeyPatch, answer: str, is_loaded: bool
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", told := Terminal())
    if is_loaded:
        load(f"sklearn:{saved}", task=TWO)
    else:
        with pytest.raises(BadModel, match="pickle"):
            load(f"sklearn:{saved}", task=TWO)
    assert "Load it?" in told.getvalue()


def test_an_estimator_is_audited_from_the_command_line(
    saved: Path, run: Command, jsonl: Callable[..., Path]
) -> None:
    data = jsonl(ROWS)
    code, _, told = run(
        "audit",
        saved,
        data,
        "--allow-pickle",
        "--q",
        2,
        "--short",
        "use",
        "--with",
        "derange",
        "--out",
        "here",
    )
    assert code == 0, told
    found = disorder.read_run("here")
    assert found.model == f"sklearn:{saved}"
    assert found["original", "accuracy"].value == 1
    code, _, told = run("audit", saved, data, "--q", 2)
    assert code == 2
    assert "--allow-pickle" in told


def test_a_function_or_object_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "models of mine"
    folder.mkdir()
    (folder / "beside_it.py").write_text("WORD = 'good'\n")
    (folder / "json.py").write_text(
        "from beside_it import WORD\n"
        "def predict(texts):\n    return ['yes' if WORD in text else 'no' for text in texts]\n"
        "class Kept:\n    predict = staticmethod(predict)\n"
    )
    monkeypatch.chdir(folder)
    # loading puts the folder there: processes of later tests would import this json
    monkeypatch.setattr(sys, "path", [*sys.path])
    for spec in ("json.py:predict", f"{folder}/json.py:predict", "python:json.py:predict"):
        assert load(spec, task=TWO)(TEXTS)[:, 1].tolist() == [1, 0, 1]
    import json

    assert json.dumps([1]) == "[1]", "the library of that name is still there"
    assert load("json.py:Kept.predict", task=TWO)(TEXTS)[:, 1].tolist() == [1, 0, 1]
    with pytest.raises(BadModel, match="no such file"):
        load("nowhere.py:predict", task=TWO)
    with pytest.raises(BadModel, match="absent"):
        load("json.py:absent", task=TWO)
    with pytest.raises(BadModel, match=r"json.py:FUNCTION"):
        load("json.py", task=TWO)


def test_an_async_function() -> None:
    async def predict(texts: list[str]) -> list[str]:
        await asyncio.sleep(0)
        return ["yes" if "good" in text else "no" for text in texts]

    assert load(predict, task=TWO)(TEXTS)[:, 1].tolist() == [1, 0, 1]

    async def in_a_notebook() -> Any:
        return load(predict, task=TWO)(TEXTS)

    assert asyncio.run(in_a_notebook())[:, 1].tolist() == [1, 0, 1]


def test_a_network_with_its_tokenizer(tiny_bert: Path) -> None:
    from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

    network = AutoModelForSequenceClassification.from_pretrained(tiny_bert)
    tokenizer = AutoTokenizer.from_pretrained(tiny_bert)
    texts: list[tuple[str, str | None]] = [("the man walks home", "a man walks"), ("no", "yes")]
    wanted = load(f"hf:{tiny_bert}", task=NLI)(texts)
    for given in ((network, tokenizer), (tokenizer, network), network):
        np.testing.assert_allclose(load(given, task=NLI)(texts), wanted, atol=1e-6)
    assert load((network, tokenizer), task=NLI).name == "BertForSequenceClassification"
    network.name_or_path = ""
    with pytest.raises(BadModel, match=r"\(model, tokenizer\)"):
        load(network, task=NLI)
    with pytest.raises(BadModel, match="predicts no labels of texts"):
        load((AutoModel.from_pretrained(tiny_bert), tokenizer), task=NLI)


def test_a_bare_torch_module_is_one_line() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    with pytest.raises(BadModel, match="takes no list of texts"):
        load(torch.nn.Linear(3, 2), task=TWO)(TEXTS)


@pytest.mark.parametrize("name", ["bert-base-uncased", "someone/some-model"])
def test_the_name_of_a_model_on_the_hub_gets_its_spec(name: str) -> None:
    with pytest.raises(BadModel, match=f"did you mean hf:{name}"):
        load(name, task=TWO)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ([], "is no transformers model"),
        (["config.json"], "has no weights"),
        (["config.json", "pytorch_model.bin"], "its weights are pickled"),
        (None, "no such folder"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said_before_torch_is_there(
    tmp_path: Path, files: list[str] | None, line: str
) -> None:
    folder = tmp_path / "model"
    if files is not None:
        folder.mkdir()
        for name in files:
            (folder / name).write_text("{}")
    code = (
        "import sys\nfrom disorder.models import load\nfrom disorder.types import Task\n"
        f"try:\n    load('hf:{folder}', task=Task('t', ('no', 'yes')))\n"
        "except Exception as error:\n    print(error, 'torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert line in done.stdout
    assert done.stdout.strip().endswith("False")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ((), "is no transformers model"),
        (("config.json",), "has no weights"),
        (("config.json", "model.safetensors"), "has no vocabulary"),
        (("config.json", "model.safetensors", "vocab.txt"), "predicts cat, dog; the data's labels"),
    ],
)
def test_a_broken_folder_fails_before_torch_is_imported(
    files: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    config = {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {"0": "cat", "1": "dog"},
    }
    for name in files:
        (tmp_path / name).write_text(json.dumps(config) if name == "config.json" else "")
    code = (
        "import sys\n"
        "from disorder.errors import BadModel\n"
        "from disorder.models import load\n"
        "from disorder.types import Task\n"
        "try:\n"
        "    load(sys.argv[1], task=Task('two', ('no', 'yes'), 'a'))\n"
        "except BadModel as error:\n"
        "    print('torch' in sys.modules, error)\n"
    )
    words = [sys.executable, "-c", code, f"hf:{tmp_path}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False ")
    assert told in done.stdout
