"""Hugging Face sequence classifiers, by name or from a folder, on a GPU where there is one."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel, BadSetting, MissingPackage
from disorder.predict._answers import softmax
from disorder.predict._batches import by_length
from disorder.predict._tokens import Encoded, WordTokens
from disorder.registry import model
from disorder.types import Floats, Predictor, Task, Texts


@model(form="hf:NAME_OR_FOLDER", needs="transformers, torch")
def hf(address: str, *, task: Task) -> Predictor:
    """A transformers sequence classifier from the hub or a folder (safetensors only); labels come from its config."""
    try:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingPackage(f"hf:{address}", "transformers", "hf") from error
    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(address)
        network = AutoModelForSequenceClassification.from_pretrained(address, dtype=torch.float32, use_safetensors=True)
    except (OSError, ValueError, KeyError) as error:
        raise BadModel(f"hf:{address} cannot be loaded: {(str(error).splitlines() or [''])[0]}") from None
    return Transformer(network.to(_device(torch)), tokenizer, f"hf:{_hash(address, network)}")


def from_pipeline(pipeline: Any) -> Predictor:
    """The model and tokenizer inside a transformers pipeline, without its slow batching."""
    return Transformer(pipeline.model, pipeline.tokenizer, "")


class Transformer:
    """A transformers classifier; inputs of equal length run together, without padding."""

    is_costly = True

    def __init__(self, network: Any, tokenizer: Any, fingerprint: str, *, batch_size: int | None = None) -> None:
        self.network, self.tokenizer, self.fingerprint = network.eval(), tokenizer, fingerprint
        self.batch_size = batch_size
        names = network.config.id2label
        self.labels = tuple(str(names[i]) for i in sorted(names)) if network.config.num_labels > 1 else ()
        self.max_length = _max_length(network.config, tokenizer)
        self.tokens = _word_tokens(tokenizer, self.max_length)
        self.notes = [] if self.tokens is None else self.tokens.notes
        self.assembling = 0.0

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row a text (one number a text for a regression model)."""
        began = time.perf_counter()
        encoded = self._encode(texts)
        logits = np.empty((len(texts), max(1, len(self.labels))))
        batches = list(by_length([len(e.ids) for e in encoded], batch_size=self.batch_size))
        feeds = [self._feed([encoded[i] for i in batch]) for batch in batches]
        self.assembling += time.perf_counter() - began
        for batch, feed in zip(batches, feeds, strict=True):
            logits[batch] = self._forward(feed)
        return softmax(logits) if self.labels else logits

    def use_precision(self, precision: str) -> None:
        """Run in another number format from now on; int8 quantises the linear layers for the CPU."""
        import torch

        if precision == "bf16":
            self.network = self.network.to(torch.bfloat16)
        elif precision == "int8":
            self.network = quantised(self.network)
        else:
            raise BadSetting("audit", precision=precision, need="fp32, bf16, int8 or auto")

    def _forward(self, feed: dict[str, Any]) -> Floats:
        """Logits of one batch; a batch that does not fit in memory is halved."""
        import torch

        try:
            with torch.inference_mode():
                inputs = {name: torch.from_numpy(array).to(self.network.device) for name, array in feed.items()}
                logits: Floats = self.network(**inputs).logits.float().cpu().numpy()
                return logits
        except torch.OutOfMemoryError:
            n = len(feed["input_ids"])
            if n == 1:
                raise
            self.notes.append(f"a batch of {n} did not fit in memory; smaller ones are used")
            self.batch_size = max(1, n // 2)
            halves = [{name: array[part] for name, array in feed.items()} for part in (slice(n // 2), slice(n // 2, n))]
            return np.concatenate([self._forward(half) for half in halves])

    def _encode(self, texts: Sequence[Texts]) -> list[Encoded]:
        if self.tokens is not None:
            return self.tokens.encode(texts)
        first, second = [a for a, _ in texts], [b for _, b in texts]
        pairs = None if not second or second[0] is None else second
        given = self.tokenizer(first, pairs, truncation=True, max_length=self.max_length)
        types = given.get("token_type_ids") or [[0] * len(ids) for ids in given["input_ids"]]
        return [Encoded(ids, kinds) for ids, kinds in zip(given["input_ids"], types, strict=True)]

    def _feed(self, encoded: Sequence[Encoded]) -> dict[str, Any]:
        ids = np.array([e.ids for e in encoded], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if "token_type_ids" in self.tokenizer.model_input_names:
            feed["token_type_ids"] = np.array([e.type_ids for e in encoded], dtype=np.int64)
        return feed


def _word_tokens(tokenizer: Any, max_length: int) -> WordTokens | None:
    """Tokenising from kept words, for tokenizers that have a fast core."""
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is None:
        return None
    own = type(core).from_str(core.to_str())
    own.no_padding()
    own.enable_truncation(max_length)
    return WordTokens(own, max_length)


def quantised(network: Any) -> Any:
    """The network with its linear layers in int8, their inputs quantised as they come."""
    import torch

    return torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, dtype=torch.qint8)


def _max_length(config: Any, tokenizer: Any) -> int:
    """The longest input that both model and tokenizer allow (RoBERTa keeps two positions for itself)."""
    positions = getattr(config, "max_position_embeddings", None) or 512
    if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert", "longformer"):
        positions -= 2
    return int(min(positions, tokenizer.model_max_length))


def _device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _hash(address: str, network: Any) -> str:
    """A hash of the weights' file where it is local, else the hub's commit."""
    commit = getattr(network.config, "_commit_hash", None)
    if commit:
        return f"{address}@{commit}"
    hashed = blake2b(json.dumps(network.config.to_dict(), sort_keys=True, default=str).encode(), digest_size=16)
    for path in sorted(Path(address).glob("*.safetensors")):
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                hashed.update(block)
    return hashed.hexdigest()
