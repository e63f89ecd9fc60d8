"""Pipelines: how a table or figure is computed, as a small declaration that can be called.

`pipelines/` has one file per kind of table or figure; a plugin may bring its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from disorder.papers.study.part_settings import PartSettings
from disorder.papers.study.result import StepResult, StudyCell
from disorder.papers.study.workbench import Workbench, short_name
from disorder.results.run import Run


@dataclass(frozen=True)
class Reach:
    """Cells that a pipeline can fill: the columns, and what their rows say beside model and data.

    `rows` has the values of each key, None where they depend on the model or the data.
    """

    columns: Collection[str]
    rows: Mapping[str, Collection[str] | None] = field(default_factory=dict)

    def holds(self, column: str, about: Mapping[str, str]) -> bool:
        """Whether a row that says all this can have a number in the column."""
        if column not in self.columns or not set(about) <= set(self.rows):
            return False
        return all(
            values is None or about.get(key) in (None, *values) for key, values in self.rows.items()
        )


class Computation(ABC):
    """What pipelines and measurements, frozen dataclasses, say about themselves. A field that is a
    computation speaks for what contains it, unless that says otherwise.
    """

    @property
    def inside(self) -> Mapping[str, Computation]:
        """The computations that it is made of, by field."""
        declared: Any = self
        every = {each.name: getattr(self, each.name) for each in fields(declared)}
        return {name: each for name, each in every.items() if isinstance(each, Computation)}

    @property
    def own_settings(self) -> Mapping[str, Collection[str]]:
        """What a user may set beside its parts: `--set dev_r.sentences=punkt`."""
        return {
            name: own for each in self.inside.values() for name, own in each.own_settings.items()
        }

    @property
    def q(self) -> int | None:
        """How many permutations the paper draws; None where nothing depends on it."""
        return next((each.q for each in self.inside.values()), None)

    @property
    def perturbs(self) -> Sequence[str]:
        """The transformations that it needs, as specs; what they lack is known before it begins."""
        found: Sequence[str] | None = getattr(self, "transformations", None)
        one: str | None = getattr(self, "transformation", None)
        if found is None and one is not None:
            found = (one,)
        return found or [spec for each in self.inside.values() for spec in each.perturbs]

    @property
    @abstractmethod
    def reach(self) -> Sequence[Reach]:
        """The cells that it can fill."""

    says = ""  # what it does, with fields of its own in braces

    @property
    def does(self) -> str:
        """What it does, in one line, without numbers that a user may change."""
        return self.says.format(self=self)

    def without(self, specs: Collection[str]) -> Self:
        """The same without these transformations, where it can do without them."""
        declared: Any = self
        changes: dict[str, Any] = {name: each.without(specs) for name, each in self.inside.items()}
        if any(each.name == "transformations" for each in fields(declared)):
            left = [spec for spec in declared.transformations if spec not in specs]
            changes["transformations"] = left
        changed: Self = replace(declared, **changes)
        return changed

    def tuned(self, given: PartSettings) -> Self:
        """The same with the user's values of its own settings; raises where one cannot work."""
        declared: Any = self
        changes = {name: each.tuned(given) for name, each in self.inside.items()}
        changed: Self = replace(declared, **changes)
        return changed


class Measurement(Computation):
    """Which cells a run fills."""

    def on(self, data: str) -> Self:
        """The same with what the paper measures on this data."""
        return self

    @property
    @abstractmethod
    def transformations(self) -> Sequence[str]:
        """How texts are perturbed."""

    @property
    @abstractmethod
    def metrics(self) -> Collection[str]:
        """The scores whose absence is worth a note."""

    @abstractmethod
    def cells(self, run: Run, folder: Path, about: Mapping[str, str]) -> Iterator[StudyCell]:
        """The cells that a run fills."""


class Pipeline(Computation):
    """How a table or figure is computed.

    `kind` names the kind of item in a word or two. `needs_model` and `trains` say whether a model
    is needed and whether it is trained, `takes_runs` whether a finished audit can stand for a model
    and its data, `takes_designs` whether finished designs can; `needs_training_data` whether all
    models learn from one set of training data, which the item or the user has to name. `units` says
    how columns without published numbers are shown, where they are not shares. `by_draws` are the
    columns whose numbers depend on how many permutations are drawn, beside the scores that are
    known to. `counts_training_data` says whose examples a count is about, `has_forests` whether
    each column is drawn.
    """

    kind: str
    needs_model: bool = True
    trains: bool = False
    takes_runs: bool = False
    takes_designs: bool = False
    needs_training_data: bool = False
    units: Mapping[str, str] = MappingProxyType({})
    by_draws: Collection[str] = ()
    counts_training_data: bool = False
    has_forests: bool = True

    @property
    def explains(self) -> Sequence[str]:
        """The explanations that it runs, as specs."""
        return ()

    def step_names(self, bench: Workbench) -> Sequence[str]:
        """What each step is called, as progress shows it."""
        return [f"{short_name(model)} on {short_name(data)}" for model, data in bench.pairs()]

    @abstractmethod
    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """Compute the item step by step."""
