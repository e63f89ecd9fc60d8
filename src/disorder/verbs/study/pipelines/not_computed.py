"""Items that are not computed: those that people answer, and illustrations. Both say what to type
instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from disorder.verbs.study.pipeline import Pipeline
from disorder.verbs.study.result import StepResult
from disorder.verbs.study.workbench import Workbench


@dataclass(frozen=True)
class HumanStudy(Pipeline):
    """What people answer: `disorder human` draws the sample, collects answers and scores them."""

    kind = "people"
    needs_model = False
    does = "people answer, with disorder human"

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """Nothing; the commands of the item are shown."""
        yield from ()


@dataclass(frozen=True)
class Illustration(Pipeline):
    """A drawing or a made-up example: nothing is measured, and commands show something alike."""

    kind = "drawing"
    needs_model = False
    does = "nothing is measured; commands show something alike"

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """Nothing; the commands of the item are shown."""
        yield from ()
