"""How is a text broken? One file a transformation; each returns rows of word positions, not strings."""

from __future__ import annotations

from disorder.perturb._spec import parse
from disorder.perturb._suites import suite, suites
from disorder.perturb._transformation import Transformation

__all__ = ["Transformation", "parse", "suite", "suites"]
