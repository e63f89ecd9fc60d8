"""Embedding times gradient, token by token, then word by word: which way would the loss go if a
word's embedding grew?

Word Salad (Gupta et al., 2021). Gradients are taken at the output of the word-embedding layer
alone. Encoder-decoders such as BART embed the same tokens twice, the second time moved by one; both
count.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.protocols import Gradients
from disorder.types import Floats, Ints, Pair, Sentence
from disorder.types.predictions import with_abstention

TARGETS = "targets"  # beside a batch's inputs: the gold labels
TELLING = 1e-3  # of its largest possible size: less is what rounding leaves
Calls = list[tuple[Any, Any, Any]]  # each time words were embedded: tokens, embeddings, gradients
Differentiate = Callable[[dict[str, Any]], Calls]


@contextmanager
def watching(network: Any) -> Iterator[Differentiate]:
    """A function that differentiates the loss of a batch by its embeddings and nothing else."""
    seen = threading.local()  # batches may run side by side

    def keep(_layer: Any, given: tuple[Any, ...], named: dict[str, Any], embedded: Any) -> Any:
        leaf = embedded.detach().requires_grad_(True)
        seen.calls = [*getattr(seen, "calls", []), (given[0] if given else named["input"], leaf)]
        return leaf

    with hooked(network, keep):
        yield lambda feed: _differentiated(network, feed, seen)


@contextmanager
def hooked(network: Any, hook: Callable[..., Any]) -> Iterator[None]:
    """The network at rest, with a hook on its word embeddings and its own gradients off."""
    hooks = [
        layer.register_forward_hook(hook, with_kwargs=True) for layer in word_embeddings(network)
    ]
    frozen = [parameter for parameter in network.parameters() if parameter.requires_grad]
    was_training = network.training
    network.eval()
    for parameter in frozen:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for each in hooks:
            each.remove()
        for parameter in frozen:
            parameter.requires_grad_(True)
        network.train(was_training)


def word_embeddings(network: Any) -> list[Any]:
    """The word-embedding layer, and others that share its weights (a decoder's)."""
    import torch

    found = network.get_input_embeddings()
    weights = getattr(found, "weight", None)  # a network may have no such layer
    return [
        layer
        for layer in network.modules()
        if layer is found or (isinstance(layer, torch.nn.Embedding) and layer.weight is weights)
    ]


def by_word(scores: Floats, spans: Any, sentence: Sentence) -> Floats:
    """Scores of tokens added up for each word; one in several words is shared out by length."""
    return np.asarray(scores @ shares(spans, sentence))


def shares(spans: Any, sentence: Sentence) -> Floats:
    """How much of each token lies in each word (tokens × words)."""
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    common = np.minimum(bounds[:, 1:], sentence.ends) - np.maximum(bounds[:, :1], sentence.starts)
    return np.asarray(
        common.clip(min=0) / np.maximum(common.clip(min=0).sum(axis=1, keepdims=True), 1)
    )


def by_side(scores: Floats, encoded: Any, pair: Pair) -> list[Floats]:
    """Scores of an input's tokens as scores of the words of its texts."""
    owners, spans = owned(encoded)
    return [
        by_word(scores[owners == i], spans[owners == i], side) for i, side in enumerate(pair.sides)
    ]


def owned(encoded: Any) -> tuple[Ints, Ints]:
    """Which text each token comes from (−1 for special ones), and where in it."""
    owners = np.array([-1 if owner is None else owner for owner in encoded.sequence_ids])
    return owners, np.array(encoded.offsets)


def token_scores(calls: Calls, ids: Any) -> Floats:
    """Embedding · gradient, one number per token (inputs × length)."""
    import torch

    given = torch.from_numpy(ids)
    scores = torch.zeros(given.shape)
    for embedded, leaf, gradient in calls:
        scores += placed((leaf * gradient).sum(-1).cpu(), embedded.cpu(), given)
    found: Floats = scores.double().numpy()
    return found


def is_telling(calls: Calls) -> bool:
    """Whether the loss depends on how long an embedding is, which is all that embedding · gradient
    can see.

    It does not where each embedding is normalised on its own before anything is added to it, as in
    DeBERTa.
    """
    return any(
        bool(
            (leaf * gradient).sum(-1).abs().max()
            > TELLING * (leaf.norm(dim=-1) * gradient.norm(dim=-1)).max()
        )
        for _, leaf, gradient in calls
    )


def _differentiated(network: Any, feed: dict[str, Any], seen: Any) -> Calls:
    import torch

    with torch.inference_mode(False), torch.enable_grad():
        inputs = {
            name: torch.from_numpy(array).to(network.device)
            for name, array in feed.items()
            if name != TARGETS
        }
        seen.calls = []
        # the gradient of a confident model is lost in single precision
        logits = network(**inputs).logits.cpu().double()
        calls = seen.calls
        seen.calls = []
        if not calls or not logits.requires_grad:
            raise BadModel("this network does not show its word embeddings")
        loss = _loss(logits, torch.from_numpy(feed[TARGETS])).sum()
        gradients = torch.autograd.grad(loss, [leaf for _, leaf in calls], allow_unused=True)
    found = zip(calls, gradients, strict=True)
    return [
        (ids, leaf.detach(), gradient) for (ids, leaf), gradient in found if gradient is not None
    ]


def _loss(logits: Any, targets: Any) -> Any:
    """Cross-entropy of the gold label, of which the model may have several; else squared error."""
    if logits.shape[1] == 1:
        return (logits[:, 0] - targets[:, 0]) ** 2
    return logits.logsumexp(1) - (logits + targets.log()).logsumexp(1)


def placed(scores: Any, embedded: Any, given: Any) -> Any:
    """The scores at the places of the tokens: networks may turn, lengthen or shift their input."""
    import torch

    n = given.shape[1]
    ways = (
        ((embedded, scores), (embedded.T, scores.T)) if embedded.dim() == scores.dim() == 2 else ()
    )
    for ids, found in ways:
        if len(ids) != len(given) or ids.shape[1] < n:
            continue
        if torch.equal(ids[:, :n], given):
            return found[:, :n]
        if torch.equal(ids[:, 1:n], given[:, :-1]):  # a decoder's input starts one later
            return torch.cat([found[:, 1:n], torch.zeros(len(given), 1)], dim=1)
    raise BadModel("this network embeds other tokens than it is given")


if TYPE_CHECKING:
    from disorder.models.hf_network import HFNetwork
    from disorder.models.loaded_model import LoadedModel

BUDGET = 2048  # tokens in one pass forward and back


def integrated_gradients(
    loaded: LoadedModel, pairs: Sequence[Pair], columns: Ints, *, n_steps: int
) -> list[list[Floats]]:
    """A number for every word, for the probability of the label in `columns` (−1: abstaining)."""
    model = loaded.predictor
    if not isinstance(model, Gradients) or not model.has_gradients() or loaded.columns is None:
        raise BadModel(
            f"{loaded.name} shows no gradients; leave_one_out and lime work with every model"
        )
    wanted = with_abstention(loaded.columns)  # a last column for the labels that mean abstaining
    return model.integrated_gradients(pairs, wanted[:, columns].T, n_steps=n_steps)


def walked(
    model: HFNetwork, pairs: Sequence[Pair], targets: Floats, *, n_steps: int
) -> list[list[Floats]]:
    """`integrated_gradients` of a transformers network, for the labels marked in `targets`."""
    encoded = [model.encoding(pair) for pair in pairs]
    feeds = [
        model.feed([each]) | {TARGETS: target[None, :]}
        for each, target in zip(encoded, targets, strict=True)
    ]
    walk = _Walk(model, n_steps)
    with hooked(model.exact, walk.keep):
        scores = list(model.each(partial(_scores, walk), feeds))
    return [
        by_side(row, each, pair) for row, each, pair in zip(scores, encoded, pairs, strict=True)
    ]


class _Walk:
    """Points on the line, and the hook that puts a batch there."""

    def __init__(self, model: HFNetwork, n_steps: int) -> None:
        points, weights = np.polynomial.legendre.leggauss(n_steps)
        self.points = (points + 1) / 2
        self.weights = weights / 2
        self.network = model.exact
        self.blank = _blank(model.tokenizer)
        self.kept = set(model.tokenizer.all_special_ids)
        self.now = threading.local()  # batches may run side by side

    def keep(self, layer: Any, given: tuple[Any, ...], named: dict[str, Any], embedded: Any) -> Any:
        """Move what is embedded to the points of this batch, as a leaf to differentiate by."""
        import torch

        ids = given[0] if given else named["input"]
        points = self.now.points
        if ids.shape[0] != len(points) or torch.equal(ids.T, self.now.input_ids):
            raise BadModel(
                "this network turns its input before it embeds it; "
                "leave_one_out and lime work with every model"
            )
        is_kept = torch.isin(ids, torch.tensor(sorted(self.kept), device=ids.device))
        # forward itself runs no hook
        start = layer.forward(torch.where(is_kept, ids, self.blank)).detach()
        leaf = (start + points[:, None, None] * (embedded.detach() - start)).requires_grad_(True)
        self.now.calls.append((ids, leaf, (embedded.detach() - start)))
        return leaf


def _scores(walk: _Walk, feed: dict[str, Any]) -> Floats:
    """One number per token of a single input."""
    size = max(1, BUDGET // feed["input_ids"].shape[1])
    found = np.zeros(feed["input_ids"].shape[1])
    for start in range(0, len(walk.points), size):
        found += _part(
            walk, feed, walk.points[start : start + size], walk.weights[start : start + size]
        )
    return found


def _part(walk: _Walk, feed: dict[str, Any], points: Floats, weights: Floats) -> Floats:
    import torch

    device = walk.network.device
    now = walk.now
    with torch.inference_mode(False), torch.enable_grad():
        repeated = {
            name: np.repeat(array, len(points), axis=0)
            for name, array in feed.items()
            if name != TARGETS
        }
        inputs = {name: torch.from_numpy(array).to(device) for name, array in repeated.items()}
        now.input_ids = inputs["input_ids"]
        now.calls = []
        now.points = torch.from_numpy(points.astype(np.float32)).to(device)
        logits = walk.network(**inputs).logits.cpu().double()
        if logits.shape[1] == 1:
            explained = logits[:, 0]
        else:
            explained = (logits.softmax(1) * torch.from_numpy(feed[TARGETS])).sum(1)
        gradients = torch.autograd.grad(
            explained.sum(), [leaf for _, leaf, _ in now.calls], allow_unused=True
        )
    total = torch.zeros(inputs["input_ids"].shape, dtype=torch.float64)
    for (ids, _, way), gradient in zip(now.calls, gradients, strict=True):
        if gradient is not None:
            total += placed(
                (way.double() * gradient.double()).sum(-1).cpu(),
                ids.cpu(),
                inputs["input_ids"].cpu(),
            )
    found: Floats = weights @ total.numpy()
    return found


def _blank(tokenizer: Any) -> int:
    """The token that stands for no word: the mask, or what comes nearest."""
    # not every tokenizer has all three
    known = [getattr(tokenizer, f"{name}_token_id", None) for name in ("mask", "unk", "pad")]
    blank = next((number for number in known if number is not None), None)
    if blank is None:
        raise BadModel("this model's tokenizer has no mask, unknown or padding token to start from")
    return int(blank)
