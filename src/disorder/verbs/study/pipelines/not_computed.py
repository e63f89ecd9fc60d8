"""Items that no machine makes: those that people answer, and drawings; both say what to type
instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from disorder.verbs.study.result import Portion
from disorder.verbs.study.workbench import Bench


@dataclass(frozen=True)
class _Nothing:
    """A pipeline that finds nothing; the commands of its item are what is shown."""

    q: int | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    kind = ""
    needs_model = False
    trains = False

    def __call__(self, bench: Bench) -> Iterator[Portion]:
        """Nothing."""
        yield from ()


@dataclass(frozen=True)
class People(_Nothing):
    """What people answer: `disorder human` draws the sample, asks, and scores."""

    kind = "people"
    does = "ask people, with disorder human"


@dataclass(frozen=True)
class Drawing(_Nothing):
    """A drawing or made-up example: nothing is measured, and a command shows the like of it."""

    kind = "drawing"
    does = "nothing is measured; commands show the like of it"
