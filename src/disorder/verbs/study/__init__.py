"""Tables and figures of the papers for any model, with the published numbers beside ours.

An item names data, models and a pipeline; pipelines use audit, train and explain as users do.
"""

from __future__ import annotations

from disorder.verbs.study.availability import missing_for
from disorder.verbs.study.folder import as_json, as_markdown, read_study
from disorder.verbs.study.item import PAPERS, StudyItem, find_item, study_item, study_items
from disorder.verbs.study.latex_table import latex_table
from disorder.verbs.study.means import MeanRow
from disorder.verbs.study.pipeline import Pipeline, Reach
from disorder.verbs.study.pipelines.audit_table import AuditTable
from disorder.verbs.study.pipelines.count_table import CountTable
from disorder.verbs.study.pipelines.designs_table import DesignsTable
from disorder.verbs.study.pipelines.dev_r_scores import DevRCounts, DevRScores
from disorder.verbs.study.pipelines.example_texts import ExampleTexts
from disorder.verbs.study.pipelines.explanation_figure import ExplanationFigure
from disorder.verbs.study.pipelines.explanation_table import ExplanationTable
from disorder.verbs.study.pipelines.human_table import HumanTable
from disorder.verbs.study.pipelines.illustration import Illustration
from disorder.verbs.study.pipelines.mitigation_table import MitigationTable
from disorder.verbs.study.pipelines.per_task_training import PerTaskTraining
from disorder.verbs.study.pipelines.salad_scores import SaladScores
from disorder.verbs.study.pipelines.training_table import TrainingTable
from disorder.verbs.study.reaching import check_item, check_table, read_studies
from disorder.verbs.study.result import PublishedNumber, StepResult, Study, StudyCell
from disorder.verbs.study.study_settings import StudySettings
from disorder.verbs.study.studying import study
from disorder.verbs.study.training_models import TrainingArm
from disorder.verbs.study.workbench import Workbench

__all__ = [
    "PAPERS",
    "AuditTable",
    "CountTable",
    "DesignsTable",
    "DevRCounts",
    "DevRScores",
    "ExampleTexts",
    "ExplanationFigure",
    "ExplanationTable",
    "HumanTable",
    "Illustration",
    "MeanRow",
    "MitigationTable",
    "PerTaskTraining",
    "Pipeline",
    "PublishedNumber",
    "Reach",
    "SaladScores",
    "StepResult",
    "Study",
    "StudyCell",
    "StudyItem",
    "StudySettings",
    "TrainingArm",
    "TrainingTable",
    "Workbench",
    "as_json",
    "as_markdown",
    "check_item",
    "check_table",
    "find_item",
    "latex_table",
    "missing_for",
    "read_studies",
    "read_study",
    "study",
    "study_item",
    "study_items",
]
