"""The kinds of parts: a typed record for each, with what its decorator says about a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from disorder.registry.declaration import Part

if TYPE_CHECKING:
    from disorder.types import Task

Need = Literal["tags", "importance", "vocabulary", "training data"]


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
    perturbs: Literal["words", "shots", "options"]


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
    of: Literal["texts", "variants", "permutations", "order", "options"]
    on: Literal["labels", "numbers", "any", "likelihoods"]
    shown: Literal["table", "page", "permutations", "file"]
    position: int
    parameter: str
    points: tuple[str, ...]
    needs_probabilities: bool
    least_labels: int
    copies: Literal["as others", "by default label", "never"]
    watched: Literal["mean", "ratio", "never"]
    decided_at: Callable[..., Any] | None
    depends_on_q: bool
    alone: str
    needs_skill: bool


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
    on: Literal["labels", "numbers", "options"]
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
class TaskPart(Part):
    """A form of data; the decorator `task` says what the fields mean."""

    kind = "task"

    columns: tuple[tuple[str, ...], ...]
    scored: Literal["choice", "pair"]
    title: str


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


@dataclass(frozen=True, kw_only=True)
class EnginePart(Part):
    """A place where blocks are run; the decorator `engine` says what the function takes."""

    kind = "engine"

    needs: str
