"""What do the mitigations reward? Entropy, distance from a uniform answer, and two losses that temper
certainty; one number a row.
"""

from __future__ import annotations

from math import log
from typing import Any


def entropy(logits: Any) -> Any:
    """The entropy of each row's answer, in nats."""
    logs = logits.log_softmax(dim=1)
    return -(logs.exp() * logs).sum(dim=1)


def from_uniform(logits: Any) -> Any:
    """KL(uniform‖p) of each row: 0 where all labels are equally likely, without bound where one is
    ruled out.
    """
    return -log(logits.shape[1]) - logits.log_softmax(dim=1).mean(dim=1)


def gold_loss(logits: Any, targets: Any, *, smoothing: float = 0.0, gamma: float = 0.0) -> Any:
    """Cross-entropy of each row; against labels smoothed by `smoothing`, or times (1 − p)^gamma of
    the gold label.
    """
    from torch.nn.functional import cross_entropy

    each = cross_entropy(logits, targets, reduction="none", label_smoothing=smoothing)
    if not gamma:
        return each
    gold = logits.softmax(dim=1).gather(1, targets[:, None])[:, 0]
    return (1 - gold) ** gamma * each


def chosen(is_perturbed: Any, perturbed: Any, whole: Any) -> Any:
    """The batch mean of one loss for perturbed rows and another for original ones; a batch may lack
    either.
    """
    import torch

    return torch.where(is_perturbed, perturbed, whole).mean()
