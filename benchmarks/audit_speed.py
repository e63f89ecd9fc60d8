"""What does an audit cost beside the model itself? One real classifier, real pairs, q = 100; CPU
time, medians.

python benchmarks/audit_speed.py --rounds 5     (MODEL and DATA say where a transformers folder and
a JSONL file are)
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _measure import main

SHARED = Path(__file__).parents[1].parent / "shared"
MODEL = os.environ.get("MODEL", str(SHARED / "models" / "minilm-mnli"))
DATA = os.environ.get("DATA", str(SHARED / "data" / "mnli" / "dev_matched.jsonl.gz"))
N_PAIRS, Q, BATCH, MAX_LENGTH = 60, 100, 32, 512
os.environ["HF_HUB_OFFLINE"] = "1"


def dataset() -> Any:
    from disorder.data import known_tasks
    from disorder.types import Dataset, Example

    examples = []
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if min(len(row["text_a"].split()), len(row["text_b"].split())) >= 8:
                examples.append(Example(row["id"], row["text_a"], row["text_b"], row["label"]))
            if len(examples) == N_PAIRS:
                break
    return Dataset(
        "mnli", known_tasks()["mnli"], sorted(examples, key=lambda e: e.id), {}, "benchmark"
    )


def texts() -> list[tuple[str, str]]:
    """Whole and perturbed pairs, permutation by permutation, as the released code of UNLI goes over
    the data.
    """
    from disorder.transformations import parse
    from disorder.transformations.rendering import variant_texts

    data, derange = dataset(), parse("derange")
    perturbed = [
        variant_texts(derange.apply(e, task=data.task, q=Q, seed=0)) for e in data.examples
    ]
    return [*[e.texts for e in data.examples], *[group[k] for k in range(Q) for group in perturbed]]


def parts() -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network = AutoModelForSequenceClassification.from_pretrained(MODEL, dtype=torch.float32).eval()
    return network, AutoTokenizer.from_pretrained(MODEL)


def pipeline() -> Callable[[], object]:
    from transformers import pipeline as make

    network, tokenizer = parts()
    classify = make("text-classification", model=network, tokenizer=tokenizer, device="cpu")
    inputs = [{"text": a, "text_pair": b} for a, b in texts()]
    return lambda: len(classify(inputs, batch_size=BATCH, top_k=None))


def hand_written() -> Callable[[], object]:
    import torch

    network, tokenizer = parts()
    pairs = texts()

    def work() -> int:
        encoded = tokenizer(
            [a for a, _ in pairs], [b for _, b in pairs], truncation=True, max_length=MAX_LENGTH
        )
        order = sorted(range(len(pairs)), key=lambda i: len(encoded["input_ids"][i]))
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                rows = [
                    {key: encoded[key][i] for key in encoded} for i in order[start : start + BATCH]
                ]
                network(**tokenizer.pad(rows, return_tensors="pt")).logits.argmax(-1).tolist()
        return len(pairs)

    return work


def disorder_run(precision: str = "fp32", **settings: Any) -> Callable[[], object]:
    from disorder.models import load
    from disorder.verbs.audit.pipeline import audit

    data = dataset()
    model = load(f"hf:{MODEL}", task=data.task, precision=precision).predictor

    def work() -> dict[str, Any]:
        run = audit(model, data, with_=["derange"], q=Q, cache="off", **settings)
        omega = {r.metric: r.value for r in run.scores if r.metric in ("omega_max", "omega_rand")}
        return {"asked": run.n_predictions, **omega}

    return work


def bare() -> Callable[[], object]:
    """Forward passes on tensors made beforehand, in the shapes that disorder uses."""
    from disorder.models import load
    from disorder.models.inputs.batches import by_length
    from disorder.transformations.rendering import variant_texts
    from disorder.verbs.audit.block import BlockPredictor
    from disorder.verbs.audit.pipeline import BLOCK

    data = dataset()
    model: Any = load(f"hf:{MODEL}", task=data.task).predictor
    asker = BlockPredictor(lambda: model, data.task, Q, 0, "skip")
    feeds, size = [], max(1, BLOCK // Q)
    groups = [[e.texts for e in data.examples]]
    groups += [
        [
            text
            for e in data.examples[start : start + size]
            for text in variant_texts(asker.perturbed("derange", e))
        ]
        for start in range(0, len(data.examples), size)
    ]
    for group in groups:
        encoded = model._encode(group)
        batches = by_length([len(e.ids) for e in encoded], budget=model.budget)
        feeds.append([model._feed([encoded[i] for i in batch]) for batch in batches])
    return lambda: sum(len(list(model._pool.map(model._forward, block))) for block in feeds)


ARMS = {
    "a pipeline, batch 32": pipeline,
    "b hand-written loop": hand_written,
    "c disorder": disorder_run,
    "d1 curtailed, Ω_max": lambda: disorder_run(curtail=True, score=["omega_max"]),
    "d2 curtailed, Ω_max and Ω_rand": lambda: disorder_run(
        curtail=True, score=["omega_max", "omega_rand"]
    ),
    "e bare forward passes": bare,
    "d1 bf16": lambda: disorder_run("bf16", curtail=True, score=["omega_max"]),
    "d2 bf16": lambda: disorder_run("bf16", curtail=True, score=["omega_max", "omega_rand"]),
}


def agreement() -> float:
    """How many of all single answers, whole and perturbed, bf16 gives as fp32 does; not timed."""
    from disorder.models import load

    task, asked = dataset().task, texts()
    exact, rounded = (
        load(f"hf:{MODEL}", task=task, precision=precision)(asked) for precision in ("fp32", "bf16")
    )
    return float((exact.argmax(axis=1) == rounded.argmax(axis=1)).mean())


def report(medians: dict[str, float], facts: dict[str, Any]) -> None:
    a, e = medians["a pipeline, batch 32"], medians["e bare forward passes"]
    full, agree = facts["c disorder"], f"{agreement():.4f}"
    print(
        f"| {'':32} | CPU s | a ÷ this | this ÷ e | asked | Ω_max | Ω_rand | answers as in fp32 |\n"
        + "|---" * 8
        + "|"
    )
    for name, seconds in medians.items():
        fact = facts[name] if isinstance(facts[name], dict) else {}
        row = [
            fact.get("asked", ""),
            fact.get("omega_max", ""),
            fact.get("omega_rand", ""),
            agree if "bf16" in name else "",
        ]
        print(
            f"| {name:32} | {seconds:6.1f} | {a / seconds:5.2f} | {seconds / e:5.2f} | "
            + " | ".join(map(str, row))
            + " |"
        )
    for name in ("d1 curtailed, Ω_max", "d2 curtailed, Ω_max and Ω_rand"):
        shared = {
            metric: value for metric, value in facts[name].items() if metric.startswith("omega")
        }
        assert all(full[metric] == value for metric, value in shared.items()), (
            "curtailment changed a score"
        )


if __name__ == "__main__":
    main(sys.argv[0], ARMS, report)
