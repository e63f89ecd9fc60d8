"""Is a transformers pipeline object as fast as `hf:` on the same model? CPU time, medians.

MODEL=folder python benchmarks/pipeline_speed.py --rounds 5     (or --toy: a random network of a few
thousand parameters, two rounds)
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from disorder.data import read_data
from disorder.models import load
from disorder.models.python import PythonModel
from disorder.transformations import parse
from disorder.types import Dataset, Variants


def toy_model(folder: Path, data: Dataset) -> Path:
    """A BERT classifier of random weights, in half precision as many are published."""
    import torch
    import transformers

    texts = [text for example in data.examples for text in example.texts if text]
    words = sorted({word.strip(".,").lower() for text in texts for word in text.split()} - {""})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", *words]
    numbers = {word: i for i, word in enumerate(vocabulary)}
    transformers.BertTokenizerFast(vocab=numbers).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        id2label=dict(enumerate(data.task.labels)),
    )
    network = transformers.BertForSequenceClassification(config).to(torch.float16)
    network.save_pretrained(folder)
    return folder


def arms(folder: Path, data: Dataset) -> dict[str, Any]:
    """The same model given in three ways."""
    import transformers

    pipeline = transformers.pipeline("text-classification", str(folder), device="cpu", top_k=None)

    def called(texts: list[tuple[str, str]]) -> Any:
        return pipeline([{"text": a, "text_pair": b} for a, b in texts], batch_size=32)

    return {
        "hf:": load(f"hf:{folder}", task=data.task),
        "the pipeline object": load(pipeline, task=data.task),
        "a function that calls it": load(PythonModel(called, data.task.labels, ""), task=data.task),
    }


def seconds(model: Any, variants: list[Variants]) -> float:
    began = time.process_time()
    model.predict_variants(variants)
    return time.process_time() - began


def main() -> None:
    is_toy = "--toy" in sys.argv
    rounds = 2 if is_toy else 5
    data = read_data("builtin")
    derange = parse("derange")
    variants = [
        derange.apply(example, task=data.task, q=4 if is_toy else 20, seed=0, short="use")
        for example in data.examples[: 5 if is_toy else 20]
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get("MODEL") or toy_model(Path(temporary), data))
        models = arms(folder, data)
        times: dict[str, list[float]] = {name: [] for name in models}
        for _ in range(rounds):
            for name, model in models.items():
                times[name].append(seconds(model, variants))
    usual = statistics.median(times["hf:"])
    print("| the model as | CPU s | ÷ hf: |\n| --- | ---: | ---: |")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"| {name} | {median:.2f} | {median / usual:.2f} |")


if __name__ == "__main__":
    main()
