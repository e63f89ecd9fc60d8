"""Columns: what the user says that they are, and the gold answers in them.

Questions about a passage have gold answers: `answers` is `{text: [...],
answer_start: [...]}` (the hub's squad_v2), a list of `{text, answer_start}` (SQuAD's own files), or
a list of texts; `answer` and `answer_start` together hold one. No answer means that the passage has
none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from disorder.errors import BadData, option

GoldAnswers = tuple[tuple[str, int], ...]
UNKNOWN_START = -1
NAMED_SEGMENTS = ("system", "context", "passages")  # that a column can be named
TARGETS = ("text_a", "text_b", "label", "id", *NAMED_SEGMENTS)
SHORT_NAMES = {"text": "text_a"}  # what a target may be called too


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


def is_known_question(row: Mapping[str, Any]) -> bool:
    """Whether a row is a question that a passage may answer, as in SQuAD."""
    return "question" in row and "context" in row and _says_positions(row)


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


def in_one_direction(given: Mapping[str, str], columns: Collection[str]) -> dict[str, str]:
    """Column → what it is, from what the user wrote in this direction or the other one.

    >>> in_one_direction({"Review text": "text", "label": "Mood"}, ["Review text", "Mood"])
    {'Review text': 'text_a', 'Mood': 'label'}
    """
    found: dict[str, str] = {}
    for left, right in given.items():
        is_as_said = left in columns and _target(right) in TARGETS
        is_turned = right in columns and _target(left) in TARGETS and not is_as_said
        column, target = (right, left) if is_turned else (left, right)
        if _target(target) in found.values():
            raise BadData(f"{option('columns', given)}: two columns are {_target(target)}")
        found[column] = _target(target)
    return found


def _target(name: str) -> str:
    return SHORT_NAMES.get(name, name)


def unknown_target(column: str, target: str, columns: Iterable[object]) -> str:
    """The message where neither name is one that a column can be read as."""
    return (
        f"{option('columns', f'{column}={target}')}: write COLUMN=WHAT, where WHAT is one of "
        f"{', '.join(TARGETS)}, not {target!r}; the columns are {quoted(columns)}"
    )


def quoted(names: Iterable[object]) -> str:
    """Names of columns, for a message."""
    return ", ".join(repr(str(name)) for name in names) or "none"
