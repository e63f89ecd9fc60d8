"""Parts of a user's own, without a package: a function, or FILE.py:FUNCTION, which is run now.

A function with a decorator is the part that it declares. A transformation without one may be plain:
from a text, or a text and a generator, to a text.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, wraps
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from disorder.errors import DisorderError
from disorder.registry.kinds import MetricPart, TransformationPart
from disorder.registry.lookup import Part, of_others, parts, register, unregister

if TYPE_CHECKING:
    from numpy.random import Generator

    from disorder.types import PositionRows, Sentence

IN_FILE = re.compile(r"(?:^|(?<=\+))([^+]+?\.py):([^\W\d]\w*)")  # steps of a spec
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
KINDS: dict[str, type[Part]] = {"transformation": TransformationPart, "metric": MetricPart}
TAKES: dict[str, dict[int, str]] = {
    "transformation": dict.fromkeys((1, 2, 3), "a text, or of a text and a random generator"),
    "metric": {1: "the outcomes of an audit"},
}  # kind → how many values a function takes, and which
F = TypeVar("F", bound=Callable[..., Any])


_written: dict[str, int] = {}  # module → when its file was written that was run


def own_parts(kind: str, given: Any) -> Any:
    """Names of parts, where each may be a function of the user's or FILE.py:FUNCTION, which stays
    as it is: a transformation is entered under it, a metric under the name of the function.
    """
    if callable(given) or isinstance(given, str):
        given = [given]
    if not isinstance(given, Iterable):
        return given
    given = list(given)
    names = [_name_of(kind, each) for each in given]
    of = dict[str, Any]()
    for name, each in zip(names, given, strict=True):
        if isinstance(name, str) and of.setdefault(_known_as(kind, name), each) != each:
            raise DisorderError(f"two {kind}s are called {_known_as(kind, name)}; rename one")
    return names


def _known_as(kind: str, name: str) -> str:
    return function_name(name) if kind == "metric" else name


def function_name(name: str) -> str:
    """The name of a metric, without the file that it is of.

    >>> function_name("mine.py:steady"), function_name("accuracy")
    ('steady', 'accuracy')
    """
    return name.rpartition(".py:")[2]


def own_specs(names: Iterable[str]) -> list[str]:
    """Those of some names that name functions of files, not as the text that a control is of."""
    return [name for name in names if IN_FILE.search(name) and not name.startswith("surface:")]


def own_hashes(names: Iterable[str]) -> dict[str, str]:
    """A hash of each file that some names are of, by what a message calls it."""
    paths = {path for name in own_specs(names) for path, _ in _functions_of(name)}
    return {
        f"file {path}": blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()
        for path in sorted(paths)
    }


def _name_of(kind: str, given: Any) -> Any:
    if callable(given):
        return _entered(kind, given, "")
    if isinstance(given, str) and given.endswith(".py") and Path(given).is_file():
        raise DisorderError(f"{given} is a Python file: name its function, {given}:FUNCTION")
    for path, name in _functions_of(given) if isinstance(given, str) else ():
        if kind == "transformation" and "+" in path:
            raise DisorderError(f"{path}: a + stands between steps; call the folder otherwise")
        function = of_others(f"{path}:{name}", partial(_function_in, Path(path), name))
        if not callable(function):
            raise DisorderError(f"{path}:{name} is no function")
        _entered(kind, function, f"{path}:{name}" if kind == "transformation" else "")
    return given


def _functions_of(given: str) -> list[tuple[str, str]]:
    """The files that a spec names, each with its function; a path may have a + in it."""
    path, _, name = given.rpartition(":")
    is_one = path.endswith(".py") and name.isidentifier() and Path(path).is_file()
    return [(path, name)] if is_one else IN_FILE.findall(given)


def _function_in(path: Path, name: str) -> Any:
    return attrgetter(name)(module_in(path))


def _entered(kind: str, function: Callable[..., Any], name: str) -> str:
    """The name under which a function is known from now on; what a decorator says of it stays."""
    known = parts(KINDS[kind])
    declared = next((each for each in known.values() if each.function is function), None)
    if declared is not None and not name:
        return declared.name
    if declared is None:
        declared = _undeclared(kind, function)
    entered = replace(declared, name=name or declared.name).with_function(declared.function)
    before = known.get(entered.name)
    if before is not None and before.is_built_in:
        raise DisorderError(f"there is a {kind} {entered.name}; call the function otherwise")
    modules = {each.function.__module__ for each in (before, entered) if each is not None}
    if len(modules) > 1:
        raise DisorderError(
            f"two {kind}s are called {entered.name}, in {' and in '.join(sorted(modules))}; "
            "rename one"
        )
    register(entered, is_replaced=True)
    return entered.name


def _undeclared(kind: str, function: Callable[..., Any]) -> Part:
    """The part that a function without a decorator is."""
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise DisorderError(f"a {kind} has a name: define it with def, not as {name or function}")
    n_given = _n_given(function)
    if n_given not in TAKES[kind]:
        raise DisorderError(f"{name} cannot be a {kind}, which is a function of {TAKES[kind][1]}")
    if kind == "metric":
        return MetricPart(better="not said", of="texts").with_function(_told(function))
    if n_given in (1, 2):
        function = _of_texts(function, n_given)
    said = "what its author says"
    made = TransformationPart(keeps=said, destroys=said, deterministic=n_given == 1)
    return made.with_function(function)


def _n_given(function: Callable[..., Any]) -> int:
    """How many values a function has to be given; none where it does not say it."""
    try:
        given = inspect.signature(function).parameters.values()
    except ValueError:
        return 0
    return sum(each.default is each.empty for each in given if each.kind in POSITIONAL)


def _told(function: F) -> F:
    """A function of the user's, where what goes wrong is an error that names it."""

    @wraps(function)
    def told(*args: Any, **settings: Any) -> Any:
        try:
            return function(*args, **settings)
        except (DisorderError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise DisorderError(
                f"{function.__name__} failed with {type(error).__name__}: {error}"
            ) from error

    return cast("F", told)


def _of_texts(function: Callable[..., str], n_given: int) -> Callable[..., PositionRows]:
    """A transformation from a function of a text (and a generator)."""

    @wraps(function)
    def of_sentence(sentence: Sentence, rng: Generator, count: int) -> PositionRows:
        from disorder.types import PositionRows

        n = count if n_given == 2 else 1
        given = [(sentence.text, rng)[:n_given] for _ in range(n)]
        texts = [_told(function)(*each) for each in given]
        wrong = next((text for text in texts if not isinstance(text, str)), None)
        if wrong is not None:
            raise DisorderError(
                f"{function.__name__} gives a {type(wrong).__name__}; a transformation of a text "
                "gives a text"
            )
        return PositionRows.of_texts(sentence, texts, is_shared=n_given == 1)

    del of_sentence.__wrapped__  # its settings are its own
    return of_sentence


def module_in(path: Path) -> ModuleType:
    """The module in a file, run now unless it was before; it can import what lies beside it."""
    if not path.is_file():
        raise DisorderError(f"{path}: no such file")
    folder = str(path.resolve().parent)
    make_importable(folder)
    name = f"{path.stem} in {folder}"  # no name of a module that others import
    written = path.stat().st_mtime_ns
    if _written.get(name) == written and name in sys.modules:
        return sys.modules[name]
    for kind in KINDS.values():
        for known in parts(kind).values():
            if known.function.__module__ == name:  # of the file as it was
                unregister(kind, known.name)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _written[name] = written
    return module


def make_importable(folder: str) -> None:
    """Let modules of a folder be imported: before packages that are installed, but after Python's
    own, or a user's `json.py` would be that of every process that starts with this path.
    """
    if folder not in sys.path:
        installed = (i for i, each in enumerate(sys.path) if each.endswith("-packages"))
        sys.path.insert(next(installed, len(sys.path)), folder)
