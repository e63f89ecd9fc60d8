"""The cost of an audit beside that of the model itself: one real classifier, real pairs, q = 100;
CPU time, medians.

python benchmarks/audit_speed.py --rounds 5     (MODEL is a transformers folder, DATA a .jsonl.gz
file of pairs or `builtin`, N the pairs; --toy: see _measure.py)
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _forward import logits, on_single_threads, recorded
from _measure import TOY, main

SHARED = Path(__file__).parents[1].parent / "shared"
MODEL = os.environ.get("MODEL", str(SHARED / "models" / "minilm-mnli"))
DATA = os.environ.get("DATA", str(SHARED / "data" / "mnli" / "dev_matched.jsonl.gz"))
N_PAIRS = 4 if TOY else int(os.environ.get("N", "60"))
Q = 3 if TOY else 100
BATCH = 32
os.environ["HF_HUB_OFFLINE"] = "1"


def dataset() -> Any:
    """The first pairs whose texts have eight words or more."""
    from dataclasses import replace

    from disorder.data import known_tasks, read_data
    from disorder.types import Dataset, Example

    if DATA == "builtin":
        data = read_data(DATA)
        return replace(data, examples=data.examples[:N_PAIRS])
    examples = []
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if min(len(row["text_a"].split()), len(row["text_b"].split())) >= 8:
                examples.append(Example.of(row["id"], row["text_a"], row["text_b"], row["label"]))
            if len(examples) == N_PAIRS:
                break
    return Dataset(
        "mnli", known_tasks()["mnli"], sorted(examples, key=lambda e: e.id), {}, "benchmark"
    )


def texts() -> list[tuple[str, str]]:
    """Original and perturbed pairs, permutation by permutation, as the released code of UNLI goes
    over the data.
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
    longest = network.config.max_position_embeddings

    def work() -> int:
        encoded = tokenizer(
            [a for a, _ in pairs], [b for _, b in pairs], truncation=True, max_length=longest
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

    data = dataset()
    model = load(f"hf:{MODEL}", task=data.task, precision=precision).predictor

    def work() -> dict[str, Any]:
        run = audited(model, data, **settings)
        omega = {r.metric: r.value for r in run.scores if r.metric in ("omega_max", "omega_rand")}
        return {"calls": run.n_predictions, **omega}

    return work


def audited(model: Any, data: Any, *, q: int = Q, **settings: Any) -> Any:
    from disorder.verbs.audit import audit

    return audit(model, data, with_=["derange"], q=q, cache="off", **settings)


def bare() -> Callable[[], object]:
    """The forward passes of the full audit, on tensors recorded beforehand."""
    from disorder.models import load

    data = dataset()
    model: Any = load(f"hf:{MODEL}", task=data.task).predictor
    with recorded(model.network) as feeds:
        audited(model, data)
    run = logits(model.network)
    return lambda: len(on_single_threads(run, feeds))


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
    """The share of all predictions, on original and perturbed texts, that bf16 leaves as in fp32;
    not timed.
    """
    from disorder.models import load

    task = dataset().task
    given = texts()
    exact = load(f"hf:{MODEL}", task=task, precision="fp32")(given)
    rounded = load(f"hf:{MODEL}", task=task, precision="bf16")(given)
    return float((exact.argmax(axis=1) == rounded.argmax(axis=1)).mean())


def report(medians: dict[str, float], facts: dict[str, Any]) -> None:
    pipeline_seconds = medians["a pipeline, batch 32"]
    bare_seconds = medians["e bare forward passes"]
    agree = f"{agreement():.4f}"
    print(f"| {'':32} | CPU s | a ÷ this | this ÷ e | model calls | Ω_max | Ω_rand | as in fp32 |")
    print("|---" * 8 + "|")
    for name, seconds in medians.items():
        fact = facts[name] if isinstance(facts[name], dict) else {}
        row = [str(fact.get(key, "")) for key in ("calls", "omega_max", "omega_rand")]
        row.append(agree if "bf16" in name else "")
        ratios = f"{pipeline_seconds / seconds:5.2f} | {seconds / bare_seconds:5.2f}"
        print(f"| {name:32} | {seconds:6.1f} | {ratios} | {' | '.join(row)} |")
    full = facts["c disorder"]
    for name in ("d1 curtailed, Ω_max", "d2 curtailed, Ω_max and Ω_rand"):
        for metric, value in facts[name].items():
            if metric.startswith("omega"):
                assert full[metric] == value, "curtailment changed a score"


if __name__ == "__main__":
    main(sys.argv[0], ARMS, report)
