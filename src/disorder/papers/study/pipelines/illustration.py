"""Items that are not computed: illustrations, which say what to type instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from disorder.papers.study.pipeline import Pipeline, Reach
from disorder.papers.study.result import StepResult
from disorder.papers.study.workbench import Workbench


@dataclass(frozen=True)
class Illustration(Pipeline):
    """A drawing or a made-up example: nothing is measured, and the commands of the item show
    something alike.
    """

    kind = "drawing"
    needs_model = False
    does = "nothing is measured; commands show something alike"

    @property
    def reach(self) -> Sequence[Reach]:
        """Nothing."""
        return ()

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """Nothing."""
        yield from ()
