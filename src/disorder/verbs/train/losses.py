"""Losses: the usual ones of a batch, and what the mitigations reward, one number per row (entropy,
distance from uniform, and two losses that temper certainty).
"""

from __future__ import annotations

from math import log
from typing import Any


def cross_entropy(logits: Any, targets: Any, is_perturbed: Any) -> Any:
    """The usual loss for labels: the mean of a batch."""
    from torch.nn import functional

    return functional.cross_entropy(logits, targets)


def squared_error(logits: Any, targets: Any, is_perturbed: Any) -> Any:
    """The usual loss for numbers: the mean of a batch."""
    return ((logits[:, 0] - targets) ** 2).mean()


def gold_loss(logits: Any, targets: Any, *, smoothing: float = 0.0, gamma: float = 0.0) -> Any:
    """Cross-entropy per row; against labels smoothed by `smoothing`, or times (1 − p)^gamma of the
    gold label.
    """
    from torch.nn import functional

    losses = functional.cross_entropy(logits, targets, reduction="none", label_smoothing=smoothing)
    if not gamma:
        return losses
    gold = logits.softmax(dim=1).gather(1, targets[:, None])[:, 0]
    return (1 - gold) ** gamma * losses


def entropy(logits: Any) -> Any:
    """The entropy of each row's prediction, in nats."""
    logs = logits.log_softmax(dim=1)
    return -(logs.exp() * logs).sum(dim=1)


def kl_from_uniform(logits: Any) -> Any:
    """KL(uniform‖p) per row: 0 where all labels are equally likely, unbounded where one is ruled
    out.
    """
    return -log(logits.shape[1]) - logits.log_softmax(dim=1).mean(dim=1)


def mean_by_kind(is_perturbed: Any, perturbed: Any, original: Any) -> Any:
    """The batch mean of one loss for perturbed rows and another for original ones; a batch may lack
    either.
    """
    import torch

    return torch.where(is_perturbed, perturbed, original).mean()
