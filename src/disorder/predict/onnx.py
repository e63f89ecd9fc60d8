"""Models as ONNX folders: model.onnx, tokenizer.json, config.json with the labels. Needs no torch."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.predict._answers import softmax
from disorder.predict._batches import by_length
from disorder.predict._tokens import WordTokens
from disorder.registry import model
from disorder.types import Floats, Predictor, Task, Texts


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
        self.labels = tuple(names[key] for key in sorted(names, key=int))
        self.batch_size = batch_size
        max_length = int(config.get("max_length", config.get("max_position_embeddings", 512)))
        self.tokens = WordTokens(_tokenizer(folder, max_length), max_length)
        self.notes = self.tokens.notes
        self.assembling = 0.0
        self.session = _session(folder / "model.onnx")
        self.fingerprint = "onnx:" + _hash(folder)
        self._inputs = [entry.name for entry in self.session.get_inputs()]

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row a text (one number a text for a model with a single output)."""
        began = time.perf_counter()
        encoded = self.tokens.encode(texts)
        logits = np.empty((len(texts), max(1, len(self.labels))))
        feeds = [
            (batch, self._feed([encoded[i] for i in batch]))
            for batch in by_length([len(e.ids) for e in encoded], batch_size=self.batch_size)
        ]
        self.assembling += time.perf_counter() - began
        for batch, feed in feeds:
            logits[batch] = self.session.run(None, feed)[0]
        return logits if len(self.labels) < 2 else softmax(logits)

    def _feed(self, encoded: Sequence[Any]) -> dict[str, Any]:
        columns = {
            "input_ids": [e.ids for e in encoded],
            "attention_mask": [[1] * len(e.ids) for e in encoded],
            "token_type_ids": [e.type_ids for e in encoded],
        }
        return {name: np.array(columns[name], dtype=np.int64) for name in self._inputs if name in columns}


def _config(folder: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise BadModel(f"onnx:{folder}: need a folder with model.onnx, tokenizer.json and config.json ({error})") from None
    return config


def _tokenizer(folder: Path, max_length: int) -> Any:
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.exists():
        raise BadModel(f"onnx:{folder}: no tokenizer.json; save the fast tokenizer beside the model")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(max_length)
    tokenizer.no_padding()
    return tokenizer


def _session(path: Path) -> Any:
    import onnxruntime

    if not path.exists():
        raise BadModel(f"onnx:{path.parent}: no model.onnx; export the model there")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _hash(folder: Path) -> str:
    hashed = blake2b(digest_size=16)
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        hashed.update((folder / name).read_bytes())
    return hashed.hexdigest()
