"""Would another runtime answer faster? One real classifier, real pairs in the batches of an audit;
CPU time, medians.

python benchmarks/runtimes.py --rounds 5     (MODEL and DATA as for audit_speed.py; needs onnx,
onnxscript and a C++ compiler)

A runtime that has to be made first (compiled, exported) is charged for it: the table says after how
many questions it would be paid back.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _measure import main
from audit_speed import MODEL, dataset

PAIRS, Q = 12, 50
OURS = "torch, sdpa (disorder)"
Forward = Callable[[dict[str, Any]], Any]


def contest(make: Callable[[Any, list[Any]], Forward]) -> Callable[[], object]:
    """The model's own batches through another forward pass, on the same pool of single threads."""
    from disorder.models import load
    from disorder.models.inputs.batches import by_length
    from disorder.transformations.rendering import variant_texts
    from disorder.verbs.audit.block import BlockPredictor

    data = dataset()
    model: Any = load(f"hf:{MODEL}", task=data.task).predictor
    asker = BlockPredictor(lambda: model, data.task, Q, 0, "skip")
    texts = [
        text for e in data.examples[:PAIRS] for text in variant_texts(asker.perturbed("derange", e))
    ]
    encoded = model._encode(texts)
    batches = by_length([len(e.ids) for e in encoded], budget=model.budget)
    feeds = [model._feed([encoded[i] for i in batch]) for batch in batches]
    began = time.process_time()
    forward = make(model, feeds)
    list(model._pool.map(forward, feeds))
    first = time.process_time() - began

    def work() -> dict[str, Any]:
        return {
            "first": first,
            "logits": np.concatenate(list(model._pool.map(forward, feeds))).tolist(),
        }

    return work


def as_it_is(model: Any, feeds: list[Any]) -> Forward:
    forward: Forward = model._forward
    return forward


def plain_attention(model: Any, feeds: list[Any]) -> Forward:
    model.network.set_attn_implementation("eager")
    return as_it_is(model, feeds)


def compiled(model: Any, feeds: list[Any]) -> Forward:
    import torch

    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
    network = model.network
    model.network = torch.compile(network, dynamic=True)
    return as_it_is(model, feeds)


def exported(model: Any, feeds: list[Any]) -> Forward:
    import onnxruntime
    import torch

    names = list(feeds[0])

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = model.network

        def forward(self, *inputs: Any) -> Any:
            return self.network(**dict(zip(names, inputs, strict=True))).logits

    path = Path(tempfile.mkdtemp()) / "model.onnx"
    shape = {0: torch.export.Dim("batch", min=1), 1: torch.export.Dim("length", min=2, max=512)}
    given = tuple(torch.from_numpy(feeds[0][name][:2]) for name in names)
    torch.onnx.export(
        Logits(),
        given,
        str(path),
        dynamo=True,
        external_data=False,
        verbose=False,
        dynamic_shapes=(tuple(shape for _ in names),),
        input_names=names,
        output_names=["logits"],
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda feed: session.run(None, feed)[0]


ARMS = {
    OURS: lambda: contest(as_it_is),
    "torch, plain attention": lambda: contest(plain_attention),
    "torch.compile(dynamic=True)": lambda: contest(compiled),
    "ONNX Runtime": lambda: contest(exported),
}


def probabilities(logits: list[list[float]]) -> Any:
    shifted = np.exp(np.array(logits) - np.max(logits, axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def report(medians: dict[str, float], facts: dict[str, Any]) -> None:
    expected, n = probabilities(facts[OURS]["logits"]), len(facts[OURS]["logits"])
    print(
        f"{n} questions; {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {sys.platform}"
    )
    print(
        "| runtime | CPU s | disorder ÷ this | made in, CPU s | paid back after | max Δp | same answers |"
    )
    print("|---" * 7 + "|")
    for name, seconds in medians.items():
        found, gain = probabilities(facts[name]["logits"]), (medians[OURS] - seconds) / n
        once = (
            max(0.0, facts[name]["first"] - seconds)
            if name in ("torch.compile(dynamic=True)", "ONNX Runtime")
            else 0.0
        )
        paid = "" if name == OURS else "never" if gain <= 0 else f"{once / gain:,.0f} questions"
        same = (found.argmax(axis=1) == expected.argmax(axis=1)).mean()
        row = f"{medians[OURS] / seconds:.2f} | {once:.0f} | {paid} | {abs(found - expected).max():.0e} | {same:.3f}"
        print(f"| {name} | {seconds:.2f} | {row} |")


if __name__ == "__main__":
    main(sys.argv[0], ARMS, report)
