"""The fingerprint contract: a model's fingerprint changes with every file, setting or address that
can change an answer, and with nothing else.

The prediction cache, `--resume` and the binding of sample parts rely on it. A new kind of model
joins by an entry in `MADE`, or says in `FIXED` why nothing about it can change.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import NLI, pairs
from disorder.models import load
from disorder.registry import ModelPart, parts
from tiny_onnx import onnx_of, word_tokenizer

FIXED = {
    "builtin": "its files are part of the package",
    "uniform": "a seed; no file",
    "always": "a label; no file",
    "python": "the source of the function; see test_a_function_is_its_source",
}
# kinds whose contract is tested where they are: beside their servers, with their weights
ELSEWHERE = {
    "causal": "tests/models",
    "masked": "tests/models",
    "openai": "tests/models",
    "sklearn": "tests/models/test_doors.py",
}
# kinds that are loaded by the function of another one
SAME = {**dict.fromkeys(("infersent", "convnet", "esim", "transformer"), "bilstm"), "rerank": "hf"}


def bow_folder(folder: Path) -> str:
    from disorder.models.bow import fit

    fit(pairs(12), list(NLI.labels), epochs=1).save(folder)
    return f"bow:{folder}"


def network_folder(name: str) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        pytest.importorskip("torch", reason="needs torch")
        from disorder.verbs.train import train

        settings = {"epochs": 1, "width": 8} if name != "transformer" else {"epochs": 1}
        train("plain", pairs(24), out=folder, model=name, settings=settings)
        return f"{name}:{folder}"

    return make


def onnx_folder(folder: Path) -> str:
    """A small classifier (the sum of one row per word) whose weights lie in a file of their own,
    which has the name of one that nobody reads.
    """
    folder.mkdir(parents=True)
    table = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    (folder / "weights.log").write_bytes(table.tobytes())
    (folder / "model.onnx").write_bytes(onnx_of("weights.log", table.shape))
    labels = {str(i): label for i, label in enumerate(NLI.labels)}
    (folder / "config.json").write_text(json.dumps({"id2label": labels, "vocab_size": 300}))
    word_tokenizer(folder)
    return f"onnx:{folder}"


def embedder_folder(folder: Path) -> str:
    """An embedder: the sum of one row per word is as good a vector as any."""
    return f"embed:{onnx_folder(folder).partition(':')[2]}"


MADE: dict[str, Callable[[Path], str]] = {
    "embed": embedder_folder,
    "bow": bow_folder,
    "onnx": onnx_folder,
    "bilstm": network_folder("bilstm"),
}
READ_BY_NOBODY = (
    "result.json",
    "training.json",
    "README.md",
    "notes.log",
    "picture.png",
    ".hidden",
)


def fingerprint(spec: str) -> str:
    return load(spec, task=NLI).fingerprint


def test_every_kind_of_model_is_under_the_contract() -> None:
    own = {name for name, entry in parts(ModelPart).items() if entry.is_built_in}
    assert own - {*ELSEWHERE, *SAME} == {*FIXED, *MADE, "hf"}, "add the new kind to MADE"


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """One folder of each kind, made once."""
    made: dict[str, str] = {}

    def get(kind: str) -> str:
        if kind not in made:
            made[kind] = MADE[kind](tmp_path_factory.mktemp("contract") / kind)
        return made[kind]

    return get


@pytest.fixture
def model(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A copy of a model folder that a test may change: its spec, and the folder."""
    kind = request.param
    if kind == "hf":
        source = request.getfixturevalue("tiny_bert")
    else:
        source = Path(request.getfixturevalue("folders")(kind).partition(":")[2])
    folder = tmp_path / "model"
    shutil.copytree(source, folder)
    return f"{kind}:{folder}", folder


KINDS = pytest.mark.parametrize("model", [*MADE, "hf"], indirect=True)


@KINDS
def test_it_does_not_depend_on_time_place_or_notes(model: tuple[str, Path], tmp_path: Path) -> None:
    spec, folder = model
    before = fingerprint(spec)
    assert before
    for name in READ_BY_NOBODY:
        (folder / name).write_text("a note\n")
    assert fingerprint(spec) == before
    moved = tmp_path / "elsewhere"
    folder.rename(moved)
    assert fingerprint(f"{spec.partition(':')[0]}:{moved}") == before


@KINDS
def test_every_file_counts(model: tuple[str, Path]) -> None:
    """Each file is changed in a way that still loads, and the fingerprint changes."""
    spec, folder = model
    before = fingerprint(spec)
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name not in READ_BY_NOBODY]
    n_tried = 0
    for path in files:
        content = path.read_bytes()
        for other in changes(path, content):
            path.write_bytes(other)
            assert folder_hash(spec, folder) != before, path.name
            n_tried += 1
        path.write_bytes(content)
    assert n_tried >= 2
    assert fingerprint(spec) == before


@KINDS
def test_a_new_file_and_a_calibration_count(model: tuple[str, Path]) -> None:
    spec, folder = model
    before = fingerprint(spec)
    (folder / "adapter_model.safetensors").write_bytes(b"x")
    assert folder_hash(spec, folder) != before
    (folder / "adapter_model.safetensors").unlink()
    (folder / "calibration.json").write_text('{"temperature": 2.0}')
    assert fingerprint(spec) != before


def changes(path: Path, content: bytes) -> list[bytes]:
    """Other contents of the same length and of another one."""
    last = bytes([content[-1] ^ 1]) if content else b""
    return [content[:-1] + last, content + b"\n"] if content else [b"\n"]


def folder_hash(spec: str, folder: Path) -> str:
    """The fingerprint without loading: a changed file need not load."""
    from disorder.models.fingerprints import folder_fingerprint

    return f"{spec.partition(':')[0]}:{folder_fingerprint(folder)}"


def test_changed_external_weights_are_asked_again(folders: Any, tmp_path: Path) -> None:
    """The weights of an ONNX model lie in another file, here one that is called a log: they change,
    and the cache is not believed.
    """
    folder = tmp_path / "model"
    shutil.copytree(Path(folders("onnx").partition(":")[2]), folder)
    texts = [(row["text_a"], row["text_b"]) for row in pairs(6)]
    first = load(f"onnx:{folder}", task=NLI, cache=tmp_path / "cache")
    before = first(texts)
    again = load(f"onnx:{folder}", task=NLI, cache=tmp_path / "cache")
    assert (again(texts) == before).all()
    assert again.counts["cached"] == 6
    path = folder / "weights.log"
    table = np.frombuffer(path.read_bytes(), np.float32).copy()
    path.write_bytes((-table).tobytes())
    other = load(f"onnx:{folder}", task=NLI, cache=tmp_path / "cache")
    assert not np.allclose(other(texts), before)
    assert other.counts["cached"] == 0


def test_a_function_is_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for i, label in enumerate(("neutral", "entailment")):
        (tmp_path / f"mine{i}.py").write_text(
            f"def f(texts):\n    return [{label!r}] * len(texts)\n"
        )
    assert fingerprint("python:mine0:f") != fingerprint("python:mine1:f")


def test_links_back_do_not_loop(tmp_path: Path) -> None:
    from disorder.models.fingerprints import folder_fingerprint

    (tmp_path / "weights").write_bytes(b"x")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert folder_fingerprint(tmp_path)


def test_an_encoder_that_changes_under_a_comparison_is_noticed(
    tiny_bert: Path, tmp_path: Path
) -> None:
    """`study`, `designs` and `mitigations` go on in their folder: not with another encoder."""
    pytest.importorskip("torch", reason="needs torch")
    from disorder.errors import DisorderError
    from disorder.verbs.train import TrainingRequest, TrainingSource, train_once

    encoder = tmp_path / "encoder"
    shutil.copytree(tiny_bert, encoder)
    request = TrainingRequest(model=f"hf:{encoder}", limit=16, settings={"epochs": "1"})
    source = TrainingSource.of(request)
    spec = train_once(request, source, out=tmp_path / "trained")
    assert train_once(request, source, out=tmp_path / "trained") == spec
    config = json.loads((encoder / "config.json").read_text()) | {"hidden_dropout_prob": 0.3}
    (encoder / "config.json").write_text(json.dumps(config))
    with pytest.raises(DisorderError, match="another model"):
        train_once(request, source, out=tmp_path / "trained")
