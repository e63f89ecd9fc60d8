"""Audit a model: perturb the words of a dataset, predict again, measure what survives."""

from __future__ import annotations

from disorder.verbs.audit.pipeline import audit, resume

__all__ = ["audit", "resume"]
