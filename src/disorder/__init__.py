"""Does your model read, or does it only count words?

import disorder
run = disorder.audit(model, "data.jsonl")
print(run)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disorder.data import read_data
    from disorder.errors import DisorderError
    from disorder.papers.study import study as study
    from disorder.papers.training.corruption_designs import designs as designs
    from disorder.papers.training.mitigation_comparison import mitigations as mitigations
    from disorder.registry import VerbPart, list_parts
    from disorder.results.run import Run
    from disorder.results.run_folder import read_run
    from disorder.verbs.audit import audit, resume
    from disorder.verbs.board import board
    from disorder.verbs.check import check
    from disorder.verbs.compare import compare
    from disorder.verbs.explain import explain
    from disorder.verbs.gate import gate
    from disorder.verbs.import_logs import import_logs
    from disorder.verbs.model_loading import load_model
    from disorder.verbs.perturb import perturb
    from disorder.verbs.plan import plan
    from disorder.verbs.sanity import sanity
    from disorder.verbs.train import train

__all__ = [
    "DisorderError",
    "Run",
    "audit",
    "board",
    "check",
    "compare",
    "explain",
    "gate",
    "import_logs",
    "list_parts",
    "load_model",
    "perturb",
    "plan",
    "read_data",
    "read_run",
    "resume",
    "sanity",
    "train",
]
__version__ = "0.1.0"

_HOMES = {
    "DisorderError": "errors",
    "Run": "results.run",
    "audit": "verbs.audit",
    "board": "verbs.board",
    "check": "verbs.check",
    "compare": "verbs.compare",
    "explain": "verbs.explain",
    "gate": "verbs.gate",
    "import_logs": "verbs.import_logs",
    "list_parts": "registry",
    "load_model": "verbs.model_loading",
    "perturb": "verbs.perturb",
    "plan": "verbs.plan",
    "read_data": "data",
    "read_run": "results.run_folder",
    "resume": "verbs.audit",
    "sanity": "verbs.sanity",
    "train": "verbs.train",
}  # public name → the module it is loaded from when it is first used


def __getattr__(name: str) -> Any:
    """Load public names when they are first used, so that `import disorder` stays quick."""
    if name in _HOMES:
        return getattr(import_module(f"disorder.{_HOMES[name]}"), name)
    found = None if name.startswith("_") else _verbs().get(name)
    if found is None:
        raise AttributeError(f"module 'disorder' has no attribute {name!r}")
    return found.python_function()


def _verbs() -> dict[str, VerbPart]:
    """Verbs that come in by the registry, and have a function."""
    from disorder.registry import VerbPart, parts

    return {name: entry for name, entry in parts(VerbPart).items() if entry.python}


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, *_verbs()])
