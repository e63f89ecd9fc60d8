"""Any encoder of transformers with a head for labels or for spans: BERT and its family, by name or
from a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.outputs.answer_spans import is_question_answering
from disorder.types import Texts
from disorder.verbs.train.learner import SPANS, number, same_labels


class Encoder:
    """An AutoModelForSequenceClassification, or with labels SPANS an AutoModelForQuestionAnswering,
    and its tokenizer.

    A model that answers the task's labels already keeps its head (so that a recipe can go on from a
    fine-tuned one); else the head is new.
    """

    form = "hf"
    lr, epochs = 2e-5, 3

    def __init__(
        self, address: str, labels: tuple[str, ...], max_length: int, *, seed: int
    ) -> None:
        self.network, self.tokenizer, finds_spans = _loaded(address, labels)
        own = self.network.config.id2label
        self.labels, self.columns = labels, same_labels([str(own[i]) for i in sorted(own)], labels)
        _give_padding(self.tokenizer, self.network.config)
        self.max_length = min(
            max_length, self.tokenizer.model_max_length, _longest(self.network.config)
        )
        if not (finds_spans if labels == SPANS else self.columns):
            self.new_head(labels, is_pair=False, seed=seed)

    def encode(self, texts: Sequence[Texts]) -> list[dict[str, list[int]]]:
        """Token numbers, and which text a token is of where the model asks for it."""
        first, second = [a for a, _ in texts], [b for _, b in texts]
        pairs = None if second[0] is None else second
        given = self.tokenizer(first, pairs, truncation=True, max_length=self.max_length)
        names = [name for name in ("input_ids", "token_type_ids") if name in given]
        return [{name: given[name][i] for name in names} for i in range(len(texts))]

    def length(self, encoded: dict[str, list[int]]) -> int:
        """Tokens of both texts."""
        return len(encoded["input_ids"])

    def feed(self, encoded: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
        """Tokens padded to the longest, and which of them are real."""
        lengths = np.array([len(each["input_ids"]) for each in encoded])
        places = np.arange(lengths.max())[None, :]
        # XLNet is padded on the left: its answer stands in the last place. Spans have places of
        # their own.
        is_left = self.tokenizer.padding_side == "left" and "allowed" not in encoded[0]
        is_real = (
            places >= lengths.max() - lengths[:, None] if is_left else places < lengths[:, None]
        )
        arrays = {"attention_mask": is_real.astype(np.int64)}
        for name in encoded[0]:
            filler = self.tokenizer.pad_token_id if name == "input_ids" else 0
            arrays[name] = np.full(is_real.shape, filler, dtype=np.int64)
            arrays[name][is_real] = np.concatenate([each[name] for each in encoded])
        return arrays

    def logits(self, network: Any, given: dict[str, Any]) -> Any:
        """Logits of a batch, in the order of our labels; of starts and ends for spans, −∞ where no
        answer can be.
        """
        if "allowed" in given:
            return _span_logits(network, given)
        found = network(**given).logits
        return found if self.columns is None else found[:, self.columns]

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Keep the encoder, draw the rest again."""
        import torch

        config = type(self.network.config).from_dict(self.network.config.to_dict())
        config.num_labels = max(1, len(labels))
        config.problem_type = (
            None if labels == SPANS else "single_label_classification" if labels else "regression"
        )
        if labels and labels != SPANS:
            config.id2label, config.label2id = (
                dict(enumerate(labels)),
                {label: i for i, label in enumerate(labels)},
            )
        with torch.random.fork_rng():
            torch.manual_seed(number(seed, "head", *labels))
            fresh = _kind(labels).from_config(config)
        _keep_encoder(self.network.base_model, fresh.base_model)
        self.network, self.labels, self.columns = fresh.float(), labels, None

    def save(self, folder: Path) -> None:
        """As transformers writes it, in safetensors."""
        self.network.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def _give_padding(tokenizer: Any, config: Any) -> None:
    """A padding token for models that were pre-trained without one (GPT-2 and its kin): any will
    do, it is masked.
    """
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = tokenizer.pad_token_id


def _span_logits(network: Any, given: dict[str, Any]) -> Any:
    import torch

    found = network(**{name: value for name, value in given.items() if name != "allowed"})
    both = torch.stack([found.start_logits, found.end_logits], dim=-1).float()
    return both.masked_fill(given["allowed"][..., None] == 0, -torch.inf)


def _kind(labels: tuple[str, ...]) -> Any:
    from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification

    return AutoModelForQuestionAnswering if labels == SPANS else AutoModelForSequenceClassification


def _keep_encoder(before: Any, now: Any) -> None:
    """Copy all weights but those of a pooling layer that only one of the two has: it belongs to the
    head.
    """
    unlike = now.load_state_dict(before.state_dict(), strict=False)
    lost = [
        name
        for name in [*unlike.missing_keys, *unlike.unexpected_keys]
        if not name.startswith("pooler.")
    ]
    if lost:
        raise BadModel(
            f"this model's head cannot be changed: its encoder would lose {', '.join(lost[:3])}"
        )


def _loaded(address: str, labels: tuple[str, ...]) -> tuple[Any, Any, bool]:
    """Network, tokenizer, and whether it was saved with a head for spans."""
    import torch
    from transformers import AutoConfig, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()  # a new head is what is wanted, and no reason to warn
    try:
        tokenizer = AutoTokenizer.from_pretrained(address)
        with torch.random.fork_rng():
            network = _kind(labels).from_pretrained(
                address, dtype=torch.float32, use_safetensors=True
            )
            finds_spans = is_question_answering(AutoConfig.from_pretrained(address))
    except (OSError, ValueError, KeyError) as error:
        raise BadModel(
            f"hf:{address} cannot be loaded: {(str(error).splitlines() or [''])[0]}"
        ) from None
    return network, tokenizer, finds_spans


def _longest(config: Any) -> int:
    from disorder.models.inputs.batches import max_input_length

    return max_input_length(
        {name: getattr(config, name, None) for name in ("max_position_embeddings", "model_type")}
    )
