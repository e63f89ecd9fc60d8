"""Audit a model: perturb the words of a dataset, predict again, measure what survives."""

from __future__ import annotations

from disorder.verbs.audit.auditing import Audit, conducted
from disorder.verbs.audit.block import Block, BlockPredictor, BlockResult
from disorder.verbs.audit.budget import Budget, Prices
from disorder.verbs.audit.piloting import Pilot, pilot
from disorder.verbs.audit.pipeline import audit, resume
from disorder.verbs.audit.preview import preview
from disorder.verbs.audit.sampling import BLOCK, CURTAILED_BLOCK

__all__ = [
    "BLOCK",
    "CURTAILED_BLOCK",
    "Audit",
    "Block",
    "BlockPredictor",
    "BlockResult",
    "Budget",
    "Pilot",
    "Prices",
    "audit",
    "conducted",
    "pilot",
    "preview",
    "resume",
]
