"""Models: one file per kind; each maps texts to label probabilities.

What a model can do beside that is declared in `protocols.py`.
"""

from __future__ import annotations

from disorder.models.embed import Similarity
from disorder.models.importance.attention import attentions, n_heads, predict_without
from disorder.models.importance.gradients import integrated_gradients
from disorder.models.inputs.variants import some_variants
from disorder.models.loaded_model import LoadedModel
from disorder.models.loading import choose_precision, is_prompted, load
from disorder.models.protocols import Head

__all__ = [
    "Head",
    "LoadedModel",
    "Similarity",
    "attentions",
    "choose_precision",
    "integrated_gradients",
    "is_prompted",
    "load",
    "n_heads",
    "predict_without",
    "some_variants",
]
