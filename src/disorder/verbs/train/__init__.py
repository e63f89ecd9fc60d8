"""Training: data in, trained model out; one loop, one small file per recipe.

`train` makes a model that can be audited; `train_once` makes one of many that are compared.
"""

from __future__ import annotations

from disorder.verbs.train.comparison import (
    EQUAL_ARMS,
    TrainingCounts,
    TrainingSource,
    comparison_request,
    folder_name,
    read_test_data,
    train_once,
    training_name,
    with_prefix,
)
from disorder.verbs.train.devices import is_first_process
from disorder.verbs.train.evaluation import HELD_OUT
from disorder.verbs.train.folder import is_training, learned_nothing, read_record
from disorder.verbs.train.inputs import Inputs, perturbed_copies, salad_specs
from disorder.verbs.train.recipe_plan import AfterPhase, Job, Loss, Phase
from disorder.verbs.train.request import TrainingRequest, check_request, held_out
from disorder.verbs.train.trainable import (
    SETTING_NAMES,
    LoopSettings,
    TrainableModel,
    WordSettings,
    loop_setting_names,
    starting_model,
)
from disorder.verbs.train.training import TrainedModel, resume, train

__all__ = [
    "EQUAL_ARMS",
    "HELD_OUT",
    "SETTING_NAMES",
    "AfterPhase",
    "Inputs",
    "Job",
    "LoopSettings",
    "Loss",
    "Phase",
    "TrainableModel",
    "TrainedModel",
    "TrainingCounts",
    "TrainingRequest",
    "TrainingSource",
    "WordSettings",
    "check_request",
    "comparison_request",
    "folder_name",
    "held_out",
    "is_first_process",
    "is_training",
    "learned_nothing",
    "loop_setting_names",
    "perturbed_copies",
    "read_record",
    "read_test_data",
    "resume",
    "salad_specs",
    "starting_model",
    "train",
    "train_once",
    "training_name",
    "with_prefix",
]
