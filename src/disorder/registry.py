"""The registry: every part, declared once by its decorator, with a typed record per kind.

Built-in parts and installed plugins come in by the same door. A plugin is a package with an entry
point in the group `disorder` that names a module; importing the module runs its decorators. Names
are never overwritten: two parts of one kind and name are an error.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import entry_points
from threading import RLock
from typing import Any, ClassVar, Literal, TypeVar

from disorder.errors import BadSetting, DisorderError, UnknownName
from disorder.specs import split_spec
from disorder.types import Task

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound="Part")

HOMES = {
    "transformation": "disorder.transformations",
    "words": "disorder.transformations.words",
    "tagger": "disorder.transformations.tags",
    "metric": "disorder.metrics",
    "model": "disorder.models",
    "prompt": "disorder.models.prompts",
    "data": "disorder.data",
    "network": "disorder.models.networks",
    "recipe": "disorder.verbs.train.recipes",
    "explanation": "disorder.verbs.explain.explanations",
    "check": "disorder.verbs.sanity.checks",
    "item": "disorder.verbs.study.items",
}  # kind → the folder whose files are its parts
KINDS = tuple(HOMES)
PLUGINS = "disorder"
TAGGERS = {"en": "english", "zh": "jieba"}  # language → tagger, unless a part or the user names one
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


_parts: dict[str, dict[str, Part]] = {kind: {} for kind in KINDS}
_loaded: set[str] = set()
_loading: set[str] = set()
_lock = RLock()  # threads wait for the one that imports the parts of a kind


def register(part: Part) -> None:
    """Enter a part under its name."""
    _check_choices(part)
    known = _parts[part.kind].get(part.name)
    if known is not None and known.function is not part.function:
        raise DisorderError(
            f"two parts are called {part.name!r} ({part.kind}): {known.function.__module__} and "
            f"{part.function.__module__}; rename one"
        )
    _parts[part.kind][part.name] = part


def _check_choices(part: Part) -> None:
    """Raise where a declaration has a value that is none of the field's choices."""
    for name, hint in typing.get_type_hints(type(part)).items():
        if typing.get_origin(hint) is Literal and getattr(part, name) not in typing.get_args(hint):
            need = " or ".join(map(str, typing.get_args(hint)))
            raise BadSetting(f"{part.kind} {part.name}", need=need, **{name: getattr(part, name)})


def unregister(kind: type[Part], name: str) -> None:
    """Forget a part; for tests that register their own."""
    _parts[kind.kind].pop(name, None)


def parts(kind: type[P]) -> dict[str, P]:
    """All parts of a kind by name, built-in and from plugins."""
    return typing.cast("dict[str, P]", parts_of(kind.kind))


def parts_of(kind: str) -> dict[str, Part]:
    """All parts of the kind with this name."""
    if kind not in HOMES:
        raise UnknownName("kind of part", kind, HOMES)
    _load(kind)
    return dict(sorted(_parts[kind].items()))


def list_parts(kind: str | None = None) -> list[dict[str, str]]:
    """All parts, or those of one kind ("metric" or "metrics"), as records: kind, name, summary,
    paper, origin.
    """
    singular = kind if kind is None or kind in HOMES else kind.removesuffix("s")
    kinds = [singular] if singular else KINDS
    return [
        {
            "kind": each,
            "name": name,
            "summary": entry.summary,
            "paper": entry.paper,
            "origin": "built in" if entry.is_built_in else "plugin",
        }
        for each in kinds
        for name, entry in parts_of(each).items()
    ]


def part(kind: type[P], name: str) -> P:
    """The part of that name, or an error that says which names exist."""
    if kind.kind not in _loaded or name not in _parts[kind.kind]:
        known = parts(kind)
        if name not in known:
            raise UnknownName(kind.kind, name, known)
    return typing.cast("P", _parts[kind.kind][name])


def metric_named(name: str) -> MetricPart | None:
    """The metric behind a name of run files, `p_c` or `omega@0.5`; None for an unknown one."""
    own, _, value = name.partition("@")
    entry = parts(MetricPart).get(own)
    return entry if entry is not None and bool(entry.parameter) == bool(value) else None


def _load(kind: str) -> None:
    if kind in _loaded:
        return
    with _lock:
        if kind in _loaded or kind in _loading:  # the second: a part that looks up its own kind
            return
        _loading.add(kind)
        _import_modules(HOMES[kind])
        if PLUGINS not in _loading:
            _loading.add(PLUGINS)
            for entry in entry_points(group=PLUGINS):
                _load_plugin(entry.name, entry.load)
        _loaded.add(kind)


def _import_modules(home: str) -> None:
    package = importlib.import_module(home)
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_") and not module.ispkg:
            importlib.import_module(f"{home}.{module.name}")


def _load_plugin(name: str, load: Callable[[], object]) -> None:
    try:
        load()
    except (Exception, SystemExit) as error:  # others' code, which may raise anything
        told = error if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise DisorderError(
            f"plugin {name!r} cannot be loaded ({told}); reinstall or uninstall it"
        ) from error


def _declare(kind: type[Part], *, name: str = "", **declared: Any) -> Callable[[F], F]:
    """A decorator that enters a function as a part of this kind, under its own name or another."""

    def enter(function: F) -> F:
        register(kind(name=name or function.__name__, function=function, **declared))
        return function

    return enter


def transformation(
    *,
    keeps: str,
    destroys: str,
    keeps_words: bool = False,
    paper: str = "",
    scope: Literal["sentence", "pair"] = "sentence",
    side: Literal["a", "b", "both", "task", "last"] = "last",
    draws: int | None = None,
    deterministic: bool = False,
    copies: bool = False,
    suites: tuple[str, ...] = (),
    sweep: tuple[str, ...] = (),
    words: Mapping[str, str] | None = None,
    needs: tuple[Need, ...] = (),
    tagger: Mapping[str, str] | None = None,
    shows: tuple[str, ...] = (),
    single: bool | None = None,
    units: bool | None = None,
    nested: tuple[str, ...] = (),
    drawn_as: str = "",
    perturbs: Literal["words", "shots"] = "words",
) -> Callable[[F], F]:
    """Register a way to perturb a text.

    `keeps` and `destroys` say it in words; `keeps_words` claims that nothing but the order of the
    words changes, so that word-order sensitivity can be measured. `side` is the text perturbed
    unless the user says otherwise ("task": the one the task names; "last": the second of a pair).
    `draws` is how many variants the paper draws (None: the run's q); a deterministic one has a
    single variant. `copies` marks those that copy one text into the other, for which agreement is
    with the default label. `suites` are the sets it belongs to, there once per setting of `sweep`.
    `words` names the splitter for each fidelity when the paper fixes one. `needs` says what
    the text alone does not hold: with "tags" and "importance" the sentence carries them, by
    `tagger` for each language where it matters; with "vocabulary" and "training data" the function
    takes a `Context` as its fourth argument. `shows` names settings that the canonical spec always
    spells out, because their default says too little. `single` says whether single texts can be
    perturbed; usually they cannot where a transformation takes a pair. `units` says whether other
    units than words can be moved (unit=char|subword|sentence|line), usually those that change
    nothing but order. `nested` names settings that do not change the draws: a larger share then
    contains a smaller one. `drawn_as` names the transformation whose draws it shares, as a control.
    `perturbs` is "shots" for those that are for the examples of a prompt (--break shots).
    """
    return _declare(
        TransformationPart,
        paper=paper,
        keeps=keeps,
        destroys=destroys,
        keeps_words=keeps_words,
        scope=scope,
        side=side,
        draws=1 if deterministic else draws,
        deterministic=deterministic,
        copies=copies,
        suites=suites,
        sweep=sweep,
        words=words or {},
        needs=needs,
        tagger=TAGGERS | dict(tagger or {}),
        shows=shows,
        single=scope == "sentence" if single is None else single,
        units=keeps_words and scope == "sentence" and not needs if units is None else units,
        nested=nested,
        drawn_as=drawn_as,
        perturbs=perturbs,
    )


def words(*, language: str, needs: str = "") -> Callable[[F], F]:
    """Register a way to split a text into words."""
    return _declare(SplitterPart, language=language, needs=needs)


def tagger(*, language: str, needs: str) -> Callable[[F], F]:
    """Register a way to find word classes."""
    return _declare(TaggerPart, language=language, needs=needs)


def metric(
    *,
    better: str,
    title: str = "",
    meaning: str = "",
    unit: str = "share",
    paper: str = "",
    of: Literal["texts", "variants", "permutations", "order"] = "variants",
    on: Literal["labels", "numbers", "any", "likelihoods"] = "labels",
    shown: Literal["table", "page", "permutations", "file"] = "table",
    position: int = 100,
    name: str = "",
    parameter: str = "",
    points: tuple[str, ...] = (),
    depends_on_q: bool = False,
    alone: str = "",
) -> Callable[[F], F]:
    """Register a score: a function from `Outcomes` to its decomposition by example.

    `title` is how tables head it (default: its name), `meaning` what it says in one line (default:
    the docstring's first sentence), `better` in words which way is good, `unit` what its numbers
    are. `of` says what it measures: original and perturbed texts alike, any perturbed ones, those
    with several variants per example, or those that keep the words and change their order. `on`
    says whether predictions must be labels or numbers (any: either), or are log-probabilities of
    the texts themselves. `shown` is where it appears: in every table, on pages only, among the
    scores of permutations, or in files only; `position` orders it there. A metric with a
    `parameter` is written NAME@VALUE and gets the value as its second argument; it is measured at
    `points` unless others are requested. `depends_on_q` marks one whose expected value changes with
    the number of permutations; `alone` says why a limit on it alone misleads, where it does: a gate
    then names a better rule.
    """

    def enter(function: F) -> F:
        own = name or function.__name__
        entry = MetricPart(
            name=own,
            function=function,
            paper=paper,
            title=title or own,
            meaning=meaning or first_paragraph(function).rstrip("."),
            better=better,
            unit=unit,
            of=of,
            on=on,
            shown=shown,
            position=position,
            parameter=parameter,
            points=points,
            depends_on_q=depends_on_q,
            alone=alone,
        )
        register(entry)
        return function

    return enter


def model(*, form: str, needs: str = "", only_reads: bool = False) -> Callable[[F], F]:
    """Register a loader of predictors; `form` shows the spec a user types.

    Its keyword-only parameters beside `task` are settings that only this kind of model takes. A
    loader with a parameter `prompt` is one of language models and gets the
    `disorder.models.prompting.Prompt` of the task. `only_reads` claims that loading reads weights
    and settings, and neither runs code that the spec names nor reaches another machine: only such a
    model is loaded because a run folder names it.
    """
    return _declare(ModelPart, name=_form_name(form), form=form, needs=needs, only_reads=only_reads)


def prompt(
    *,
    words: Mapping[str, str] | None = None,
    texts: Literal[0, 1, 2] = 0,
    on: Literal["labels", "numbers"] = "labels",
) -> Callable[[F], F]:
    """Register a prompt for language models: a function that returns a Jinja template.

    The template fills in `text_a`, `text_b` (None for single texts) and `options`, the words to
    choose from; its block `instruction` stands once at the beginning, the rest once per text.
    `words` maps labels to the words that stand for them; it is the prompt of every task whose
    labels are among them, none: of any task. `texts` is how many texts it takes (0: any number).
    `on` says whether labels are names, or numbers whose mean is predicted.
    """
    return _declare(PromptPart, words=words or {}, texts=texts, on=on)


def data(
    *,
    form: str,
    needs: str = "",
    task: Task | Callable[[str], Task] | None = None,
    groups: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Register a source of rows; `form` shows the spec a user types.

    The function takes what follows the name and its colon and yields (where, row) pairs. `task`
    is the task of the data (labels, which text is perturbed, reject and default label, language),
    or a function from an address to it; without one it is guessed from the labels. `groups` names
    columns that scores are split by.
    """
    return _declare(
        DataPart, name=_form_name(form), form=form, needs=needs, task=task, groups=groups
    )


def _form_name(form: str) -> str:
    return split_spec(form)[0].split("[")[0]


def network(*, paper: str = "", lr: float = 1e-3, epochs: int = 8) -> Callable[[F], F]:
    """Register a network for training from scratch, with the settings it learns well with."""
    return _declare(NetworkPart, paper=paper, lr=lr, epochs=epochs)


def recipe(
    *,
    paper: str = "",
    positive: tuple[str, ...] = (),
    shares: tuple[str, ...] = (),
    of_trained: bool = False,
    perturbs: bool = False,
    spans: bool = False,
) -> Callable[[F], F]:
    """Register a way to train: which inputs, which loss, in which phases.

    `positive` names settings that must be above 0, `shares` those that must be from 0 to below 1:
    checked before data is read. `of_trained` marks those that the papers start from a fine-tuned
    model, `perturbs` those that need perturbed copies, `spans` those that can also learn answers in
    a passage.
    """
    return _declare(
        RecipePart,
        paper=paper,
        positive=positive,
        shares=shares,
        of_trained=of_trained,
        perturbs=perturbs,
        spans=spans,
    )


def explanation(
    *,
    asks: str,
    paper: str = "",
    on: Literal["labels", "numbers", "any"] = "labels",
    needs: str = "",
    usual: bool = True,
) -> Callable[[F], F]:
    """Register a way to see what a model relies on; `asks` is the question above its pictures.

    `on` says whether predictions must be labels or numbers. `needs` says in words what not every
    model or machine has. `usual` ones are shown when the user names none.
    """
    return _declare(ExplanationPart, paper=paper, asks=asks, on=on, needs=needs, usual=usual)


def check(
    *,
    asks: str,
    paper: str = "",
    trains: bool = True,
    pairs: bool = False,
    position: int = 100,
) -> Callable[[F], F]:
    """Register a check of a dataset; `asks` is the question that stands above its findings.

    `trains` says that models are trained for it, `pairs` that it is for pairs of texts. `position`
    orders checks on the page.
    """
    return _declare(
        CheckPart, paper=paper, asks=asks, trains=trains, pairs=pairs, position=position
    )
