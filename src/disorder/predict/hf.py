"""Hugging Face sequence classifiers, by name or from a folder, on a GPU where there is one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel, MissingPackage
from disorder.predict._answers import softmax
from disorder.predict._batches import by_length
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

    def __init__(self, network: Any, tokenizer: Any, fingerprint: str, *, batch_size: int | None = None) -> None:
        self.network, self.tokenizer, self.fingerprint = network.eval(), tokenizer, fingerprint
        self.batch_size = batch_size
        names = network.config.id2label
        self.labels = tuple(str(names[i]) for i in sorted(names)) if network.config.num_labels > 1 else ()
        self.max_length = _max_length(network.config, tokenizer)

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row a text (one number a text for a regression model)."""
        import torch

        encoded = self._encode(texts)
        logits = np.empty((len(texts), max(1, len(self.labels))))
        with torch.inference_mode():
            for batch in by_length([len(ids) for ids in encoded["input_ids"]], batch_size=self.batch_size):
                inputs = {k: torch.tensor([v[i] for i in batch], device=self.network.device) for k, v in encoded.items()}
                logits[batch] = self.network(**inputs).logits.float().cpu().numpy()
        return softmax(logits) if self.labels else logits

    def _encode(self, texts: Sequence[Texts]) -> dict[str, list[list[int]]]:
        first, second = [a for a, _ in texts], [b for _, b in texts]
        pairs = None if not second or second[0] is None else second
        return dict(self.tokenizer(first, pairs, truncation=True, max_length=self.max_length))


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
