"""Which parts are there? One decorator a kind; built-in parts and installed plugins come in by the
same door.

A plugin is a package with an entry point in the group `disorder` that names a module; importing the
module runs its decorators. Names are never overwritten: two parts of one kind and name are an
error.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, TypeVar

from disorder.errors import BadSetting, DisorderError, UnknownName

F = TypeVar("F", bound=Callable[..., Any])

STAGES = {
    "transformation": "disorder.transformations",
    "words": "disorder.transformations.words",
    "tagger": "disorder.transformations.tags",
    "metric": "disorder.metrics",
    "model": "disorder.models",
    "data": "disorder.data",
    "network": "disorder.models.networks",
    "recipe": "disorder.verbs.train.recipes",
    "explanation": "disorder.verbs.explain.explanations",
}
PLUGINS = "disorder"
TAGGERS = {
    "en": "english",
    "zh": "jieba",
}  # language → tagger, unless a transformation or the user names another
Need = typing.Literal["tags", "importance", "vocabulary", "training data"]


@dataclass(frozen=True)
class Part:
    """One registered function with what its decorator said about it."""

    kind: str
    name: str
    function: Callable[..., Any]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, as `disorder list` prints it."""
        return (inspect.getdoc(self.function) or "").split("\n\n")[0].replace("\n", " ")

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

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Turn settings as typed by a user into the types the function declares."""
        hints = typing.get_type_hints(self.function)
        for name in given:
            if name not in self.settings:
                raise UnknownName(
                    f"setting of {self.name}", name, self.settings or {"(it has none)"}
                )
        return {
            name: _convert(self.name, name, value, hints[name]) for name, value in given.items()
        }


_parts: dict[str, dict[str, Part]] = {kind: {} for kind in STAGES}
_loaded: set[str] = set()


def register(kind: str, function: F, **facts: Any) -> F:
    """Enter `function` under its own name."""
    name = facts.pop("name", None) or function.__name__
    if name in _parts[kind] and _parts[kind][name].function is not function:
        old = _parts[kind][name].function.__module__
        raise DisorderError(
            f"two parts are called {name!r} ({kind}): {old} and {function.__module__}; rename one"
        )
    _parts[kind][name] = Part(kind, name, function, facts)
    return function


def parts(kind: str) -> dict[str, Part]:
    """All parts of a kind by name, built-in and from plugins."""
    if kind not in STAGES:
        raise UnknownName("kind of part", kind, STAGES)
    _load(kind)
    return dict(sorted(_parts[kind].items()))


def part(kind: str, name: str) -> Part:
    """The part of that name, or an error that says which names exist."""
    if kind not in _loaded or name not in _parts[kind]:
        known = parts(kind)
        if name not in known:
            raise UnknownName(kind, name, known)
    return _parts[kind][name]


def _load(kind: str) -> None:
    if kind in _loaded:
        return
    _loaded.add(kind)
    package = importlib.import_module(STAGES[kind])
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_") and not module.ispkg:
            importlib.import_module(f"{package.__name__}.{module.name}")
    if PLUGINS not in _loaded:
        _loaded.add(PLUGINS)
        for entry in entry_points(group=PLUGINS):
            _load_plugin(entry.name, entry.load)


def _load_plugin(name: str, load: Callable[[], object]) -> None:
    try:
        load()
    except ImportError as error:
        raise DisorderError(
            f"plugin {name!r} cannot be loaded ({error}); reinstall or uninstall it"
        ) from error


def _convert(part_name: str, name: str, value: Any, hint: Any) -> Any:
    options = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    if options:
        if value not in options:
            raise BadSetting(part_name, need=" or ".join(map(str, options)), **{name: value})
        return value
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        hint = next(option for option in typing.get_args(hint) if option is not type(None))
    try:
        if hint is bool:
            return {"true": True, "false": False}[str(value).lower()]
        return hint(value)
    except (ValueError, KeyError, TypeError) as error:
        need = "true or false" if hint is bool else f"a value of type {hint.__name__}"
        raise BadSetting(part_name, need=need, **{name: value}) from error


def transformation(
    *,
    keeps: str,
    destroys: str,
    paper: str = "",
    scope: typing.Literal["sentence", "pair"] = "sentence",
    side: typing.Literal["a", "b", "both", "task", "last"] = "last",
    draws: int | None = None,
    deterministic: bool = False,
    copies: bool = False,
    suites: tuple[str, ...] = (),
    words: Mapping[str, str] | None = None,
    needs: tuple[Need, ...] = (),
    tagger: Mapping[str, str] | None = None,
    shows: tuple[str, ...] = (),
    single: bool | None = None,
) -> Callable[[F], F]:
    """Register a way to break a text.

    `side` is the text perturbed unless the user says otherwise ("task": the one the task names;
    "last": the second of a pair). `draws` is how many variants the paper draws (None: the run's q);
    a deterministic one has a single variant. `copies` marks those that copy one text into the
    other, which ask for the default label. `words` names the splitter for each fidelity when the
    paper fixes one. `needs` says what the text alone does not hold: with "tags" and "importance"
    the sentence carries them, by `tagger` for each language where it matters; with "vocabulary" and
    "training data" the function takes a `Context` as its fourth argument. `shows` names settings
    that the canonical spec always spells out, because their default says too little. `single` says
    whether single texts can be perturbed, which those that take a whole pair usually cannot.
    """
    facts: dict[str, Any] = {
        "keeps": keeps,
        "destroys": destroys,
        "paper": paper,
        "scope": scope,
        "side": side,
    }
    facts |= {
        "draws": 1 if deterministic else draws,
        "deterministic": deterministic,
        "copies": copies,
    }
    facts |= {
        "suites": suites,
        "words": words or {},
        "needs": needs,
        "tagger": TAGGERS | dict(tagger or {}),
    }
    facts |= {"shows": shows, "single": scope == "sentence" if single is None else single}
    return lambda function: register("transformation", function, **facts)


def words(*, language: str, needs: str = "") -> Callable[[F], F]:
    """Register a way to split a text into words."""
    return lambda function: register("words", function, language=language, needs=needs)


def tagger(*, language: str, needs: str) -> Callable[[F], F]:
    """Register a way to find word classes."""
    return lambda function: register("tagger", function, language=language, needs=needs)


def metric(
    *,
    better: str,
    paper: str = "",
    of: typing.Literal["texts", "variants", "permutations", "order"] = "variants",
    on: typing.Literal["labels", "numbers"] = "labels",
) -> Callable[[F], F]:
    """Register a score; `better` says in words which way is good.

    `of` says what it measures: whole and perturbed texts alike, any perturbed ones, those with several
    variants an example, or those that keep the words and break their order. `on` says whether
    answers are labels or numbers.
    """
    return lambda function: register("metric", function, better=better, paper=paper, of=of, on=on)


def model(*, form: str, needs: str = "") -> Callable[[F], F]:
    """Register a loader of predictors; `form` shows the spec a user types."""
    return lambda function: register(
        "model", function, form=form, needs=needs, name=form.split(":")[0].split("[")[0]
    )


def data(*, form: str, needs: str = "") -> Callable[[F], F]:
    """Register a reader of rows; `form` shows the spec a user types."""
    return lambda function: register(
        "data", function, form=form, needs=needs, name=form.split(":")[0].split("[")[0]
    )


def network(*, paper: str = "", lr: float = 1e-3, epochs: int = 8) -> Callable[[F], F]:
    """Register a network that can be trained from scratch; `lr` and `epochs` are what it learns
    well with.
    """
    return lambda function: register("network", function, paper=paper, lr=lr, epochs=epochs)


def recipe(
    *,
    paper: str = "",
    positive: tuple[str, ...] = (),
    shares: tuple[str, ...] = (),
    of_trained: bool = False,
    breaks: bool = False,
    spans: bool = False,
) -> Callable[[F], F]:
    """Register a way to train: which inputs, which loss, in which phases.

    `positive` names settings that must be above 0, `shares` those that must be from 0 to below 1:
    checked before data is read. `of_trained` marks those that the papers start from a fine-tuned
    model, `breaks` those that need perturbed copies, `spans` those that can also learn answers in a
    passage.
    """
    facts = {
        "positive": positive,
        "shares": shares,
        "of_trained": of_trained,
        "breaks": breaks,
        "spans": spans,
    }
    return lambda function: register("recipe", function, paper=paper, **facts)


def explanation(
    *,
    asks: str,
    paper: str = "",
    on: typing.Literal["labels", "numbers", "any"] = "labels",
    needs: str = "",
    usual: bool = True,
) -> Callable[[F], F]:
    """Register a way to see what a model relies on; `asks` is the question that stands above its
    pictures.

    `on` says whether answers must be labels or numbers. `needs` says in words what not every model
    or machine has. `usual` ones are shown when the user names none.
    """
    return lambda function: register(
        "explanation", function, asks=asks, paper=paper, on=on, needs=needs, usual=usual
    )
