"""Question answering models from transformers: can the question be answered from the passage, and
by which words?
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.models.hf_network import HFNetwork
from disorder.models.outputs.answer_spans import (
    ANSWERABLE,
    MAX_LENGTH,
    BestSpans,
    Span,
    gathered,
    windows,
)
from disorder.models.outputs.probabilities import softmax
from disorder.types import Floats, Texts


class QuestionAnswering(HFNetwork):
    """A model with a head for spans, used to decide whether there is one: the best span's score
    against the null score.

    `null_threshold` in its config.json (0 where it says none) is by how much the null score must be
    higher. It offers no `Gradients`: a prediction is a maximum over spans and windows.
    """

    def __init__(self, network: Any, tokenizer: Any, fingerprint: str, **more: Any) -> None:
        super().__init__(network, tokenizer, fingerprint, **more)
        self.labels = ANSWERABLE
        # our own additions to a configuration, which others lack
        self.threshold = float(getattr(network.config, "null_threshold", None) or 0.0)
        window = int(getattr(network.config, "window_length", None) or MAX_LENGTH)
        self.max_length = min(self.max_length, window)
        self.notes = [
            "a question counts as answerable where the best span's score is above the null score"
        ]

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities of answerable and unanswerable: a softmax of the best span's score and the
        null score.
        """
        found = self._best_spans(texts)
        return softmax(
            np.stack([np.maximum(found.best, -1e9), found.null - self.threshold], axis=1)
        )

    def spans(self, texts: Sequence[Texts], /) -> list[Span]:
        """The answer to every question and its place in the passage; empty where there is none."""
        found = self._best_spans(texts)
        margins = found.best - found.null + self.threshold
        answers = zip(found.spans(texts), margins.tolist(), strict=True)
        return [
            Span(*span, margin) if margin >= 0 else Span("", 0, 0, margin)
            for span, margin in answers
        ]

    def _best_spans(self, texts: Sequence[Texts]) -> BestSpans:
        began = time.perf_counter()
        read = windows(self.tokenizer, texts, self.max_length)
        batches = self.batches([len(window.ids) for window in read])
        feeds = [self.feed([read[i] for i in members]) for members in batches]
        self.input_seconds += time.perf_counter() - began
        logits: list[Any] = [None] * len(read)
        for members, outputs in zip(batches, self.each(self.forward, feeds), strict=True):
            for i, row in zip(members.tolist(), outputs, strict=True):
                logits[i] = row
        return gathered(read, logits, len(texts))

    def read_outputs(self, found: Any) -> Floats:
        """The logits of starts and ends, side by side."""
        import torch

        both: Floats = (
            torch.stack([found.start_logits, found.end_logits], dim=-1).float().cpu().numpy()
        )
        return both
