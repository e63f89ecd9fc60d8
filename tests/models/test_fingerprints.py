"""Does a fingerprint change with every file that can change a prediction, and with nothing else?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from disorder.data.builtin import TASKS as BUILTIN
from disorder.models import load
from disorder.models.bow import N_FEATURES, Bow
from disorder.models.builtin import MODELS
from disorder.models.fingerprints import folder_fingerprint, hub_fingerprint
from disorder.types import Task

NLI = BUILTIN["nli"]
READ = [
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "merges.txt",
    "sentencepiece.bpe.model",
    "adapter_config.json",
    "adapter_model.safetensors",
    "model.onnx",
    "model.onnx_data",
    "weights/layer.0.weight",
    "vocabulary.json",
    "weights.npz",
]
UNREAD = [
    "README.md",
    "result.json",
    "training.json",
    "calibration.json",
    ".gitattributes",
    ".git/HEAD",
    "checkpoints/newest.json",
    "audit/run.json",
    "audit/samples/part.parquet",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (*READ, *UNREAD):
        path = tmp_path / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return tmp_path / "model"


@pytest.mark.parametrize("name", READ)
def test_every_file_that_is_read_counts(folder: Path, name: str) -> None:
    before = folder_fingerprint(folder)
    (folder / name).write_text('{"another": 1}')
    changed = folder_fingerprint(folder)
    (folder / name).unlink()
    assert len({before, changed, folder_fingerprint(folder)}) == 3


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_never_read_does_not(folder: Path, name: str) -> None:
    before = folder_fingerprint(folder)
    (folder / name).write_text('{"another": 1}')
    assert folder_fingerprint(folder) == before


def test_it_is_of_content_and_not_of_place(folder: Path) -> None:
    before = folder_fingerprint(folder)
    shutil.copytree(folder, folder.with_name("copy"))
    assert folder_fingerprint(folder.with_name("copy")) == before
    (folder / "vocab.txt").rename(folder / "other.txt")
    assert folder_fingerprint(folder) != before


def test_an_adapter_depends_on_the_model_under_it(folder: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "model.safetensors").write_text("weights")
    settings = json.dumps({"base_model_name_or_path": str(base)})
    (folder / "adapter_config.json").write_text(settings)
    before = folder_fingerprint(folder)
    (base / "model.safetensors").write_text("other weights")
    assert folder_fingerprint(folder) != before


def test_a_model_of_the_hub_is_known_by_its_commit() -> None:
    assert hub_fingerprint("someone/model", "abc") == "someone/model@abc"
    assert hub_fingerprint("someone/model", None) == ""


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "model.safetensors"])
def test_hf_folders(tiny_bert: Path, tmp_path: Path, name: str) -> None:
    before = load(f"hf:{tiny_bert}", task=NLI).fingerprint
    folder = shutil.copytree(tiny_bert, tmp_path / "copy")
    assert load(f"hf:{folder}", task=NLI).fingerprint == before
    path = folder / name
    if name.endswith("json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": 40}))
    else:
        _change_weights(path)
    assert load(f"hf:{folder}", task=NLI).fingerprint != before


def _change_weights(path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(path)
    tensors["classifier.bias"] = tensors["classifier.bias"] + 1
    save_file(tensors, path, metadata={"format": "pt"})


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.onnx.data"])
def test_onnx_folders(tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(MODELS / "nli", tmp_path / "copy")
    before = load(f"onnx:{folder}", task=NLI).fingerprint
    with (folder / name).open("a") as file:
        file.write("\n")
    assert load(f"onnx:{folder}", task=NLI).fingerprint != before


@pytest.mark.parametrize("name", ["config.json", "weights.npz"])
def test_bags_of_words(tmp_path: Path, name: str) -> None:
    task = Task("two", ("no", "yes"))
    Bow(("no", "yes"), np.zeros((N_FEATURES, 2))).save(tmp_path)
    before = load(f"bow:{tmp_path}", task=task).fingerprint
    labels = ("yes", "no") if name == "config.json" else ("no", "yes")
    weights = np.ones((N_FEATURES, 2)) if name == "weights.npz" else np.zeros((N_FEATURES, 2))
    Bow(labels, weights).save(tmp_path)
    assert load(f"bow:{tmp_path}", task=task).fingerprint != before


def test_weights_in_memory_count_with_their_labels() -> None:
    weights = np.zeros((8, 2))
    prints = {
        Bow(labels, table).fingerprint
        for labels in (("no", "yes"), ("yes", "no"))
        for table in (weights, weights + 1)
    }
    assert len(prints) == 4
