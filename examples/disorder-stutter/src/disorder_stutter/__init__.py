"""An example plugin that adds a part of each of eight kinds, one file each.

The entry points in pyproject.toml name modules; importing one runs its decorators. The study item
has one of its own, since it needs `disorder.papers`.
"""

from disorder_stutter import (
    changed_mind,
    longer_than,
    odd_one_out,
    repeated_words,
    steadiness,
    stutter,
    twisters,
)

__all__ = [
    "changed_mind",
    "longer_than",
    "odd_one_out",
    "repeated_words",
    "steadiness",
    "stutter",
    "twisters",
]
