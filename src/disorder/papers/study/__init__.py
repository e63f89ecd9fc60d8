"""Tables and figures of the papers for any model, with the published numbers beside ours.

An item names data, models and a pipeline; pipelines use audit, train and explain as users do.
"""

from __future__ import annotations

from disorder.papers.study.folder import as_markdown, read_study
from disorder.papers.study.item import PAPERS, StudyItem, find_item, study_items
from disorder.papers.study.item_files import read_items
from disorder.papers.study.means import MeanRow
from disorder.papers.study.part_settings import StudySettings
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.pipelines.audit_table import AuditTable
from disorder.papers.study.pipelines.count_table import CountTable
from disorder.papers.study.pipelines.designs_table import DesignsTable
from disorder.papers.study.pipelines.dev_r_scores import DevRCounts, DevRScores
from disorder.papers.study.pipelines.example_texts import ExampleTexts
from disorder.papers.study.pipelines.explanation_figure import ExplanationFigure
from disorder.papers.study.pipelines.explanation_table import ExplanationTable
from disorder.papers.study.pipelines.human_table import HumanTable
from disorder.papers.study.pipelines.illustration import Illustration
from disorder.papers.study.pipelines.mitigation_table import MitigationTable
from disorder.papers.study.pipelines.per_task_training import PerTaskTraining
from disorder.papers.study.pipelines.salad_scores import SaladScores
from disorder.papers.study.pipelines.training_table import TrainingTable
from disorder.papers.study.preflight import missing_for
from disorder.papers.study.reaching import check_item, check_table, read_studies
from disorder.papers.study.result import PublishedNumber, StepResult, Study, StudyCell
from disorder.papers.study.studying import study
from disorder.papers.study.table_lines import paper_grid
from disorder.papers.study.training_models import TrainingArm
from disorder.papers.study.workbench import Workbench

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
    "as_markdown",
    "check_item",
    "check_table",
    "find_item",
    "missing_for",
    "paper_grid",
    "read_items",
    "read_studies",
    "read_study",
    "study",
    "study_items",
]
