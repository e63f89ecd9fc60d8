"""Rate how similar two texts are, from 0 to 5, by any encoder: a model that predicts numbers.

ENCODER=path/to/all-MiniLM-L6-v2 disorder explain python:rate_similarity:rate stsb:dev --by
similarity
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def encoder() -> tuple[Any, Any]:
    """The tokenizer and the model in the folder that ENCODER names."""
    from transformers import AutoModel, AutoTokenizer

    folder = os.environ["ENCODER"]
    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


def embedded(texts: list[str]) -> Any:
    """Unit vectors: the mean over tokens of the last layer."""
    import torch

    tokenizer, model = encoder()
    parts = []
    with torch.inference_mode():
        for start in range(0, len(texts), 64):
            batch = tokenizer(
                texts[start : start + 64], padding=True, truncation=True, return_tensors="pt"
            )
            mask = batch["attention_mask"].unsqueeze(-1)
            parts.append((model(**batch).last_hidden_state * mask).sum(1) / mask.sum(1))
    return torch.nn.functional.normalize(torch.cat(parts), dim=1)


def rate(pairs: list[tuple[str, str]]) -> list[list[float]]:
    """Five times the cosine of the two vectors, 0 at least."""
    first, second = embedded([a for a, _ in pairs]), embedded([b for _, b in pairs])
    cosine = (first * second).sum(1).clamp(min=0)
    return [[5 * value] for value in cosine.tolist()]
