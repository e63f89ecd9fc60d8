"""Masked language models: the pseudo-log-likelihood of texts (Salazar et al., 2020).

They predict no labels; an audit with `--score order_rank` asks how often the original text is
likelier than its permutation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.errors import BadModel, BadSetting, option
from disorder.models.causal import fingerprint_of, loaded_network
from disorder.models.inputs.batches import (
    Feed,
    FittingBatches,
    free_memory,
    max_input_length,
    thread_pool,
    token_budget,
)
from disorder.models.likelihood import LikelihoodModel
from disorder.registry import model
from disorder.types import Floats, Ints, Predictor, Task


@model(form="masked:NAME_OR_FOLDER", needs="transformers, torch", only_reads=True)
def masked(address: str, *, task: Task) -> Predictor:
    """A masked language model (BERT and its kin) from the hub or a folder, for --score order_rank
    only.
    """
    if not task.is_likelihood:
        raise BadModel(
            f"masked:{address} predicts no labels; measure it with {option('score', 'order_rank')}"
        )
    network, tokenizer = loaded_network("masked", address)
    scorer = MaskedNetwork(network, tokenizer)
    return LikelihoodModel(scorer, fingerprint_of("masked", address, network))


class MaskedNetwork(FittingBatches):
    """A masked language model and its tokenizer."""

    precisions = ("fp32", "bf16")

    def __init__(self, network: Any, tokenizer: Any) -> None:
        if tokenizer.mask_token_id is None:
            raise BadModel(f"{type(network).__name__} has no mask token")
        self.network = network.eval()
        self.tokenizer = tokenizer
        self.batch_size: int | None = None
        self.notes: list[str] = []
        self.max_length = max_input_length(
            {
                name: getattr(network.config, name, None)
                for name in ("max_position_embeddings", "model_type")
            }
        )
        self.budget = token_budget(network.config, self.max_length, free_memory(network))
        self.pool = thread_pool(network.device)

    def use_precision(self, precision: str) -> None:
        """Run in this number format from now on."""
        import torch

        if precision == "bf16":
            self.network = self.network.to(torch.bfloat16)
        elif precision != "fp32":
            raise BadSetting("masked", precision=precision, need="fp32 or bf16")

    def log_likelihoods(self, texts: Sequence[str], /) -> Floats:
        """The sum over tokens of the log-probability of each, when it alone is masked."""
        encoded = self.tokenizer(list(texts), return_special_tokens_mask=True)
        feeds: list[Feed] = []
        owners: list[int] = []
        rows = zip(encoded["input_ids"], encoded["special_tokens_mask"], strict=True)
        for number, (ids, special) in enumerate(rows):
            self._check_length(ids)
            places = np.flatnonzero(~np.array(special, dtype=bool))
            size = self.batch_size or max(1, self.budget // len(ids))
            for start in range(0, len(places), size):
                feeds.append(self._feed(ids, places[start : start + size]))
                owners.append(number)
        scores = np.zeros(len(texts))
        for number, found in zip(owners, self.each(self._fitted, feeds), strict=True):
            scores[number] += found.sum()
        return scores

    def _check_length(self, ids: Sequence[int]) -> None:
        if len(ids) > self.max_length:
            raise BadModel(
                f"a text has {len(ids):,} tokens, and the model takes {self.max_length:,}: leave "
                "out the longest texts"
            )

    def _feed(self, ids: Sequence[int], places: Ints) -> Feed:
        """One copy of a text per place, which is masked there."""
        copies = np.tile(np.array(ids, dtype=np.int64), (len(places), 1))
        hidden = copies[np.arange(len(places)), places].copy()
        copies[np.arange(len(places)), places] = self.tokenizer.mask_token_id
        return {"input_ids": copies, "places": places, "hidden": hidden}

    def _fitted(self, feed: Feed) -> Floats:
        return self.fitting(self._scored, feed)

    def _scored(self, feed: Feed) -> Floats:
        import torch

        rows = torch.arange(len(feed["places"]))
        with torch.inference_mode():
            inputs = torch.from_numpy(feed["input_ids"]).to(self.network.device)
            logits = self.network(input_ids=inputs).logits.float().cpu()
            found = torch.log_softmax(logits[rows, torch.from_numpy(feed["places"])], dim=-1)
        scores: Floats = found[rows, torch.from_numpy(feed["hidden"])].numpy().astype(np.float64)
        return scores
