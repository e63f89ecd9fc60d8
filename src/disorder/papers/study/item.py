"""Study items: the tables and figures of papers, each declared once with what it needs.

The files in `items/` declare those of the four papers, and a plugin declares its own the same way,
in one file with the printed numbers:

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
import difflib
import importlib
import pkgutil
import re
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from disorder.errors import BadData, DisorderError, UnknownName
from disorder.papers.requests import PaperFidelity
from disorder.papers.study import pipelines
from disorder.papers.study.means import MeanRow
from disorder.papers.study.part_settings import PartSettings
from disorder.papers.study.pipeline import Computation, Pipeline
from disorder.papers.study.published_tables import (
    NAMES,
    PublishedTable,
    published_tables,
    read_sections,
)
from disorder.registry import Part, parts, register
from disorder.safe_io import reason

PACKAGE = Path(__file__).parents[2]
PAPERS = ("unli", "ooo", "ws", "ndsc")
SORTS = ("table", "fig")  # other items come last


@dataclass(frozen=True, kw_only=True)
class StudyItem(Part):
    """A table or figure of a paper.

    `name` is PAPER/ITEM, `function` the pipeline that computes it, `published` the TOML file with
    the printed numbers. `models` are the paper's own (spec → its name in the published table),
    `data` and `train` its data; `extras` are the pip extras it needs, `takes` a rough time on a
    CPU, `seeds` how often the paper trains each model. `shows` says what it shows, where the
    published numbers have no title. `beside` names another item of the paper whose numbers stand
    beside ours. `subject` is the model that the printed numbers are about, where rows do not say
    it; `not_comparable` says why no printed row is about the same as ours. `fidelity` is whose
    definitions are used unless the user says otherwise; `by_code` says which printed numbers follow
    the released code (a column, or `key=value` of a row → what the code does). `commands` are what
    to type for an item that is not computed. `means` are rows that average others, `part_settings`
    settings of its transformations and explanations by part, and `out_of_reach` says why printed
    cells cannot be filled (a column, `key=value` of a row, or `all` → the reason). `labels` says
    what the labels of the paper's own models mean, by spec, where their configuration calls them
    LABEL_0.
    """

    kind = "item"

    function: Pipeline
    published: Path
    models: Mapping[str, str] = field(default_factory=dict)
    data: Sequence[str] = ()
    train: str | None = None
    extras: Sequence[str] = ()
    takes: str = "minutes"
    seeds: int = 1
    shows: str = ""
    beside: str = ""
    subject: str = ""
    not_comparable: str = ""
    fidelity: PaperFidelity = "paper"
    by_code: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ()
    means: Sequence[MeanRow] = ()
    part_settings: PartSettings = field(default_factory=dict)
    out_of_reach: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def pipeline(self) -> Pipeline:
        """How it is computed."""
        return self.function

    @property
    def paper_name(self) -> str:
        """The first half of its name: `unli` of `unli/table2`."""
        return self.name.partition("/")[0]

    @property
    def own_table(self) -> PublishedTable:
        """What the paper prints in this very item."""
        return self._table(self.name.partition("/")[2])

    @property
    def published_table(self) -> PublishedTable:
        """The printed numbers beside ours: the item's, and before them those of `beside`."""
        own = self.own_table
        if not self.beside:
            return own
        other = self._table(self.beside)
        more = {name: own.unit_of(name) for name in own.columns if name not in other.columns}
        is_apart = [name for name in more if (more[name], other.unit) == ("percent", "share")]
        more |= dict.fromkeys(is_apart, "share")  # one unit for all columns that stand together
        rows = [
            replace(
                row,
                cells={
                    name: f"{text} %" if name in is_apart else text
                    for name, text in row.cells.items()
                    if name in more
                },
            )
            for row in own.rows
        ]
        return replace(
            other,
            columns=[*other.columns, *more],
            units={**{name: other.unit_of(name) for name in other.columns}, **more},
            rows=[*other.rows, *(row for row in rows if row.cells)],
        )

    def _table(self, name: str) -> PublishedTable:
        return published_tables(self.published).get(name, PublishedTable())

    @property
    def title(self) -> str:
        """What it shows, in one line."""
        return self.shows or self.own_table.title

    @property
    def summary(self) -> str:
        """What it shows, as `disorder list` prints it."""
        return f"{self.title}."

    @property
    def is_built_in(self) -> bool:
        """Whether it ships with disorder."""
        return self.published.is_relative_to(PACKAGE)


def study_items() -> dict[str, StudyItem]:
    """All items by name, paper by paper, tables before figures; those of plugins last."""
    known = parts(StudyItem)
    return {name: known[name] for name in sorted(known, key=_order)}


def _order(name: str) -> tuple[int, str, int, list[tuple[int, str]]]:
    paper, _, item = name.partition("/")
    rank = PAPERS.index(paper) if paper in PAPERS else len(PAPERS)
    sort = next((i for i, word in enumerate(SORTS) if item.startswith(word)), len(SORTS))
    pieces = re.findall(r"\d+|\D+", item)  # numbers by value: table2 before table10
    return rank, paper, sort, [(int(p) if p.isdigit() else -1, p) for p in pieces]


def find_item(name: str) -> StudyItem:
    """The item of that name, or an error with the nearest ones."""
    known = study_items()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}?" if close else "see disorder study --list"
    raise DisorderError(f"unknown item {name!r}; {hint}")


ANY = "any"


def read_items(path: Path) -> None:
    """Register every item that a file declares."""
    path = path.resolve()
    given = read_sections(path)
    reader = ItemReader(path, given.get(NAMES, {}))
    for name, section in given.items():
        if isinstance(section, dict) and "item" in section:
            try:
                declared = {"paper": given.get("paper", ""), **section["item"]}
                item = reader.item(f"{given.get('name', path.stem)}/{name}", declared)
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                raise BadData(f"{path}: {name} is no item ({reason(error)})") from None
            register(item)


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
