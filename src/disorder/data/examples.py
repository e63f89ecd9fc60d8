"""Raw rows become examples; rows that cannot be used are counted by reason, or are an error."""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, islice
from random import Random
from typing import Any

from disorder.data.columns import (
    NAMED_SEGMENTS,
    TARGETS,
    answers_of,
    as_question,
    in_one_direction,
    is_known_question,
    quoted,
    unknown_target,
)
from disorder.data.guessing import SAMPLED, STRONG, Guess, guess, looks_of, options_beside
from disorder.errors import BadData, meant, option
from disorder.registry import TaskPart
from disorder.tasks import (
    LETTERS,
    TaskRow,
    Written,
    columns_of,
    fits,
    names_in,
    recognised,
    said,
)
from disorder.tasks.choice import ANSWER, FEW, PASSAGES, QUESTION, placed
from disorder.tasks.layouts import laid_out, literal
from disorder.tasks.ranking import RANKED, of_own_documents
from disorder.types import OF_PROMPTS, TEXT_NAMES, Example, Segment, Segments, text_segments

SourceRow = tuple[str, Mapping[str, Any]]  # where it is ("line 3"), and its columns
Found = tuple[str, Mapping[str, Any], Example]  # a row, and the example that was made of it
LABELS = "labels"  # the task of texts with fixed labels, whatever other columns there are
NO_LABEL = {"", "-1", "-", "-1.0", "nan"}
MAY_LACK = (*TEXT_NAMES, *OF_PROMPTS, "question", "ask", "context", "passages", "options")
NO_LABEL_REASON = "no gold label"
EMPTY_REASON = "empty text"
REPEATED_REASON = "repeated row"
LONGEST = 5_000_000  # letters of a text: a million words, more than any model takes
LONG_REASON = f"a text of more than {LONGEST:,} letters"
NO_GOLD = "; rows without a gold label are for an audit with {}"
INVALID_REASON = "half a character (a lone surrogate)"
UNREADABLE = (EMPTY_REASON, LONG_REASON, INVALID_REASON)  # rows that no model is asked about
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
    n_minus_one: int = 0  # of them, rows without a label, for that it is -1
    documents: dict[str, str] = field(default_factory=dict)  # that queries are ranked against
    _corpus: Mapping[str, str] | None = None  # those of the last row: mostly the same for all
    _seen: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    _is_pair: bool | None = None
    _guess: Guess = field(default_factory=Guess)
    is_guessed: bool = False  # the task was recognised, and is not the user's word

    def examples(self, rows: Iterable[SourceRow]) -> Iterator[Example]:
        """The usable rows, in the order they come."""
        every = rows
        if isinstance(rows, Sequence):
            first = _spread(rows)
        else:
            rest = iter(rows)
            first = list(islice(rest, SAMPLED))
            every = chain(first, rest)
        is_head = not isinstance(rows, Sequence) and len(first) == SAMPLED
        self._find_columns([raw for _, raw in first if isinstance(raw, Mapping)], is_head=is_head)
        found = self._of_texts(every) if self.task is None else self._of_task(self.task, every)
        for where, raw, example in found:
            if self._is_new(example, where):
                yield self._in_family(example, raw, where)

    def _find_columns(self, rows: Sequence[Mapping[str, Any]], *, is_head: bool) -> None:
        """Find out from some rows which columns are which, unless the task does not ask."""
        if not rows:
            return
        self.columns = in_one_direction(self.columns, rows[0])
        if not self.is_known:
            self._recognise(rows)
        if self.task is not None:
            return
        for column, target in self.columns.items():
            if target not in TARGETS:
                raise BadData(unknown_target(column, target, rows[0]))
        self._check_columns({name: None for row in rows for name in row}, self.source)
        others = {*self.wanted, *self.group_by, self.family}
        if is_known_question(self._with_own_names(rows[0])):
            others |= {"question", "context"}  # they are the texts
        seen = [
            {name: row[name] for name in row if name not in others}
            for row in (as_question(self._with_own_names(raw), self.source) for raw in rows)
        ]
        try:
            found = guess(seen, {}, needs_gold=self.needs_gold, is_head=is_head)
        except BadData as error:
            for name in () if self.is_known else seen[0]:
                self._check_no_options_beside(seen, "", name, LABELS)
            raise BadData(f"{self.source}: {error}") from None
        if not self.is_known and not {"text_a", "label"} <= {*rows[0], *self.columns.values()}:
            names = {"label": "label"} | {target: name for name, target in found.columns.items()}
            label = names["label"]
            if label != "label" and any(str(row.get(label)) == label for row in seen):
                raise BadData(
                    f"{self.source}: its first line is taken for the names of columns, but "
                    f"{label!r} is a label; write a line of names before it (text,label)"
                )
            self._check_no_options_beside(seen, names.get("text_a", ""), label, LABELS)
        self._guess = found
        is_told = found.unread and not (
            self.is_known or {"variant", "transformation"} <= {*seen[0]}
        )
        if found.columns or is_told:
            level = logging.WARNING if is_told or found.is_by_content else logging.INFO
            said = found if is_told else replace(found, unread=())
            logger.log(level, "%s: %s", self.source, said)

    def _recognise(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Find out from some rows whether the data has another form than texts with labels."""
        raw = min(rows, key=_n_missing)
        if {"text_a", "label"} <= {*raw, *self.columns.values()}:
            self._check_no_options_are_lost(raw)
            return
        row = {key: value for key, value in self._laid_out(raw).items() if value is not None}
        if is_known_question(row):
            return
        self.task = recognised(row)
        self.is_guessed = self.task is not None
        if self.task is not None and self.task.scored == "text":
            if "label" in row:
                self._raise_two_readings(self.task)
            used = columns_of(self.task, row)
            aside = {*used[:-1], *self.wanted, *NAMED_SEGMENTS, *names_in(row, PASSAGES)}
            laid_out = map(self._laid_out, rows)
            others = [{key: each[key] for key in each if key not in aside} for each in laid_out]
            self._check_no_options_beside(others, used[0], used[-1], self.task.name)
        elif self.task is not None and self.task.scored == "pair":
            self._check_nothing_before_pairs(row, self.task)

    def _with_own_names(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """A row with the columns that the user named under the names that were given them."""
        row = {key: value for key, value in raw.items() if key not in self.columns}
        return row | {new: raw[old] for old, new in self.columns.items() if old in raw}

    def _check_no_options_are_lost(self, raw: Mapping[str, Any]) -> None:
        """Raise where the user's columns make texts with labels of questions with options."""
        of = None if {"text_a", "label"} <= {*raw} else recognised(laid_out(raw))
        if of is not None and of.scored == "choice":
            self._raise_two_readings(of)

    def _raise_two_readings(self, entry: TaskPart) -> None:
        raise BadData(
            f"{self.source}: the columns can be read in two ways, as texts with labels or as "
            f"{entry.title}; say which: {option('task', 'labels')} or {option('task', entry.name)}"
        )

    def _check_no_options_beside(
        self, rows: Sequence[Mapping[str, Any]], question: str, answer: str, task: str
    ) -> None:
        """Raise where texts stand beside an answer that may be its options."""
        columns = options_beside(rows, answer)
        if not columns:
            return
        looks = {name: looks_of([row.get(name) for row in rows]) for name in rows[0]}
        texts = [name for name in looks if looks[name].kind == "text" and name not in columns]
        question = question or (texts[0] if len(texts) == 1 else "")
        for name, target, names in ((question, "question", QUESTION), (answer, "answer", ANSWER)):
            if name and not names_in({name: ""}, names):
                columns[name] = target
        named = {target: name for name, target in self.columns.items()}
        typed = {named.get(name, name): target for name, target in columns.items()}
        pairs = ",".join(f"{name}={target}" for name, target in typed.items() if name != target)
        raise BadData(
            f"{self.source}: {quoted(typed)} may be a question with options; say so with "
            f"{option('columns', pairs)}, or {option('task', task)}"
        )

    def _check_nothing_before_pairs(self, row: Mapping[str, Any], entry: TaskPart) -> None:
        """Raise where both texts of a pair answer something that a pair is read without."""
        good, bad = columns_of(entry, row)
        for name in names_in(row, QUESTION):
            asked = row[name]
            if not isinstance(asked, str) or not asked.strip():
                continue
            if not all(str(row[each]).lstrip().startswith(asked.strip()) for each in (good, bad)):
                as_choice = option("columns", f"{good}=correct_answer,{bad}=wrong_answer_1")
                raise BadData(
                    f"{self.source}: {good!r} and {bad!r} may be two answers to {name!r}, which a "
                    f"pair is read without; say which: {option('task', entry.name)}, or "
                    f"{option('task', 'choice')} with {as_choice}"
                )

    def _laid_out(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """A row under the names that the user gave its columns, with its options in one column."""
        return laid_out(self._with_own_names(raw))

    def _of_texts(self, rows: Iterable[SourceRow]) -> Iterator[Found]:
        for where, raw in rows:
            example = self._example(self._renamed(raw, where), where)
            if example is not None:
                yield where, raw, example

    def _of_task(self, entry: TaskPart, rows: Iterable[SourceRow]) -> Iterator[Found]:
        """Examples of another form; what their answers mean is seen from all of them."""
        given = [(where, raw, self._task_row(entry, raw, where)) for where, raw in rows]
        try:
            settled, way = placed([found for _, _, found in given])
        except BadData as error:
            raise BadData(f"{self.source}, {error}") from None
        if entry.scored == "ranking":
            settled = of_own_documents(settled)
        if entry.scored == "text" and self.is_guessed:
            self._check_no_labels(entry, settled)
        if self.is_guessed and given:
            logger.info(
                "%s: %s", self.source, said(entry, self._laid_out(given[0][1]), settled, way)
            )
            if entry.scored != "ranking":
                self._say_unread(entry, given[:SAMPLED])
        for (where, raw, _), found in zip(given, settled, strict=True):
            reason = unusable(found)
            if reason:
                self.skipped[reason] += 1
            else:
                self._add_documents(found.documents, where)
                yield where, raw, example_of(found, self._name(self._with_own_names(raw)))

    def _say_unread(self, entry: TaskPart, given: Sequence[tuple[str, Any, TaskRow]]) -> None:
        """Say which columns look like texts and are read by nobody: a passage, for instance."""
        rows = [self._laid_out(raw) for _, raw, _ in given]
        read = [{*_texts_of(found.segments)} for _, _, found in given]
        used = {*columns_of(entry, rows[0]), *names_in(rows[0], ANSWER), *self.group_by}
        unread = []
        for name in [name for name in rows[0] if name not in used]:
            texts = [_texts_in(row.get(name)) for row in rows]
            look = looks_of([" ".join(each) for each in texts])
            is_read = all({*each} <= known for each, known in zip(texts, read, strict=True))
            if look.kind == "text" and look.n_words >= STRONG and not is_read:
                unread.append(name)
        if unread:
            logger.warning("%s: %s", self.source, Guess({}, tuple(unread)))

    def _add_documents(self, documents: Mapping[str, str], where: str) -> None:
        if documents is not self._corpus:
            wrong = next((each for each in documents.values() if not isinstance(each, str)), None)
            if wrong is not None:
                raise BadData(
                    f"{self.source}, {where}: a document must be a text, got {type(wrong).__name__}"
                )
            self._corpus = documents
            self.documents.update(documents)

    def _check_no_labels(self, entry: TaskPart, rows: Sequence[TaskRow]) -> None:
        """Raise where answers repeat as fixed labels do."""
        answers = Counter(str(row.segments.get("answers")) for row in rows)
        if len(rows) >= FEW and len(answers) * FEW <= len(rows) + FEW:
            raise BadData(
                f"{self.source}: {len(rows):,} rows have {len(answers)} different answers, as "
                f"texts with labels have; say which: {option('task', 'labels')} (with "
                f"{option('columns', 'question=text_a,answer=label')}) or "
                f"{option('task', entry.name)}"
            )

    def _task_row(self, entry: TaskPart, raw: Mapping[str, Any], where: str) -> TaskRow:
        if not isinstance(raw, Mapping):
            raise BadData(
                f"{self.source}, {where}: expected an object with columns, got {type(raw).__name__}"
            )
        self._check_columns(raw, f"{self.source}, {where}")
        row = self._laid_out(raw)
        if not fits(entry, row):
            wanted = ", ".join(names[0] for names in entry.columns)
            raise BadData(
                f"{self.source}, {where}: {entry.title} needs the columns {wanted} "
                f"({option('columns', f'NAME={entry.columns[0][0]}')} says which one is which); it "
                f"has {quoted(row)}"
            )
        try:
            found: TaskRow = entry.function(row)
        except BadData as error:
            raise BadData(f"{self.source}, {where}: {error}") from None
        groups = {column: self._group(row, column, where) for column in self.group_by}
        answer = found.answer
        return replace(
            found,
            segments={**self._more_segments(row, where, found.segments), **found.segments},
            groups={**groups, **found.groups},
            answer=replace(answer, where=where) if isinstance(answer, Written) else answer,
        )

    def _check_columns(self, raw: Mapping[str, Any], where: str) -> None:
        """Raise where a row lacks a column that the user named."""
        for name in self.columns:
            if name not in raw:
                hint = meant(name, [*map(str, raw)]) or f"it has {quoted(raw)}"
                raise BadData(f"{where}: no column {name!r}; {hint}")

    def _renamed(self, raw: Mapping[str, Any], where: str) -> dict[str, Any]:
        if not isinstance(raw, Mapping):
            raise BadData(
                f"{self.source}, {where}: expected an object with columns, got {type(raw).__name__}"
            )
        self._check_columns(raw, f"{self.source}, {where}")
        row = as_question(self._with_own_names(raw), f"{self.source}, {where}")
        guessed = self._guess.columns.items()
        row |= {target: row[column] for column, target in guessed if column in row}
        needed = ("text_a", "label") if self.needs_gold else ("text_a",)
        missing = [name for name in needed if name not in row]
        if missing:
            meant = option("columns", ",".join(f"NAME={name}" for name in missing))
            told = f"Say which one it is: {meant}"
            if {*raw} <= {*TEXT_NAMES}:
                told = "Give the labels beside the texts, in Python as (texts, labels)"
            what = NO_GOLD.format(option("task", "likelihood")) if "label" in missing else ""
            raise BadData(
                f"{self.source}, {where}: no column {' and no '.join(map(repr, missing))}; it has "
                f"{quoted(raw)}. {told}{what}"
            )
        return row

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
                    f"names; it has {quoted(row)}"
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
                f"{self.source}, {where}: no column {column!r} to group by; it has {quoted(row)}"
            )
        return str(row[column])

    def _in_family(self, example: Example, raw: Mapping[str, Any], where: str) -> Example:
        """The example with the name of its family; a row that names none is one of its own."""
        if not self.family:
            return example
        if self.family not in raw:
            raise BadData(
                f"{self.source}, {where}: no column {self.family!r} that names its family; it has "
                f"{quoted(raw)}"
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
            self.n_minus_one += text.startswith("-1")
            return None
        if self.label_names and text.isdecimal():
            if int(text) >= len(self.label_names):
                last = len(self.label_names) - 1
                raise BadData(f"{self.source}, {where}: label {text} is none of 0 … {last}")
            return self.label_names[int(text)]
        return text


def _spread(rows: Sequence[SourceRow]) -> list[SourceRow]:
    """Rows that show what columns are: the first and some of all, since files are often sorted."""
    chosen = Random(0).sample(range(1, len(rows)), min(SAMPLED, len(rows)) - 1) if rows else []
    return [*rows[:1], *(rows[i] for i in sorted(chosen))]


def _n_missing(row: Mapping[str, Any]) -> int:
    return sum(value is None for value in row.values())


def _texts_of(segments: Segments) -> list[str]:
    """All texts of segments, the items of lists among them."""
    found: list[str] = []
    for segment in segments.values():
        found += [segment] if isinstance(segment, str) else segment
    return found


def _texts_in(value: Any) -> list[str]:
    """All texts of a cell, however deep."""
    if isinstance(value, str):
        value = literal(value) or value
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts_in(each)]
    return [value] if isinstance(value, str) else []


def unusable(found: TaskRow) -> str:
    """Why a row of a task is left out; empty where it is not."""
    texts = _texts_of(found.segments)
    if found.answer is None:
        return NO_LABEL_REASON
    if not all(map(_has_words, texts)):
        return EMPTY_REASON
    if max(map(len, texts)) > LONGEST:
        return LONG_REASON
    return "" if _is_valid(*texts) else INVALID_REASON


def example_of(found: TaskRow, name: str) -> Example:
    """What a row asks, as an example; without a name its content is its id."""
    label = "good"
    if "options" in found.segments:
        label = LETTERS[found.answer if isinstance(found.answer, int) else 0]
    elif "answers" in found.segments:
        label = "right"
    elif "relevant" in found.segments:
        label = RANKED[0]
    example = Example(name, found.segments, label, found.groups, on=found.on, family=found.family)
    return example if name else replace(example, id=_content_of(example).hex()[:12])


def _content_of(example: Example) -> bytes:
    """A hash of what an example asks, without its id."""
    text_a, text_b = example.texts
    others = {name: each for name, each in example.segments.items() if name not in example.on}
    if others:
        asked = [others.pop("ask", ""), *others.pop("options", ())]
        text_b = json.dumps([*asked, text_b, others] if others else asked)
    return _content(text_a, text_b, example.label)


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
