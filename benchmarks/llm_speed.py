"""The cost of auditing a language model: lm-evaluation-harness, a hand-written loop, disorder; real
pairs with four shots; CPU time, medians.

MODEL=FOLDER python benchmarks/llm_speed.py --pieces 5 --state FILE     (needs lm-eval; --toy: see
_measure.py)

MODEL is the folder of a causal language model, DATA a data spec with a training split (in
DISORDER_DATA), WITH a transformation; N_PAIRS (30) and Q (50) are the size. A pass of lm-eval over
all pairs takes half an hour: with --pieces 5 every arm goes once through the pairs, a fifth of them
in each round. BATCH is the batch size of lm-eval and of the loop; without it the best of some is
taken in the first round.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _measure import TOY, Timed, main

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
LAST = json.loads(os.environ.get("LAST", "null")) or {}  # what this arm returned last
BATCH = 2 if TOY else int(os.environ.get("BATCH", 0)) or LAST.get("batch", 0)
BATCHES = (1, 4, 16, 32)  # tried for lm-eval and the loop
TRIED = 32  # prompts that a batch size is tried on
ASKED: dict[str, Any] = {"shots": SHOTS, "chat": "off"}
HARNESS = "a lm-eval, its best batch size"
LOOP = "b hand-written loop, by length"
FULL = "c disorder"
MAX = "d1 curtailed, Ω_max"
BOTH = "d2 curtailed, Ω_max and Ω_rand"
COLUMNS = {
    "questions": "questions",
    "batch": "batch",
    "peak": "peak MB",
    "omega_max": "Ω_max",
    "omega_rand": "Ω_rand",
}


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
    from disorder.requests.settings import Settings
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
    print(f"| {'':30} | CPU s | a ÷ this | b ÷ this | {' | '.join(COLUMNS.values())} |")
    print("|---" * (4 + len(COLUMNS)) + "|")
    for name, seconds in medians.items():
        row = [str(facts[name].get(key, "")) for key in COLUMNS]
        ratios = " | ".join(ratio(medians.get(other), seconds) for other in (HARNESS, LOOP))
        print(f"| {name:30} | {seconds:6.1f} | {ratios} | {' | '.join(row)} |")
    for name, key in ((MAX, "omega_max"), (BOTH, "omega_rand")):
        if FULL in facts and name in facts:
            assert facts[name][key] == facts[FULL][key], "curtailment changed a score"


def ratio(other: float | None, seconds: float) -> str:
    return f"{other / seconds:5.2f}" if other else "–"


def report_pieces(timed: dict[str, Timed]) -> None:
    """The sum over the pieces of each arm; ratios over the pieces that both arms have done, with
    the lowest and highest of a piece.
    """
    print(f"| {'':30} | pieces | CPU s | a ÷ this | b ÷ this | {' | '.join(COLUMNS.values())} |")
    print("|---" * (5 + len(COLUMNS)) + "|")
    for name, pieces in timed.items():
        seconds = sum(each for each, _ in pieces)
        ratios = " | ".join(ratio_of_pieces(timed.get(other), pieces) for other in (HARNESS, LOOP))
        row = " | ".join(added_up([fact for _, fact in pieces], key) for key in COLUMNS)
        print(f"| {name:30} | {len(pieces)} | {seconds:6.1f} | {ratios} | {row} |")
    for name, key in ((MAX, "omega_max"), (BOTH, "omega_rand")):
        for (_, curtailed), (_, full) in zip(
            timed.get(name, []), timed.get(FULL, []), strict=False
        ):
            assert curtailed[key] == full[key], "curtailment changed a score"


def ratio_of_pieces(others: Timed | None, pieces: Timed) -> str:
    if not others:
        return "–"
    both = [(a, b) for (a, _), (b, _) in zip(others, pieces, strict=False)]
    each = sorted(a / b for a, b in both)
    whole = sum(a for a, _ in both) / sum(b for _, b in both)
    return f"{whole:5.2f} [{each[0]:.2f}, {each[-1]:.2f}]"


def added_up(facts: list[dict[str, Any]], key: str) -> str:
    """A fact about all pieces: questions add up, the peak is the highest, scores are means."""
    values = [fact[key] for fact in facts if key in fact]
    if not values:
        return ""
    if key == "questions":
        return str(sum(values))
    return f"{statistics.fmean(values):.4g}" if key.startswith("omega") else str(max(values))


if __name__ == "__main__":
    main(sys.argv[0], ARMS, report, report_pieces)
