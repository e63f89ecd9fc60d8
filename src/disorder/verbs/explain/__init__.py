"""Explanations of a model: what does it rely on instead of word order?

`explanations/` holds one file per explanation: a function of a `Subject` that returns an
`Explained`. Everything else here is what they share.
"""

from __future__ import annotations

from disorder.results.result import Figure, Picture, Row, Table
from disorder.verbs.explain.explaining import explain
from disorder.verbs.explain.explanations.heads import RANDOM, WITHOUT
from disorder.verbs.explain.explanations.shuffles import (
    WeighedVersion,
    text_versions,
    versions_figure,
)
from disorder.verbs.explain.head_matching import LIMITS
from disorder.verbs.explain.result import (
    Explained,
    Explanations,
    bounds,
    check_format,
    said,
    signed,
    write_csvs,
    write_figures,
    write_folder,
)
from disorder.verbs.explain.subject import PerturbedExamples, Subject

__all__ = [
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
