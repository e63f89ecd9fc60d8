"""ONNX models as people ship them: any file name, no config.json, outputs of any name or form."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from conftest import NLI
from disorder.errors import BadModel
from disorder.models import load
from disorder.models.outputs import softmax
from disorder.types import Floats, Task
from tiny_onnx import onnx_of, word_tokenizer

TWO = Task("mail", ("benign", "injection"))
NAMED = {"0": "benign", "1": "injection"}
TEXTS = ["the man walks", "a woman sleeps", "the the the"]


def shipped(folder: Path, table: Floats, name: str = "mini_semantic.onnx", **more: str) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "weights").write_bytes(table.astype(np.float32).tobytes())
    (folder / name).write_bytes(onnx_of("weights", table.shape, **more))
    word_tokenizer(folder)
    return folder


def table_of(n_columns: int) -> Floats:
    return np.random.default_rng(0).normal(size=(300, n_columns))


def sums(folder: Path, table: Floats) -> Floats:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    rows = [table.astype(np.float32)[tokenizer.encode(text).ids].sum(axis=0) for text in TEXTS]
    return np.array(rows, dtype=np.float64)


@pytest.mark.parametrize("output", ["logits", "predictions"])
def test_a_folder_with_one_file_of_any_name_and_labels_from_the_user(
    tmp_path: Path, output: str
) -> None:
    folder = shipped(tmp_path, table_of(2), output=output)
    for spec in (f"onnx:{folder}", f"onnx:{folder / 'mini_semantic.onnx'}"):
        found = load(spec, task=TWO, labels=NAMED)(TEXTS)
        np.testing.assert_allclose(found, softmax(sums(folder, table_of(2))), atol=1e-5)


def test_columns_without_names_are_asked_for(tmp_path: Path) -> None:
    folder = shipped(tmp_path, table_of(2))
    with pytest.raises(BadModel, match="0=benign,1=injection"):
        load(f"onnx:{folder}", task=TWO)


def test_one_output_is_the_second_of_two_labels_or_a_number(tmp_path: Path) -> None:
    table = table_of(1)
    folder = shipped(tmp_path, table)
    two = load(f"onnx:{folder}", task=TWO, labels=NAMED)
    np.testing.assert_allclose(
        two(TEXTS)[:, 1], 1 / (1 + np.exp(-sums(folder, table)[:, 0])), atol=1e-5
    )
    assert any("sigmoid" in note for note in two.notes)
    number = load(f"onnx:{folder}", task=Task("sts"))
    np.testing.assert_allclose(number(TEXTS), sums(folder, table), atol=1e-5)


def test_several_files_must_be_named(tmp_path: Path) -> None:
    folder = shipped(tmp_path, table_of(2))
    shutil.copy(folder / "mini_semantic.onnx", folder / "other.onnx")
    with pytest.raises(BadModel, match=r"mini_semantic.onnx, other.onnx: name the one"):
        load(f"onnx:{folder}", task=TWO, labels=NAMED)
    load(f"onnx:{folder}/other.onnx", task=TWO, labels=NAMED)


def test_the_longest_input_is_that_of_the_tokenizer(tmp_path: Path) -> None:
    table = table_of(2)
    folder = shipped(tmp_path, table)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 2}))
    found = load(f"onnx:{folder}", task=TWO, labels=NAMED)(
        [TEXTS[0], " ".join(TEXTS[0].split()[:2])]
    )
    np.testing.assert_array_equal(found[0], found[1])


def test_what_is_missing_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="no such file or folder"):
        load(f"onnx:{tmp_path}/nowhere", task=NLI)
    with pytest.raises(BadModel, match=r"no \*.onnx file"):
        load(f"onnx:{tmp_path}", task=NLI)
    (tmp_path / "any.onnx").touch()
    with pytest.raises(BadModel, match=r"no tokenizer.json"):
        load(f"onnx:{tmp_path}", task=NLI)


def test_a_file_is_another_model_when_its_weights_change(tmp_path: Path) -> None:
    folder = shipped(tmp_path, table_of(2))
    spec = f"onnx:{folder}/mini_semantic.onnx"
    before = load(spec, task=TWO, labels=NAMED).fingerprint
    shipped(tmp_path, table_of(2) + 1)
    assert load(spec, task=TWO, labels=NAMED).fingerprint != before
