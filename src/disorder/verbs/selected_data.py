"""The examples that the settings of a run choose from its data."""

from __future__ import annotations

from typing import Any

from disorder.data import select
from disorder.requests.settings import Settings
from disorder.types import Dataset


def selected_data(data: Any, settings: Settings, *, needs_gold: bool = True) -> Dataset:
    """The dataset that a verb works on; in random order where a run may stop early."""
    return select(
        data,
        columns=settings.columns,
        data_dir=settings.data_dir,
        task=settings.task,
        language=settings.language,
        group_by=settings.group_by,
        limit=settings.limit,
        seed=settings.seed,
        is_shuffled=settings.may_stop,
        needs_gold=needs_gold,
    )
