"""The cost of auditing a language model: lm-evaluation-harness, a hand-written loop, disorder; real
pairs with four shots; CPU time, medians.

MODEL=FOLDER python benchmarks/llm_speed.py --rounds 5     (needs lm-eval; --toy: see _measure.py)

MODEL is the folder of a causal language model, DATA a data spec with a training split (in
DISORDER_DATA), WITH a transformation; N_PAIRS (30) and Q (50) are the size. A round takes long:
with --state FILE --only ARM it is run in pieces, PIECE=1/3 takes every third pair. BATCH is the
batch size of lm-eval and of the loop; without it the best of some is taken.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _measure import TOY, main

SHARED = Path(__file__).parents[1].parent / "shared"
os.environ.setdefault("DISORDER_DATA", str(SHARED / "data"))
os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
MODEL = os.environ.get("MODEL", "")
DATA = os.environ.get("DATA", "mnli:matched")
WITH = os.environ.get("WITH", "derange")
N_PAIRS = 3 if TOY else int(os.environ.get("N_PAIRS", 30))
Q = 3 if TOY else int(os.environ.get("Q", 50))
SHOTS = 2 if TOY else 4
NUMBER, N_PIECES = (int(each) for each in os.environ.get("PIECE", "1/1").split("/"))
BATCH = 2 if TOY else int(os.environ.get("BATCH", 0))
BATCHES = (1, 4, 16, 32)  # tried for lm-eval and the loop
TRIED = 32  # prompts that a batch size is tried on
ASKED = {"shots": SHOTS, "chat": "off"}
HARNESS = "a lm-eval, its best batch size"
LOOP = "b hand-written loop, by length"
FULL = "c disorder"
MAX = "d1 curtailed, Ω_max"
BOTH = "d2 curtailed, Ω_max and Ω_rand"


def dataset() -> Any:
    """Pairs whose texts have eight words or more, so that all have q permutations."""
    from dataclasses import replace

    from disorder.data import read_data
    from disorder.randomness import digest

    data = read_data(DATA)
    long = [e for e in data.examples if min(len(str(text).split()) for text in e.texts) >= 8]
    chosen = sorted(long, key=lambda e: digest(0, "benchmark", e.id))[:N_PAIRS]
    return replace(data, examples=sorted(chosen, key=lambda e: e.id)[NUMBER - 1 :: N_PIECES])


def exported(folder: Path) -> str:
    """The task folder for lm-eval; gives the name of its group."""
    from disorder.verbs.perturb import perturb

    return perturb(dataset(), with_=WITH, q=Q).export(folder, as_="lm-eval", shots=SHOTS)


def lm_eval() -> Callable[[], object]:
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    folder = Path(tempfile.mkdtemp()) / "task"
    group = exported(folder)
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    models: dict[int, Any] = {}

    def run(size: int, limit: int | None = None) -> Any:
        if size not in models:
            models[size] = HFLM(
                pretrained=MODEL, dtype="float32", device="cpu", batch_size=size, backend="causal"
            )
        return simple_evaluate(
            model=models[size],
            tasks=[group],
            task_manager=manager,
            limit=limit,
            bootstrap_iters=0,
            log_samples=False,
            verbosity="ERROR",
        )

    best = quickest(lambda size: run(size, TRIED // 2))
    return lambda: {"batch": best, "questions": _n_samples(run(best))}


def _n_samples(found: Any) -> int:
    return sum(counts["effective"] for counts in found["n-samples"].values())


def quickest(run: Callable[[int], object]) -> int:
    """The batch size that takes least CPU time."""
    import time

    if BATCH:
        return BATCH

    def seconds(size: int) -> float:
        began = time.process_time()
        run(size)
        return time.process_time() - began

    run(BATCHES[0])  # warm
    return min(BATCHES, key=seconds)


def parts() -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    network = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
    return network, AutoTokenizer.from_pretrained(MODEL)


def prompts() -> list[tuple[str, list[str]]]:
    """Every prompt with its answers, original and perturbed."""
    import json

    folder = Path(tempfile.mkdtemp()) / "task"
    exported(folder)
    rows = [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [(row["prompt"], [f" {choice}" for choice in row["choices"]]) for row in rows]


def hand_written() -> Callable[[], object]:
    """One forward pass per prompt, prompts of similar length together, padded on the left."""
    import torch

    network, tokenizer = parts()
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    asked = prompts()
    firsts = [tokenizer(answer, add_special_tokens=False)["input_ids"] for answer in asked[0][1]]
    if any(len(ids) > 1 for ids in firsts) and not TOY:
        sys.exit("the loop scores one token per answer: choose label words of one token")

    def run(size: int, n: int | None = None) -> int:
        texts = sorted((prompt for prompt, _ in asked[:n]), key=len)
        with torch.inference_mode():
            for start in range(0, len(texts), size):
                batch = tokenizer(texts[start : start + size], return_tensors="pt", padding=True)
                batch.pop("token_type_ids", None)
                logits = network(**batch, logits_to_keep=1).logits[:, -1]
                logits.log_softmax(-1)[:, [ids[0] for ids in firsts]].tolist()
        return len(texts)

    best = quickest(lambda size: run(size, TRIED))
    return lambda: {"batch": best, "questions": run(best)}


def disorder_run(precision: str = "fp32", *, q: int = Q, **settings: Any) -> Callable[[], object]:
    from disorder.models import load
    from disorder.runs.settings import Settings
    from disorder.verbs.prompting import prompt_of

    data = dataset()
    prompt = prompt_of(data, Settings(**ASKED))
    model = load(
        f"causal:{MODEL}", task=data.task, precision=precision, options={"prompt": prompt}
    ).predictor

    def work() -> dict[str, Any]:
        from disorder.verbs.audit import audit

        run = audit(model, data, with_=[WITH], q=q, cache="off", **settings)
        omega = {r.metric: r.value for r in run.scores if r.metric in ("omega_max", "omega_rand")}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        return {"questions": run.n_predictions, "peak": peak, **omega}

    return work


ARMS = {
    HARNESS: lm_eval,
    LOOP: hand_written,
    FULL: disorder_run,
    MAX: lambda: disorder_run(curtail=True, score=["omega_max"]),
    BOTH: lambda: disorder_run(curtail=True, score=["omega_max", "omega_rand"]),
    "e1 bf16, all questions": lambda: disorder_run("bf16"),
    "e2 bf16, curtailed, Ω_max": lambda: disorder_run("bf16", curtail=True, score=["omega_max"]),
    "c with q ÷ 3": lambda: disorder_run(q=max(2, Q // 3)),
}


def report(medians: dict[str, float], facts: dict[str, Any]) -> None:
    print(
        f"| {'':30} | CPU s | a ÷ this | b ÷ this | questions | batch | peak MB | Ω_max | Ω_rand |"
    )
    print("|---" * 9 + "|")
    keys = ("questions", "batch", "peak", "omega_max", "omega_rand")
    for name, seconds in medians.items():
        row = [str(facts[name].get(key, "")) for key in keys]
        ratios = " | ".join(ratio(medians.get(other), seconds) for other in (HARNESS, LOOP))
        print(f"| {name:30} | {seconds:6.1f} | {ratios} | {' | '.join(row)} |")
    for name, key in ((MAX, "omega_max"), (BOTH, "omega_rand")):
        if FULL in facts and name in facts:
            assert facts[name][key] == facts[FULL][key], "curtailment changed a score"


def ratio(other: float | None, seconds: float) -> str:
    return f"{other / seconds:5.2f}" if other else "–"


if __name__ == "__main__":
    main(sys.argv[0], ARMS, report)
