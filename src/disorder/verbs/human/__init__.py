"""Can people do what the model does? Blind tasks made from runs and data, answers kept safe, and
scores beside the model's.

After UNLI Table 4 (two experts label permuted pairs that a model accepted) and WS Table 4 (crowd
workers say which texts are sentences). The pages are in `disorder.web.annotation_app`.
"""

from __future__ import annotations

from disorder.verbs.human.answer_store import export, exported, import_answers
from disorder.verbs.human.ratings import ALL, MAJORITY, MODEL, PERTURBED
from disorder.verbs.human.scoring import HumanOmitted, HumanRecord, HumanScores, score
from disorder.verbs.human.task_making import MadeTask, make

__all__ = [
    "ALL",
    "MAJORITY",
    "MODEL",
    "PERTURBED",
    "HumanOmitted",
    "HumanRecord",
    "HumanScores",
    "MadeTask",
    "export",
    "exported",
    "import_answers",
    "make",
    "score",
]
