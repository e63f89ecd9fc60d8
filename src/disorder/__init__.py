"""Does your model read, or does it only count words?

    import disorder
    run = disorder.audit(model, "data.jsonl")
    print(run.verdict)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disorder.audit import audit
    from disorder.compare import compare
    from disorder.data import read
    from disorder.errors import DisorderError
    from disorder.explain import explain
    from disorder.gate import gate
    from disorder.report import Run, read_run
    from disorder.sanity import sanity
    from disorder.study import study

__all__ = ["DisorderError", "Run", "audit", "compare", "explain", "gate", "read", "read_run", "sanity", "study"]
__version__ = "0.1.0"

_HOMES = {
    "audit": "audit", "compare": "compare", "explain": "explain", "gate": "gate", "read": "data", "DisorderError": "errors",
    "Run": "report", "read_run": "report", "sanity": "sanity", "study": "study",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load public names when they are first used, so that `import disorder` stays quick."""
    if name in _HOMES:
        return getattr(import_module(f"disorder.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'disorder' has no attribute {name!r}")
