"""What does the model answer? One file a kind of model; each maps texts to label probabilities."""

from __future__ import annotations

from disorder.predict._integrated import integrated_gradients
from disorder.predict._load import Aligned, load
from disorder.predict._precision import choose_precision

__all__ = ["Aligned", "choose_precision", "integrated_gradients", "load"]
