"""Datasets with known answers: what decides each label is how the rows are made.

Every dataset comes with what `disorder sanity` may say of it. An answer that is not listed is
false; "undecided" is always allowed for few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

Row = dict[str, str]
SYLLABLES = [f"{a}{b}" for a in "bdfghklmnprst" for b in "aeiou"]
WORDS = [f"{a}{b}{c}" for a in SYLLABLES for b in SYLLABLES[:12] for c in ("n", "k", "sh")]
PEOPLE = [
    "doctor",
    "lawyer",
    "artist",
    "senator",
    "tourist",
    "banker",
    "author",
    "judge",
    "student",
    "manager",
]
VERBS = ["saw", "helped", "advised", "thanked", "called", "avoided"]


def some(rng: Generator, n: int) -> list[str]:
    """So many different words."""
    return [str(word) for word in rng.choice(WORDS, size=n, replace=False)]


def row(i: int, a: list[str], b: list[str] | None, label: str) -> Row:
    """A row of these words; a single text where there is no `b`."""
    made = {"id": f"r{i:05d}", "text_a": " ".join(a), "label": label}
    return made if b is None else made | {"text_b": " ".join(b)}


def order_only(rng: Generator, n: int) -> list[Row]:
    """The same words in both texts; the label is whether they stand in the same order."""
    made = []
    for i in range(n):
        pair = some(rng, 4)
        second = pair if i % 2 else pair[::-1]
        made.append(row(i, ["so", *pair], ["so", *second], ("turned", "kept")[i % 2]))
    return made


def second_text_only(rng: Generator, n: int) -> list[Row]:
    """One of two words in the second text is the label."""
    marks = ("never", "always")
    return [
        row(i, some(rng, 8), [*some(rng, 7), marks[i % 2]], ("no", "yes")[i % 2]) for i in range(n)
    ]


def one_word(rng: Generator, n: int) -> list[Row]:
    """Single texts; one of two words is the label."""
    return [
        row(i, [*some(rng, 9), ("bad", "good")[i % 2]], None, ("no", "yes")[i % 2])
        for i in range(n)
    ]


def overlap_only(rng: Generator, n: int) -> list[Row]:
    """The second text has two or six of its eight words from the first."""
    made = []
    for i in range(n):
        words = some(rng, 16)
        n_shared = (2, 6)[i % 2]
        second = rng.permutation([*words[:n_shared], *words[8 : 16 - n_shared]]).tolist()
        made.append(row(i, words[:8], second, ("no", "yes")[i % 2]))
    return made


def length_only(rng: Generator, n: int) -> list[Row]:
    """The second text is short or long; its words are from the first with the same chance."""
    made = []
    for i in range(n):
        words = some(rng, 26)
        size = (4, 10)[i % 2] + int(rng.integers(3))
        known = rng.permutation(words[:14])
        is_known = rng.random(size) < 0.4
        second = [known[k] if is_known[k] else words[14 + k] for k in range(size)]
        made.append(row(i, words[:14], second, ("no", "yes")[i % 2]))
    return made


def length_contained(rng: Generator, n: int) -> list[Row]:
    """The second text is a short or long part of the first, as in HANS."""
    made = []
    for i in range(n):
        words = some(rng, 14)
        size = (3, 9)[i % 2] + int(rng.integers(3))
        second = rng.permutation(words)[:size].tolist()
        made.append(row(i, words, second, ("no", "yes")[i % 2]))
    return made


def random_labels(rng: Generator, n: int) -> list[Row]:
    """Nothing decides."""
    return [
        row(i, some(rng, 8), some(rng, 8), ("no", "yes")[int(rng.integers(2))]) for i in range(n)
    ]


def families(rng: Generator, n: int) -> list[Row]:
    """Six rows of the same ten words in other orders, with one label; labels are drawn, so that
    nothing can be learned that holds for another family.
    """
    made = []
    for i in range(0, n, 6):
        words = rng.choice(WORDS[:200], size=10, replace=False)
        label = ("no", "yes")[int(rng.integers(2))]
        for k in range(i, min(n, i + 6)):
            texts = [rng.permutation(words).tolist() for _ in range(2)]
            made.append(row(k, *texts, label))
    return made


def skewed(rng: Generator, n: int) -> list[Row]:
    """Three labels, 88, 10 and 2 of a hundred, that nothing decides."""
    names = ["contradiction"] * 44 + ["neutral"] * 5 + ["entailment"]
    return [row(i, some(rng, 8), some(rng, 8), names[i % 50]) for i in range(n)]


def hans_like(rng: Generator, n: int) -> list[Row]:
    """Templates in which the first text has all words of the second; their length differs by label,
    and the second text alone does not decide.
    """
    made = []
    for i in range(n):
        one, two, three = (str(word) for word in rng.choice(PEOPLE, size=3, replace=False))
        verb, other = (str(word) for word in rng.choice(VERBS, size=2, replace=False))
        if i % 2:
            first = f"the {one} {verb} the {two} , and the {three} {other} the {one}"
            second = f"the {one} {verb} the {two}"
        else:
            first = f"the {one} near the {two} {verb} the {three}"
            second = f"the {two} {verb} the {three}"
        label = ("non-entailment", "entailment")[i % 2]
        made.append(
            {"id": f"h{i:05d}", "text_a": f"{first} .", "text_b": f"{second} .", "label": label}
        )
    return made


@dataclass(frozen=True)
class Known:
    """A dataset, and the answers that are true of it, by question."""

    make: Callable[[Generator, int], list[Row]]
    answers: Mapping[str, str]

    def rows(self, n: int, seed: int = 0) -> list[Row]:
        """So many rows."""
        return self.make(np.random.default_rng(seed), n)

    def judged(self, question: str, answer: str, n: int) -> str:
        """Whether an answer about n rows is right, undecided or false; a question that the dataset
        does not settle has no false answer.
        """
        expected = self.answers.get(question, answer)
        if question == "rare labels" and n >= ENOUGH_OF_THE_RAREST * RAREST:
            expected = "none found"
        if answer == expected:
            return "right"
        return "undecided" if answer == "undecided" else "false"


RAREST = 50  # one row in so many has the rarest label of the skewed data
ENOUGH_OF_THE_RAREST = 43  # of three labels, for a margin of five points
NOTHING = "gives nothing away"
UNLEARNED = {"order": "undecided", "both texts": "undecided", "bag of words": "undecided"}
CLEAN = {"labels": "not skewed", "rare labels": "none found"}
ZOO = {
    "order only": Known(
        order_only,
        CLEAN
        | {
            "order": "needed",
            "both texts": "needed",
            "bag of words": "falls short",
            "length only": NOTHING,
            "overlap only": "no information",
            "label words": "none found",
        },
    ),
    "second text only": Known(
        second_text_only,
        CLEAN
        | {
            "order": "not needed",
            "both texts": "not needed",
            "bag of words": "does as well",
            "length only": NOTHING,
            "overlap only": NOTHING,
            "label words": "found",
        },
    ),
    "one word": Known(
        one_word,
        CLEAN
        | {
            "order": "not needed",
            "bag of words": "does as well",
            "length only": NOTHING,
            "label words": "found",
        },
    ),
    "overlap only": Known(
        overlap_only,
        CLEAN
        | {
            "order": "not needed",
            "both texts": "needed",
            "bag of words": "does as well",
            "length only": NOTHING,
            "overlap only": "gives away",
            "label words": "none found",
        },
    ),
    "length only": Known(
        length_only,
        CLEAN
        | {
            "order": "not needed",
            "both texts": "not needed",
            "length only": "gives away",
            "overlap only": NOTHING,
        },
    ),
    "length, contained": Known(
        length_contained,
        CLEAN
        | {
            "order": "not needed",
            "both texts": "not needed",
            "length only": "gives away",
            "overlap only": "no information",
        },
    ),
    "random labels": Known(
        random_labels,
        CLEAN
        | UNLEARNED
        | {"length only": NOTHING, "overlap only": NOTHING, "label words": "none found"},
    ),
    "families": Known(
        families,
        CLEAN
        | UNLEARNED
        | {
            "length only": NOTHING,
            "overlap only": "no information",
            "label words": "none found",
        },
    ),
    "88, 10, 2": Known(
        skewed,
        UNLEARNED
        | {
            "labels": "skewed",
            "rare labels": "found",
            "length only": NOTHING,
            "overlap only": NOTHING,
            "label words": "none found",
        },
    ),
}
