"""Parts, and their lookup by kind and name.

Built-in parts are found by the folder of their kind, and imported when the kind is first looked up;
those of plugins by their entry points, when a name is not found, or when all are listed.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

from disorder.errors import BadSetting, DisorderError, UnknownName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from disorder.registry.kinds import MetricPart

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is known of a part, in words: all of it from its decorator and its docstring.

    `form` is what a user types; `cost` says what it takes beside the texts that are predicted
    anyway.
    """

    kind: str
    name: str
    form: str
    summary: str
    shown_as: str = ""
    asks: str = ""
    labels: str = ""
    keeps: str = ""
    destroys: str = ""
    applies_to: str = ""
    better: str = ""
    languages: str = ""
    needs: str = ""
    cost: str = ""
    paper: str = ""
    settings: str = ""
    origin: str = "built in"

    def facts(self, *left_out: str) -> list[str]:
        """What it says beside its name and sentence, each fact in a few words."""
        said = {name: getattr(self, name) for name in FACTS if name not in left_out}
        return [FACTS[name].format(words) for name, words in said.items() if words]


FACTS = {
    "shown_as": "shown as {}",
    "asks": "{}",
    "labels": "labels: {}",
    "keeps": "keeps {}",
    "destroys": "destroys {}",
    "applies_to": "applies to {}",
    "better": "better: {}",
    "languages": "languages: {}",
    "needs": "needs {}",
    "cost": "cost: {}",
    "paper": "paper {}",
    "settings": "settings: {}",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One registered function, and what its decorator says about it."""

    kind: ClassVar[str]

    name: str = ""  # that of the function, unless declared
    paper: str = ""
    function: Callable[..., Any] = field(init=False, repr=False)

    def with_function(self, function: Callable[..., Any]) -> Self:
        """The part that its decorator enters."""
        known = {"name": self.name or function.__name__, "function": function}
        for name, value in (known | self.completed(function)).items():
            object.__setattr__(self, name, value)
        return self

    def completed(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Fields that follow from others or from the function."""
        return {}

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring, as `disorder list` prints it."""
        return first_paragraph(self.function)

    @property
    def card(self) -> Card:
        """What is known of it, in words."""
        return Card(
            kind=self.kind,
            name=self.name,
            summary=self.summary,
            paper=self.paper,
            settings=", ".join(
                f"{name}={_shown(value)}"
                for name, value in self.settings.items()
                if value is not inspect.Parameter.empty
            ),
            origin="built in" if self.is_built_in else "plugin",
            **({"form": self.name} | self.known()),
        )

    def known(self) -> dict[str, str]:
        """What its kind adds to the card."""
        return {}

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


def _shown(value: object) -> object:
    """A default as a card shows it: None is whatever fits, the empty text nothing."""
    return {None: "fitting", "": "(none)"}.get(value, value) if value in (None, "") else value


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


P = TypeVar("P", bound=Part)
HOMES = {
    "transformation": "transformations",
    "words": "transformations/words",
    "tagger": "transformations/tags",
    "metric": "metrics",
    "model": "models",
    "prompt": "models/prompts",
    "data": "data",
    "task": "tasks",
    "network": "models/networks",
    "recipe": "verbs/train/recipes",
    "explanation": "verbs/explain/explanations",
    "check": "verbs/sanity/checks",
    "engine": "engines",
    "verb": "commands",
    "item": "items",
}  # kind → the folder whose files are its parts, in the package or in one of its rooms (papers/)
PACKAGE = Path(__file__).parents[1]
PLUGINS = "disorder"  # entry points of plugins
# those of commands and of study items are loaded apart: --help and an audit need no other
APART = {"verb": "disorder.verbs", "item": "disorder.items"}


def _homes(kind: str) -> list[Path]:
    """The folders of a kind's built-in parts."""
    places = (PACKAGE / HOMES[kind], *PACKAGE.glob(f"*/{HOMES[kind]}"))
    return [place for place in places if (place / "__init__.py").is_file()]


KINDS = tuple(kind for kind in HOMES if _homes(kind))
_parts: dict[str, dict[str, Part]] = {kind: {} for kind in HOMES}
_loaded: set[str] = set()
_loading: set[str] = set()
_broken: dict[str, str] = {}  # plugin → why it cannot be loaded
_lock = RLock()  # threads wait for the one that imports the parts of a kind


def register(part: Part, *, is_replaced: bool = False) -> None:
    """Enter a part under its name, in place of another one only where that is meant."""
    _check_choices(part)
    if _loading & {PLUGINS, *APART.values()} and not part.is_built_in:
        _load_built_in(part.kind)  # whose name is taken is the plugin's mistake, and no other's
    known = _parts[part.kind].get(part.name)
    if known is not None and known.function is not part.function and not is_replaced:
        raise DisorderError(
            f"two parts are called {part.name!r} ({part.kind}): {known.function.__module__} and "
            f"{part.function.__module__}; rename one"
        )
    _parts[part.kind][part.name] = part


def _check_choices(part: Part) -> None:
    """Raise where a declaration has a value that is none of the field's choices."""
    light = {"Task": object}  # not imported: numpy would come with it
    for name, hint in typing.get_type_hints(type(part), localns=light).items():
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
    _load_built_in(kind)
    _load_plugins(kind)
    return dict(sorted(_parts[kind].items()))


def list_parts(kind: str | None = None) -> list[dict[str, str]]:
    """All parts, or those of one kind ("metric" or "metrics"), as records: the fields of `Card`."""
    singular = kind if kind is None or kind in HOMES else kind.removesuffix("s")
    kinds = [singular] if singular else KINDS
    return [asdict(entry.card) for each in kinds for entry in parts_of(each).values()]


def part(kind: type[P], name: str) -> P:
    """The part of that name, or an error with the names there are and plugins that do not load."""
    _load_built_in(kind.kind)
    if name not in _parts[kind.kind]:
        _load_plugins(kind.kind)
    if name not in _parts[kind.kind]:
        raise UnknownName(kind.kind, name, _parts[kind.kind], *_broken.values())
    return typing.cast("P", _parts[kind.kind][name])


def broken_plugins() -> list[str]:
    """Why installed plugins cannot be loaded: a line for each of them."""
    for kind in HOMES:
        _load_plugins(kind)
    return [*_broken.values()]


def metric_named(name: str) -> MetricPart | None:
    """The metric behind a name of run files, `p_c` or `omega@0.5`; None for an unknown one."""
    from disorder.registry.kinds import MetricPart

    own, _, value = name.partition("@")
    entry = parts(MetricPart).get(own)
    return entry if entry is not None and bool(entry.parameter) == bool(value) else None


def _load_built_in(kind: str) -> None:
    if kind not in _loaded:
        with _lock:
            _load_once(kind, partial(_import_homes, kind))


def _load_plugins(kind: str) -> None:
    group = APART.get(kind, PLUGINS)
    if group not in _loaded:
        with _lock:
            _load_once(group, partial(_import_plugins, group))


def _load_once(name: str, load: Callable[[], None]) -> None:
    """Load something unless that was done; what failed is tried at every lookup."""
    if name in _loaded or name in _loading:  # the second: a part that looks up its own kind
        return
    _loading.add(name)
    try:
        load()
    finally:
        _loading.discard(name)
    _loaded.add(name)


def entry_points(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group. importlib.metadata takes long to import: that is done only where
    an installed package names the group.
    """
    named = (path for folder in sys.path for path in Path(folder).glob("*-info/entry_points.txt"))
    if not any(f"[{group}]" in path.read_text(encoding="utf-8") for path in named):
        return ()
    from importlib.metadata import entry_points as found

    return found(group=group)


def _import_plugins(group: str) -> None:
    """Import the plugins of a group; of one that cannot be loaded only the reason is kept."""
    for entry in entry_points(group=group):
        before = {kind: dict(known) for kind, known in _parts.items()}
        try:
            load_plugin(entry.name, entry.load)
        except DisorderError as error:
            _broken[entry.name] = str(error)
            for kind, known in _parts.items():
                for name in known.keys() - before[kind]:
                    if not known[name].is_built_in:
                        del known[name]


def _import_homes(kind: str) -> None:
    for home in _homes(kind):
        package = ".".join(["disorder", *home.relative_to(PACKAGE).parts])
        for module in pkgutil.iter_modules([str(home)], f"{package}."):
            if not module.name.startswith(f"{package}._") and not module.ispkg:
                importlib.import_module(module.name)


def load_plugin(name: str, load: Callable[[], object]) -> None:
    """Import a plugin; what goes wrong in it is an error that names it."""
    of_others(f"plugin {name!r}", load, "; reinstall or uninstall it")


def of_others(what: str, load: Callable[[], R], advice: str = "") -> R:
    """What loading others' code gives; it may raise anything, which is an error that names it."""
    try:
        return load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        is_told = isinstance(error, ImportError | DisorderError)
        told = error if is_told else f"{type(error).__name__}: {error}"
        raise DisorderError(f"{what} cannot be loaded ({told}){advice}") from error
