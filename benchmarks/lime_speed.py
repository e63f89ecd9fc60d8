"""Is LIME through our engine quicker than the `lime` package? Same model, samples, batch size and texts; CPU time, medians.

python benchmarks/lime_speed.py --rounds 3      (MODEL, DATA: specs; N: how many texts)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _measure import main

SHARED = Path(__file__).parents[1].parent / "shared"
MODEL, DATA = os.environ.get("MODEL", "builtin"), os.environ.get("DATA", "builtin:sentiment")
N, SAMPLES, BATCH = int(os.environ.get("N", "100")), 1000, 32
os.environ["HF_HUB_OFFLINE"] = "1"


def subject() -> Any:
    from disorder.data import select
    from disorder.explain import Subject
    from disorder.predict import load
    from disorder.settings import Settings

    settings = Settings(limit=N, cache="off", batch_size=BATCH)
    data = select(DATA, settings)
    alone = [replace(e, text_a=e.text_b or e.text_a, text_b=None) for e in data.examples]  # of pairs, the second text
    data = replace(data, examples=alone)
    return Subject(load(MODEL, task=data.task, batch_size=BATCH), data, settings)


def ours() -> Callable[[], object]:
    """All samples of all texts in one plan."""
    from disorder.explain._attribution import cut, weighed
    from disorder.explain.lime import by_lime

    about = subject()
    columns, pairs = np.asarray(about.original.argmax(axis=1)), [cut(e.texts) for e in about.examples]

    def work() -> list[str]:
        scores = by_lime(about, pairs, columns, samples=SAMPLES)
        found = [weighed(pair, each) for pair, each in zip(pairs, scores, strict=True)]
        return [each.words[each.top].lower() for each in found]

    return work


def package(*, seed: int | None = None) -> Callable[[], object]:
    """The package with our samples (or its own, by seed), and the model asked as its users do."""
    from lime.lime_text import LimeTextExplainer

    from disorder.explain._attribution import cut

    about = subject()
    columns = about.original.argmax(axis=1).tolist()
    samples = [drawn(cut(example.texts)) for example in about.examples]
    settings = {"bow": False, "mask_string": "", "feature_selection": "none", "split_expression": words_of}
    explainer = LimeTextExplainer(random_state=seed, **settings)
    answer = by_pipeline(about) if MODEL.startswith("hf:") else in_batches(about)

    def work() -> list[str]:
        words = []
        for example, column, (sizes, left_out) in zip(about.examples, columns, samples, strict=True):
            if seed is None:
                explainer.random_state = Replay(sizes, left_out)
            told = explainer.explain_instance(example.text_a, answer, labels=(column,), num_features=10**6, num_samples=SAMPLES)
            words.append(max(told.as_list(column), key=lambda each: each[1])[0].lower())
        return words

    return work


def in_batches(about: Any) -> Callable[[list[str]], Any]:
    """The same model, asked 32 texts at a time."""
    def answer(texts: list[str]) -> Any:
        groups = [texts[i : i + BATCH] for i in range(0, len(texts), BATCH)]
        return np.concatenate([about.model([(text, None) for text in group]) for group in groups])

    return answer


def by_pipeline(about: Any) -> Callable[[list[str]], Any]:
    """A transformers pipeline in batches of 32, padded to the longest of each, as in the manuals."""
    from transformers import pipeline

    asked = pipeline("text-classification", model=about.model.predictor.network, tokenizer=about.model.predictor.tokenizer)
    names = about.model.predictor.labels

    def answer(texts: list[str]) -> Any:
        told = asked(texts, batch_size=BATCH, top_k=None, truncation=True)
        scores = [{each["label"]: each["score"] for each in one} for one in told]
        return np.array([[one[name] for name in names] for one in scores]) @ about.model.columns

    return answer


def words_of(text: str) -> list[str]:
    """The words that ours weighs."""
    from disorder.perturb.words import split

    sentence = split(text)
    return [sentence.words[i] for i in sentence.movable.tolist()]


def drawn(pair: Any) -> tuple[Any, list[Any]]:
    """Our samples as the package draws them: how many words are left out, and which."""
    from disorder.explain.lime import masks

    left_out = [(~row).nonzero()[0] for row in masks(pair, SAMPLES, 0)[1:]]
    return [len(each) for each in left_out], left_out


class Replay(np.random.RandomState):
    """A generator that gives the package the samples it is told to."""

    def __init__(self, sizes: Any, left_out: list[Any]) -> None:
        super().__init__(0)
        self.sizes, self.left = sizes, iter(left_out)

    def randint(self, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        return self.sizes

    def choice(self, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        return next(self.left)


def report(times: dict[str, float], facts: dict[str, Any]) -> None:
    print(f"{MODEL} on {N} texts of {DATA}, {SAMPLES} samples each, batches of {BATCH}")
    for name, seconds in times.items():
        print(f"{name:14} {seconds:8.2f} s CPU   {seconds / times['disorder']:6.1f}x")
    print(f"same top word on the same samples: {same(facts['disorder'], facts['lime package'])}")
    print(f"same top word, the package against itself on other samples: {same(facts['lime package'], facts['lime, own'])}")


def same(first: list[str], second: list[str]) -> str:
    n = sum(a == b for a, b in zip(first, second, strict=True))
    return f"{n} of {len(first)} texts ({n / len(first):.1%})"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
    main(__file__, {"disorder": ours, "lime package": package, "lime, own": partial(package, seed=0)}, report)
