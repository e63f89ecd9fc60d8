"""Pipelines: how a table or figure is computed, as a small declaration that can be called.

`pipelines/` has one file per kind of table or figure; a plugin may bring its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from disorder.verbs.study.result import StepResult
from disorder.verbs.study.workbench import Workbench


class Pipeline(ABC):
    """What every pipeline says about itself; subclasses are frozen dataclasses.

    `kind` names the kind of item in a word or two. `needs_model` and `trains` say whether a model
    is needed and whether it is trained; `needs_training_data` whether all models learn from one set
    of training data, which the item or the user has to name. `units` says how columns without
    published numbers are shown, where they are not shares.
    """

    kind: str
    needs_model: bool = True
    trains: bool = False
    needs_training_data: bool = False
    units: Mapping[str, str] = MappingProxyType({})

    @property
    def q(self) -> int | None:
        """How many permutations the paper draws; None where nothing depends on it."""
        return None

    @property
    @abstractmethod
    def does(self) -> str:
        """What it does, in one line."""

    @abstractmethod
    def __call__(self, bench: Workbench) -> Iterator[StepResult]:
        """Compute the item step by step."""
