"""Explanations of a model: what does it rely on instead of word order?

`explanations/` holds one file per explanation: a function of a `Subject` that returns an
`Explained`. Everything else here is what they share.
"""

from __future__ import annotations

from disorder.results.result import Figure, Picture, Row, Table
from disorder.verbs.explain.explaining import explain
from disorder.verbs.explain.folder import (
    check_format,
    write_csvs,
    write_figures,
    write_folder,
)
from disorder.verbs.explain.head_ablation import RANDOM, WITHOUT
from disorder.verbs.explain.head_exhibits import LIMITS
from disorder.verbs.explain.result import (
    Explained,
    Explanations,
    bounds,
    said,
    signed,
)
from disorder.verbs.explain.subject import LIMIT, PerturbedExamples, Subject
from disorder.verbs.explain.weighed_versions import WeighedVersion, text_versions, versions_figure

__all__ = [
    "LIMIT",
    "LIMITS",
    "RANDOM",
    "WITHOUT",
    "Explained",
    "Explanations",
    "Figure",
    "PerturbedExamples",
    "Picture",
    "Row",
    "Subject",
    "Table",
    "WeighedVersion",
    "bounds",
    "check_format",
    "explain",
    "said",
    "signed",
    "text_versions",
    "versions_figure",
    "write_csvs",
    "write_figures",
    "write_folder",
]
