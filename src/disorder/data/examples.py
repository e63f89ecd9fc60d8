"""Raw rows become examples; rows that cannot be used are counted by reason, or are an error."""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from disorder.data.columns import (
    answers_of,
    as_question,
    guessed_columns,
    in_words,
    is_known_question,
)
from disorder.errors import BadData, option
from disorder.registry import TaskPart
from disorder.tasks import LETTERS, TaskRow, fits, recognised, said
from disorder.types import OF_PROMPTS, TEXT_NAMES, Example, Segment, Segments, text_segments

SourceRow = tuple[str, Mapping[str, Any]]  # where it is ("line 3"), and its columns
NO_LABEL = {"", "-1", "-", "-1.0", "nan"}
NAMED_SEGMENTS = ("system", "context", "passages")  # that a column can be named
TARGETS = ("text_a", "text_b", "label", "id", *NAMED_SEGMENTS)
MAY_LACK = (*TEXT_NAMES, *OF_PROMPTS, "question", "ask", "context", "passages", "options")
NO_LABEL_REASON = "no gold label"
EMPTY_REASON = "empty text"
REPEATED_REASON = "repeated row"
LONGEST = 5_000_000  # letters of a text: a million words, more than any model takes
LONG_REASON = f"a text of more than {LONGEST:,} letters"
WHAT_IF_NONE = {
    "text_a": "",
    "label": "; rows without a gold label cannot be used, but for {likelihood}",
}
INVALID_REASON = "half a character (a lone surrogate)"
logger = logging.getLogger(__name__)


@dataclass
class ExampleReader:
    """Turns the rows of one source into examples; `skipped` counts those left out, by reason."""

    source: str
    columns: Mapping[str, str] = field(default_factory=dict)
    label_names: Sequence[str] = ()
    group_by: Sequence[str] = ()
    task: TaskPart | None = None  # a form of data other than texts with labels
    is_known: bool = False  # the task is, so that columns need not show it
    needs_gold: bool = True  # else a row without a label counts, with none
    wanted: Sequence[str] = ()  # further columns, which a prompt or a transformation names
    family: str = ""  # the column that names families
    skipped: Counter[str] = field(default_factory=Counter)
    _seen: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    _is_pair: bool | None = None
    _has_said: bool = False

    def examples(self, rows: Iterable[SourceRow]) -> Iterator[Example]:
        """The usable rows, in the order they come."""
        for where, raw in rows:
            if not self.is_known:
                self.is_known = True
                self._recognise(raw)
            if self.task is not None:
                example = self._task_example(self.task, raw, where)
            else:
                example = self._example(self._renamed(raw, where), where)
            if example is not None and self._is_new(example, where):
                yield self._in_family(example, raw, where)

    def _recognise(self, raw: Mapping[str, Any]) -> None:
        """Find out from the first row whether the data has another form than texts with labels."""
        if not isinstance(raw, Mapping) or {"text_a", "label"} <= {*raw, *self.columns.values()}:
            return
        row = {key: value for key, value in self._with_own_names(raw).items() if value is not None}
        if is_known_question(row):
            return
        self.task = recognised(row)
        if self.task is not None and self.task.scored == "text" and "label" in row:
            either = f"{option('task', 'labels')} or {option('task', self.task.name)}"
            raise BadData(
                f"{self.source}: the columns can be read in two ways, as texts with labels or as "
                f"{self.task.title}; say which: {either}"
            )
        if self.task is not None:
            logger.info("%s: %s", self.source, said(self.task, row))

    def _with_own_names(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """A row with the columns that the user named under the names that were given them."""
        row = {key: value for key, value in raw.items() if key not in self.columns}
        return row | {new: raw[old] for old, new in self.columns.items() if old in raw}

    def _task_example(self, entry: TaskPart, raw: Mapping[str, Any], where: str) -> Example | None:
        if not isinstance(raw, Mapping):
            raise BadData(
                f"{self.source}, {where}: expected an object with columns, got {type(raw).__name__}"
            )
        row = self._with_own_names(raw)
        if not fits(entry, row):
            wanted = "; ".join(" or ".join(names) for names in entry.columns)
            raise BadData(
                f"{self.source}, {where}: {entry.title} needs the columns {wanted}; it has "
                f"{_names(row)}"
            )
        try:
            found: TaskRow = entry.function(row)
        except BadData as error:
            raise BadData(f"{self.source}, {where}: {error}") from None
        reason = _unusable(found)
        if reason:
            self.skipped[reason] += 1
            return None
        groups = {column: self._group(row, column, where) for column in self.group_by}
        found = replace(
            found,
            segments={**self._more_segments(row, where, found.segments), **found.segments},
            groups={**groups, **found.groups},
        )
        return _example_of(found, self._name(row))

    def _renamed(self, raw: Mapping[str, Any], where: str) -> dict[str, Any]:
        if not isinstance(raw, Mapping):
            raise BadData(
                f"{self.source}, {where}: expected an object with columns, got {type(raw).__name__}"
            )
        for column, target in self.columns.items():
            if target not in TARGETS:
                raise BadData(_unknown_target(column, target))
            if column not in raw:
                raise BadData(f"{self.source}, {where}: no column {column!r}; it has {_names(raw)}")
        row = {key: value for key, value in raw.items() if key not in self.columns}
        row |= {target: raw[column] for column, target in self.columns.items()}
        row = as_question(row, f"{self.source}, {where}")
        row |= {target: raw[column] for column, target in self._guessed(row).items()}
        for needed in self._needed:
            if needed not in row:
                meant = option("columns", f"NAME={needed}")
                what = WHAT_IF_NONE[needed].format(likelihood=option("task", "likelihood"))
                raise BadData(
                    f"{self.source}, {where}: no column {needed!r}; it has {_names(raw)}. "
                    f"Say which one it is: {meant}{what}"
                )
        return row

    @property
    def _needed(self) -> tuple[str, ...]:
        return ("text_a", "label") if self.needs_gold else ("text_a",)

    def _guessed(self, row: Mapping[str, Any]) -> dict[str, str]:
        """Columns whose usual names say what they are; the first time, a message says so."""
        if "text_a" in row and "label" in row:
            return {}
        guessed = guessed_columns(row, self.columns)
        if guessed and not self._has_said:
            self._has_said = True
            logger.info("%s: %s", self.source, in_words(guessed))
        return guessed

    def _example(self, row: Mapping[str, Any], where: str) -> Example | None:
        text_a = self._text(row["text_a"], where)
        text_b = self._text(row.get("text_b"), where)
        if self._is_pair is None:
            self._is_pair = text_b is not None
        if not self._is_pair and _has_words(text_b):
            raise BadData(
                f"{self.source}, {where}: has a second text, but the rows before it have none"
            )
        label = self._label(row.get("label"), where)
        if label is None and not self.needs_gold:
            label = ""
        if label is None:
            self.skipped[NO_LABEL_REASON] += 1
            return None
        if not _has_words(text_a) or (self._is_pair and not _has_words(text_b)):
            self.skipped[EMPTY_REASON] += 1
            return None
        assert text_a is not None
        text_b = text_b if self._is_pair else None
        if max(len(text_a), len(text_b or "")) > LONGEST:
            self.skipped[LONG_REASON] += 1
            return None
        name = self._name(row) or _content(text_a, text_b, label).hex()[:12]
        groups = {column: self._group(row, column, where) for column in self.group_by}
        if not _is_valid(name, text_a, text_b or "", label, *groups.values()):
            self.skipped[INVALID_REASON] += 1
            return None
        answers = answers_of(row, f"{self.source}, {where}") if text_b is not None else None
        segments = text_segments((text_a, text_b))
        segments |= self._more_segments(row, where, segments)
        return Example(name, segments, label, groups, answers)

    def _more_segments(
        self, row: Mapping[str, Any], where: str, given: Segments
    ) -> dict[str, Segment]:
        """The columns of a row that are wanted beside what its task takes."""
        mapped = [name for name in self.columns.values() if name in NAMED_SEGMENTS]
        found: dict[str, Segment] = {}
        for name in dict.fromkeys([*mapped, *self.wanted]):
            if name in row and name not in given:
                found[name] = self._segment(row[name], name, where)
            elif name not in given and name not in MAY_LACK:
                raise BadData(
                    f"{self.source}, {where}: no column {name!r}, which a prompt or {option('on')} "
                    f"names; it has {_names(row)}"
                )
        return found

    def _segment(self, value: Any, name: str, where: str) -> Segment:
        if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            return tuple(value)
        if isinstance(value, list | tuple | Mapping):
            raise BadData(
                f"{self.source}, {where}: {name} must be a text, a number or a list of texts, got "
                f"{type(value).__name__}"
            )
        return "" if value is None else str(value)

    def _name(self, row: Mapping[str, Any]) -> str:
        """The row's id; variants that `disorder perturb` wrote share one and are told apart by
        their number.
        """
        given = "" if row.get("id") is None else str(row["id"])
        if given and "variant" in row and "transformation" in row:
            return f"{given}#{row['transformation']}#{row['variant']}"
        return given

    def _group(self, row: Mapping[str, Any], column: str, where: str) -> str:
        if column not in row:
            raise BadData(
                f"{self.source}, {where}: no column {column!r} to group by; it has {_names(row)}"
            )
        return str(row[column])

    def _in_family(self, example: Example, raw: Mapping[str, Any], where: str) -> Example:
        """The example with the name of its family; a row that names none is one of its own."""
        if not self.family:
            return example
        if self.family not in raw:
            raise BadData(
                f"{self.source}, {where}: no column {self.family!r} that names its family; it has "
                f"{_names(raw)}"
            )
        named = raw[self.family]
        is_alone = named is None or named != named or not str(named).strip()
        return replace(example, family=f"row {example.id}" if is_alone else str(named))

    def _is_new(self, example: Example, where: str) -> bool:
        content = _content_of(example)
        before = self._seen.setdefault(example.id, (content, where))
        if before[1] == where:
            return True
        if before[0] != content:
            raise BadData(
                f"{self.source}, {where}: id {example.id!r} was used before ({before[1]}) for "
                "another example; ids must be unique (drop the column, or map another one to id)"
            )
        self.skipped[REPEATED_REASON] += 1
        return False

    def _text(self, value: Any, where: str) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return None if isinstance(value, float) and math.isnan(value) else str(value)
        raise BadData(
            f"{self.source}, {where}: a text must be a string, got {type(value).__name__}"
        )

    def _label(self, value: Any, where: str) -> str | None:
        if isinstance(value, list | dict):
            raise BadData(
                f"{self.source}, {where}: a label must be a word or a number, "
                f"got {type(value).__name__}"
            )
        text = "" if value is None else str(value).strip()
        if text.lower() in NO_LABEL:
            return None
        if self.label_names and text.isdecimal():
            if int(text) >= len(self.label_names):
                last = len(self.label_names) - 1
                raise BadData(f"{self.source}, {where}: label {text} is none of 0 … {last}")
            return self.label_names[int(text)]
        return text


def _texts_of(segments: Segments) -> list[str]:
    """All texts of segments, the items of lists among them."""
    found: list[str] = []
    for segment in segments.values():
        found += [segment] if isinstance(segment, str) else segment
    return found


def _unusable(found: TaskRow) -> str:
    """Why a row of a task is left out; empty where it is not."""
    texts = _texts_of(found.segments)
    if found.answer is None:
        return NO_LABEL_REASON
    if not all(map(_has_words, texts)):
        return EMPTY_REASON
    if max(map(len, texts)) > LONGEST:
        return LONG_REASON
    return "" if _is_valid(*texts) else INVALID_REASON


def _example_of(found: TaskRow, name: str) -> Example:
    label = "good"
    if "options" in found.segments:
        label = LETTERS[int(found.answer or 0)]
    elif "answers" in found.segments:
        label = "right"
    example = Example(name, found.segments, label, found.groups, on=found.on)
    return example if name else replace(example, id=_content_of(example).hex()[:12])


def _content_of(example: Example) -> bytes:
    """A hash of what an example asks, without its id."""
    text_a, text_b = example.texts
    others = {name: each for name, each in example.segments.items() if name not in example.on}
    if others:
        asked = [others.pop("ask", ""), *others.pop("options", ())]
        text_b = json.dumps([*asked, text_b, others] if others else asked)
    return _content(text_a, text_b, example.label)


def _unknown_target(column: str, target: str) -> str:
    given = option("columns", f"{column}={target}")
    message = f"{given}: a column can be {', '.join(TARGETS)}, not {target!r}"
    if column in TARGETS:
        message += f"; the other way round? {option('columns', f'{target}={column}')}"
    return message


def _has_words(text: str | None) -> bool:
    return text is not None and not text.isspace() and text != ""


def _is_valid(*texts: str) -> bool:
    """Whether the texts can be written as UTF-8.

    JSON can spell halves of characters, which no file or model can hold.
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _content(text_a: str, text_b: str | None, label: str) -> bytes:
    parts = [text_a, "\0" if text_b is None else "\1" + text_b, label]
    key = "\0".join(parts)
    if "\0" in f"{text_a}{text_b or ''}{label}":  # which could pass for the border between two
        key = f"\2{[len(part) for part in parts]}{key}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _names(row: Mapping[str, Any]) -> str:
    return ", ".join(repr(str(name)) for name in row) or "none"
