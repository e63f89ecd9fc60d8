"""What does the model rely on instead of order? One file a question; each gives a line, pictures
and the data behind them.

This package joins the stages, as audit.py does: an explanation is a function of a `Subject` that
returns an `Explained`.
"""

from __future__ import annotations

from disorder.report.exhibits import Figure, Row, Table
from disorder.verbs.explain.explaining import LIMIT, Explanations, explain
from disorder.verbs.explain.folder import (
    about,
    as_json,
    check_form,
    page,
    write_csvs,
    write_figures,
    write_folder,
)
from disorder.verbs.explain.head_ablation import RANDOM, WITHOUT
from disorder.verbs.explain.result import Explained, bounds, said, signed
from disorder.verbs.explain.subject import Broken, Subject

__all__ = [
    "LIMIT",
    "RANDOM",
    "WITHOUT",
    "Broken",
    "Explained",
    "Explanations",
    "Figure",
    "Row",
    "Subject",
    "Table",
    "about",
    "as_json",
    "bounds",
    "check_form",
    "explain",
    "page",
    "said",
    "signed",
    "write_csvs",
    "write_figures",
    "write_folder",
]
