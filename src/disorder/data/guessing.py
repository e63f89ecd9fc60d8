"""Guessing columns: which ones of a table are its texts and its label, where nobody says so.

Usual names come first (`premise`, `review`, `verdict`), then what the columns hold: texts have
words, labels repeat. A guess is said in one line. Where two readings are possible nothing is
guessed, and the error shows what to type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from disorder.errors import BadData, option
from disorder.languages.scripts import is_one_of_unspaced, n_words
from disorder.tasks import LETTERS
from disorder.tasks.choice import LETTER, TEXT, WAYS, ways_of
from disorder.tasks.layouts import columns_each, is_nothing, named_options

SAMPLED = 1000  # rows that a guess looks at
PAIRS = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("question", "context"),
    ("question", "passage"),
    ("question", "answer"),
    ("context", "claim"),
    ("evidence", "claim"),
    ("query", "document"),
    ("query", "passage"),
)
NUMBERED = re.compile(r"(.+?)[ _-]?(?:([1a])|([2b]))", re.IGNORECASE)  # text1, text2; s_a, s_b
SINGLES = ("text", "sentence", "question")
GOLD = ("label", "gold_label", "gold")
LABELS = re.compile(
    "labels|class|target|y|answer|verdict|sentiment|polarity|stance|intent|emotion|rating|stars|"
    "similarity|toxic|spam|.* label|.* gold"
)
UNSURE_LABELS = re.compile("score|topic|category|is .*")  # as often something else
# of what a column tells beside texts and labels
ASIDE = re.compile(
    "(.* )?(id|idx|index|split|fold|lang|language|source|author|user|username|date|time|timestamp|"
    "year|month|day|country|domain|genre|annotator|version|url|length)|unnamed .*|"
)
TEXTS = ("text_a", "text_b")
TRIED = 50  # rows in which options are looked for
STRONG = 4.0  # words of a text, in the mean; a name or a title may have fewer
WEAK = 1.5
MOST_LABELS = 200  # that a column may have and be taken for a label without its name
MOST_NUMBERS = 20
MOST_PHRASES = 20  # labels of several words
MISSING = {"", "nan", "none", "null", "n/a", "na", "-"}

Kind = Literal["text", "label", "number", "constant", "other", "empty"]


@dataclass(frozen=True)
class ColumnLook:
    """What the values of a column look like, and how many words they have in the mean."""

    kind: Kind
    n_words: float = 1.0


@dataclass(frozen=True)
class Guess:
    """What columns are read as, beside those that are known, and which texts nobody reads.

    `is_by_content` says whether names alone did not show it.
    """

    columns: dict[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    is_by_content: bool = False

    def __str__(self) -> str:
        """In words, for a message.

        >>> print(Guess({"review": "text_a", "mood": "label"}))
        column review is read as text_a, mood as label (columns says otherwise)
        >>> print(Guess({}, ("title",)))
        column title looks like a text and is not read
        """
        said = []
        if self.columns:
            (first, target), *rest = self.columns.items()
            others = (f", {column} as {target}" for column, target in rest)
            readings = f"{first} is read as {target}{''.join(others)}"
            said.append(f"column {readings} ({option('columns')} says otherwise)")
        if self.unread:
            names = ", ".join(self.unread)
            what = (
                "looks like a text and is" if len(self.unread) == 1 else "look like texts and are"
            )
            are = "" if said else "column " if len(self.unread) == 1 else "columns "
            said.append(f"{are}{names} {what} not read")
        return "; ".join(said)


def guess(
    rows: Sequence[Mapping[str, Any]],
    known: Mapping[str, str],
    *,
    needs_gold: bool,
    is_head: bool = False,
) -> Guess:
    """What further columns are, beside those that the user named (column → target).

    `is_head` says that the rows are the first of more, which may have been sorted by their label.

    >>> rows = [{"review": "I liked it a lot", "mood": "good"}, {"review": "Not at all my cup",
    ... "mood": "bad"}, {"review": "I would see it again", "mood": "good"}]
    >>> guess(rows, {}, needs_gold=True).columns
    {'review': 'text_a', 'mood': 'label'}
    """
    names = list(dict.fromkeys(name for row in rows for name in row if isinstance(name, str)))
    said = {*names, *known.values()}
    free = [name for name in names if name not in known and name not in (*TEXTS, "label", "id")]
    looks = {name: looks_of([row.get(name) for row in rows]) for name in free}
    labels = [] if "label" in said else _labels(looks, is_head=is_head)
    if len(labels) == 1:
        del looks[labels[0]]
    texts: list[tuple[str, ...]] = [] if "text_a" in said else _texts(looks)
    asked = [*texts[:1], *((name,) for name in labels[:1])]
    if len(texts) > 1 or (len(labels) > 1 and needs_gold):
        raise BadData(_two_readings(texts, labels if needs_gold else []))
    found = dict(zip(texts[0], TEXTS, strict=False)) if texts else {}
    if len(labels) == 1:
        found[labels[0]] = "label"
    weakest = WEAK if "text_b" not in {*said, *found.values()} else STRONG
    unread = tuple(
        name
        for name, each in looks.items()
        if name not in found and each.kind == "text" and each.n_words >= weakest
    )
    return Guess(found, unread, any(not _is_usual(names) for names in asked))


def options_beside(rows: Sequence[Mapping[str, Any]], answer: str) -> dict[str, str]:
    """Columns that may hold the options that a column is the answer to, and what to call them.

    >>> rows = [{"q": "Q?", "r1": "x", "r2": "y", "r3": "z", "best": n} for n in "132"]
    >>> options_beside(rows, "best")
    {'r1': 'A', 'r2': 'B', 'r3': 'C'}
    """
    rows = [row for row in rows[:TRIED] if not is_nothing(row.get(answer))]
    if not rows:
        return {}
    found = [
        {name: "options"}
        for name, given in rows[0].items()
        if isinstance(given, list | tuple | Mapping) and name != answer
    ]
    found += [
        {name: letter for letter, name in zip(LETTERS, of.values(), strict=False)}
        for of in columns_each(rows[0])
        if answer not in of.values()
    ]
    letters = {str(row[answer]).strip().upper() for row in rows}
    if letters <= {*LETTERS} and len(letters) > 2:  # the columns before, whatever their names
        n = LETTERS.index(max(letters)) + 1
        names = list(rows[0])
        found.append(dict(zip(names[: names.index(answer)][-n:], LETTERS[:n], strict=False)))
    return next((columns for columns in found if _are_options(rows, columns, answer)), {})


def _are_options(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], answer: str
) -> bool:
    """Whether texts are those that answers choose among: by letter or text, or by place, if rows
    have as many of them and answers name nearly all of them. Two texts and a number may be a pair.
    """
    sizes = set()
    has_words = False
    answers = {str(row[answer]) for row in rows}
    ways = {*WAYS}
    for row in rows:
        is_list = "options" in columns.values()
        given = row.get(next(iter(columns))) if is_list else [row.get(name) for name in columns]
        texts, _ = named_options(given)
        if not all(isinstance(text, str) for text in texts):
            return False
        has_words |= not all(map(_is_number, texts))
        ways &= ways_of(given, row[answer])
        sizes.add(len(texts))
    size = max(sizes)
    is_by_place = sizes == {size} and size > 2 and len(answers) >= min(size, len(rows) // 2)
    return has_words and (bool(ways & {LETTER, TEXT}) or (bool(ways) and is_by_place))


def looks_of(values: Sequence[Any]) -> ColumnLook:
    """What values look like: texts, labels (they repeat), numbers, or something else."""
    present = [value for value in values if value is not None]
    if any(hasattr(value, "__len__") and not isinstance(value, str) for value in present):
        return ColumnLook("other")  # lists, arrays, bytes
    present = [value for value in present if value == value]
    try:
        written = [str(value).strip() for value in present]
    except BadData:  # not UTF-8, which matters to those who use the column
        return ColumnLook("other")
    written = [value for value in written if value.casefold() not in MISSING]
    distinct = len(set(written))
    if not written:
        return ColumnLook("empty")
    repeats = 1 < distinct < len(written) and distinct <= max(2, len(written) // 2)
    if all(map(_is_number, written)):
        is_label = repeats and distinct <= MOST_NUMBERS and all(float(v) % 1 == 0 for v in written)
        return ColumnLook("label" if is_label else "number")
    words = sum(map(_n_words, written)) / len(written)
    if distinct == 1 < len(written) and words < WEAK:
        return ColumnLook("constant", words)
    n_sentences = sum(value.endswith((".", "!", "?", "。", "！", "？")) for value in written)
    is_phrase = words < WEAK or (distinct <= MOST_PHRASES and 4 * distinct <= len(written))
    if repeats and is_phrase and words <= STRONG and 3 * n_sentences <= len(written):
        return ColumnLook("label" if distinct <= MOST_LABELS else "other", words)
    return ColumnLook("text" if words >= WEAK else "other", words)


def _n_words(text: str) -> int:
    if any(map(is_one_of_unspaced, text)):
        return n_words(text)
    return sum(any(map(str.isalpha, word)) for word in text.split())


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def _labels(looks: Mapping[str, ColumnLook], *, is_head: bool) -> list[str]:
    """The columns that can be the label: a sure name alone, else usual names and what repeats; in
    the head of a table also what is constant there, since tables are often sorted by their label.
    """
    looks = {name: each for name, each in looks.items() if each.kind != "empty"}
    sure = [name for name in looks if _as_words(name).replace(" ", "_") in GOLD]
    if len(sure) == 1:
        return sure
    words = {name: _as_words(name) for name, each in looks.items() if each.kind != "text"}
    found = [
        name
        for name in words
        if name in sure
        or LABELS.fullmatch(words[name])
        or (looks[name].kind == "label" and not ASIDE.fullmatch(words[name]))
    ]
    found = found or [name for name in words if UNSURE_LABELS.fullmatch(words[name])]
    rivals = [
        name
        for name in words
        if is_head and looks[name].kind == "constant" and not ASIDE.fullmatch(words[name])
    ]
    return list(dict.fromkeys([*found, *rivals])) if found else []


def _texts(looks: Mapping[str, ColumnLook]) -> list[tuple[str, ...]]:
    """The columns that can be the texts, one reading each."""
    folded = {name.casefold(): name for name in looks}
    pairs: list[tuple[str, ...]] = [
        (folded[first], folded[second])
        for first, second in PAIRS
        if first in folded
        and second in folded
        and looks[folded[second]].kind not in ("label", "number")
    ]
    if len(pairs) == 1:
        return pairs
    found = [name for name, each in looks.items() if each.kind == "text"]
    strong = [name for name in found if looks[name].n_words >= STRONG]
    pairs = pairs or _numbered(looks)
    if len(pairs) == 1 and not {*strong} - {*pairs[0]}:
        return pairs
    singles = [folded[name] for name in SINGLES if name in folded]
    if len(singles) == 1 and (singles[0].casefold() == "text" or not {*strong} - {*singles}):
        return [(singles[0],)]
    found = list(dict.fromkeys([*singles, *(strong or found)]))
    both = [tuple(found)] if len(found) == 2 and not pairs else []
    return [*pairs, *((name,) for name in found), *both]


def _numbered(looks: Mapping[str, ColumnLook]) -> list[tuple[str, ...]]:
    """Two texts whose names differ in their number, or letter, alone."""
    ends: dict[str, dict[bool, str]] = {}
    for name, each in looks.items():
        match = NUMBERED.fullmatch(name)
        if match and each.kind == "text":
            ends.setdefault(match[1].casefold(), {})[bool(match[3])] = name
    return [(both[False], both[True]) for both in ends.values() if len(both) == 2]


def _is_usual(names: Sequence[str]) -> bool:
    """Whether names say by themselves what they are."""
    folded = tuple(name.casefold() for name in names)
    return folded in PAIRS or (len(folded) == 1 and folded[0] in (*SINGLES, *GOLD))


def _as_words(name: str) -> str:
    """The words of a column's name: `isToxic`, `is_toxic`, `Is toxic`."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return " ".join(re.split(r"[\W_]+", apart.casefold())).strip()


def _two_readings(texts: Sequence[tuple[str, ...]], labels: Sequence[str]) -> str:
    """What is not clear, and what to type."""
    said = []
    if len(texts) > 1:
        readings = [" with ".join(names) for names in texts]
        said.append(f"the text can be {' or '.join(readings)}")
    if len(labels) > 1:
        said.append(f"the label can be {' or '.join(labels)}")
    typed = []
    for names in texts[:: max(1, len(texts) - 1)] if len(texts) > 1 else [()]:
        pairs = [f"{name}={target}" for name, target in zip(names, TEXTS, strict=False)]
        pairs += [f"{labels[0]}=label"] if len(labels) > 1 else []
        typed.append(option("columns", ",".join(pairs)))
    return f"{', and '.join(said)}; say which, for instance {' or '.join(typed)}"
