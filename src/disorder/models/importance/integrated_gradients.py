"""Integrated gradients (Sundararajan et al., 2017): what does each word add on the way from a text
without words to the text?

The way is a straight line at the output of the word-embedding layer, from the mask token in the
place of every word's tokens (special tokens stay) to the words themselves. What is explained is the
probability of a label, so the numbers of all words add up to the probability of the text minus that
of the masks. The line is walked in Gauss-Legendre steps.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.importance.gradients import TARGETS, by_side, hooked, placed
from disorder.models.protocols import Gradients
from disorder.types import Floats, Ints, Pair
from disorder.types.predictions import with_abstention

if TYPE_CHECKING:
    from disorder.models.hf_network import HFNetwork
    from disorder.models.loaded_model import LoadedModel

BUDGET = 2048  # tokens in one pass forward and back


def integrated_gradients(
    loaded: LoadedModel, pairs: Sequence[Pair], columns: Ints, *, n_steps: int
) -> list[list[Floats]]:
    """A number for every word of every text, for the probability of the label in `columns` (−1: of
    abstaining).
    """
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
