"""Audit a model: perturb the words of a dataset, predict again, measure what survives."""

from __future__ import annotations

from disorder.verbs.audit.auditing import BLOCK, CURTAILED_BLOCK
from disorder.verbs.audit.block import load_model, loaded_model
from disorder.verbs.audit.pipeline import audit, resume
from disorder.verbs.audit.verdict import kept

__all__ = ["BLOCK", "CURTAILED_BLOCK", "audit", "kept", "load_model", "loaded_model", "resume"]
