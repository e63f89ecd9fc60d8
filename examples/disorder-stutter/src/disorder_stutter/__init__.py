"""An example plugin that adds a part of every kind, one file each.

The entry points in pyproject.toml name modules; importing one runs its decorators. The command and
the study item have their own, since they are loaded apart.
"""

from disorder_stutter import (
    changed_mind,
    esperanto,
    first_words,
    half_perturbed,
    hyphenated,
    longer_than,
    odd_one_out,
    repeated_words,
    steadiness,
    stutter,
    threads,
    twister,
    twisters,
)

__all__ = [
    "changed_mind",
    "esperanto",
    "first_words",
    "half_perturbed",
    "hyphenated",
    "longer_than",
    "odd_one_out",
    "repeated_words",
    "steadiness",
    "stutter",
    "threads",
    "twister",
    "twisters",
]
