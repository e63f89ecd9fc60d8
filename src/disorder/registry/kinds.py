"""The kinds of parts: a typed record for each, with what its decorator says about a part."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

from disorder.errors import BadSetting, UnknownName
from disorder.types import Task

Need = Literal["tags", "importance", "vocabulary", "training data"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """One registered function, and what its decorator says about it."""

    kind: ClassVar[str]

    name: str
    function: Callable[..., Any]
    paper: str = ""

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring, as `disorder list` prints it."""
        return first_paragraph(self.function)

    @property
    def is_built_in(self) -> bool:
        """Whether it ships with disorder."""
        return self.function.__module__.split(".")[0] == "disorder"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Its keyword-only settings with their defaults."""
        return {
            name: parameter.default
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self.function)

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Settings as typed by a user, converted to the types that the function declares."""
        for name in given:
            if name not in self.settings:
                known = self.settings or {"(it has none)": None}
                raise UnknownName(f"setting of {self.name}", name, known)
        return {name: self._convert(name, value) for name, value in given.items()}

    def _convert(self, name: str, value: Any) -> Any:
        from pydantic import TypeAdapter, ValidationError

        hint = self._hints[name]
        try:
            return TypeAdapter(hint).validate_python(value)
        except ValidationError:
            raise BadSetting(self.name, need=_wanted(hint), **{name: value}) from None


def first_paragraph(function: Callable[..., Any]) -> str:
    """The first paragraph of a docstring, as one line."""
    return (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")


def _wanted(hint: Any) -> str:
    """What a setting of this type needs, in words."""
    options = typing.get_args(hint)
    if typing.get_origin(hint) is Literal:
        return " or ".join(map(str, options))
    if options:  # an optional setting
        hint = next(option for option in options if option is not type(None))
    if hint is bool:
        return "true or false"
    return f"a value of type {getattr(hint, '__name__', hint)}"


@dataclass(frozen=True, kw_only=True)
class TransformationPart(Part):
    """A way to perturb a text; the decorator `transformation` says what the fields mean."""

    kind = "transformation"

    keeps: str
    destroys: str
    keeps_words: bool
    scope: Literal["sentence", "pair"]
    side: Literal["a", "b", "both", "task", "last"]
    draws: int | None
    deterministic: bool
    copies: bool
    suites: tuple[str, ...]
    sweep: tuple[str, ...]
    words: Mapping[str, str]
    needs: tuple[Need, ...]
    tagger: Mapping[str, str]
    shows: tuple[str, ...]
    single: bool
    units: bool
    nested: tuple[str, ...]
    drawn_as: str
    perturbs: Literal["words", "shots"]


@dataclass(frozen=True, kw_only=True)
class SplitterPart(Part):
    """A way to split a text into words."""

    kind = "words"

    language: str
    needs: str = ""


@dataclass(frozen=True, kw_only=True)
class TaggerPart(Part):
    """A way to find word classes."""

    kind = "tagger"

    language: str
    needs: str = ""


@dataclass(frozen=True, kw_only=True)
class MetricPart(Part):
    """A score; the decorator `metric` says what the fields mean."""

    kind = "metric"

    title: str
    meaning: str
    better: str
    unit: str
    of: Literal["texts", "variants", "permutations", "order"]
    on: Literal["labels", "numbers", "any", "likelihoods"]
    shown: Literal["table", "page", "permutations", "file"]
    position: int
    parameter: str
    points: tuple[str, ...]
    needs_probabilities: bool
    depends_on_q: bool
    alone: str


@dataclass(frozen=True, kw_only=True)
class ModelPart(Part):
    """A loader of predictors; `form` is the spec a user types."""

    kind = "model"

    form: str
    needs: str = ""
    only_reads: bool = False


@dataclass(frozen=True, kw_only=True)
class PromptPart(Part):
    """A prompt for language models; the decorator `prompt` says what the fields mean."""

    kind = "prompt"

    words: Mapping[str, str]
    texts: Literal[0, 1, 2]
    on: Literal["labels", "numbers"]
    of: str


@dataclass(frozen=True)
class Split:
    """A split of a named dataset: its name on the hub, and its file stems in the data folder.

    One that `joins` other splits of the set has neither: it is all of them together.
    """

    hub: str
    files: tuple[str, ...]
    joins: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DataPart(Part):
    """A source of rows; the decorator `data` says what the fields mean."""

    kind = "data"

    form: str
    needs: str = ""
    task: Task | Callable[[str], Task] | None = None
    groups: tuple[str, ...] = ()
    hub: str = ""
    splits: Mapping[str, Split] = field(default_factory=dict)
    default_split: str = ""

    def task_for(self, address: str) -> Task | None:
        """The task of the data at an address, where it is declared."""
        return self.task(address) if callable(self.task) else self.task


@dataclass(frozen=True, kw_only=True)
class NetworkPart(Part):
    """A network that is trained from scratch; `lr` and `epochs` are what it learns well with."""

    kind = "network"

    lr: float
    epochs: int


@dataclass(frozen=True, kw_only=True)
class RecipePart(Part):
    """A way to train; the decorator `recipe` says what the fields mean."""

    kind = "recipe"

    positive: tuple[str, ...]
    shares: tuple[str, ...]
    of_trained: bool
    perturbs: bool
    spans: bool


@dataclass(frozen=True, kw_only=True)
class ExplanationPart(Part):
    """A way to see what a model relies on; the decorator `explanation` describes the fields."""

    kind = "explanation"

    asks: str
    on: Literal["labels", "numbers", "any"]
    needs: str
    usual: bool


@dataclass(frozen=True, kw_only=True)
class CheckPart(Part):
    """A check of a dataset; the decorator `check` says what the fields mean."""

    kind = "check"

    asks: str
    trains: bool
    pairs: bool
    position: int
