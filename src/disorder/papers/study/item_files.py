"""Items as data: a TOML file says of each table or figure how it is computed, beside the numbers
that the paper prints.

    paper = "UNLI"

    [table2.item]
    models = "$models"
    [table2.item.audit_table]
    columns = { accuracy = "original/accuracy" }

An item is called as its file and section, `unli/table2`; a key `name` above all sections may say
something else for the file. The fields of `[….item]` are those of `StudyItem`, and one table more:
the pipeline, by the name of its class, with its fields. `"$models"` stands for what `models` is in
the section `[names]`; in a list it may stand for several entries. A function is named as in the
module of the pipeline that takes it, and `"any"` is a row that depends on the model or the data.
"""

from __future__ import annotations

import collections.abc
import importlib
import pkgutil
import re
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from disorder.errors import BadData, UnknownName
from disorder.papers.study import pipelines
from disorder.papers.study.item import StudyItem
from disorder.papers.study.pipeline import Computation
from disorder.papers.study.published_tables import NAMES, read_sections
from disorder.registry import register

ANY = "any"


def read_items(path: Path) -> None:
    """Register every item that a file declares."""
    path = path.resolve()
    given = read_sections(path)
    reader = ItemReader(path, given.get(NAMES, {}))
    for name, section in given.items():
        if isinstance(section, dict) and "item" in section:
            declared = {"paper": given.get("paper", ""), **section["item"]}
            register(reader.item(f"{given.get('name', path.stem)}/{name}", declared))


class ItemReader:
    """Makes items of what one file says."""

    def __init__(self, path: Path, names: Mapping[str, Any]) -> None:
        self.path = path
        self.names = names

    def item(self, name: str, declared: Mapping[str, Any]) -> StudyItem:
        """The item of that name."""
        known = {field.name for field in fields(StudyItem)}
        own = {key: value for key, value in declared.items() if key in known}
        pipeline = {key: value for key, value in declared.items() if key not in known}
        if len(pipeline) != 1:
            raise BadData(f"{self.path}: {name} needs one pipeline, and has {sorted(pipeline)}")
        given = {"name": name, "function": pipeline, "published": self.path, **own}
        item: StudyItem = self._made(StudyItem, given)
        return item

    def _made(self, kind: Any, given: Mapping[str, Any]) -> Any:
        """An object of a class, from its fields."""
        hints = typing.get_type_hints(kind)
        known = {field.name for field in fields(kind)}
        for name in given:
            if name not in known:
                raise UnknownName(f"field of {kind.__name__} in {self.path.name}", name, known)
        if "table" in known and "published" in known:  # texts that the paper prints
            given = {"published": self.path, **given}
        values = {
            name: self._value(hints[name], value, kind.__module__) for name, value in given.items()
        }
        return kind(**values)

    def _value(self, hint: Any, given: Any, module: str) -> Any:
        """A value of the type that a field has; functions are those of a module."""
        if isinstance(given, str) and given.startswith("$"):
            given = self._named(given)
        origin, inside = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return None if given == ANY else self._value(inside[0], given, module)
        if origin is collections.abc.Callable:
            return getattr(sys.modules[module], given)
        if origin is collections.abc.Mapping:
            return {key: self._value(inside[1], value, module) for key, value in given.items()}
        if origin in (collections.abc.Sequence, collections.abc.Collection):
            return tuple(self._value(inside[0], each, module) for each in self._spread(given))
        if isinstance(hint, type) and issubclass(hint, Computation):
            if not is_dataclass(hint):
                [(name, given)] = given.items()
                hint = computation(name)
            return self._made(hint, given)
        return self._made(hint, given) if is_dataclass(hint) else given

    def _spread(self, given: Any) -> list[Any]:
        """The entries of a list, with those that a name stands for."""
        found: list[Any] = []
        for each in given:
            value = self._named(each) if isinstance(each, str) and each.startswith("$") else each
            found += self._spread(value) if isinstance(value, list) else [value]
        return found

    def _named(self, reference: str) -> Any:
        name = reference.removeprefix("$")
        if name not in self.names:
            raise UnknownName(f"name in {self.path.name}", name, self.names)
        return self.names[name]


def computation(name: str) -> type[Computation]:
    """The pipeline or measurement that a file calls `audit_table`, and Python `AuditTable`."""
    for module in pkgutil.iter_modules(pipelines.__path__):
        importlib.import_module(f"{pipelines.__name__}.{module.name}")
    known = {re.sub(r"(?<!^)(?=[A-Z])", "_", each.__name__).lower(): each for each in _below()}
    if name not in known:
        raise UnknownName("pipeline", name, known)
    return known[name]


def _below(kind: type[Computation] = Computation) -> list[type[Computation]]:
    own = kind.__subclasses__()
    return [*own, *(each for below in own for each in _below(below))]
