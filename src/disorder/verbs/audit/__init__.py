"""Audit a model: perturb the words of a dataset, predict again, measure what survives."""

from __future__ import annotations

from disorder.verbs.audit.auditing import BLOCK, CURTAILED_BLOCK
from disorder.verbs.audit.pipeline import audit, resume

__all__ = ["BLOCK", "CURTAILED_BLOCK", "audit", "resume"]
