"""How is a model made better? Data in, trained model out: one loop, one small file a recipe.

This folder joins stages as audit.py does: it reads, breaks, trains and measures, and leaves a
folder that can be audited.
"""

from __future__ import annotations

from disorder.verbs.train.designs import Design, designs
from disorder.verbs.train.devices import is_first_process
from disorder.verbs.train.learner import start as starting_model
from disorder.verbs.train.mitigations import Finding, mitigations
from disorder.verbs.train.recipe_plan import Inputs, Job, Loss, Phase
from disorder.verbs.train.training import Trained, resume, train

__all__ = [
    "Design",
    "Finding",
    "Inputs",
    "Job",
    "Loss",
    "Phase",
    "Trained",
    "designs",
    "is_first_process",
    "mitigations",
    "resume",
    "starting_model",
    "train",
]
