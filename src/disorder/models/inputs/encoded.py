"""Token numbers of many inputs, kept in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np

from disorder.types import Ints


class TokenLists(Protocol):
    """One input as lists: token numbers, and for each the number of the text it belongs to."""

    @property
    def ids(self) -> Sequence[int]:
        """Token numbers."""

    @property
    def type_ids(self) -> Sequence[int]:
        """Which text each token belongs to."""


@dataclass(frozen=True, eq=False)
class EncodedInputs:
    """Input i has the tokens `ids[starts[i] : starts[i] + lengths[i]]`."""

    ids: Ints
    type_ids: Ints
    starts: Ints
    lengths: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of_lists(cls, inputs: Sequence[TokenLists]) -> EncodedInputs:
        """Inputs that were tokenised one by one."""
        lengths = np.array([len(each.ids) for each in inputs], dtype=np.int64)
        return cls(
            joined([each.ids for each in inputs]),
            joined([each.type_ids for each in inputs]),
            np.cumsum(lengths) - lengths,
            lengths,
        )

    def batch(self, members: Ints) -> tuple[Ints, Ints]:
        """Token numbers and text numbers of inputs of one length (inputs × length)."""
        places = self.starts[members][:, None] + np.arange(self.lengths[members[0]])
        return self.ids[places], self.type_ids[places]


def spread(starts: Ints, lengths: Ints) -> Ints:
    """Every index of the runs that begin at `starts`, one run after the other.

    >>> spread(np.array([10, 3]), np.array([2, 3])).tolist()
    [10, 11, 3, 4, 5]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def joined(lists: Sequence[Sequence[int]]) -> Ints:
    """The numbers of all lists, one list after the other."""
    return np.fromiter(chain.from_iterable(lists), dtype=np.int64)
