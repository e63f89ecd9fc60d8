"""Layouts: the ways in which tables spell a question, its options and its answer.

Options may be a column each (`A`, `B`, …; `option1`, `option2`; `ending0`, …), a list of objects, a
list written as a text, or one right answer and several wrong ones. Rows of all of them become rows
with a column `options` (texts, or texts by their names).
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from numbers import Real
from typing import Any

from disorder.tasks import LETTERS, column, folded, name_in

OPTIONS = (
    "options",
    "choices",
    "endings",
    "answer_choices",
    "answer_options",
    "possible_answers",
    "candidates",
    "alternatives",
    "mc_options",
    "选项",
)
STEMS = (
    "",
    "option",
    "choice",
    "answer",
    "mcanswer",
    "ending",
    "candidate",
    "alternative",
    "solution",
    "sol",
    "opt",
    "op",
    "选项",
)
RIGHT = ("correct_answer", "best_answer", "right_answer", "answer")
WRONG = ("incorrect_answers", "wrong_answers", "distractors")
ONE_WRONG = re.compile(r"(?:distractor|incorrectanswer|wronganswer)\d+")
MARKED_OPTIONS = (
    "mc1_targets",
    "target_scores",
    "multiple_choice_targets",
    "options",
    "choices",
    "answers",
)
STEM = ("stem", "question", "text")
CAUSES = ("cause", "effect")
LETTER = r"[(\[（]?([A-Za-zＡ-Ｚ]) ?[)\].:．、：）]\s*(?=\S)"  # and its mark, before an option
LETTERED = re.compile(rf"\s*{LETTER}")
MARKED = re.compile(r"(?:\d+|[a-z])$")  # the letter or number at the end of a name
INLINE = re.compile(rf"(?:^|(?<=[\s,，])){LETTER}")
AFTER_QUOTE = re.compile(r"""['"]\s*[,:]""")
BETWEEN = re.compile(r"""(['"])\s+(['"])""")
SEPARATORS = ("\n", "|", ";")


def laid_out(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its question, its options and its answer in columns of their own."""
    found = dict(row)
    question = found.get("question")
    if isinstance(question, Mapping) and name_in(question, OPTIONS):
        found |= {"question": column(question, STEM), "options": column(question, OPTIONS)}
    if "premise" in found and question in CAUSES:
        found["asks_for"] = found.pop("question")
    if {"sol1", "sol2", "label"} <= found.keys():  # PIQA, whose label counts from 0
        found["options"] = [found.pop("sol1"), found.pop("sol2")]
    found = _with_right_one(found) or found
    if name_in(found, OPTIONS) is None:
        found = _with_wrong_ones(found) or _gathered(found) or found
    return found


def _with_right_one(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """A row whose options are marked 1 or 0 (TruthfulQA, BIG-bench, objects with `is_correct`), as
    one right answer and several wrong ones; None for other rows.
    """
    name = name_in(row, MARKED_OPTIONS)
    if name is None:
        return None
    marks = _marks(row[name], column(row, ("multiple_choice_scores",)))
    right = [text for text, mark in marks if mark == 1]
    wrong = [text for text, mark in marks if mark == 0]
    if len(right) != 1 or len(right) + len(wrong) < max(2, len(marks)):
        return None
    rest = {each: value for each, value in row.items() if each != name}
    return rest | {"correct_answer": right[0], "incorrect_answers": wrong}


def _marks(given: Any, scores: Any) -> list[tuple[str, Any]]:
    """Options with what marks them as right; none where nothing does."""
    if isinstance(given, Mapping) and {"choices", "labels"} <= given.keys():
        return list(zip(given["choices"], given["labels"], strict=False))
    if isinstance(given, Mapping) and not {*LETTERS, "text"} & given.keys():
        return list(given.items())
    if not isinstance(given, list | tuple):
        return []
    if isinstance(scores, list | tuple):
        return list(zip(given, scores, strict=False))
    return [
        (column(each, ("text", "content", "option")), column(each, ("is_correct", "correct")))
        for each in given
        if isinstance(each, Mapping)
    ]


def _gathered(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """A row whose options are a column each, with all of them in one; None for other rows."""
    for of in columns_each(row, STEMS):
        options = {mark: row[name] for mark, name in of.items()}
        rest = {name: value for name, value in row.items() if name not in of.values()}
        return rest | {"options": options}
    return None


def columns_each(row: Mapping[str, Any], stems: Sequence[str] = ()) -> Sequence[dict[str, str]]:
    """Columns whose names differ in their letter or number alone, by it; of any stem if none is
    named.

    >>> columns_each({"opzione_a": "x", "opzione_b": "y", "voto": 1})
    [{'A': 'opzione_a', 'B': 'opzione_b'}]
    """
    return _named_alike(tuple(name for name in row if isinstance(name, str)), tuple(stems))


@lru_cache(maxsize=256)
def _named_alike(columns: tuple[str, ...], stems: tuple[str, ...]) -> list[dict[str, str]]:
    """The same for the names of a table, which all of its rows share."""
    names = {folded(name): name for name in columns}
    found = []
    for stem in stems or dict.fromkeys(MARKED.sub("", name) for name in names):
        for marks in (LETTERS, tuple(map(str, range(26))), tuple(map(str, range(1, 27)))):
            spelled = [names.get(f"{stem}{mark}".casefold()) for mark in marks]
            n = spelled.index(None) if None in spelled else len(spelled)
            if n > 1:
                found.append(
                    {mark: str(name) for mark, name in zip(marks, spelled[:n], strict=False)}
                )
                break
    return found


def _with_wrong_ones(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """A row of a right answer and wrong ones, put into an order that its texts alone decide."""
    name = name_in(row, RIGHT)
    ones = [each for each in row if isinstance(each, str) and ONE_WRONG.fullmatch(folded(each))]
    listed = as_list(column(row, WRONG))
    wrong = listed if isinstance(listed, Sequence) else [row[each] for each in ones]
    if name is None or not wrong or isinstance(wrong, str):
        return None
    right = row[name]
    texts = dict.fromkeys(str(text) for text in [right, *wrong] if not is_nothing(text))
    together = "\0".join(sorted(texts))
    options = sorted(texts, key=lambda text: _hash(f"{text}\0{together}"))
    rest = {each: value for each, value in row.items() if each not in (name, *ones)}
    place = None if is_nothing(right) else options.index(str(right))
    answer = place if place is None or place >= len(LETTERS) else LETTERS[place]
    return rest | {"options": options, "answer": answer}


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace")).digest()


def named_options(given: Any) -> tuple[list[Any], list[str] | None]:
    """The options of a row, and the names that it gives them.

    >>> named_options({"text": ["x", "y"], "label": ["1", "2"]})
    (['x', 'y'], ['1', '2'])
    >>> named_options({"A": "x", "B": "y", "C": None}), named_options("A. x\\nB. y")
    ((['x', 'y'], ['A', 'B']), (['x', 'y'], ['A', 'B']))
    """
    given = as_list(given)
    if isinstance(given, Mapping):
        texts, names = column(given, ("text", *OPTIONS)), column(given, ("label", "labels", "key"))
        if isinstance(texts, list | tuple):
            return list(texts), None if names is None else [str(name) for name in names]
        texts = _without_empty_ends(list(given.values()))
        return texts, [str(name) for name in given][: len(texts)]
    if isinstance(given, str) or not isinstance(given, Sequence):
        return [], None
    if given and all(isinstance(each, Mapping) for each in given):
        texts = [column(each, ("text", "content", "option", "value")) for each in given]
        names = [column(each, ("label", "key", "id", "letter", "name")) for each in given]
        return texts, None if None in names else [str(name) for name in names]
    return _without_letters(_without_empty_ends(list(given)))


def _without_empty_ends(options: list[Any]) -> list[Any]:
    """Options without the empty ones at the end: a table has as many columns as its longest row."""
    while options and is_nothing(options[-1]):
        options = options[:-1]
    return options


def _without_letters(options: list[Any]) -> tuple[list[Any], list[str] | None]:
    """Options without the letters that stand before all of them, which would move with them."""
    marks = [LETTERED.match(each) if isinstance(each, str) else None for each in options]
    said = [narrow(mark[1]).upper() if mark else "" for mark in marks]
    if len(options) > 1 and said == list(LETTERS[: len(options)]):
        return [
            str(each)[mark.end() :] for each, mark in zip(options, marks, strict=True) if mark
        ], said
    return options, None


def as_list(given: Any) -> Any:
    """A list or a mapping that is written as a text: as JSON, as Python, or an option per line."""
    if hasattr(given, "tolist"):  # an array of a data frame
        return given.tolist()
    if not isinstance(given, str):
        return given
    found = literal(given)
    if found is not None:
        return found
    text = given.strip()
    for separator in SEPARATORS:
        pieces = [piece.strip() for piece in text.split(separator) if piece.strip()]
        if len(pieces) > 1:
            return pieces
    return _by_letters(text) or given


def literal(text: str) -> list[Any] | tuple[Any, ...] | dict[Any, Any] | None:
    """A list or a mapping that a table holds as a text: as JSON, Python or numpy write it.

    >>> literal('["x", "y"]'), literal("['x' 'y']"), literal("[sic] x")
    (['x', 'y'], ['x', 'y'], None)
    """
    text = text.strip()
    if text[:1] not in ("[", "{", "(") or text[-1:] not in ("]", "}", ")"):
        return None
    if not AFTER_QUOTE.search(text):  # numpy writes no commas, and Python would join the texts
        text = BETWEEN.sub(r"\1, \2", text)
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(found, list | tuple | dict):
            return found
    return None


def narrow(text: str) -> str:
    """Full-width letters and marks, as Chinese and Japanese write them, in their usual width."""
    return unicodedata.normalize("NFKC", text)


def _by_letters(text: str) -> dict[str, str]:
    """Options in one line, each behind its letter: `A) x B) y`; empty where there are none."""
    _, *pieces = INLINE.split(text)
    letters = narrow("".join(pieces[::2])).upper()
    if len(letters) < 2 or not "".join(LETTERS).startswith(letters) or INLINE.match(text) is None:
        return {}
    return dict(zip(letters, (piece.strip(" ,，") for piece in pieces[1::2]), strict=True))


def is_nothing(value: Any) -> bool:
    """Whether a cell is empty: None, not a number, or no letters."""
    is_gap = isinstance(value, Real) and value != value
    return value is None or is_gap or (isinstance(value, str) and not value.strip())
