"""Multiple choice: which of an example's own options is right?

The answer is the place of an option, counted from 0 or from 1, its letter or its text: which of
them is seen from all rows together (`placed`), since a 2 alone could be any of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from disorder.errors import BadData, option
from disorder.registry import task
from disorder.tasks import LETTERS, TaskRow, Written, column, folded, names_in
from disorder.tasks.layouts import LETTERED, OPTIONS, is_nothing, literal, named_options, narrow
from disorder.types import Segment, Segments

QUESTION = (
    "question",
    "question_stem",
    "stem",
    "question_text",
    "ctx",
    "goal",
    "query",
    "problem",
    "prompt",
    "input",
    "sentence",
    "text",
    "startphrase",
    "问题",
    "题目",
    "题干",
)
CONTEXT = (
    "context",
    "passage",
    "article",
    "flores_passage",
    "support",
    "paragraph",
    "document",
    "story",
    "hint",
    "dialogue",
    "dialog",
    "conversation",
)
PASSAGES = (
    "passages",
    "contexts",
    "documents",
    "retrieved_contexts",
    "retrieved_documents",
    "ctxs",
    "paragraphs",
    "chunks",
)
ANSWER = (
    "answer",
    "answer_key",
    "answer_idx",
    "answer_index",
    "answer_num",
    "answer_id",
    "answer_letter",
    "correct_answer",
    "correct_answer_num",
    "correct_option",
    "correct_choice",
    "correct_index",
    "correct",
    "right_answer",
    "gold_answer",
    "gold_index",
    "label",
    "gold",
    "target",
    "cop",
    "ans",
    "correct_ans",
    "gold_label",
    "answers",
    "答案",
    "正确答案",
)
COUNTED = "answer=answer_index"
NO_ANSWER = ("", "-1", "-1.0", "-", "none", "nan")
FIRST = {"label": 0, "idx": 0, "index": 0, "num": 1}  # what columns count from, by their endings
FEW = 20  # answers in which the first or the last place may be missing by chance


@task(columns=(QUESTION, OPTIONS, ANSWER), scored="choice", title="multiple choice")
def choice(row: Mapping[str, Any]) -> TaskRow:
    """A question with options of its own, of which one is right."""
    question = column(row, QUESTION)
    if not isinstance(question, str):
        raise BadData(f"a question must be a text, got {type(question).__name__}")
    options = column(row, OPTIONS)
    answers = {name: row[name] for name in names_in(row, ANSWER)}
    written = answer_of(options, next(iter(answers.values()), None))
    first = next((FIRST[end] for end in FIRST if folded(next(iter(answers))).endswith(end)), None)
    for name, answer in answers.items():
        if not _can_agree(written, options, answer):
            raise BadData(
                f"the columns {next(iter(answers))!r} and {name!r} disagree on the answer "
                f"({written.value} and {answer}): type "
                f"{option('columns', f'{name}=other')} for the one that does not count"
            )
    segments: dict[str, Segment] = {"question": question, "options": written.options}
    segments.update(about(row))
    return TaskRow(segments, replace(written, first=first))


def about(row: Mapping[str, Any], names: Sequence[str] = (*CONTEXT, *PASSAGES)) -> Segments:
    """What a question is about: a text (`context`), or several (`passages`).

    >>> about({"article": "A b."}), about({"contexts": [{"title": "T", "text": "A b."}]})
    ({'context': 'A b.'}, {'passages': ('A b.',)})
    """
    found: dict[str, Segment] = {}
    for name in names_in(row, names):
        given = row[name].tolist() if hasattr(row[name], "tolist") else row[name]
        listed = literal(given) if isinstance(given, str) else None
        if isinstance(listed, list) and all(isinstance(each, str | Mapping) for each in listed):
            given = listed
        if isinstance(given, str) and given.strip():
            found.setdefault("context", given)
        elif isinstance(given, Sequence) and not isinstance(given, str) and given:
            found.setdefault("passages", tuple(_passage(each, name) for each in given))
        elif isinstance(given, Mapping):
            _passage(given, name)
    return found


def _passage(given: Any, name: str) -> str:
    """The text of a passage, however it is laid out."""
    if isinstance(given, Mapping):
        given = column(given, ("text", "content", "passage", "paragraph_text"))
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence) and given:
        return " ".join(_passage(each, name) for each in given)
    raise BadData(
        f"{name} must be a text or a list of texts; write it so, or leave it out by "
        f"{option('columns', f'{name}=other')}"
    )


def answer_of(given: Any, answer: Any) -> Written:
    """The options of a row, and its answer as it is written."""
    texts, names = named_options(given)
    if not texts:
        raise BadData(
            f"options must be a list of texts, got {type(given).__name__} {str(given)[:40]!r}: "
            "write a list, or one option per line"
        )
    if not 2 <= len(texts) <= len(LETTERS):
        raise BadData(f"{len(texts)} options; a question has 2 to {len(LETTERS)}")
    names = names or list(LETTERS[: len(texts)])
    if isinstance(answer, list | tuple):
        if len(answer) != 1:
            raise BadData(f"{len(answer)} right answers; a question has one")
        [answer] = answer
    if isinstance(answer, Mapping):
        raise BadData("the answer must be a place, a letter or a text, got an object")
    if tuple(texts) == LETTERS[: len(texts)]:
        raise BadData("the options are letters alone; give the texts that they stand for")
    is_text = isinstance(answer, str | bool) or not all(isinstance(each, str) for each in texts)
    return Written(
        "" if answer is None else str(answer).strip(),
        tuple("" if is_nothing(text) else str(text) for text in texts),
        tuple(names),
        is_text,
    )


def _can_agree(written: Written, options: Any, answer: Any) -> bool:
    """Whether another column may name the same option, in whatever way it is written."""
    try:
        other = answer_of(options, answer)
    except BadData:
        return True  # it holds something else
    one, two = ({read(each) for read in WAYS.values()} - {None} for each in (written, other))
    return not one or not two or bool(one & two)


def ways_of(options: Any, answer: Any) -> set[str]:
    """The ways in which an answer can be read as one of some options."""
    try:
        written = answer_of(options, answer)
    except BadData:
        return set()
    return {way for way, read in WAYS.items() if read(written) is not None}


def placed(rows: Sequence[TaskRow]) -> tuple[list[TaskRow], str]:
    """Rows with the places of their right options, and how their answers are written.

    All rows are read alike: by letter or name, by text, by place from 0 or from 1. Where two ways
    fit all rows and differ, nothing is guessed.
    """
    written = [row.answer for row in rows if isinstance(row.answer, Written)]
    given = [each for each in written if not _is_missing(each)]
    found = {way: [read(each) for each in given] for way, read in WAYS.items()}
    fitting = {way: places for way, places in found.items() if None not in places}
    way = _chosen(given, fitting, found)
    places = iter(fitting[way] if way in fitting else _one_by_one(given, found))
    settled = [
        replace(row, answer=None if _is_missing(row.answer) else next(places))
        if isinstance(row.answer, Written)
        else row
        for row in rows
    ]
    return settled, way if given else ""


def _is_missing(written: Written) -> bool:
    """Whether a row has no answer; "none" may be the text of an option."""
    return written.value.lower() in NO_ANSWER and _by_text(written) is None


def _by_name(written: Written) -> int | None:
    """By its letter, with or without the text of the option behind it."""
    names = [_bare(name) for name in written.names]
    mark = LETTERED.match(written.value)
    said = _bare(mark[1] if mark else written.value)
    place = names.index(said) if names.count(said) == 1 else None
    if mark is None or place is None:
        return place
    is_same = _plain(written.value[mark.end() :]) == _plain(written.options[place])
    return place if is_same else None


def _by_text(written: Written) -> int | None:
    if not written.is_text:
        return None
    for same in (str.strip, _plain):
        options = [same(text) for text in written.options]
        if options.count(same(written.value)) == 1:
            return options.index(same(written.value))
    return None


def _by_place(written: Written, *, first: int) -> int | None:
    number = _number(written.value)
    is_place = number is not None and 0 <= number - first < len(written.options)
    return int(number) - first if number is not None and is_place else None


LETTER, TEXT, FROM_0, FROM_1 = "letter", "text", "place from 0", "place from 1"
WAYS: dict[str, Callable[[Written], int | None]] = {
    LETTER: _by_name,
    TEXT: _by_text,
    FROM_0: partial(_by_place, first=0),
    FROM_1: partial(_by_place, first=1),
}


def _chosen(
    given: Sequence[Written],
    fitting: Mapping[str, Sequence[int | None]],
    found: Mapping[str, Sequence[int | None]],
) -> str:
    """The way in which all answers can be read; raises where several can be, and differ."""
    if not fitting:
        return _mixed(given, found)
    way, *others = fitting
    if way == LETTER and any(each.names[0] in ("0", "1") for each in given):
        return way  # the data itself names its options by numbers
    rivals = [each for each in others if list(fitting[each]) != list(fitting[way])]
    if (way, rivals) == (FROM_0, [FROM_1]):
        said = {each.first for each in given}
        if said == {1} or (said == {0} and len(given) < FEW):
            return FROM_1 if said == {1} else way
    if rivals:
        raise BadData(
            f"the answers can be read as {way} and as {rivals[0]} of the options, and mean "
            "something else: write them as letters (A, B, …), or call their column answer_index "
            f"if they count from 0 and answer_num if from 1 ({option('columns', COUNTED)})"
        )
    return way


def _mixed(given: Sequence[Written], found: Mapping[str, Sequence[int | None]]) -> str:
    """Letters and texts may stand in one column; places and something else may not."""
    by_word = zip(found[LETTER], found[TEXT], strict=True)
    for written, places in zip(given, by_word, strict=True):
        if places == (None, None) and _number(written.value) is None:
            raise _none_of(written)
    numbers = [each for each in given if _number(each.value) is not None]
    outside = [each for each in numbers if not 0 <= (_number(each.value) or 0) <= len(each.options)]
    if outside:
        raise _none_of(outside[0])
    if None in _one_by_one(given, found):
        raise BadData(
            f"the answers are written in several ways ({_examples(given)}): write all as letters "
            "(A, B, …)"
        )
    return "letter or text"


def _one_by_one(
    given: Sequence[Written], found: Mapping[str, Sequence[int | None]]
) -> list[int | None]:
    both = zip(found[LETTER], found[TEXT], strict=True)
    return [text if letter is None else letter for letter, text in both]


def _none_of(written: Written) -> BadData:
    return BadData(
        f"{written.where}: the answer {written.value!r} is none of the {len(written.options)} "
        "options: give its place, its letter or its text"
    )


def _examples(given: Sequence[Written]) -> str:
    """The least and the largest of the answers, as examples of what is there."""
    values = sorted({each.value for each in given})
    return f"{values[0]!r}, {values[-1]!r}"


def _number(text: str) -> int | None:
    """A whole number; a table that lost its types writes 2 as 2.0."""
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if math.isfinite(number) and number == int(number) else None


def _bare(name: str) -> str:
    """A letter without brackets, points and case.

    >>> _bare("(B)"), _bare("b."), _bare("Option B")
    ('b', 'b', 'b')
    """
    said = narrow(name).strip("()[].:、 \t").casefold()
    for word in ("option", "choice", "answer"):
        said = said.removeprefix(word).strip("_ :")
    return said


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
