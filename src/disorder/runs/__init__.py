"""Everything that is kept on disk: the run folder and its schema, samples, the prediction cache,
storage addresses.
"""

from __future__ import annotations

from disorder.runs.examples_file import read_examples, write_examples
from disorder.runs.run import EarlyStop, Omitted, Record, Run
from disorder.runs.run_folder import majority_share, make_folder, new_run, read_run, write_run
from disorder.runs.sample_parts import SampleParts
from disorder.runs.samples import (
    is_about,
    no_answers_of,
    predictions_of,
    sample_table,
    storable,
)
from disorder.runs.storage import place, write_atomically

__all__ = [
    "EarlyStop",
    "Omitted",
    "Record",
    "Run",
    "SampleParts",
    "is_about",
    "majority_share",
    "make_folder",
    "new_run",
    "no_answers_of",
    "place",
    "predictions_of",
    "read_examples",
    "read_run",
    "sample_table",
    "storable",
    "write_atomically",
    "write_examples",
    "write_run",
]
