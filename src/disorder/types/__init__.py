"""The nouns: what flows from stage to stage.

Example → Sentence → PositionRows → Variants → Outcomes → Score. A text is perturbed by choosing its
words by position, never by editing strings: see `PositionRows`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disorder.types.corpus import Corpus
from disorder.types.predictions import Predictions, predicted_label

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Texts = tuple[str, str | None]
TokenUnit = tuple[int, int, tuple[int, ...]]  # where it lies in the text, and its token numbers
# how texts are cut and written: all that is glued to a word moves with it, as a paper describes it,
# as its authors' code does it
Fidelity = Literal["natural", "paper", "released"]
DISORDER = (
    "global_disorder",
    "local_disorder",
    "global_disorder_char",
    "local_disorder_char",
    "surviving_bigrams",
    "kendall_tau",
)  # the measures of how far a perturbed text is from its original order
Progress = Callable[[str, int, int, str], None]  # stage, done, total, note
Shots = tuple[tuple[str, str], ...]  # the examples of a prompt, each with its answer
Segment = str | tuple[str, ...]  # a text, whose words can be moved, or a list, whose items can
Segments = Mapping[str, Segment]  # an input: its parts by name
TEXT_NAMES = ("text_a", "text_b")  # what a classifier reads: one text, or a pair
SHOTS = "shots"  # a list of examples of a prompt, each followed by its answer
OF_SIDES = {
    "a": TEXT_NAMES[:1],
    "b": TEXT_NAMES[1:],
    "both": TEXT_NAMES,
}  # as runs of before say it
SAME_WORDS = "same_words"  # the group of pairs that order alone decides ("yes"), and of the others
OF_PROMPTS = ("instruction", "system", SHOTS)  # segments that all examples share
ORIGINAL = "original"  # stands for the transformation of texts that are not perturbed
CONTROL_OF = "surface:of="  # before the spec of a transformation: its surface control


@dataclass(frozen=True, slots=True)
class Example:
    """One row of data: what a model gets as named segments, and the gold label.

    `groups` holds the extra columns that scores may be split by. For question answering `answers`
    holds the gold answers, each with where it starts in the passage (−1: not given); an empty tuple
    marks a question that the passage does not answer. `on` names the one or two segments that are
    perturbed unless a transformation or the user says otherwise; `text_a` and `text_b` are those.
    Of multiple choice `label` is the letter of an option. Examples of one `family` are not
    independent; without a name that is not known. `guess` is what a guess scores on it, where that
    differs from example to example and does not follow from its segments.
    """

    id: str
    segments: Segments
    label: str
    groups: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[tuple[str, int], ...] | None = None  # None where the data does not say
    on: tuple[str, ...] = TEXT_NAMES
    family: str = ""
    guess: float | None = None

    @classmethod
    def of(
        cls,
        id: str,
        text_a: str,
        text_b: str | None,
        label: str,
        groups: Mapping[str, str] | None = None,
        answers: tuple[tuple[str, int], ...] | None = None,
        *,
        family: str = "",
    ) -> Example:
        """An example of one text or a pair."""
        segments = text_segments((text_a, text_b))
        return cls(id, segments, label, groups or {}, answers, family=family)

    @property
    def text_a(self) -> str:
        """The first segment that is perturbed, as a text."""
        return shown_segment(self.segments, self.on[0])

    @property
    def text_b(self) -> str | None:
        """The second one; None where there is one only."""
        names = self.on[1:]
        return (
            shown_segment(self.segments, names[0]) if names and names[0] in self.segments else None
        )

    @property
    def texts(self) -> Texts:
        """Both."""
        return self.text_a, self.text_b

    def shown(self, longest: int) -> dict[str, str]:
        """The beginnings of both by their names, for a table."""
        named = zip(TEXT_NAMES, self.texts, strict=True)
        return {name: (text or "")[:longest] for name, text in named}

    def text(self, side: str) -> str:
        """The first ("a") or the second ("b") of them."""
        return str(self.text_a if side == "a" else self.text_b)

    @property
    def is_pair(self) -> bool:
        """Whether there are two."""
        return len(self.on) > 1 and self.on[1] in self.segments

    @property
    def options(self) -> tuple[str, ...]:
        """What it offers to choose from; empty where labels are the same for all examples."""
        return listed_segment(self.segments, "options")


def is_about_texts(on: object) -> bool:
    """Whether an audit with this `--on` is about how texts are read: not where a part of the prompt
    or the order of options is perturbed.
    """
    return on not in (*OF_PROMPTS, "options")


def text_segments(texts: Texts) -> dict[str, Segment]:
    """One text or a pair as segments."""
    a, b = texts
    return {"text_a": a} if b is None else {"text_a": a, "text_b": b}


def listed_segment(segments: Segments, name: str) -> tuple[str, ...]:
    """The items of a segment; none where there is no such list."""
    found = segments.get(name, ())
    return () if isinstance(found, str) else found


def shown_segment(segments: Segments, name: str) -> str:
    """A segment as a text for people to read.

    >>> shown_segment({"shots": ("A dog.", "yes", "A cat.", "no")}, "shots")
    'A dog. yes\\nA cat. no'
    """
    found = segments[name]
    if isinstance(found, str):
        return found
    items = [" ".join(found[i : i + 2]) for i in range(0, len(found), 2)]
    return "\n".join(items if name == SHOTS else found)


@dataclass(frozen=True)
class Task:
    """The task of a dataset: its labels, and which text the papers perturb.

    `reject_label` is the right prediction for a meaningless text, `default_label` the one for a
    pair of copies. `language` is an ISO 639 code, `mul` for data in several, `und` where it is not
    known. `is_likelihood` says that a model gives the log-probability of a text, and that no labels
    are used. `kind` says what gold is one of: fixed labels, the options of each example (labels are
    then the letters of their places), the two texts of a pair, of which one is preferred, how
    far an open answer is right, or how good a ranking of the documents of `corpus` is.
    """

    name: str
    labels: tuple[str, ...] = ()
    breaks: Literal["a", "b", "both"] = "a"
    reject_label: str | None = None
    default_label: str | None = None
    language: str = "en"
    is_likelihood: bool = False
    kind: Literal["labels", "choice", "pair", "text", "ranking"] = "labels"
    guess: float = 0.0  # of open answers and rankings: what a guess scores
    corpus: Corpus | None = field(default=None, repr=False)

    @property
    def is_graded(self) -> bool:
        """Whether an answer can be right in part: its first column is how far."""
        return self.kind in ("text", "ranking")

    @property
    def has_own_chance(self) -> bool:
        """Whether chance is that of each example, whatever the mix of gold labels."""
        return self.kind != "labels"

    @property
    def predicts(self) -> Literal["labels", "numbers", "likelihoods"]:
        """What a model gives for a text."""
        if self.is_likelihood:
            return "likelihoods"
        return "labels" if self.labels else "numbers"

    @property
    def is_regression(self) -> bool:
        """Whether predictions are numbers."""
        return not self.labels

    @property
    def chance(self) -> float:
        """Accuracy of a uniform guess."""
        return self.guess if self.is_graded else 1 / len(self.labels)


@dataclass(frozen=True)
class Dataset:
    """Examples with their task, how many rows were left out by reason, and what reading noticed."""

    name: str
    task: Task
    examples: Sequence[Example]
    skipped: Mapping[str, int] = field(default_factory=dict)
    fingerprint: str = ""
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        labels = ", ".join(self.task.labels[:5]) or "numbers"
        more = f", {n} more" if (n := len(self.task.labels) - 5) > 0 else ""
        return f"Dataset({self.name!r}, {len(self.examples):,} examples, labels: {labels}{more})"


@dataclass(frozen=True, eq=False)
class Sentence:
    """A text cut into words, keeping enough to rebuild it exactly.

    Words are `text[starts[i]:ends[i]]`; where the unit is another, they are characters, tokens,
    sentences or lines. `is_spaced` is False for scripts written without spaces; `joint` is what
    stands between two words that were no neighbours. `groups` says of characters which word they
    stand in (−1: none). `keeps_gaps` says that white space belongs to the places between words and
    stays there, whatever word comes. What only some transformations need is filled in for those:
    the universal word class of each word and whether it heads a noun phrase (`tags`, `is_head`),
    and how much the model's loss depends on it (`importance`). `tokens` holds the token numbers of
    each unit where those are moved and not pieces of the text: what a model reads then has no text
    of its own. `is_shots` marks the examples of a prompt: units are each example and its answer in
    turn; `is_items` a list, whose items are the units.
    """

    text: str
    starts: Ints
    ends: Ints
    is_punctuation: Bools
    is_spaced: Bools
    tags: NDArray[np.str_] | None = None
    is_head: Bools | None = None
    importance: Floats | None = None
    groups: Ints | None = None
    joint: str = " "
    tokens: tuple[tuple[int, ...], ...] | None = None
    keeps_gaps: bool = False
    is_shots: bool = False
    is_items: bool = False

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def words(self) -> list[str]:
        """The words as strings."""
        return [
            self.text[i:j] for i, j in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ]

    @cached_property
    def body(self) -> Ints:
        """Positions before the final run of punctuation."""
        spoken = np.flatnonzero(~self.is_punctuation)
        return np.arange(spoken[-1] + 1 if len(spoken) else 0)

    @cached_property
    def tail(self) -> Ints:
        """Positions of the final run of punctuation."""
        return np.arange(len(self.body), len(self))

    @cached_property
    def movable(self) -> Ints:
        """Positions of words that are not punctuation."""
        return np.flatnonzero(~self.is_punctuation)

    @cached_property
    def kinds(self) -> Ints:
        """A number for each distinct word, ignoring case: equal words share it."""
        if self.tokens is not None:
            numbers: dict[tuple[int, ...], int] = {}
            return np.array([numbers.setdefault(unit, len(numbers)) for unit in self.tokens])
        folded = [word.casefold() for word in self.words]
        ranks = {word: rank for rank, word in enumerate(sorted(set(folded)))}
        return np.array([ranks[word] for word in folded], dtype=np.int64)

    def select(self, positions: Ints) -> Sentence:
        """The sentence made of these positions, for the next step of a chain."""
        return Sentence(
            self.text,
            self.starts[positions],
            self.ends[positions],
            self.is_punctuation[positions],
            self.is_spaced[positions],
            None if self.tags is None else self.tags[positions],
            None if self.is_head is None else self.is_head[positions],
            None if self.importance is None else self.importance[positions],
            None if self.groups is None else self.groups[positions],
            self.joint,
            None if self.tokens is None else tuple(self.tokens[i] for i in positions.tolist()),
            self.keeps_gaps,
            self.is_shots,
            self.is_items,
        )


@dataclass(frozen=True, eq=False)
class PositionRows:
    """Variants of one sentence: a matrix of word positions, one variant per row.

    `available` says how many distinct variants exist, where that is known exactly. `is_shared`
    marks a single row that stands for every variant (a text left alone, a transformation with one
    outcome). `is_spaced_out` and `is_lowered` say how the texts are written: a space between any
    two words, lower case. The few transformations that write words of their own put their texts in
    `written`; those have no positions.
    """

    sentence: Sentence
    positions: Ints
    available: int | None = None
    is_shared: bool = False
    is_spaced_out: bool = False
    is_lowered: bool = False
    written: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def of_texts(
        cls,
        sentence: Sentence,
        texts: Sequence[str],
        *,
        available: int | None = None,
        is_shared: bool = False,
    ) -> PositionRows:
        """Variants that are texts of their own."""
        return cls(
            sentence,
            np.empty((len(texts), 0), dtype=np.int64),
            available,
            is_shared=is_shared,
            written=tuple(texts),
        )

    def take(self, chosen: slice | Ints) -> PositionRows:
        """Some of the variants."""
        positions = self.positions[chosen]
        if self.written is None:
            return replace(self, positions=positions)
        written = np.array(self.written, dtype=object)[chosen].tolist()
        return replace(self, positions=positions, written=tuple(written))


@dataclass(frozen=True, eq=False)
class Pair:
    """The one or two sentences of an example, its gold label, and the names of its segments."""

    a: Sentence
    b: Sentence | None
    label: str = ""
    names: tuple[str, ...] = TEXT_NAMES

    @property
    def sides(self) -> list[Sentence]:
        """The one or two sentences."""
        return [self.a] if self.b is None else [self.a, self.b]


class Context(Protocol):
    """What the few transformations that need more than the text can use; the run provides it."""

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Where the audited model's own tokens lie in a text."""

    def token_units(self, texts: Texts) -> list[list[TokenUnit]]:
        """The audited model's own tokens of each text of an example, as it would read them."""

    def importance(self, pairs: Sequence[Pair]) -> list[list[Floats]]:
        """How much the model's loss depends on each word of each text."""

    def vocabulary(self) -> Sequence[str]:
        """Words to draw from."""

    def training(self, spec: str) -> Iterator[Example]:
        """The examples of a data spec."""


@dataclass(frozen=True, eq=False)
class Variants:
    """All perturbed versions of one example: `a` and `b` hold one row per variant, or a row that
    all of them share. They are the segments named by `on`; `segments` has all of them as they were.
    """

    a: PositionRows
    b: PositionRows | None
    label: str = ""
    segments: Segments = field(default_factory=dict)
    on: tuple[str, ...] = TEXT_NAMES

    def __len__(self) -> int:
        return min((len(rows) for rows in self.sides if not rows.is_shared), default=1)

    @property
    def sides(self) -> list[PositionRows]:
        """The one or two texts."""
        return [self.a] if self.b is None else [self.a, self.b]

    @property
    def available(self) -> int | None:
        """How many distinct variants exist on the side that has fewest, where that is known."""
        return min(
            (rows.available for rows in self.sides if rows.available is not None), default=None
        )

    def positions(self) -> Iterator[tuple[list[int] | None, list[int] | None]]:
        """Word positions of both texts, one entry per variant; None for a text that was written,
        or is not there.
        """
        first, second = (
            [None] if rows is None or rows.written is not None else rows.positions.tolist()
            for rows in (self.a, self.b)
        )
        for i in range(len(self)):
            yield first[i % len(first)], second[i % len(second)]


@runtime_checkable
class Predictor(Protocol):
    """Anything that maps texts to label probabilities (one column per label), or to one number for
    regression.

    This is all that a model needs; `disorder.models.protocols` has what else one can offer.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """What its columns mean; empty for regression."""

    @property
    def fingerprint(self) -> str:
        """A hash of the model itself; empty when there is none to trust."""

    def __call__(self, texts: Sequence[Texts], /) -> Floats | Predictions:
        """Probabilities, one row per text (or pair); with outcomes where the model can fail."""


def shows_probabilities(predictions: Floats) -> bool:
    """Whether any prediction is neither 0 nor 1.

    >>> shows_probabilities(np.array([[0.0, 1.0], [np.nan, np.nan]]))
    False
    """
    # some rows at a time: an array as large as the predictions may not fit, and the first decide
    blocks = (predictions[i : i + 256] for i in range(0, len(predictions), 256))
    return any(bool(((block > 0) & (block < 1)).any()) for block in blocks)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a model predicted under one transformation: E examples × q variants × m labels.

    `predictions` is NaN where an example has fewer than q variants. For regression m = 1 and `gold`
    holds numbers. `is_simple` marks examples whose perturbed text is one sentence of more than
    three words (the first dev-r filter). `n_planned` is set where prediction stopped early: how
    many variants each example would have. `gives_probabilities` is what is known of the model
    beyond these predictions; None: nothing. `family` numbers the family of each example, `control`
    has the predictions for its surface control, NaN where there is none. `n_failed` is how many of
    its variants got no answer. `chance` is the accuracy of a guess on each example, where it has
    one of its own. Where options move, `place` is the place of the chosen one in each variant,
    `right_place` that of the right one, `order` a number for each order of them, and `n_movable`
    how many of an example's options move; one that does not is chosen at no place.
    """

    transformation: str
    task: Task
    example: NDArray[np.str_]
    gold: NDArray[Any]
    original: Floats
    predictions: Floats
    is_simple: Bools
    n_skipped: int = 0
    seed: int = 0
    fidelity: Fidelity = "paper"
    is_copy: bool = False
    n_planned: Ints | None = None
    gives_probabilities: bool | None = None
    family: Ints | None = None
    control: Floats | None = None
    n_failed: Ints | None = None
    chance: Floats | None = None
    place: Ints | None = None
    order: Ints | None = None
    right_place: Ints | None = None
    n_movable: Ints | None = None

    def __len__(self) -> int:
        return len(self.example)

    @cached_property
    def original_label(self) -> Ints:
        """The prediction for the original text, as a label number; −1 where the model abstains."""
        return predicted_label(self.original)

    @cached_property
    def is_right(self) -> Bools:
        """Whether the original text got the gold label."""
        return np.asarray(self.original_label == self.gold)

    @cached_property
    def is_predicted(self) -> Bools:
        """Which of the q variants exist (E × q)."""
        return ~np.isnan(self.predictions[:, :, 0])

    @cached_property
    def label(self) -> Ints:
        """The prediction for each variant as a label number, −1 where there is none, or the model
        abstains (E × q).
        """
        labels: Any = np.full(self.predictions.shape[:2], -1, dtype=np.int16)
        # some examples at a time, so that nothing as large as the predictions is made
        for first in range(0, len(labels), 64):
            rows = slice(first, first + 64)
            found = predicted_label(np.nan_to_num(self.predictions[rows], nan=-1.0))
            labels[rows] = np.where(self.is_predicted[rows], found, -1)
        return np.asarray(labels)

    @cached_property
    def has_probabilities(self) -> bool:
        """Whether the model gives probabilities, not labels alone: as it is known of the model,
        else whether any prediction here is neither 0 nor 1. One label alone, or numbers, count as
        such.
        """
        if self.gives_probabilities is not None:
            return self.gives_probabilities
        is_shown = len(self.task.labels) < 2 or shows_probabilities(self.original)
        return is_shown or shows_probabilities(self.predictions)

    @cached_property
    def n_variants(self) -> Ints:
        """How many variants each example has (also those that curtailment did not predict)."""
        if self.n_planned is not None:
            return self.n_planned
        return np.asarray(self.is_predicted.sum(axis=1))

    @cached_property
    def n_accepted(self) -> Ints:
        """How many variants of each example got its gold label."""
        return np.asarray((self.label == self.gold[:, None]).sum(axis=1))

    @cached_property
    def acceptance(self) -> Floats:
        """Share of each example's variants that got its gold label."""
        return self.n_accepted / self.n_variants

    def take(self, keep: Bools | Ints) -> Outcomes:
        """The same outcomes for some examples only; skips are not carried over."""
        return Outcomes(
            self.transformation,
            self.task,
            self.example[keep],
            self.gold[keep],
            self.original[keep],
            self.predictions[keep],
            self.is_simple[keep],
            0,
            self.seed,
            self.fidelity,
            self.is_copy,
            None if self.n_planned is None else self.n_planned[keep],
            self.has_probabilities,
            None if self.family is None else self.family[keep],
            None if self.control is None else self.control[keep],
            None if self.n_failed is None else self.n_failed[keep],
            None if self.chance is None else self.chance[keep],
            None if self.place is None else self.place[keep],
            None if self.order is None else self.order[keep],
            None if self.right_place is None else self.right_place[keep],
            None if self.n_movable is None else self.n_movable[keep],
        )


class Costs(defaultdict[str, float]):
    """What was spent, by name: seconds and counts that add up."""

    def __init__(self, given: Mapping[str, float] | None = None) -> None:
        super().__init__(float, given or {})

    def add(self, more: Mapping[str, float]) -> None:
        """Add other costs to these."""
        for name, cost in more.items():
            self[name] += cost

    def since(self, before: Mapping[str, float]) -> dict[str, float]:
        """What was spent since an earlier copy of these costs."""
        return {name: cost - before.get(name, 0.0) for name, cost in self.items()}


@dataclass(frozen=True, slots=True)
class Score:
    """A number with its interval, how many examples it rests on, and how many were left out."""

    value: float
    low: float
    high: float
    n: int
    skipped: int = 0

    def __post_init__(self) -> None:
        assert self.low <= self.value <= self.high, (
            f"{self.value} is not in [{self.low}, {self.high}]"
        )
