"""Attention between words, and predictions without some heads, for transformers encoders that show
attentions.

Tokens are merged to words: weights of a word's tokens as keys are added up, as queries averaged. A
head is left out by zeroing its part of what goes into the layer's output projection, so that
nothing but its own contribution is lost.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.importance.gradients import owned, shares
from disorder.models.inputs.tokens import is_fast
from disorder.models.protocols import Attention, Head
from disorder.types import Floats, Pair, Texts

if TYPE_CHECKING:
    from disorder.models.hf_network import HFNetwork
    from disorder.models.loaded_model import LoadedModel

# BERT and its kin, ALBERT, DistilBERT, MPNet, ModernBERT; the names that these give to their output
# projections
PROJECTION = re.compile(
    r"(^|\.)(attention\.output\.dense|attention\.dense|attention\.out_lin|attention\.attn\.o|attn\.Wo)$"
)


def attentions(
    loaded: LoadedModel, pairs: Sequence[Pair], seen: Callable[[int, Floats], None]
) -> None:
    """Call `seen` with the weights between the words of each pair (layers × heads × a × b), the
    larger of both directions, one pair at a time: all at once would fill the memory.
    """
    _attention(loaded).attentions(pairs, seen)


def n_heads(loaded: LoadedModel) -> tuple[int, int]:
    """Layers, and heads per layer."""
    return _attention(loaded).n_heads()


def predict_without(loaded: LoadedModel, texts: Sequence[Texts], heads: Collection[Head]) -> Floats:
    """Probabilities of the task's labels when these heads contribute nothing."""
    predictions = _attention(loaded).predict_without(texts, heads)
    return predictions if loaded.columns is None else predictions @ loaded.columns


def _attention(loaded: LoadedModel) -> Attention:
    if not isinstance(loaded.predictor, Attention):
        raise BadModel(
            f"{loaded.name} shows no attentions; "
            "heads are looked at in hf: encoders with a fast tokenizer"
        )
    return loaded.predictor


def encoder_heads(model: HFNetwork) -> tuple[int, int]:
    """Layers and heads per layer of a transformers encoder; other networks are an error."""
    config = model.network.config
    if not is_fast(model.tokenizer):
        raise BadModel(
            "this model shows no attentions; "
            "heads are looked at in hf: encoders with a fast tokenizer"
        )
    # not every configuration of transformers has these
    n_attention_heads = getattr(config, "num_attention_heads", None)
    if getattr(config, "is_encoder_decoder", False) or not n_attention_heads:
        raise BadModel(
            f"this {config.model_type} is no encoder with attention heads; "
            "heads are looked at in those alone"
        )
    return int(config.num_hidden_layers), int(n_attention_heads)


def encoder_attentions(
    model: HFNetwork, pairs: Sequence[Pair], seen: Callable[[int, Floats], None]
) -> None:
    """`attentions` of a transformers encoder."""
    encoder_heads(model)
    encoded = [model.encoding(pair) for pair in pairs]
    batches = model.batches([len(each.ids) for each in encoded], share=0.25)
    with _eager(model.exact):
        for members in batches:
            weights = _weights(model.exact, model.feed([encoded[i] for i in members]))
            for i, each in zip(members.tolist(), weights, strict=True):
                seen(i, _between(each, encoded[i], pairs[i]))


@contextmanager
def _eager(network: Any) -> Iterator[None]:
    """The network computing attention step by step: faster ways do not show their weights."""
    # transformers keeps it under a private name; networks of other origin have none
    before = getattr(network.config, "_attn_implementation", None)
    if before in (None, "eager") or not hasattr(network, "set_attn_implementation"):
        yield
        return
    network.set_attn_implementation("eager")
    try:
        yield
    finally:
        network.set_attn_implementation(before)


def _weights(network: Any, feed: dict[str, Any]) -> Floats:
    """Attention weights of a batch (inputs × layers × heads × tokens × tokens)."""
    import torch

    with torch.inference_mode():
        inputs = {name: torch.from_numpy(array).to(network.device) for name, array in feed.items()}
        found = getattr(network(**inputs, output_attentions=True), "attentions", None)
    if not found or any(each is None for each in found):
        raise BadModel("this model shows no attentions")
    n = feed["input_ids"].shape[1]
    if any(each.ndim != 4 or each.shape[-2:] != (n, n) for each in found):
        raise BadModel(
            "this model does not attend from every token to every other, "
            "so its heads cannot be compared"
        )
    stacked: Floats = torch.stack(found, dim=1).float().cpu().numpy()
    return stacked


def _between(weights: Floats, encoded: Any, pair: Pair) -> Floats:
    """Attention between words of the first and words of the second text."""
    owners, spans = owned(encoded)
    assert pair.b is not None
    first, second = (shares(spans[owners == i], side) for i, side in enumerate(pair.sides))
    there, back = (
        weights[..., owners == 0, :][..., owners == 1],
        weights[..., owners == 1, :][..., owners == 0],
    )
    return np.maximum(
        _merged(there, first, second), np.swapaxes(_merged(back, second, first), -1, -2)
    )


def _merged(weights: Floats, queries: Floats, keys: Floats) -> Floats:
    """Weights of tokens as weights of words: the mean over a word's queries, the sum over keys."""
    mean = queries / np.maximum(queries.sum(axis=0), 1e-9)
    return np.asarray(mean.T @ weights @ keys)


@contextmanager
def without_heads(network: Any, size: tuple[int, int], heads: Collection[Head]) -> Iterator[None]:
    """The network without some heads; layers are counted as they run, since some share weights."""
    found = [module for name, module in network.named_modules() if PROJECTION.search(name)]
    layer = threading.local()  # batches may run side by side

    def start(_network: Any, _given: Any) -> None:
        layer.number = 0

    def zero(_projection: Any, given: tuple[Any, ...]) -> Any:
        out = [head for each, head in heads if each == layer.number]
        layer.number += 1
        if not out:
            return None
        parts = given[0].clone().unflatten(-1, (size[1], -1))
        parts[..., out, :] = 0
        return (parts.flatten(-2), *given[1:])

    def check(_network: Any, _given: Any, _output: Any) -> None:
        if layer.number != size[0]:
            raise BadModel(
                f"heads of a {network.config.model_type} cannot be zeroed: "
                "its output projections are not known"
            )

    hooks = [network.register_forward_pre_hook(start), network.register_forward_hook(check)]
    hooks += [module.register_forward_pre_hook(zero) for module in found]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
