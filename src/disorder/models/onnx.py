"""ONNX folders: model.onnx, tokenizer.json, and config.json with the labels. Needs no torch."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.fingerprints import folder_fingerprint
from disorder.models.inputs.batches import by_length, max_input_length, n_threads
from disorder.models.inputs.token_blocks import EncodedInputs
from disorder.models.inputs.tokens import WordTokens
from disorder.models.outputs import softmax
from disorder.registry import model
from disorder.types import Floats, Ints, Predictor, Task, Texts, TokenUnit, Variants

BUDGET = 1024  # tokens in a batch; several run side by side


@model(form="onnx:FOLDER", only_reads=True)
def onnx(address: str, *, task: Task) -> Predictor:
    """A classifier exported to ONNX, in a folder with its tokenizer.json and config.json."""
    return Onnx(Path(address))


class Onnx:
    """An ONNX classifier; inputs of equal length run together, without padding."""

    def __init__(
        self, folder: Path, *, batch_size: int | None = None, is_costly: bool = True
    ) -> None:
        config = _config(folder)
        names = config.get("id2label", {})
        self.labels = tuple(names[key] for key in sorted(names, key=int)) if len(names) > 1 else ()
        self.batch_size = batch_size
        self.is_costly = is_costly
        max_length = max_input_length(config)
        self.tokens = WordTokens(_tokenizer(folder, max_length), max_length)
        self.notes = self.tokens.notes
        self.input_seconds = 0.0
        self.session = _session(folder / "model.onnx")
        self.fingerprint = "onnx:" + folder_fingerprint(folder)
        self._pool = ThreadPoolExecutor(n_threads())
        self._inputs = [entry.name for entry in self.session.get_inputs()]

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row per text (a number per text where the model has one output)."""
        began = time.perf_counter()
        encoded = self.encode(texts)
        self.input_seconds += time.perf_counter() - began
        return self._predict(encoded)

    def predict_variants(self, variants: Sequence[Variants], /) -> Floats:
        """Probabilities, one row per variant, from word positions."""
        began = time.perf_counter()
        encoded = self.tokens.encode_variants(variants)
        self.input_seconds += time.perf_counter() - began
        return self._predict(encoded)

    def token_units(self, texts: Texts, /) -> list[list[TokenUnit]]:
        """The tokens of each text, as units that can be moved."""
        return [self.tokens.units(text) for text in texts if text is not None]

    def _predict(self, encoded: EncodedInputs) -> Floats:
        began = time.perf_counter()
        lengths = encoded.lengths.tolist()
        batches = list(by_length(lengths, batch_size=self.batch_size, budget=BUDGET))
        feeds = [self.feed_of(*encoded.batch(members)) for members in batches]
        self.input_seconds += time.perf_counter() - began
        logits = np.empty((len(encoded), max(1, len(self.labels))))
        for members, outputs in zip(batches, self._pool.map(self.forward, feeds), strict=True):
            logits[members] = outputs
        return logits if len(self.labels) < 2 else softmax(logits)

    def encode(self, texts: Sequence[Texts]) -> EncodedInputs:
        """Token numbers of texts, as the tokenizer gives them."""
        return EncodedInputs.of_lists(self.tokens.encode(texts))

    def forward(self, feed: dict[str, Any]) -> Floats:
        """The logits of one batch."""
        logits: Floats = self.session.run(None, feed)[0]
        return logits

    def feed_of(self, ids: Ints, type_ids: Ints) -> dict[str, Any]:
        """The arrays of one batch, as the session takes them."""
        arrays = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": type_ids,
        }
        return {name: arrays[name] for name in self._inputs if name in arrays}


def _config(folder: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise BadModel(
            f"onnx:{folder}: need a folder with model.onnx, tokenizer.json and config.json "
            f"({error})"
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
    # batches run side by side instead: for small models that is quicker
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
