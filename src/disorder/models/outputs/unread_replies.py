"""Replies that cannot be read: a few are a matter of their texts, many are one of the server.

None of them is kept in a cache, so that a later run asks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disorder.errors import ModelStopped, option
from disorder.types.predictions import FAILED

UNREAD = "the reply cannot be read"
IS_UNREAD = FAILED + UNREAD  # the outcome
MOST = 10  # texts up to which nothing is concluded
MOST_SHARE = 0.05  # of all texts


@dataclass
class UnreadReplies:
    """How many there were among the predictions of a model so far."""

    n: int = 0
    n_texts: int = 0

    def count(self, model: str, outcomes: Sequence[str]) -> None:
        """Add some predictions; raises once too many replies cannot be read."""
        found = sum(outcome == IS_UNREAD for outcome in outcomes)
        self.n_texts += len(outcomes)
        self.n += found
        if found and self.n > max(MOST, MOST_SHARE * self.n_texts):
            raise ModelStopped(
                f"{model}: {self.n:,} of {self.n_texts:,} replies cannot be read: too many to "
                "leave out; if the server cannot be put right, start a new run with other "
                f"{option('answers')}"
            )
