"""A transformers network with its tokenizer: batches without padding, threads, number formats.

What a model is used for (labels, answer spans) stands in `hf.py` and `question_answering.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np

from disorder.errors import BadModel, BadSetting
from disorder.models.importance.attention import encoder_attentions, encoder_heads, without_heads
from disorder.models.inputs.batches import (
    Feed,
    FittingBatches,
    TokenModel,
    by_length,
    free_memory,
    max_input_length,
    thread_pool,
    token_budget,
)
from disorder.models.inputs.token_blocks import Encoded, EncodedInputs
from disorder.models.inputs.tokens import (
    PROBES,
    Spans,
    WordTokens,
    is_fast,
    token_spans,
    whole_words,
)
from disorder.models.protocols import Head
from disorder.types import Floats, Ints, Pair, Texts


class HFNetwork(FittingBatches):
    """What classifiers and question answering models share."""

    is_costly = True
    precisions = ("fp32", "bf16", "int8")
    labels: tuple[str, ...]

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        fingerprint: str,
        *,
        batch_size: int | None = None,
        is_borrowed: bool = False,
    ) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer
        self.fingerprint = fingerprint
        self.batch_size = batch_size
        self.is_borrowed = is_borrowed  # the weights belong to someone else: never change them
        self.max_length = min(
            max_input_length(_positions(network.config)), tokenizer.model_max_length
        )
        self.notes: list[str] = []
        self.input_seconds = 0.0
        self.budget = token_budget(network.config, self.max_length, free_memory(network))
        self.pool = thread_pool(network.device)
        self._unquantised: Any = None

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row per text."""
        raise NotImplementedError

    def pieces(self, text: str) -> Spans:
        """Where the tokenizer's own tokens lie in a text."""
        if not is_fast(self.tokenizer):
            raise BadModel(
                "this model's tokenizer does not say where its tokens lie: it has no fast form"
            )
        return token_spans(self.tokenizer, text)

    def vocabulary(self) -> Sequence[str]:
        """The whole words among the tokenizer's tokens."""
        return self._whole_words

    @cached_property
    def _whole_words(self) -> list[str]:
        return whole_words(self.tokenizer)

    @cached_property
    def exact(self) -> Any:
        """The network in single precision, which gradients need, whatever predictions are in."""
        import torch

        network = self._unquantised or self.network
        is_exact = all(weights.dtype is torch.float32 for weights in network.parameters())
        return network if is_exact else deepcopy(network).float()

    def use_precision(self, precision: str) -> None:
        """Run in this number format from now on; int8 quantises the linear layers for a CPU."""
        import torch

        if precision == "bf16":
            network = deepcopy(self.network) if self.is_borrowed else self.network
            self.network = network.to(torch.bfloat16)
        elif precision == "int8":
            self._unquantised = self.network
            self.network = quantised(self.network)
        elif precision != "fp32":
            raise BadSetting("audit", precision=precision, need="fp32, bf16, int8 or auto")

    def n_heads(self) -> tuple[int, int]:
        """Layers, and heads per layer."""
        return encoder_heads(self)

    def attentions(self, pairs: Sequence[Pair], seen: Callable[[int, Floats], None]) -> None:
        """Call `seen` with the number of each pair and the attention between its words."""
        encoder_attentions(self, pairs, seen)

    def predict_without(self, texts: Sequence[Texts], heads: Collection[Head]) -> Floats:
        """Probabilities when these heads contribute nothing."""
        with without_heads(self.network, self.n_heads(), heads):
            return self(texts)

    def batches(self, lengths: Sequence[int], *, share: float = 1.0) -> list[Ints]:
        """Inputs of equal length, as many as a share of the usual memory holds."""
        budget = int(share * self.budget)
        return list(by_length(lengths, batch_size=self.batch_size, budget=budget))

    def forward(self, feed: Feed) -> Floats:
        """The network's outputs for one batch."""
        return self.fitting(self.outputs, feed)

    def outputs(self, feed: Feed) -> Floats:
        """The network's outputs for one batch that fits in memory."""
        import torch

        with torch.inference_mode():
            inputs = {
                name: torch.from_numpy(array).to(self.network.device)
                for name, array in feed.items()
            }
            return self.read_outputs(self.network(**inputs))

    def read_outputs(self, found: Any) -> Floats:
        """What is kept of the network's output: its logits."""
        logits: Floats = found.logits.float().cpu().numpy()
        return logits

    def encoding(self, pair: Pair) -> Any:
        """One input with where its tokens come from, cut off where predictions cut it off."""
        second = None if pair.b is None else pair.b.text
        return self.tokenizer(
            pair.a.text, second, truncation=True, max_length=self.max_length
        ).encodings[0]

    def feed(self, encoded: Sequence[Any]) -> Feed:
        """The arrays of one batch of inputs of equal length, as the network takes them."""
        ids = np.array([e.ids for e in encoded], dtype=np.int64)
        return self.feed_of(ids, np.array([e.type_ids for e in encoded], dtype=np.int64))

    def feed_of(self, ids: Ints, type_ids: Ints) -> Feed:
        """The arrays of one batch, from token numbers and text numbers."""
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if "token_type_ids" in self.tokenizer.model_input_names:
            feed["token_type_ids"] = type_ids
        return feed


class TextNetwork(HFNetwork, TokenModel):
    """A network whose inputs are put together from tokens of words, where its tokenizer allows."""

    __call__ = TokenModel.__call__

    def __init__(self, network: Any, tokenizer: Any, fingerprint: str, **more: Any) -> None:
        super().__init__(network, tokenizer, fingerprint, **more)
        self.tokens = word_tokens(tokenizer, self.max_length)
        self.notes = (
            ["every text is tokenised as a whole"] if self.tokens is None else self.tokens.notes
        )

    def encode(self, texts: Sequence[Texts]) -> EncodedInputs:
        """Token numbers of texts, as the tokenizer gives them."""
        if self.tokens is not None:
            return super().encode(texts)
        first = [a for a, _ in texts]
        second = [b for _, b in texts]
        pairs = None if not second or second[0] is None else second
        given = self.tokenizer(first, pairs, truncation=True, max_length=self.max_length)
        types = given.get("token_type_ids") or [[0] * len(ids) for ids in given["input_ids"]]
        return EncodedInputs.of_lists(
            [Encoded(ids, kinds) for ids, kinds in zip(given["input_ids"], types, strict=True)]
        )


def word_tokens(tokenizer: Any, max_length: int) -> WordTokens | None:
    """Tokenising from kept words, for tokenizers that have a fast core."""
    if not is_fast(tokenizer):
        return None
    core = tokenizer.backend_tokenizer
    own = type(core).from_str(core.to_str())
    own.no_padding()
    own.enable_truncation(max_length, direction=tokenizer.truncation_side)
    tokens = WordTokens(own, max_length)
    for a, b in PROBES:  # the fast core must also be all there is to this tokenizer
        whole = tokenizer(a, b, truncation=True, max_length=max_length)["input_ids"]
        if tokens.encode([(a, b)])[0].ids != whole:
            return None
    return tokens


def quantised(network: Any) -> Any:
    """The network with its linear layers in int8, their inputs quantised as they come."""
    import torch

    return torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, dtype=torch.qint8)


def _positions(config: Any) -> dict[str, Any]:
    """What a configuration says about positions (not all do); its generation defaults (max_length)
    do not count.
    """
    return {name: getattr(config, name, None) for name in ("max_position_embeddings", "model_type")}
