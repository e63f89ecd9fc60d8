"""Question answering models of transformers: can the question be answered from the passage, and by
which words?
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.models.hf import Transformer
from disorder.models.outputs.answer_spans import (
    ANSWERABLE,
    MAX_LENGTH,
    Found,
    Span,
    gathered,
    windows,
)
from disorder.models.outputs.probabilities import softmax
from disorder.types import Floats, Texts


class QuestionAnswering(Transformer):
    """A model with a head for spans, asked whether there is one: the best span's score against the
    null score.

    `null_threshold` in its config.json (0 where it says none) is by how much the null score must be
    higher.
    """

    has_gradients = False  # windows and a maximum over spans: words are left out instead

    def __init__(
        self, network: Any, tokenizer: Any, fingerprint: str, *, batch_size: int | None = None
    ) -> None:
        super().__init__(network, tokenizer, fingerprint, batch_size=batch_size)
        self.labels = ANSWERABLE
        self.threshold = float(getattr(network.config, "null_threshold", None) or 0.0)
        self.max_length = min(
            self.max_length, int(getattr(network.config, "window_length", None) or MAX_LENGTH)
        )
        self.notes = [
            "a question counts as answerable where the best span's score is above the null score"
        ]

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities of answerable and unanswerable: a softmax of the best span's score and the
        null score.
        """
        found = self._found(texts)
        return softmax(
            np.stack([np.maximum(found.best, -1e9), found.null - self.threshold], axis=1)
        )

    def spans(self, texts: Sequence[Texts], /) -> list[Span]:
        """The answer to every question, with its place in the passage; empty where there is none."""
        found = self._found(texts)
        margins = found.best - found.null + self.threshold
        answers = zip(found.spans(texts), margins.tolist(), strict=True)
        return [
            Span(*span, margin) if margin >= 0 else Span("", 0, 0, margin)
            for span, margin in answers
        ]

    def _found(self, texts: Sequence[Texts]) -> Found:
        began = time.perf_counter()
        read = windows(self.tokenizer, texts, self.max_length)
        batches = self.batches(read)
        feeds = [self.feed([read[i] for i in batch]) for batch in batches]
        self.assembling += time.perf_counter() - began
        logits: list[Any] = [None] * len(read)
        for batch, part in zip(batches, self.each(self._forward, feeds), strict=True):
            for i, row in zip(batch.tolist(), part, strict=True):
                logits[i] = row
        return gathered(read, logits, len(texts))

    def _logits(self, feed: dict[str, Any]) -> Floats:
        import torch

        with torch.inference_mode():
            inputs = {
                name: torch.from_numpy(array).to(self.network.device)
                for name, array in feed.items()
            }
            found = self.network(**inputs)
            both: Floats = (
                torch.stack([found.start_logits, found.end_logits], dim=-1).float().cpu().numpy()
            )
            return both
