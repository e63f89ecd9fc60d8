"""Items that are not computed: those that people answer, and illustrations. Both say what to type
instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from disorder.verbs.study.pipeline import Pipeline
from disorder.verbs.study.result import StepResult
from disorder.verbs.study.workbench import Workbench


class NotComputed(Pipeline):
    """A pipeline without numbers: the commands of its item are what is shown."""

    needs_model = False

    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """Nothing."""
        yield from ()


@dataclass(frozen=True)
class HumanStudy(NotComputed):
    """What people answer: `disorder human` draws the sample, collects answers and scores them."""

    kind = "people"
    does = "people answer, with disorder human"


@dataclass(frozen=True)
class Illustration(NotComputed):
    """A drawing or a made-up example: nothing is measured, and commands show something alike."""

    kind = "drawing"
    does = "nothing is measured; commands show something alike"
