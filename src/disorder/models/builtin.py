"""Built-in models: small transformers that read order, and bags of words."""

from __future__ import annotations

from pathlib import Path

from disorder.errors import BadModel, UnknownName
from disorder.models.bow import Bow
from disorder.models.onnx import Onnx
from disorder.registry import model
from disorder.types import Predictor, Task

MODELS = Path(__file__).parent / "builtin_models"


@model(form="builtin[:bow]", only_reads=True)
def builtin(address: str, *, task: Task) -> Predictor:
    """A small transformer that reads word order, for the built-in tasks; `builtin:bow` is a bag of
    words.
    """
    if address not in ("", "bow"):
        raise UnknownName("built-in model", address, ["bow"])
    if address == "bow":
        return Bow.load(folder(task) / "bow")
    # predicting again is quicker than looking predictions up
    return Onnx(folder(task), is_costly=False)


def folder(task: Task) -> Path:
    """Where the built-in models for tasks with these labels lie."""
    for name, labels in _tasks().items():
        if set(task.labels) == labels:
            return MODELS / name
    known = "; ".join(f"{name}: {', '.join(sorted(labels))}" for name, labels in _tasks().items())
    wanted = ", ".join(task.labels) or "(numbers)"
    raise BadModel(f"no built-in model for the labels {wanted}; there is {known}")


def _tasks() -> dict[str, set[str]]:
    return {
        "nli": {"entailment", "neutral", "contradiction"},
        "sentiment": {"negative", "positive"},
        "acceptability": {"unacceptable", "acceptable"},
    }
