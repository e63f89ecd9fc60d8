"""LIME through our engine against the `lime` package: same model, samples, batch size and texts;
CPU time, medians.

The package calls the model by a loop as one would write it: batches of 32, padded to the longest.
One thread each. "forward passes alone" runs the network on the inputs that ours makes: nothing that
gives the same predictions can be quicker without fewer or shorter texts. bf16 is no fair
contestant, since its predictions are rounded; it is shown because disorder offers it.

python benchmarks/lime_speed.py --rounds 5      (MODEL, DATA: specs; N: how many texts; WORDS=1-8:
only texts of that length)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from _forward import logits as torch_run
from _forward import on_single_threads, recorded
from _measure import TOY, main

MODEL = os.environ.get("MODEL", "builtin")
DATA = os.environ.get("DATA", "builtin:sentiment")
N = 2 if TOY else int(os.environ.get("N", "100"))
SAMPLES = 30 if TOY else 1000
BATCH = 32
FEWEST, MOST = (int(each) for each in os.environ.get("WORDS", "1-10000").split("-"))
os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def subject(*, precision: str = "fp32") -> Any:
    from disorder.data import read_data
    from disorder.models import load
    from disorder.randomness import digest
    from disorder.requests.settings import Settings
    from disorder.verbs.explain import Subject
    from disorder.verbs.explain.word_importance import cut, n_words

    data = read_data(DATA)
    alone = [
        replace(e, segments={"text_a": e.text_b or e.text_a}) for e in data.examples
    ]  # of pairs, the second text
    fitting = [e for e in alone if FEWEST <= n_words(cut(e.texts)) <= MOST]
    data = replace(data, examples=sorted(fitting, key=lambda e: digest(0, "benchmark", e.id))[:N])
    return Subject(
        load(MODEL, task=data.task, batch_size=BATCH, precision=precision),
        data,
        Settings(cache="off"),
    )


def ours(*, precision: str = "fp32") -> Callable[[], object]:
    """All samples of all texts in one plan."""
    from disorder.verbs.explain.explanations.lime import by_lime
    from disorder.verbs.explain.word_importance import cut, weighed

    about = subject(precision=precision)
    columns = np.asarray(about.original.argmax(axis=1))
    pairs = [cut(e.texts) for e in about.examples]

    def work() -> list[str]:
        scores = by_lime(about, pairs, columns, samples=SAMPLES)
        found = [weighed(pair, each) for pair, each in zip(pairs, scores, strict=True)]
        return [each.words[each.top].lower() for each in found]

    return work


def forward_passes() -> Callable[[], object]:
    """The network alone, on the inputs that ours gives it."""
    from disorder.verbs.explain.explanations.lime import by_lime
    from disorder.verbs.explain.word_importance import cut, n_words

    about = subject()
    model = about.model.predictor
    pairs = [cut(e.texts) for e in about.examples]
    columns = np.asarray(about.original.argmax(axis=1))
    is_torch = MODEL.startswith("hf:")
    with recorded(model.network) if is_torch else recorded_onnx(model) as feeds:
        by_lime(about, pairs, columns, samples=SAMPLES)
    run = torch_run(model.network) if is_torch else partial(model.session.run, None)

    def work() -> dict[str, float]:
        on_single_threads(run, feeds)
        ids = [feed["input_ids"] for feed in feeds]
        totals = {
            "words": sum(map(n_words, pairs)),
            "texts": sum(len(each) for each in ids),
            "tokens": sum(each.shape[0] * each.shape[1] for each in ids),
        }
        return {name: total / len(pairs) for name, total in totals.items()}

    return work


@contextmanager
def recorded_onnx(model: Any) -> Iterator[list[Any]]:
    """The inputs of every run of a model's ONNX session while the context lasts."""
    session = model.session
    feeds: list[Any] = []

    class Recording:
        def run(self, names: Any, feed: Any) -> Any:
            feeds.append(feed)
            return session.run(names, feed)

    model.session = Recording()
    try:
        yield feeds
    finally:
        model.session = session


def package(
    ask: Callable[[Any], Callable[[list[str]], Any]], *, seed: int | None = None
) -> Callable[[], object]:
    """The package with our samples, or its own by seed."""
    from lime.lime_text import LimeTextExplainer

    from disorder.verbs.explain.word_importance import cut

    about = subject()
    columns = about.original.argmax(axis=1).tolist()
    samples = [drawn(cut(example.texts)) for example in about.examples]
    settings = {
        "bow": False,
        "mask_string": "",
        "feature_selection": "none",
        "split_expression": words_of,
    }
    explainer = LimeTextExplainer(random_state=seed, **settings)
    answer = ask(about)

    def work() -> list[str]:
        words = []
        for example, column, (sizes, left_out) in zip(
            about.examples, columns, samples, strict=True
        ):
            if seed is None:
                explainer.random_state = Replay(sizes, left_out)
            told = explainer.explain_instance(
                example.text_a, answer, labels=(column,), num_features=10**6, num_samples=SAMPLES
            )
            words.append(max(told.as_list(column), key=lambda each: each[1])[0].lower())
        return words

    return work


def by_hand(about: Any) -> Callable[[list[str]], Any]:
    """A loop over batches of 32, each padded to its longest text."""
    asked = about.model.predictor
    logits = torch_logits(asked) if MODEL.startswith("hf:") else onnx_logits(asked)

    def answer(texts: list[str]) -> Any:
        found = np.concatenate(
            [logits(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
        ).astype(np.float64)
        powers = np.exp(found - found.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True) @ about.model.columns

    return answer


def torch_logits(asked: Any) -> Callable[[list[str]], Any]:
    import torch

    def logits(texts: list[str]) -> Any:
        with torch.inference_mode():
            return asked.network(
                **asked.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
            ).logits.numpy()

    return logits


def onnx_logits(asked: Any) -> Callable[[list[str]], Any]:
    tokenizer = type(asked.tokens.tokenizer).from_str(asked.tokens.tokenizer.to_str())
    tokenizer.enable_padding()
    inputs = [entry.name for entry in asked.session.get_inputs()]

    def logits(texts: list[str]) -> Any:
        found = tokenizer.encode_batch(texts)
        arrays = {
            "input_ids": [e.ids for e in found],
            "attention_mask": [e.attention_mask for e in found],
        }
        arrays["token_type_ids"] = [e.type_ids for e in found]
        return asked.session.run(
            None, {name: np.array(arrays[name], dtype=np.int64) for name in inputs}
        )[0]

    return logits


def words_of(text: str) -> list[str]:
    """The words that ours weighs."""
    from disorder.transformations.words import split

    sentence = split(text)
    return [sentence.words[i] for i in sentence.movable.tolist()]


def drawn(pair: Any) -> tuple[Any, list[Any]]:
    """Our samples as the package draws them: how many words are left out, and which."""
    from disorder.verbs.explain.explanations.lime import masks

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
    n_texts = len(facts[DISORDER])
    only = f" of {FEWEST} to {MOST} words" if "WORDS" in os.environ else ""
    settings = f"{SAMPLES} samples each, batches of {BATCH}"
    print(f"{MODEL} on {n_texts} texts{only} from {DATA}, {settings}")
    for name, seconds in times.items():
        same = "" if name == FORWARD else f"   same top word: {alike(facts[DISORDER], facts[name])}"
        print(f"{name:22} {seconds:8.2f} s CPU   {seconds / times[DISORDER]:6.2f}x{same}")
    per_text = facts[FORWARD]
    sizes = f"{per_text['texts']:.0f} distinct samples, {per_text['tokens']:,.0f} tokens"
    print(f"{per_text['words']:.1f} words per text; ours predicts {sizes} per text")
    print(f"forward passes are {times[FORWARD] / times[DISORDER]:.0%} of our time")
    if OWN in facts:
        same = alike(facts[LOOP], facts[OWN])
        print(f"the package against itself on other samples: same top word on {same}")


def alike(first: list[str], second: list[str]) -> str:
    n = sum(a == b for a, b in zip(first, second, strict=True))
    return f"{n} of {len(first)} ({n / len(first):.1%})"


DISORDER = "disorder"
FORWARD = "forward passes alone"
LOOP = "lime, loop"
OWN = "lime, own samples"

if __name__ == "__main__":
    arms: dict[str, Any] = {
        DISORDER: ours,
        FORWARD: forward_passes,
        LOOP: partial(package, by_hand),
    }
    if MODEL.startswith("hf:"):
        arms["disorder, bf16"] = partial(ours, precision="bf16")
    else:
        arms[OWN] = partial(package, by_hand, seed=0)
    main(__file__, arms, report)
