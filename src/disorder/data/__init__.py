"""Data: examples from files, the hub, the papers' named sets and the built-in grammar.

`read_data` loads a dataset; `stream` gives examples one by one. Both count every row that they
leave out, by reason.
"""

from __future__ import annotations

from disorder.data.reading import (
    column_names,
    declared_language,
    detected_language,
    drawing_key,
    groups,
    limited,
    named_language,
    rare_labels,
    read_by_language,
    read_data,
    select,
    stream,
    turn_of,
    vocabulary,
)
from disorder.data.sources import (
    at_hand,
    honest_name,
    joined_specs,
    local_files,
    named_set_of,
    train_spec,
)
from disorder.data.tasks import guess_task, known_tasks

__all__ = [
    "at_hand",
    "column_names",
    "declared_language",
    "detected_language",
    "drawing_key",
    "groups",
    "guess_task",
    "honest_name",
    "joined_specs",
    "known_tasks",
    "limited",
    "local_files",
    "named_language",
    "named_set_of",
    "rare_labels",
    "read_by_language",
    "read_data",
    "select",
    "stream",
    "train_spec",
    "turn_of",
    "vocabulary",
]
