"""Replies that cannot be read: a few are a matter of their texts, many are one of the server.

None of them is kept in a cache, so that a later run asks again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disorder.abstention import NO_ANSWERS, UNREAD, no_answer_codes
from disorder.errors import ModelStopped
from disorder.types import Bools, Floats

MOST = 10  # texts up to which nothing is concluded
MOST_SHARE = 0.05  # of all texts


def is_unread(rows: Floats) -> Bools:
    """Which rows stand for a reply that cannot be read."""
    return np.asarray(no_answer_codes(rows) == 1 + NO_ANSWERS.index(UNREAD))


@dataclass
class UnreadReplies:
    """How many there were among the predictions of a model so far."""

    n: int = 0
    n_texts: int = 0

    def count(self, model: str, rows: Floats) -> None:
        """Add some predictions; raises once too many replies cannot be read."""
        found = int(is_unread(rows).sum())
        self.n_texts += len(rows)
        self.n += found
        if found and self.n > max(MOST, MOST_SHARE * self.n_texts):
            raise ModelStopped(
                f"{model}: {self.n:,} of {self.n_texts:,} replies cannot be read: too many to "
                "leave out; if the server cannot be put right, start a new run with other --answers"
            )
