"""What does the model answer? One file a kind of model; each maps texts to label probabilities."""

from __future__ import annotations

from disorder.models.importance.attention import Head, answers_without, attentions, n_heads
from disorder.models.importance.integrated_gradients import integrated_gradients
from disorder.models.loading import LoadedModel, load
from disorder.models.precision import choose_precision

__all__ = [
    "Head",
    "LoadedModel",
    "answers_without",
    "attentions",
    "choose_precision",
    "integrated_gradients",
    "load",
    "n_heads",
]
