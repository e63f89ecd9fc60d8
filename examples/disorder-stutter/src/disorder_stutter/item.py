"""A study item: stuttering on the plugin's own data, beside numbers that were written down before.

The printed numbers stand in item.toml, as strings, exactly as they were printed.
"""

from __future__ import annotations

from pathlib import Path

from disorder.verbs.study import AuditTable, study_item

TABLE = study_item(
    "stutter/table1",
    AuditTable(
        {"accuracy": "accuracy", "steadiness": "steadiness"},
        transformations=("stutter",),
        by_transformation=True,
        q=10,
    ),
    published=Path(__file__).with_suffix(".toml"),
    models={"longer_than:12": "word counter"},
    data=("twisters",),
    takes="seconds",
)
