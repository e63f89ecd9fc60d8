"""Where do examples come from? Files, the hub, the papers' named sets, and the data that is built
in.

`read` loads a dataset to audit; `stream` hands examples on one by one. Both count every row they
leave out, by reason.
"""

from __future__ import annotations

from disorder.data.reading import Source, at_hand, honest_name, read, stream, train_spec
from disorder.data.selection import drawing_key, groups, rare_labels, select, vocabulary
from disorder.data.tasks import language_of

__all__ = [
    "Source",
    "at_hand",
    "drawing_key",
    "groups",
    "honest_name",
    "language_of",
    "rare_labels",
    "read",
    "select",
    "stream",
    "train_spec",
    "vocabulary",
]
