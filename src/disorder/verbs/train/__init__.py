"""How is a model made better? Data in, trained model out: one loop, one small file a recipe.

This folder joins stages as audit.py does: it reads, breaks, trains and measures, and leaves a
folder that can be audited.
"""

from __future__ import annotations

from disorder.verbs.train.designs import Design, designs, difference
from disorder.verbs.train.devices import is_first_process
from disorder.verbs.train.mitigations import ALL, Finding, mitigations
from disorder.verbs.train.recipe_plan import Inputs, Job, Loss, Phase
from disorder.verbs.train.resuming import Source, folder_name, named, source, train_once
from disorder.verbs.train.training import Trained, resume, train

__all__ = [
    "ALL",
    "Design",
    "Finding",
    "Inputs",
    "Job",
    "Loss",
    "Phase",
    "Source",
    "Trained",
    "designs",
    "difference",
    "folder_name",
    "is_first_process",
    "mitigations",
    "named",
    "resume",
    "source",
    "train",
    "train_once",
]
