"""Columns: which ones of a table are its texts, its label and its gold answers.

Usual names need no explanation where the table has no column of our own name, nothing was said, and
one reading is possible. Questions about a passage have gold answers: `answers` is `{text: [...],
answer_start: [...]}` (the hub's squad_v2), a list of `{text, answer_start}` (SQuAD's own files), or
a list of texts; `answer` and `answer_start` together hold one. No answer means that the passage has
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from disorder.errors import BadData

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
