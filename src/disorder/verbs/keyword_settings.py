"""Settings from keywords: what a user gives to a verb, in the shapes that `Settings` holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disorder.data import column_names
from disorder.runs.settings import Settings
from disorder.specs import listed, parse_list
from disorder.verbs.model_loading import label_names
from disorder.verbs.prompting import label_words_of


def settings_of(**given: Any) -> Settings:
    """The settings that the keywords of a verb give, checked."""
    for name in ("score", "group_by", "prompt", "fail_if"):
        given[name] = listed(given.get(name))
    for name in ("data_dir", "cache", "shots_from"):
        given[name] = None if given.get(name) is None else str(given[name])
    given["transformations"] = listed(given.pop("with_", ()))
    given["omega"] = _thresholds(given.get("omega", ()))
    given["columns"] = column_names(given.get("columns"))
    given["labels"] = label_names(given.get("labels"))
    given["label_words"] = label_words_of(given.get("label_words"))
    chosen = Settings(**given)
    chosen.check()
    return chosen


def _thresholds(omega: str | float | Sequence[str | float]) -> list[str]:
    """Thresholds as they are written in the names of scores."""
    given = [omega] if isinstance(omega, float) else omega
    return [str(x) for x in (parse_list(given) if isinstance(given, str) else given)]
