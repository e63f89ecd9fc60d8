"""The request: all options of `disorder.sanity`, checked before any data is read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from disorder.errors import BadSetting
from disorder.registry import CheckPart, part, parts
from disorder.runs.settings import Settings
from disorder.verbs.sanity.challenge_role import Role
from disorder.verbs.sanity.equivalence import VerdictRule
from disorder.verbs.sanity.splits import RowLimits

DEFAULT_MODEL = "linear"
REPEATED = {"check": "--check", "group_by": "--group-by", "settings": "--set"}


@dataclass(frozen=True)
class SanityRequest:
    """What `disorder.sanity` was called with, in the order of the command that repeats it."""

    data: Any
    train: Any = None
    model: str = DEFAULT_MODEL
    margin: float = 0.05
    skill: float = 0.25
    folds: int | None = None
    limit: int | None = None
    train_limit: int | None = None
    seed: int = 0
    role: Role = "benchmark"
    task: str | None = None
    language: str = "auto"
    data_dir: str | None = None
    device: str | None = None
    check: Sequence[str] = ()
    group_by: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

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
        return Settings(
            seed=self.seed,
            columns=self.columns,
            task=self.task,
            language=self.language,
            data_dir=self.data_dir,
            group_by=self.group_by,
        )

    @property
    def recorded(self) -> dict[str, Any]:
        """The settings as sanity.json holds them."""
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

    def validate(self) -> None:
        """Raise on a value that cannot work."""
        VerdictRule(self.margin, self.skill)
        for name in self.check:
            part(CheckPart, name)
        for name in ("limit", "train_limit"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BadSetting("sanity", need="1 or more", **{name: value})
        if self.folds is not None and self.folds < 2:
            raise BadSetting("sanity", folds=self.folds, need="2 or more")
        self._check_model()

    def _check_model(self) -> None:
        if self.model != DEFAULT_MODEL:
            from disorder.verbs.train import starting_model

            starting_model(self.model)
            return
        unused = dict(self.settings)
        if self.device is not None:
            unused["device"] = self.device
        if unused:
            need = f"a --model that is trained with it: {DEFAULT_MODEL} takes no settings"
            raise BadSetting("sanity", need=need, **unused)

    @property
    def command(self) -> str:
        """The command that repeats this: every option that differs from its default.

        A line of Python where data was given as objects.
        """
        changed = self._changed()
        if not isinstance(self.data, str):
            return _python_call("data", changed)
        if not isinstance(self.train, str | None):
            return _python_call(repr(self.data), changed)
        words = ["disorder", "sanity", self.data]
        for name, value in changed.items():
            words += _typed_option(name, value)
        return shlex.join(words)

    def _changed(self) -> dict[str, Any]:
        """The options that differ from their default; empty lists and mappings are defaults."""
        changed = {} if self.train is None else {"train": self.train}
        for each in fields(self):
            value = getattr(self, each.name)
            is_default = value is None or value == each.default or value in ([], {})
            if each.name not in ("data", "train") and not is_default:
                changed[each.name] = value
        return changed


def _python_call(data: str, changed: Mapping[str, Any]) -> str:
    written = [data]
    for name, value in changed.items():
        is_data = name == "train" and not isinstance(value, str)
        written.append(f"{name}={name if is_data else repr(value)}")
    return f"disorder.sanity({', '.join(written)})"


def _typed_option(name: str, value: Any) -> list[str]:
    """An option as it is typed."""
    if name == "columns":
        return ["--columns", _joined(value, ",")]
    if name not in REPEATED:
        return [f"--{name.replace('_', '-')}", str(value)]
    items = [f"{key}={each}" for key, each in value.items()] if name == "settings" else value
    return [word for item in items for word in (REPEATED[name], item)]


def _joined(pairs: Mapping[str, str], between: str) -> str:
    return between.join(f"{left}={right}" for left, right in pairs.items())


def as_spec(data: Any) -> Any:
    """A path as the spec that names it; anything else as it is."""
    return str(data) if isinstance(data, Path) else data
