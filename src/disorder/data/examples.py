"""Raw rows become examples; rows that cannot be used are counted by reason, or are an error.

Usual names of columns need no explanation where one reading is possible. Questions about a passage
have gold answers: `answers` is `{text: [...], answer_start: [...]}` (the hub's squad_v2), a list of
`{text, answer_start}` (SQuAD's own files), or a list of texts; `answer` and `answer_start` together
hold one. No answer means that the passage has none.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from disorder.errors import BadData, option
from disorder.types import Example

SourceRow = tuple[str, Mapping[str, Any]]  # where it is ("line 3"), and its columns
NO_LABEL = {"", "-1", "-", "-1.0", "nan"}
TARGETS = ("text_a", "text_b", "label", "id")
NO_LABEL_REASON = "no gold label"
EMPTY_REASON = "empty text"
REPEATED_REASON = "repeated row"
LONGEST = 5_000_000  # letters of a text: a million words, more than any model takes
LONG_REASON = f"a text of more than {LONGEST:,} letters"
WHAT_IF_NONE = {"text_a": "", "label": "; rows without a gold label cannot be used"}
INVALID_REASON = "half a character (a lone surrogate)"
logger = logging.getLogger(__name__)
GoldAnswers = tuple[tuple[str, int], ...]
UNKNOWN_START = -1
PAIRS = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("question", "sentence"),
)
SINGLES = ("text", "sentence", "question")
LABELS = ("gold_label", "gold")
TEXTS = ("text_a", "text_b")


@dataclass
class ExampleReader:
    """Turns the rows of one source into examples; `skipped` counts those left out, by reason."""

    source: str
    columns: Mapping[str, str] = field(default_factory=dict)
    label_names: Sequence[str] = ()
    group_by: Sequence[str] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    _seen: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    _is_pair: bool | None = None
    _has_said: bool = False

    def examples(self, rows: Iterable[SourceRow]) -> Iterator[Example]:
        """The usable rows, in the order they come."""
        for where, raw in rows:
            row = self._renamed(raw, where)
            example = self._example(row, where)
            if example is not None and self._is_new(example, where):
                yield example

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
        for needed in ("text_a", "label"):
            if needed not in row:
                meant = option("columns", f"NAME={needed}")
                raise BadData(
                    f"{self.source}, {where}: no column {needed!r}; it has {_names(raw)}. "
                    f"Say which one it is: {meant}{WHAT_IF_NONE[needed]}"
                )
        return row

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
        label = self._label(row["label"], where)
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
        return Example(name, text_a, text_b, label, groups, answers)

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

    def _is_new(self, example: Example, where: str) -> bool:
        content = _content(example.text_a, example.text_b, example.label)
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
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _names(row: Mapping[str, Any]) -> str:
    return ", ".join(repr(str(name)) for name in row) or "none"


def as_question(row: dict[str, Any], where: str) -> dict[str, Any]:
    """A row with answers under the names that every row has: question, passage, and whether it can
    be answered.
    """
    is_squad = "text_a" not in row and "question" in row and "context" in row
    if is_squad and answers_of(row, where) is not None:
        row = {**row, "text_a": row["question"], "text_b": row["context"]}
    if "label" not in row and "text_b" in row and _says_positions(row):
        row = {**row, "label": "answerable" if answers_of(row, where) else "unanswerable"}
    return row


def answers_of(row: Mapping[str, Any], where: str) -> GoldAnswers | None:
    """The answers of a row; None where it has none of these columns, or something else under their
    names.
    """
    if "answers" in row:
        return _several(row["answers"], where)
    if "answer" not in row or "answer_start" not in row:
        return None
    text = row["answer"]
    if not text or text != text:  # not a number: an empty cell of a data frame
        return ()
    return ((str(text), _start(row["answer_start"], where)),)


def _says_positions(row: Mapping[str, Any]) -> bool:
    """Whether the layout says that these are answers in a passage: a list of texts does not."""
    if "answers" not in row:
        return answers_of(row, "") is not None
    given = row["answers"]
    return isinstance(given, Mapping) or (
        isinstance(given, list) and not any(isinstance(each, str) for each in given)
    )


def _several(given: Any, where: str) -> GoldAnswers | None:
    if isinstance(given, Mapping) and "text" in given:
        texts = given["text"]
        starts = given.get("answer_start", [UNKNOWN_START] * len(texts))
        if len(texts) != len(starts):
            raise BadData(f"{where}: answers has {len(texts)} texts and {len(starts)} starts")
        return _unique(texts, [_start(start, where) for start in starts])
    if isinstance(given, Sequence) and not isinstance(given, str):
        if all(isinstance(each, str) for each in given):
            return _unique(given, [UNKNOWN_START] * len(given))
        if all(isinstance(each, Mapping) and "text" in each for each in given):
            return _unique(
                [each["text"] for each in given],
                [_start(each.get("answer_start"), where) for each in given],
            )
    return () if given is None else None


def _unique(texts: Sequence[str], starts: Sequence[int]) -> GoldAnswers:
    """Each answer once: several people often give the same one."""
    return tuple(
        dict.fromkeys((str(text), start) for text, start in zip(texts, starts, strict=True) if text)
    )


def _start(value: Any, where: str) -> int:
    if value is None or value == "" or value != value:
        return UNKNOWN_START
    try:
        return int(value)
    except (TypeError, ValueError):
        raise BadData(f"{where}: answer_start must be a number, got {value!r}") from None


def guessed_columns(columns: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    """What further columns are, beside those that the user named: column → text_a, text_b, label.

    >>> guessed_columns(["premise", "hypothesis", "gold_label"], {})
    {'premise': 'text_a', 'hypothesis': 'text_b', 'gold_label': 'label'}
    >>> guessed_columns(["text", "sentence", "label"], {})
    {}
    """
    names = [str(name) for name in columns if name not in given]
    known = {*names, *given.values()}
    guessed: dict[str, str] = {}
    if known.isdisjoint(TEXTS):
        guessed |= dict(zip(_texts(names), TEXTS, strict=False))
    if "label" not in known:
        labels = [name for name in names if name.casefold() in LABELS]
        guessed |= {labels[0]: "label"} if len(labels) == 1 else {}
    return guessed


def _texts(names: list[str]) -> tuple[str, ...]:
    """The one or two columns that hold the texts; none where several readings are possible."""
    folded = {name.casefold(): name for name in names}
    pairs = [pair for pair in PAIRS if folded.keys() >= set(pair)]
    if len(pairs) == 1:
        return tuple(folded[name] for name in pairs[0])
    singles = [name for name in SINGLES if name in folded]
    return (folded[singles[0]],) if len(singles) == 1 and not pairs else ()


def in_words(guessed: Mapping[str, str]) -> str:
    """What was guessed, for a message.

    >>> in_words({"premise": "text_a", "gold_label": "label"})
    'column premise is read as text_a, gold_label as label (--columns says otherwise)'
    """
    readings = [f"{column} as {target}" for column, target in guessed.items()]
    first, *rest = readings
    said = ", ".join([first.replace(" as ", " is read as ", 1), *rest])
    return f"column {said} (--columns says otherwise)"
