"""How is a text perturbed? One file a transformation; each returns rows of word positions, not
strings.
"""

from __future__ import annotations

from disorder.transformations.applying.parsing import parse
from disorder.transformations.applying.stored_texts import stored_texts
from disorder.transformations.applying.suites import suite, suites
from disorder.transformations.applying.transformation import Transformation

__all__ = ["Transformation", "parse", "stored_texts", "suite", "suites"]
