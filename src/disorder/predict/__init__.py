"""What does the model answer? One file a kind of model; each maps texts to label probabilities."""

from __future__ import annotations

from disorder.predict._attention import Head, answers_without, attentions, n_heads
from disorder.predict._integrated import integrated_gradients
from disorder.predict._load import Aligned, load
from disorder.predict._precision import choose_precision

__all__ = [
    "Aligned", "Head", "answers_without", "attentions", "choose_precision", "integrated_gradients", "load", "n_heads",
]  # fmt: skip
