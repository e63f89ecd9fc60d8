"""Does your model read, or does it only count words?

import disorder
run = disorder.audit(model, "data.jsonl")
print(run.verdict)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disorder.data import read_data
    from disorder.errors import DisorderError
    from disorder.runs import Run, read_run
    from disorder.verbs.audit import audit
    from disorder.verbs.compare import compare
    from disorder.verbs.explain import explain
    from disorder.verbs.gate import gate
    from disorder.verbs.perturb import perturb
    from disorder.verbs.sanity import sanity
    from disorder.verbs.study import study

__all__ = [
    "DisorderError",
    "Run",
    "audit",
    "compare",
    "explain",
    "gate",
    "perturb",
    "read",
    "read_run",
    "sanity",
    "study",
]
__version__ = "0.1.0"

_HOMES = {
    "DisorderError": "errors",
    "Run": "runs",
    "audit": "verbs.audit",
    "compare": "verbs.compare",
    "explain": "verbs.explain",
    "gate": "verbs.gate",
    "perturb": "verbs.perturb",
    "read": "data",
    "read_run": "runs",
    "sanity": "verbs.sanity",
    "study": "verbs.study",
}


def __getattr__(name: str) -> Any:
    """Load public names when they are first used, so that `import disorder` stays quick."""
    if name in _HOMES:
        return getattr(import_module(f"disorder.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'disorder' has no attribute {name!r}")
