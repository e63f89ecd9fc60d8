"""A network: it looks at the first words of a text and nothing else. And the model that loads what
was trained.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from disorder.errors import BadSetting
from disorder.models.networks import Shape
from disorder.registry import model, network
from disorder.types import Predictor, Task


@network(lr=1e-2, epochs=6)
def first_words(shape: Shape, *, n: int = 2) -> Any:
    """A linear layer over the vectors of the first `n` words of each text."""
    if n < 1:
        raise BadSetting("first_words", n=n, need="1 or more")
    from torch import Tensor, cat, nn

    class FirstWords(nn.Module):  # type: ignore[misc]  # torch has no types
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Module()  # given vectors are put into words.table
            self.words.table = nn.Embedding(shape.n_words, shape.width, padding_idx=0)
            n_texts = 2 if shape.is_pair else 1
            self.head = nn.Linear(n_texts * n * shape.width, shape.n_outputs)

        def forward(
            self, a: Tensor, n_a: Tensor, b: Tensor | None = None, n_b: Tensor | None = None
        ) -> Any:
            """Logits, one row per text or pair."""
            texts = [a] if b is None else [a, b]
            firsts = [nn.functional.pad(each, (0, n))[:, :n] for each in texts]  # 0 is padding
            return self.head(cat([self.words.table(each).flatten(1) for each in firsts], dim=1))

    return FirstWords()


@model(form="first_words:FOLDER", needs="torch", only_reads=True, name="first_words")
def load_first_words(address: str, *, task: Task) -> Predictor:
    """A network of the first words that `disorder train` made."""
    from disorder.models import scratch

    return scratch.load("first_words", Path(address))
