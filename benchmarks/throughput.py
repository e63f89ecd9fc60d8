"""Texts per second of each transformation: one variant of each text, first time and again.

DATA=mnli.jsonl.gz [MODEL=hf:FOLDER] [TRAIN=mnli-train.jsonl.gz] python benchmarks/throughput.py
[NAME...] (CPU time, medians of 5; "again" is a second transformation of the same texts: nothing is
split or tagged twice. Without DATA the built-in pairs; MODEL says which words matter to those that
need it; TRAIN teaches pbsmt, which is left out without it.)
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Sequence

from _measure import TOY

from disorder.data import read_data, vocabulary
from disorder.models import LoadedModel, load
from disorder.registry import TransformationPart, parts
from disorder.store.store import Memo
from disorder.transformations import Transformation, parse, tags, words
from disorder.transformations.rendering import variant_texts
from disorder.types import Dataset, Example
from disorder.verbs.model_loading import RunContext

N = 3 if TOY else 300
ROUNDS = 1 if TOY else 5
Timed = tuple[float, float]


def forget(model: LoadedModel) -> None:
    """As in a fresh process: nothing is known of any text."""
    words._kept = Memo()
    tags._kept = Memo()
    model.weighed = Memo()


def seconds(
    transformation: Transformation,
    data: Dataset,
    examples: Sequence[Example],
    context: RunContext,
) -> float:
    began = time.process_time()
    for variants in transformation.apply_all(
        examples, task=data.task, q=1, seed=0, short="use", context=context
    ):
        if not isinstance(variants, Exception):
            variant_texts(variants)
    return time.process_time() - began


def timed(spec: str, data: Dataset, context: RunContext, model: LoadedModel) -> Timed:
    transformation, examples = parse(spec), data.examples[:N]
    seconds(transformation, data, examples[:10], context)  # whatever is loaded on first use
    first, again = [], []
    for _ in range(ROUNDS):
        forget(model)
        first.append(seconds(transformation, data, examples, context))
        again.append(seconds(transformation, data, examples, context))
    return statistics.median(first), statistics.median(again)


def main() -> None:
    data = read_data(os.environ.get("DATA", "builtin"))
    model = load(os.environ.get("MODEL", "builtin:bow"), task=data.task)
    context = RunContext(model, vocabulary(data))
    print("| transformation | texts/s | again, texts/s |\n| --- | ---: | ---: |")
    wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    for name, part in parts(TransformationPart).items():
        learns = "training data" in part.needs
        if (wanted and name not in wanted) or (learns and "TRAIN" not in os.environ):
            continue
        spec = f"{name}:train={os.environ['TRAIN']}" if learns else name
        first, again = timed(spec, data, context, model)
        n = 2 * len(data.examples[:N])
        shown = f"{name}:train=DATA" if learns else name
        print(f"| `{shown}` | {n / first:,.0f} | {n / again:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
