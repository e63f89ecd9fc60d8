"""The room of an answer: how many tokens it may take, grown for a model that thinks before it
answers, by what the server says it used (`usage`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FIRST = 2048  # tokens to think, once a model is found to need any
GROWTH = 4  # times more for one that had too few
MARGIN = 2  # times what an answer was seen to use
MAX_COUNT = 10**7  # tokens of one reply; a larger count is none
MOST = 32768  # to think, before an answer counts as none


@dataclass
class Room:
    """Tokens that a model gets beside those of its answer; `given` is a limit for both together."""

    given: int | None = None
    thinking: int = 0
    most: int = MOST

    def limit(self, longest: int) -> int:
        """The limit of a request whose answer itself takes at most `longest` tokens."""
        return longest + self.thinking if self.given is None else self.given

    def learn(self, used: int) -> None:
        """A model used so many tokens to think."""
        self.thinking = min(self.most, max(self.thinking, MARGIN * used))

    def grow(self, limit: int, longest: int) -> bool:
        """More room after a reply that ended at a limit; False where there is no more."""
        if self.given is not None or limit >= longest + self.most:
            return False
        if self.limit(longest) <= limit:  # else another reply has made room already
            self.thinking = min(self.most, max(FIRST, GROWTH * self.thinking))
        return True

    def stop_at(self, limit: int, longest: int) -> None:
        """The server takes no larger limit."""
        self.most = self.thinking = max(0, limit - longest)


def reasoning_tokens(reply: Mapping[str, Any]) -> int:
    """Tokens of a reply that the model thought and did not show, as far as the server says."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return 0
    places = [usage.get("completion_tokens_details"), usage.get("output_tokens_details"), usage]
    for place in places:
        value = place.get("reasoning_tokens") if isinstance(place, dict) else None
        if isinstance(value, int) and 0 < value <= MAX_COUNT:
            return value
    return 0
