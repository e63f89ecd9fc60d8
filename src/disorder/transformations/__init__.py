"""Transformations: one file per way to perturb a text; each returns rows of word positions."""

from __future__ import annotations

from disorder.transformations.applying.chain import stored_texts
from disorder.transformations.applying.parsing import parse, suite, suites
from disorder.transformations.applying.transformation import Transformation

__all__ = ["Transformation", "parse", "stored_texts", "suite", "suites"]
