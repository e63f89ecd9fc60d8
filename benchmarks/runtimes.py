"""Other runtimes than torch as it is: one real classifier, real pairs in the batches of an audit;
CPU time, medians.

python benchmarks/runtimes.py --rounds 5     (MODEL and DATA as for audit_speed.py; needs onnx,
onnxscript and a C++ compiler; --toy leaves out what is not installed, and torch.compile)

A runtime that has to be made first (compiled, exported) is charged for it: the table says after how
many model calls it would be paid back.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _forward import Feed, logits, on_single_threads, recorded
from _measure import TOY, main
from audit_speed import MODEL, audited, dataset

N_PAIRS = 12
Q = 3 if TOY else 50
OURS = "torch, sdpa (disorder)"
COMPILED = "torch.compile(dynamic=True)"
EXPORTED = "ONNX Runtime"
Forward = Callable[[Feed], Any]


def contest(make: Callable[[Any, list[Feed]], Forward]) -> Callable[[], object]:
    """The batches of an audit through another forward pass, on the same pool of single threads."""
    from disorder.models import load

    data = dataset()
    data = replace(data, examples=data.examples[:N_PAIRS])
    model: Any = load(f"hf:{MODEL}", task=data.task).predictor
    with recorded(model.network) as feeds:
        audited(model, data, q=Q)
    began = time.process_time()
    forward = make(model.network, feeds)
    on_single_threads(forward, feeds)
    first = time.process_time() - began

    def work() -> dict[str, Any]:
        found = np.concatenate(on_single_threads(forward, feeds))
        return {"first": first, "logits": found.tolist()}

    return work


def as_it_is(network: Any, feeds: list[Feed]) -> Forward:
    return logits(network)


def plain_attention(network: Any, feeds: list[Feed]) -> Forward:
    network.set_attn_implementation("eager")
    return logits(network)


def compiled(network: Any, feeds: list[Feed]) -> Forward:
    import torch

    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
    return logits(torch.compile(network, dynamic=True))


def exported(network: Any, feeds: list[Feed]) -> Forward:
    import onnxruntime
    import torch

    names = list(feeds[0])

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *inputs: Any) -> Any:
            return self.network(**dict(zip(names, inputs, strict=True))).logits

    path = Path(tempfile.mkdtemp()) / "model.onnx"
    longest = network.config.max_position_embeddings
    shape = {0: torch.export.Dim("batch", min=1), 1: torch.export.Dim("length", min=2, max=longest)}
    given = tuple(feeds[0][name][:2].clone() for name in names)
    torch.onnx.export(
        Logits().eval(),
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
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda feed: session.run(None, {name: feed[name].numpy() for name in names})[0]


ARMS = {
    OURS: lambda: contest(as_it_is),
    "torch, plain attention": lambda: contest(plain_attention),
    COMPILED: lambda: contest(compiled),
    EXPORTED: lambda: contest(exported),
}
if TOY:
    del ARMS[COMPILED]
    if not importlib.util.find_spec("onnxscript"):
        del ARMS[EXPORTED]


def probabilities(logits: list[list[float]]) -> Any:
    shifted = np.exp(np.array(logits) - np.max(logits, axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def report(medians: dict[str, float], facts: dict[str, Any]) -> None:
    expected = probabilities(facts[OURS]["logits"])
    n = len(expected)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{n} model calls; {machine}; {sys.platform}")
    columns = ("CPU s", "disorder ÷ this", "made in, CPU s", "paid back after", "max Δp")
    print(f"| runtime | {' | '.join(columns)} | same predictions |")
    print("|---" * 7 + "|")
    for name, seconds in medians.items():
        found = probabilities(facts[name]["logits"])
        once = max(0.0, facts[name]["first"] - seconds) if name in (COMPILED, EXPORTED) else 0.0
        paid = "" if name == OURS else paid_back(once, (medians[OURS] - seconds) / n)
        same = (found.argmax(axis=1) == expected.argmax(axis=1)).mean()
        row = [f"{seconds:.2f}", f"{medians[OURS] / seconds:.2f}", f"{once:.0f}", paid]
        row += [f"{abs(found - expected).max():.0e}", f"{same:.3f}"]
        print(f"| {name} | {' | '.join(row)} |")


def paid_back(once: float, gain: float) -> str:
    """After how many model calls the time to make a runtime is earned."""
    return "never" if gain <= 0 else f"{once / gain:,.0f} model calls"


if __name__ == "__main__":
    main(sys.argv[0], ARMS, report)
