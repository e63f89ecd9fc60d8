"""The cost of a conclusion: UNLI's protocol (every example, q = 100) in a transformers pipeline,
the same by disorder, and what an audit does by itself; CPU time.

python benchmarks/verdict_speed.py --rounds 1     (MODEL is a transformers folder, DATA a spec, N
the examples of the first table, DISORDER_DATA the papers' data; --toy: see _measure.py)

The pipeline predicts a random part of the protocol's texts, of which the number is printed, scaled
by its own calls. Loading the model is no part of the times and stands apart.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _measure import TOY, main

SHARED = Path(__file__).parents[1].parent / "shared"
MODEL = os.environ.get("MODEL", str(SHARED / "models" / "minilm-mnli"))
DATA = os.environ.get("DATA", "mnli:matched")
N = int(os.environ.get("N", "2000"))
N = min(N, 6) if TOY else N
Q = 3 if TOY else 100
PART = 6 if TOY else 300  # calls of the pipeline that are measured
BATCH = 32
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("DISORDER_DATA", str(SHARED / "data"))

PIPELINE = "a pipeline, a part of the protocol"
PROTOCOL = "b disorder, the protocol"
USUAL = "c disorder, by itself"
USUAL_BF16 = "c disorder, by itself, bf16"
DECIDED = "d disorder, until decided"
DECIDED_BF16 = "d disorder, until decided, bf16"


def part_of_protocol() -> Callable[[], object]:
    """Random texts of the protocol on all the data: an example, and one of its permutations or
    itself.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers import pipeline as make

    from disorder.data import read_data
    from disorder.errors import DoesNotApply
    from disorder.transformations import parse
    from disorder.transformations.rendering import variant_texts

    began = time.process_time()
    network = AutoModelForSequenceClassification.from_pretrained(MODEL, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    classify = make("text-classification", model=network, tokenizer=tokenizer, device="cpu")
    start = time.process_time() - began
    data = read_data(DATA)
    derange = parse("derange")
    draw = random.Random(0)
    texts = []
    while len(texts) < PART:
        example = draw.choice(data.examples)
        number = draw.randrange(Q + 1)
        try:
            variants = derange.apply(example, task=data.task, q=Q, seed=0, short="use")
        except DoesNotApply:
            continue
        written = [example.texts, *variant_texts(variants)]
        texts.append(written[number % len(written)])
    inputs = [a if b is None else {"text": a, "text_pair": b} for a, b in texts]

    def work() -> dict[str, Any]:
        classify(inputs, batch_size=BATCH, top_k=None, truncation=True)
        return {"calls": len(inputs), "n_examples": len(data.examples), "start": start}

    return work


def audited(precision: str = "fp32", *, is_whole: bool = False, **settings: Any) -> Any:
    from disorder.data import read_data, select
    from disorder.models import load
    from disorder.verbs.audit import audit

    began = time.process_time()
    data = read_data(DATA)
    model = load(f"hf:{MODEL}", task=data.task, precision=precision).predictor
    start = time.process_time() - began
    used = data if is_whole else select(data, limit=N)

    def work() -> dict[str, Any]:
        run = audit(model, used, with_=["derange"], cache="off", **settings)
        found = run.conclusion
        has_ratio = found is not None and found.value is not None
        return {
            "calls": run.n_predictions,
            "n_examples": run.n_examples,
            "kind": "" if found is None else found.kind,
            "kept": [found.value, found.low, found.high] if has_ratio and found else None,
            "start": start,
        }

    return work


def report(seconds: dict[str, float], facts: dict[str, Any]) -> None:
    part = facts[PIPELINE]
    per_call = seconds[PIPELINE] / part["calls"]
    print(
        f"{DATA}, a pipeline in batches of {BATCH}: {part['calls']:,} random texts of it, "
        f"{1000 * per_call:.2f} ms of CPU time per call; starting takes {part['start']:.1f} s"
    )
    _table(
        f"The same examples ({N:,} at most); UNLI's protocol is every one × q = {Q}",
        [PROTOCOL, USUAL, USUAL_BF16],
        seconds,
        facts,
        per_call * min(N, part["n_examples"]) * (Q + 1),
    )
    _table(
        f"A decided conclusion, whatever its width; the protocol is all {part['n_examples']:,} "
        f"examples × q = {Q}",
        [DECIDED, DECIDED_BF16],
        seconds,
        facts,
        per_call * part["n_examples"] * (Q + 1),
    )


def _table(
    title: str, names: list[str], seconds: dict[str, float], facts: dict[str, Any], protocol: float
) -> None:
    base = _width(facts.get(PROTOCOL, {}))
    print(f"\n{title}\n")
    print(
        "| | CPU s | model calls | conclusion | skill kept | width ÷ protocol | pipeline ÷ this |"
    )
    print("|---|---|---|---|---|---|---|")
    print(f"| pipeline, scaled | {protocol:.1f} | | | | | 1.0 |")
    for name in names:
        if name not in seconds:
            continue
        fact = facts[name]
        kept = fact["kept"]
        shown = f"{kept[0]:.2f} [{kept[1]:.2f}, {kept[2]:.2f}]" if kept else ""
        width = _width(fact)
        wide = f"{width / base:.2f}" if width and base and names[0] == PROTOCOL else ""
        print(
            f"| {name.partition(' ')[2]} | {seconds[name]:.1f} | {fact['calls']:,} "
            f"({fact['n_examples']:,} examples) | {fact['kind']} | {shown} | {wide} | "
            f"{protocol / seconds[name]:.1f} |"
        )


def _width(fact: dict[str, Any]) -> float:
    kept = fact.get("kept")
    return kept[2] - kept[1] if kept else 0.0


ARMS = {
    PIPELINE: part_of_protocol,
    PROTOCOL: partial(audited, q=Q, until="never"),
    USUAL: partial(audited, until="never"),
    USUAL_BF16: partial(audited, "bf16", until="never"),
    DECIDED: partial(audited, is_whole=True, until="decided"),
    DECIDED_BF16: partial(audited, "bf16", is_whole=True, until="decided"),
}

if __name__ == "__main__":
    main(__file__, ARMS, report)
