"""The request: all options of `disorder.sanity`, checked before any data is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disorder.errors import BadOption, option
from disorder.registry import CheckPart, part, parts
from disorder.requests.fields import SanityFields
from disorder.requests.groups import TrainingOptions
from disorder.requests.option import changed, command_line, declared_in
from disorder.requests.sanity import SanityOptions
from disorder.requests.settings import Settings
from disorder.verbs.sanity.equivalence import VerdictRule
from disorder.verbs.sanity.splits import RowLimits

DEFAULT_MODEL = "linear"
DECLARED = declared_in(SanityOptions)


@dataclass(frozen=True)
class SanityRequest(SanityFields):
    """What `disorder.sanity` was called with."""

    data: Any = "builtin"

    @property
    def rule(self) -> VerdictRule:
        """The rule that verdicts follow."""
        return VerdictRule(self.margin, self.skill)

    @property
    def limits(self) -> RowLimits:
        """How many rows are used."""
        return RowLimits(self.limit, self.train_limit)

    @property
    def parts(self) -> list[CheckPart]:
        """The checks that are run, in the order of the page."""
        named = [part(CheckPart, name) for name in self.check]
        chosen = {entry.name: entry for entry in named or parts(CheckPart).values()}
        return sorted(chosen.values(), key=lambda entry: (entry.position, entry.name))

    @property
    def reading(self) -> Settings:
        """The settings that concern the reading of data."""
        return Settings.among(self, limit=None)

    @property
    def recorded(self) -> dict[str, Any]:
        """The settings as result.json holds them."""
        is_spec = self.train is None or isinstance(self.train, str)
        return {
            "check": [entry.name for entry in self.parts],
            "margin": self.margin,
            "skill": self.skill,
            "folds": self.folds,
            "limit": self.limit,
            "train_limit": self.train_limit,
            "role": self.role,
            "seed": self.seed,
            "train": self.train if is_spec else "rows given from Python",
            "set": dict(self.settings),
        }

    def check_parts(self) -> None:
        """Raise on checks and models that there are not."""
        for name in self.check:
            part(CheckPart, name)
        self._check_model()

    def _check_model(self) -> None:
        if self.model != DEFAULT_MODEL:
            from disorder.verbs.train import starting_model

            starting_model(self.model)
            return
        unused = {name: getattr(self, name) for name in declared_in(TrainingOptions)}
        given = {name: value for name, value in unused.items() if value}
        if given:
            need = f"a {option('model')} that is trained with it: {DEFAULT_MODEL} takes no settings"
            raise BadOption("sanity", need=need, **given)

    @property
    def command(self) -> str:
        """The command that repeats this: every option that differs from its default.

        A line of Python where data was given as objects.
        """
        if isinstance(self.data, str) and isinstance(self.train, str | None):
            return command_line("sanity", self.data, *changed(SanityOptions, vars(self)))
        said = {
            name: value
            for name, value in vars(self).items()
            if name in DECLARED and not DECLARED[name].is_default(value)
        }
        data = repr(self.data) if isinstance(self.data, str) else "data"
        train = "train" if "train" in said and not isinstance(self.train, str) else None
        words = [
            f"{name}={train if name == 'train' and train else repr(said[name])}" for name in said
        ]
        return f"disorder.sanity({', '.join([data, *words])})"


def as_spec(data: Any) -> Any:
    """A path as the spec that names it; anything else as it is."""
    return str(data) if isinstance(data, Path) else data
