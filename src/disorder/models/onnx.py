"""ONNX classifiers as people ship them: a file or a folder, with a tokenizer.json. Needs no torch.

Labels come from config.json, else they are the numbers of the output's columns, which --labels
names. The output is the one called logits, else the only one with a row per text. The longest input
is what config.json says, else the tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.fingerprints import files_fingerprint, folder_fingerprint
from disorder.models.inputs.batches import Feed, TokenModel, max_input_length, n_threads
from disorder.models.inputs.tokens import PROBES, WordTokens
from disorder.models.outputs import are_shares
from disorder.registry import model
from disorder.types import Floats, Ints, Predictor, Task

BUDGET = 1024  # tokens in a batch; several run side by side
USUAL = "model.onnx"
LONGEST = 1_000_000  # tokens; what tokenizers say that have no limit is larger


@model(form="onnx:FOLDER_OR_FILE")
def onnx(address: str, *, task: Task) -> Predictor:
    """A classifier exported to ONNX: a file, or a folder with one, and its tokenizer.json; without
    a config.json, --labels says what its columns mean.
    """
    return Onnx(Path(address).expanduser(), splits=len(task.labels) == 2)


class Onnx(TokenModel):
    """An ONNX classifier; inputs of equal length run together, without padding."""

    def __init__(
        self,
        place: Path,
        *,
        batch_size: int | None = None,
        is_costly: bool = True,
        splits: bool = False,
    ) -> None:
        path = model_file(place)
        said = beside(path, "config.json")
        config = {} if said is None else _object(said)
        tokenizer = beside(path, "tokenizer.json")
        if tokenizer is None:
            raise BadModel(
                f"onnx:{place}: no tokenizer.json; save the fast tokenizer beside the model"
            )
        self.session = _session(path)
        self.output = self.chosen_output()
        self.batch_size = batch_size
        self.budget = BUDGET
        self.is_costly = is_costly
        max_length = _max_length(config, tokenizer)
        self.tokens: WordTokens = WordTokens(_tokenizer(tokenizer, max_length), max_length)
        self.notes = self.tokens.notes
        self.input_seconds = 0.0
        self.fingerprint = "onnx:" + (
            folder_fingerprint(place)
            if place.is_dir()
            else files_fingerprint([path, tokenizer, *filter(None, [said])])
        )
        self.pool = ThreadPoolExecutor(n_threads())
        self._inputs = {
            entry.name: np.int32 if "int32" in entry.type else np.int64
            for entry in self.session.get_inputs()
        }
        names = config.get("id2label", {})
        self.labels = tuple(names[key] for key in sorted(names, key=int)) if len(names) > 1 else ()
        if not names:
            self._find_out(splits)

    def chosen_output(self) -> str:
        """The name of the output that is read: logits, else the only one with a row per text."""
        found: dict[str, Any] = {entry.name: entry for entry in self.session.get_outputs()}
        if "logits" in found or len(found) == 1:
            return "logits" if "logits" in found else next(iter(found))
        rows = [name for name, entry in found.items() if _is_rows(entry)]
        if len(rows) != 1:
            raise BadModel(
                f"onnx: the outputs {', '.join(found)} do not say which one is the prediction; "
                "export the model with one that is called logits"
            )
        return rows[0]

    def _find_out(self, splits: bool) -> None:
        """Without a configuration: labels are numbers of columns, and a few texts show whether the
        network applies its softmax or sigmoid itself.
        """
        texts = [(a, None) for pair in PROBES for a in pair if a]
        encoded = self.encode(texts)
        feeds = [self.feed_of(*encoded.batch(np.array([i]))) for i in range(len(encoded))]
        rows = [self.forward(feed) for feed in feeds]
        if rows[0].ndim != 2:
            raise BadModel(
                f"onnx: the output {self.output} has {rows[0].ndim} dimensions, and a classifier "
                "gives a row of numbers per text; write embed: for an embedder"
            )
        found = np.concatenate(rows)
        n_columns = found.shape[1]
        if n_columns > 1:
            self.labels = tuple(map(str, range(n_columns)))
            self.form = "probabilities" if are_shares(found).all() else "logits"
        elif splits:
            self.labels = ("0", "1")
            is_share = ((found >= 0) & (found <= 1)).all()
            self.form = "share" if is_share else "logit"
            self.notes.append(
                f"the model has one output, {'read as' if is_share else 'whose sigmoid is'} the "
                "probability of label 1"
            )

    def forward(self, feed: Feed) -> Floats:
        """The output of one batch."""
        found: Floats = self.session.run([self.output], feed)[0]
        return found

    def feed_of(self, ids: Ints, type_ids: Ints) -> Feed:
        """The arrays of one batch, as the session takes them."""
        arrays = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": type_ids,
        }
        taken = [name for name in self._inputs if name in arrays]
        return {name: arrays[name].astype(self._inputs[name], copy=False) for name in taken}


def model_file(place: Path) -> Path:
    """The ONNX file that is meant: a file, or the only one in a folder or in its folder `onnx`."""
    if place.is_file():
        return place
    if not place.is_dir():
        raise BadModel(f"onnx:{place}: no such file or folder")
    if (place / USUAL).exists():
        return place / USUAL
    found = sorted([*place.glob("*.onnx"), *place.glob("onnx/*.onnx")])
    if not found:
        raise BadModel(f"onnx:{place}: no *.onnx file; export the model there")
    usual = [path for path in found if path.name == USUAL]
    if len(found) > 1 and len(usual) != 1:
        names = ", ".join(str(path.relative_to(place)) for path in found)
        raise BadModel(f"onnx:{place} has {names}: name the one that is meant")
    return (usual or found)[0]


def beside(path: Path, name: str) -> Path | None:
    """A file that belongs to a model: in its folder, or above one that is called onnx."""
    above = [path.parent.parent] if path.parent.name == "onnx" else []
    return next((each / name for each in (path.parent, *above) if (each / name).is_file()), None)


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadModel(f"onnx: {path} cannot be read ({error})") from None
    return found if isinstance(found, dict) else {}


def _max_length(config: Mapping[str, Any], tokenizer: Path) -> int:
    """The longest input, by the configuration of the model, else of its tokenizer."""
    if config.get("max_position_embeddings") or config.get("max_length"):
        return max_input_length(config)
    cut = _object(tokenizer).get("truncation")
    other = tokenizer.with_name("tokenizer_config.json")
    said = cut.get("max_length") if isinstance(cut, dict) else None
    if said is None and other.is_file():
        said = _object(other).get("model_max_length")
    is_limit = isinstance(said, int) and 0 < said < LONGEST
    return int(said) if is_limit and said is not None else max_input_length(config)


def _tokenizer(path: Path, max_length: int) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(max_length)
    tokenizer.no_padding()
    return tokenizer


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # batches run side by side instead: for small models that is quicker
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _is_rows(entry: Any) -> bool:
    return len(entry.shape) == 2 and "float" in entry.type
