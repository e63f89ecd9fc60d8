"""Column names that need no explanation: which columns of a table are its texts and its label.

Only where the table has no column of our own name, nothing was said, and one reading is possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PAIRS = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("question", "sentence"),
)
SINGLES = ("text", "sentence", "question")
LABELS = ("gold_label", "gold")
TEXTS = ("text_a", "text_b")


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
