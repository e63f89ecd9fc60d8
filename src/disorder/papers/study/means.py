"""Means over models or sets of data: the rows of a table that average its other rows.

"Mean of 3 BERTs" is a row of three models, each computed here; one model is never taken for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from disorder.papers.study.result import DIGITS, StudyCell

Row = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class MeanRow:
    """A row that averages others: `name` is what the paper calls it under `key`.

    `members` are the published models, or the sets of data, that it is the mean of.
    """

    key: Literal["model", "data"]
    name: str
    members: Sequence[str]

    def cells(
        self, cells: Iterable[StudyCell], names: Mapping[str, str]
    ) -> tuple[list[StudyCell], list[str]]:
        """The mean of every column that all members have, and a note where there is none.

        `names` says which published model each of ours stands for. A mean over as many other models
        has a name of its own: it is not the paper's.
        """
        groups: dict[tuple[Row, str], dict[str, StudyCell]] = {}
        for cell in cells:
            if self.key in cell.row:
                place = groups.setdefault((_without(cell, self.key), cell.column), {})
                place[cell.row[self.key]] = cell
        found = [
            mean for group in groups.values() if (mean := self._mean(group, names)) is not None
        ]
        return found, [] if found else [self._why_not(groups.values())]

    def _mean(self, group: Mapping[str, StudyCell], names: Mapping[str, str]) -> StudyCell | None:
        if self.key == "data":
            members = [group[name] for name in self.members if name in group]
            name = self.name
        else:
            members = list(group.values())
            stands_for = {names.get(model, "") for model in group}
            is_theirs = stands_for == set(self.members)
            name = self.name if is_theirs else f"mean of {len(members)} models"
        if len(members) != len(self.members):
            return None
        return _mean_cell(members, self.key, name)

    def _why_not(self, groups: Iterable[Mapping[str, StudyCell]]) -> str:
        there = dict.fromkeys(name for group in groups for name in group)
        if self.key == "data":
            lacking = ", ".join(name for name in self.members if name not in there)
            return f"{self.name!r}, over {len(self.members)} sets, is not computed (no {lacking})"
        given = "1 was given" if len(there) == 1 else f"{len(there)} were given"
        return (
            f"{self.name!r} is not computed: it is of {len(self.members)} models "
            f"({', '.join(self.members)}), and {given}"
        )


def _without(cell: StudyCell, key: str) -> Row:
    return tuple(sorted((name, value) for name, value in cell.row.items() if name != key))


def _mean_cell(members: Sequence[StudyCell], key: str, name: str) -> StudyCell:
    """The mean with its interval over examples.

    Sets of data are independent: their intervals combine as errors do. Models share the examples:
    then the ends of the intervals are averaged, which is never too narrow.
    """
    value = round(float(np.mean([cell.value for cell in members])), DIGITS)
    changes: dict[str, object] = {
        "row": {**members[0].row, key: name},
        "value": value,
        "n": sum(cell.n for cell in members) if key == "data" else members[0].n,
        "skipped": 0,
        "by_seed": [],
    }
    if all(cell.low is not None for cell in members):
        bounds = [cell.bounds for cell in members]
        if key == "data":
            half = math.sqrt(sum(((high - low) / 2) ** 2 for low, high in bounds)) / len(bounds)
            low, high = value - half, value + half
        else:
            low, high = (float(np.mean(ends)) for ends in zip(*bounds, strict=True))
        changes |= {
            "low": round(min(low, value), DIGITS),
            "high": round(max(high, value), DIGITS),
        }
    return members[0].model_copy(update=changes)
