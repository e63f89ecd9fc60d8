"""Trainable encoders: any encoder of transformers with a head for labels or for spans (BERT and its
family), by name or from a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.inputs.batches import max_input_length
from disorder.models.question_answering import is_question_answering
from disorder.store.hub import hub_access, why_not_loaded
from disorder.types import Bools, Texts
from disorder.verbs.train.trainable import SPANS, label_columns, torch_seed

Encoding = dict[str, list[int]]


class TrainableEncoder:
    """An AutoModelForSequenceClassification, or with labels SPANS an AutoModelForQuestionAnswering,
    and its tokenizer.

    A model that has the task's labels already keeps its head, so that a recipe can continue from a
    fine-tuned one; else the head is new.
    """

    form = "hf"
    lr = 2e-5
    epochs = 3

    def __init__(
        self, address: str, labels: tuple[str, ...], max_length: int, *, seed: int
    ) -> None:
        self.network, self.tokenizer, finds_spans = _load(address, labels)
        config = self.network.config
        own = [str(config.id2label[i]) for i in sorted(config.id2label)]
        self.labels = labels
        self.columns = label_columns(own, labels)
        # any padding token will do for models that were pre-trained without one: it is masked
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token or self.tokenizer.unk_token
        if getattr(config, "pad_token_id", None) is None:
            config.pad_token_id = self.tokenizer.pad_token_id
        facts = {n: getattr(config, n, None) for n in ("max_position_embeddings", "model_type")}
        longest = max_input_length(facts)
        self.max_length = min(max_length, self.tokenizer.model_max_length, longest)
        has_head = finds_spans if labels == SPANS else bool(self.columns)
        if not has_head:
            self.new_head(labels, is_pair=False, seed=seed)

    def encode(self, texts: Sequence[Texts]) -> list[Encoding]:
        """Token numbers, and which text a token is of where the model takes it."""
        first = [a for a, _ in texts]
        second = [b for _, b in texts]
        pairs = None if second[0] is None else second
        given = self.tokenizer(first, pairs, truncation=True, max_length=self.max_length)
        names = [name for name in ("input_ids", "token_type_ids") if name in given]
        return [{name: given[name][i] for name in names} for i in range(len(texts))]

    def length(self, encoded: Encoding) -> int:
        """The number of tokens of both texts."""
        return len(encoded["input_ids"])

    def collate(self, encoded: Sequence[Encoding]) -> dict[str, Any]:
        """Tokens padded to the longest, and which of them are real."""
        is_real = self._real_positions(encoded)
        arrays = {"attention_mask": is_real.astype(np.int64)}
        for name in encoded[0]:
            filler = self.tokenizer.pad_token_id if name == "input_ids" else 0
            arrays[name] = np.full(is_real.shape, filler, dtype=np.int64)
            arrays[name][is_real] = np.concatenate([each[name] for each in encoded])
        return arrays

    def _real_positions(self, encoded: Sequence[Encoding]) -> Bools:
        """Which positions of a padded batch hold a token."""
        lengths = np.array([len(each["input_ids"]) for each in encoded])
        positions = np.arange(lengths.max())[None, :]
        # XLNet is padded on the left: its prediction stands in the last place. Spans are places, so
        # they are always padded on the right.
        if self.tokenizer.padding_side == "left" and "allowed" not in encoded[0]:
            return np.asarray(positions >= lengths.max() - lengths[:, None])
        return np.asarray(positions < lengths[:, None])

    def logits(self, network: Any, inputs: dict[str, Any]) -> Any:
        """Logits of a batch, in the order of our labels; of spans, −∞ where none can be."""
        if "allowed" in inputs:
            return _span_logits(network, inputs)
        logits = network(**inputs).logits
        return logits if self.columns is None else logits[:, self.columns]

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Keep the encoder, draw the rest again."""
        import torch

        config = _config_for(self.network.config, labels)
        with torch.random.fork_rng():
            torch.manual_seed(torch_seed(seed, "head", *labels))
            fresh = _architecture(labels).from_config(config)
        _copy_encoder(self.network.base_model, fresh.base_model)
        self.network = fresh.float()
        self.labels = labels
        self.columns = None

    def save(self, folder: Path) -> None:
        """Write it as transformers does, in safetensors."""
        self.network.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def _config_for(config: Any, labels: tuple[str, ...]) -> Any:
    """A copy of a configuration, for a head with these labels."""
    copy = type(config).from_dict(config.to_dict())
    copy.num_labels = max(1, len(labels))
    if labels == SPANS:
        copy.problem_type = None
        return copy
    copy.problem_type = "single_label_classification" if labels else "regression"
    if labels:
        copy.id2label = dict(enumerate(labels))
        copy.label2id = {label: i for i, label in enumerate(labels)}
    return copy


def _span_logits(network: Any, inputs: dict[str, Any]) -> Any:
    import torch

    found = network(**{name: value for name, value in inputs.items() if name != "allowed"})
    both = torch.stack([found.start_logits, found.end_logits], dim=-1).float()
    return both.masked_fill(inputs["allowed"][..., None] == 0, -torch.inf)


def _architecture(labels: tuple[str, ...]) -> Any:
    from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification

    return AutoModelForQuestionAnswering if labels == SPANS else AutoModelForSequenceClassification


def _copy_encoder(before: Any, now: Any) -> None:
    """Copy all weights but those of a pooling layer that only one has: it is the head's."""
    unlike = now.load_state_dict(before.state_dict(), strict=False)
    names = [*unlike.missing_keys, *unlike.unexpected_keys]
    lost = [name for name in names if not name.startswith("pooler.")]
    if lost:
        raise BadModel(
            f"this model's head cannot be changed: its encoder would lose {', '.join(lost[:3])}"
        )


def _load(address: str, labels: tuple[str, ...]) -> tuple[Any, Any, bool]:
    """Network, tokenizer, and whether it was saved with a head for spans."""
    import torch
    from transformers import AutoConfig, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()  # a new head is what is wanted, and no reason to warn
    try:
        with hub_access(address), torch.random.fork_rng():
            tokenizer = AutoTokenizer.from_pretrained(address, trust_remote_code=False)
            network = _architecture(labels).from_pretrained(
                address, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
            )
            config = AutoConfig.from_pretrained(address, trust_remote_code=False)
            finds_spans = is_question_answering(config)
    except (OSError, ValueError, KeyError) as error:
        raise BadModel(why_not_loaded(address, error)) from None
    return network, tokenizer, finds_spans
