"""Rank correlation of embedding · gradient with the change of the loss when a word is left out.

    python scripts/importance_sign.py hf:FOLDER DATA [--limit 100]

Also prints how far a LayerNorm behind the embeddings makes the score the negative of what positions
and types add: such a layer does not see the length of their sum, so the three products must cancel.
"""

from __future__ import annotations

import argparse

import numpy as np

from disorder.data import select
from disorder.models import LoadedModel, load
from disorder.models.importance.by_word import _gold, leave_one_out
from disorder.requests.settings import Settings
from disorder.transformations.words import split
from disorder.types import Floats, Pair


def ranks(values: Floats) -> Floats:
    return np.argsort(np.argsort(values)).astype(np.float64)


def cancelled(aligned: LoadedModel, texts: list[tuple[str, str | None]]) -> float:
    """|(word + position + type) · gradient| over |word · gradient|, the median over tokens; for
    BERT-like networks.
    """
    import torch

    network = aligned.predictor.network
    tokenizer = aligned.predictor.tokenizer
    embeddings = network.base_model.embeddings
    seen: dict[str, torch.Tensor] = {}
    summed = lambda module, given: seen.setdefault("sum", given[0]).retain_grad()  # noqa: E731
    word = lambda module, given, made: seen.setdefault("word", made).retain_grad()  # noqa: E731
    ratios = []
    for text in texts:
        seen.clear()
        hooks = [
            embeddings.LayerNorm.register_forward_pre_hook(summed),
            embeddings.word_embeddings.register_forward_hook(word),
        ]
        feed = tokenizer(*[t for t in text if t is not None], return_tensors="pt", truncation=True)
        with torch.enable_grad():
            network.requires_grad_(True)
            network(**feed).logits.log_softmax(-1)[0, 0].backward()
        for hook in hooks:
            hook.remove()
        whole = (seen["sum"] * seen["sum"].grad).sum(-1).abs()
        part = (seen["word"] * seen["sum"].grad).sum(-1).abs()
        ratios.append(float((whole / part).detach().median()))
        network.zero_grad()
    return float(np.median(ratios))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--limit", type=int, default=100)
    given = parser.parse_args()
    data = select(given.data, Settings(limit=given.limit))
    aligned = load(given.model, task=data.task)
    pairs = [
        Pair(split(e.text_a), None if e.text_b is None else split(e.text_b), e.label)
        for e in data.examples
    ]
    slopes = aligned.importance(pairs)
    removed = leave_one_out(aligned, pairs, _gold(aligned, pairs))
    per_text = [
        float(np.corrcoef(ranks(slope[-1]), ranks(change[-1]))[0, 1])
        for slope, change in zip(slopes, removed, strict=True)
        if len(slope[-1]) > 3 and np.ptp(slope[-1]) > 0 and np.ptp(change[-1]) > 0
    ]
    mean = np.mean(per_text)
    error = 1.96 * np.std(per_text, ddof=1) / np.sqrt(len(per_text))
    print(f"rank correlation with leaving one out: {mean:.3f} ± {error:.3f}, {len(per_text)} texts")
    left = cancelled(aligned, [e.texts for e in data.examples[:20]])
    print(f"what is left of the score when positions and types join it: {left:.1e}")


if __name__ == "__main__":
    main()
