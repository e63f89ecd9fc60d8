"""The argument of every check: the rows that were read, the verdict rule, and the trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from disorder.data.families import Families, find_families
from disorder.errors import NothingToMeasure
from disorder.types import Dataset, Example, Task
from disorder.verbs.sanity.equivalence import VerdictRule
from disorder.verbs.sanity.trials import Trials


@dataclass(frozen=True, eq=False)
class CheckInput:
    """What a check gets as its only argument.

    `data` is the dataset (with a limit, the rows that were drawn), `train` its training split (None
    where there is none); `families` says which of their `examples` are not independent. `rule`
    holds the margin and decides verdicts. `trials` trains the model on original and on perturbed
    rows, and scores it; a check that uses it says `trains=True`.

    A check returns a `CheckResult`; where it has nothing to measure it raises `NothingToMeasure`
    with the reason, and the other checks are still done.
    """

    data: Dataset
    train: Dataset | None
    rule: VerdictRule
    trained: Trials | str = "no model is trained"

    @property
    def task(self) -> Task:
        """The task of the data: its labels (none where gold values are numbers) and language."""
        return self.data.task

    @cached_property
    def examples(self) -> Sequence[Example]:
        """All rows that were read, training rows first."""
        training_rows = [] if self.train is None else self.train.examples
        return [*training_rows, *self.data.examples]

    @cached_property
    def families(self) -> Families:
        """The families that all rows fall into."""
        return find_families(self.examples)

    @property
    def trials(self) -> Trials:
        """The rows dealt into parts, and the model that is trained and tested on them."""
        if isinstance(self.trained, str):
            raise NothingToMeasure(self.trained)
        return self.trained
