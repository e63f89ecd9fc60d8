"""Models as ONNX folders: model.onnx, tokenizer.json, config.json with the labels. Needs no torch."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.inputs.batches import by_length, max_input_length, n_threads
from disorder.models.inputs.tokens import WordTokens
from disorder.models.outputs.probabilities import softmax
from disorder.registry import model
from disorder.types import Floats, Predictor, Task, Texts

BUDGET = 1024  # tokens in a batch; several run side by side


@model(form="onnx:FOLDER")
def onnx(address: str, *, task: Task) -> Predictor:
    """A sequence classifier exported to ONNX, in a folder with its tokenizer.json and config.json."""
    return Onnx(Path(address))


class Onnx:
    """An ONNX classifier; inputs of equal length run together, without padding."""

    is_costly = True

    def __init__(self, folder: Path, *, batch_size: int | None = None) -> None:
        config = _config(folder)
        names = config.get("id2label", {})
        self.labels = tuple(names[key] for key in sorted(names, key=int)) if len(names) > 1 else ()
        self.batch_size = batch_size
        max_length = max_input_length(config)
        self.tokens = WordTokens(_tokenizer(folder, max_length), max_length)
        self.notes = self.tokens.notes
        self.assembling = 0.0
        self.session = _session(folder / "model.onnx")
        self._pool = ThreadPoolExecutor(n_threads())
        self.fingerprint = "onnx:" + _hash(folder)
        self._inputs = [entry.name for entry in self.session.get_inputs()]

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row a text (one number a text for a model with a single output)."""
        began = time.perf_counter()
        encoded = self.tokens.encode(texts)
        logits = np.empty((len(texts), max(1, len(self.labels))))
        feeds = [
            (batch, self._feed([encoded[i] for i in batch]))
            for batch in by_length(
                [len(e.ids) for e in encoded], batch_size=self.batch_size, budget=BUDGET
            )
        ]
        self.assembling += time.perf_counter() - began
        for (batch, _), answers in zip(
            feeds, self._pool.map(self._run, [feed for _, feed in feeds]), strict=True
        ):
            logits[batch] = answers
        return logits if len(self.labels) < 2 else softmax(logits)

    def _run(self, feed: dict[str, Any]) -> Floats:
        logits: Floats = self.session.run(None, feed)[0]
        return logits

    def _feed(self, encoded: Sequence[Any]) -> dict[str, Any]:
        columns = {
            "input_ids": [e.ids for e in encoded],
            "attention_mask": [[1] * len(e.ids) for e in encoded],
            "token_type_ids": [e.type_ids for e in encoded],
        }
        return {
            name: np.array(columns[name], dtype=np.int64)
            for name in self._inputs
            if name in columns
        }


def _config(folder: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise BadModel(
            f"onnx:{folder}: need a folder with model.onnx, tokenizer.json and config.json ({error})"
        ) from None
    return config


def _tokenizer(folder: Path, max_length: int) -> Any:
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.exists():
        raise BadModel(
            f"onnx:{folder}: no tokenizer.json; save the fast tokenizer beside the model"
        )
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(max_length)
    tokenizer.no_padding()
    return tokenizer


def _session(path: Path) -> Any:
    import onnxruntime

    if not path.exists():
        raise BadModel(f"onnx:{path.parent}: no model.onnx; export the model there")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = (
        1  # batches run side by side instead: for small models that is quicker
    )
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _hash(folder: Path) -> str:
    hashed = blake2b(digest_size=16)
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        hashed.update((folder / name).read_bytes())
    return hashed.hexdigest()
