"""Training: data in, trained model out; one loop, one small file per recipe.

`train` makes a model that can be audited, `designs` and `mitigations` compare many of them.
"""

from __future__ import annotations

from disorder.verbs.train.comparison import TrainingSource, folder_name, train_once, with_prefix
from disorder.verbs.train.corruption_designs import accuracy_difference, designs
from disorder.verbs.train.devices import is_first_process
from disorder.verbs.train.finished_designs import Design, FinishedDesigns
from disorder.verbs.train.inputs import Inputs
from disorder.verbs.train.mitigation_comparison import USUAL, mitigations
from disorder.verbs.train.mitigation_scores import ALL, Finding
from disorder.verbs.train.recipe_plan import AfterPhase, Job, Loss, Phase
from disorder.verbs.train.request import TrainingRequest
from disorder.verbs.train.setting_grid import chosen_lines
from disorder.verbs.train.trainable import TrainableModel, starting_model
from disorder.verbs.train.training import TrainedModel, resume, train
from disorder.verbs.train.training_settings import LoopSettings, WordSettings

__all__ = [
    "ALL",
    "USUAL",
    "AfterPhase",
    "Design",
    "Finding",
    "FinishedDesigns",
    "Inputs",
    "Job",
    "LoopSettings",
    "Loss",
    "Phase",
    "TrainableModel",
    "TrainedModel",
    "TrainingRequest",
    "TrainingSource",
    "WordSettings",
    "accuracy_difference",
    "chosen_lines",
    "designs",
    "folder_name",
    "is_first_process",
    "mitigations",
    "resume",
    "starting_model",
    "train",
    "train_once",
    "with_prefix",
]
