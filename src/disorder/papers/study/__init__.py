"""Tables and figures of the papers for any model, with the published numbers beside ours.

An item names data, models and a pipeline; pipelines use audit, train and explain as users do.
"""

from disorder.papers.study.folder import read_study
from disorder.papers.study.item import PAPERS, StudyItem, find_item, read_items, study_items
from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.preflight import missing_for
from disorder.papers.study.reaching import check_item, check_table, read_studies
from disorder.papers.study.result import StepResult, Study, StudyCell
from disorder.papers.study.study_request import study
from disorder.papers.study.workbench import Workbench

__all__ = [
    "PAPERS",
    "Pipeline",
    "Reach",
    "StepResult",
    "Study",
    "StudyCell",
    "StudyItem",
    "Workbench",
    "check_item",
    "check_table",
    "find_item",
    "missing_for",
    "read_items",
    "read_studies",
    "read_study",
    "study",
    "study_items",
]
