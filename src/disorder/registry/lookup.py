"""The lookup of parts by kind and name: built-in ones by the folder of their kind, those of plugins
by their entry points. Both are imported when a kind is first looked up.
"""

from __future__ import annotations

import importlib
import pkgutil
import typing
from collections.abc import Callable
from functools import partial
from importlib.metadata import entry_points
from threading import RLock
from typing import Literal, TypeVar

from disorder.errors import BadSetting, DisorderError, UnknownName
from disorder.registry.kinds import MetricPart, Part

P = TypeVar("P", bound=Part)

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
    if not _is_loaded(kind.kind) or name not in _parts[kind.kind]:
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
    if _is_loaded(kind):
        return
    with _lock:
        _load_once(kind, partial(_import_modules, HOMES[kind]))
        _load_once(PLUGINS, _load_plugins)


def _is_loaded(kind: str) -> bool:
    return kind in _loaded and PLUGINS in _loaded


def _load_once(name: str, load: Callable[[], None]) -> None:
    """Load something unless that was done; what failed is tried, and told, at every lookup."""
    if name in _loaded or name in _loading:  # the second: a part that looks up its own kind
        return
    _loading.add(name)
    try:
        load()
    finally:
        _loading.discard(name)
    _loaded.add(name)


def _load_plugins() -> None:
    for entry in entry_points(group=PLUGINS):
        before = {kind: dict(known) for kind, known in _parts.items()}
        try:
            load_plugin(entry.name, entry.load)
        except DisorderError:
            _parts.update(before)  # else its parts would be in the way when it is tried again
            raise


def _import_modules(home: str) -> None:
    package = importlib.import_module(home)
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith("_") and not module.ispkg:
            importlib.import_module(f"{home}.{module.name}")


def load_plugin(name: str, load: Callable[[], object]) -> None:
    """Import a plugin; what goes wrong in it is an error that names it."""
    try:
        load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # others' code, which may raise anything
        told = error if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise DisorderError(
            f"plugin {name!r} cannot be loaded ({told}); reinstall or uninstall it"
        ) from error
