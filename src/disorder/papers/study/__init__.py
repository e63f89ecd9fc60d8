"""Tables and figures of the papers for any model, with the published numbers beside ours.

An item names data, models and a pipeline; pipelines use audit, train and explain as users do.
"""

from __future__ import annotations

from disorder.papers.study.folder import as_markdown, read_study
from disorder.papers.study.item import PAPERS, StudyItem, find_item, read_items, study_items
from disorder.papers.study.means import MeanRow
from disorder.papers.study.part_settings import StudySettings
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.pipelines.audit_table import AuditTable
from disorder.papers.study.pipelines.count_table import CountTable
from disorder.papers.study.pipelines.designs_table import DesignsTable, MitigationTable
from disorder.papers.study.pipelines.explanation_table import ExplanationFigure, ExplanationTable
from disorder.papers.study.pipelines.human_table import HumanTable, Illustration
from disorder.papers.study.pipelines.measurements import DevRCounts, DevRScores, SaladScores
from disorder.papers.study.pipelines.printed_texts import ExampleTexts
from disorder.papers.study.pipelines.training_table import PerTaskTraining, TrainingTable
from disorder.papers.study.preflight import missing_for
from disorder.papers.study.reaching import check_item, check_table, read_studies
from disorder.papers.study.result import PublishedNumber, StepResult, Study, StudyCell
from disorder.papers.study.study_request import study
from disorder.papers.study.table_lines import latex_table
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
    "latex_table",
    "missing_for",
    "read_items",
    "read_studies",
    "read_study",
    "study",
    "study_items",
]
