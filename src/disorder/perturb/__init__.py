"""How is a text broken? One file a transformation; each returns rows of word positions, not strings."""

from __future__ import annotations

from disorder.perturb._transformation import Transformation, parse
from disorder.registry import parts

__all__ = ["Transformation", "parse", "suite"]


def suite(name: str) -> list[str]:
    """The specs of a named set of transformations."""
    from disorder.errors import UnknownName

    specs = [
        spec
        for key, entry in parts("transformation").items()
        if name in entry.facts["suites"]
        for spec in ([f"{key}:n={n}" for n in (1, 2, 3)] if key == "shuffle_ngrams" else [key])
    ]
    if not specs:
        raise UnknownName("suite", name, {s for p in parts("transformation").values() for s in p.facts["suites"]})
    return specs
