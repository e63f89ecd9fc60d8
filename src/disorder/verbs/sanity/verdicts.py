"""Verdicts: the rule behind them, how they are read in a challenge set, and what a check returns.

The rule is an equivalence test on what a perturbation costs, read from one interval. A cost above
the margin proves need, however weak the model; a cost below it proves the contrary only for a model
that has learned a good part of the task: one that has learned little has little to lose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from disorder.data.families import Families
from disorder.data.word_hashes import word_set
from disorder.errors import BadSetting
from disorder.metrics.statistics.intervals import Z
from disorder.results.result import Figure, Row, Table
from disorder.results.writing import MINUS, in_points, with_interval
from disorder.types import Example, Score

NEEDED = "needed"
NOT_NEEDED = "not needed"
UNDECIDED = "undecided"
GIVES_AWAY = "gives away"
GIVES_NOTHING_AWAY = "gives nothing away"
DOES_AS_WELL = "does as well"
FALLS_SHORT = "falls short"
NO_INFORMATION = "no information"  # what a baseline could see is the same in every row
NONE_FOUND = "none found"
ADDS = "order adds"
ADDS_NOTHING = "order adds nothing"
NEARLY_PERFECT = 0.9  # of the way from chance to perfect
TOO_LITTLE = "The model has learned too little of the task for a 'not needed'"


@dataclass(frozen=True)
class VerdictRule:
    """When something counts as needed: `margin` is the largest cost that counts as none, `skill`
    how far from chance to perfect a model must be for a "not needed".
    """

    margin: float = 0.05
    skill: float = 0.25

    def __post_init__(self) -> None:
        if not 0 < self.margin < 1:
            need = "a share above 0 and below 1 (0.05 is five points)"
            raise BadSetting("sanity", margin=self.margin, need=need)
        if not 0 <= self.skill < 1:
            raise BadSetting("sanity", skill=self.skill, need="a share from 0 to below 1")

    def decide(
        self, cost: Score, original: Score, chance: float, *, together: int = 1
    ) -> tuple[str, str]:
        """The answer, and what prevents or qualifies it; where any one of `together` costs is
        enough, their intervals are widened to hold jointly.
        """
        if original.low <= chance:
            scored = f"it scores {with_interval(original)}, chance is {chance:.3f}"
            return UNDECIDED, f"The model has not learned the task: {scored}"
        low, high = joint_bounds(cost, together)
        if low > self.margin:
            return NEEDED, ""
        if high >= self.margin:
            which = ""
            if together > 1:
                bounds = f"[{100 * low:.1f}, {100 * high:.1f}]".replace("-", MINUS)
                which = f" that holds for {together} costs together, {bounds},"
            return UNDECIDED, f"The interval{which} contains the margin of {self.in_points}"
        if original.low < self.enough(chance):
            return UNDECIDED, TOO_LITTLE
        return NOT_NEEDED, ""

    @property
    def in_points(self) -> str:
        """The margin in points of a hundred."""
        return f"{100 * self.margin:g} points"

    def enough(self, chance: float) -> float:
        """The score that the lower bound of a model must reach for a "not needed"."""
        return chance + self.skill * (1 - chance)

    def gives_away(self, gain: Score) -> str:
        """Whether what a baseline scores above chance, or adds to another, exceeds the margin."""
        if gain.low > self.margin:
            return GIVES_AWAY
        return UNDECIDED if gain.high >= self.margin else GIVES_NOTHING_AWAY


def joint_z(n_intervals: int) -> float:
    """The normal quantile at which so many intervals hold together at 95 % (Bonferroni)."""
    return NormalDist().inv_cdf(1 - 0.025 / n_intervals)


def joint_bounds(cost: Score, together: int) -> tuple[float, float]:
    """A 95 % interval widened so that this many hold together."""
    factor = joint_z(together) / Z
    low = cost.value - factor * (cost.value - cost.low)
    high = cost.value + factor * (cost.high - cost.value)
    return low, high


def reason(action: str, cost: Score, trouble: str) -> str:
    """The sentence behind a verdict: what was done, its cost, and what prevents an answer."""
    line = f"{action} costs {in_points(cost)}"
    return f"{line}. {trouble}" if trouble else line


KINDS = {
    NEEDED: "needed",
    ADDS: "needed",
    NOT_NEEDED: "open",
    GIVES_AWAY: "open",
    DOES_AS_WELL: "open",
    "found": "open",
    "differs": "open",
    "skewed": "open",
    "one label": "open",
    UNDECIDED: "unsure",
    NO_INFORMATION: "unsure",
}  # answer → whether it is a need, a weakness of the data, or not known; others are clean
IF_TRAINED = {
    NOT_NEEDED,
    GIVES_AWAY,
    DOES_AS_WELL,
}  # answers about models that are trained on such rows
MAIN = ("order", "both texts", "word classes")  # questions of the headline
IF_BAD = ("labels", "rare labels")  # questions that stand there too where there is a problem
CLASSES = "word classes"
TRAINED_ON_IT = "if trained on it"  # ends the answers of challenge sets


@dataclass(frozen=True)
class Verdict:
    """The answer to one question about the data, for all rows or for one group.

    `because` gives the reason in words, `score` the number it rests on, and `original` what the
    model scores on original texts. `is_learned` marks what only a model trained on such rows can
    know, where the answer does not tell. `fix` says what to do where the answer is a weakness, and
    `urgency` how soon: 1 for what makes other numbers void, 2 for a shortcut, 3 for the rest.
    """

    question: str
    answer: str
    because: str
    score: Score | None = None
    group: str = "all"
    original: Score | None = None
    is_learned: bool = False
    fix: str = ""
    urgency: int = 3

    @property
    def kind(self) -> str:
        """How pages and the terminal mark the answer: needed, open, unsure or clean."""
        return KINDS.get(self.answer.removesuffix(f" {TRAINED_ON_IT}"), "clean")

    @property
    def name(self) -> str:
        """The question, and the group if it is about one."""
        return self.question if self.group == "all" else f"{self.question} ({self.group})"

    @property
    def is_class(self) -> bool:
        """Whether it is about one word class: those are named in capitals."""
        return self.question.isupper()

    @property
    def line(self) -> str:
        """The verdict in a line."""
        return f"{self.name}: {self.answer}. {self.because}"

    def as_row(self, columns: Callable[[Score], Row]) -> Row:
        """The verdict as a row; `columns` writes its scores."""
        names = ("question", "group", "answer", "because")
        row: Row = {name: getattr(self, name) for name in names}
        if self.score:
            row |= columns(self.score)
        if self.original:
            row["original"] = columns(self.original)
        return row


@dataclass(frozen=True)
class CheckResult:
    """What a check returns; `scores` are rows of the results file (check, transformation, design,
    group, metric, value, low, high, n, skipped), `notes` lines for the reader.
    """

    verdicts: Sequence[Verdict]
    scores: Sequence[Row] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


Role = Literal["benchmark", "challenge"]
CHALLENGE: Role = "challenge"
TEMPLATED = 0.1  # share of rows with a word of their own below which rows look templated
FEWEST = 50  # families from which that can be told
NEEDS_MORE = "A model trained elsewhere may need it"
KNOWS_LESS = "A model trained elsewhere does not know that"
SAME_TEMPLATES = ", and it was trained on rows of the same templates"


@dataclass(frozen=True)
class Reading:
    """How verdicts are read: by the `role` of the data, the share of rows with a word of their own
    (None: unknown), and whether models are trained on rows of it.
    """

    role: Role = "benchmark"
    own_words: float | None = None
    is_trained_on_it: bool = True

    @property
    def looks_templated(self) -> bool:
        """Whether hardly any row has a word of its own."""
        return self.own_words is not None and self.own_words < TEMPLATED

    @property
    def notes(self) -> list[str]:
        """What to type for a challenge set, where the rows look like one."""
        if not self.looks_templated or self.role == CHALLENGE or self.own_words is None:
            return []
        return [
            f"the rows look templated: {self.own_words:.3f} of them have a word that no row of "
            "another family has; is this a challenge set, for models trained elsewhere? Then add "
            "--role challenge"
        ]

    def how_far(self, original: Score) -> str:
        """What every "not needed" rests on: how far the model gets, and on which rows."""
        knows = self.is_trained_on_it and self.looks_templated and self.role != CHALLENGE
        reached = f"'not needed' is as far as this model gets: {with_interval(original)}"
        return reached + (SAME_TEMPLATES if knows else "")

    def read(self, found: CheckResult) -> CheckResult:
        """The result of a check, its verdicts as they are read in this role."""
        return replace(found, verdicts=[self._read(verdict) for verdict in found.verdicts])

    def _read(self, verdict: Verdict) -> Verdict:
        # whether it is about models that are trained on such rows, and no others
        holds_if_trained = verdict.is_learned or verdict.answer in IF_TRAINED
        if self.role != CHALLENGE or not self.is_trained_on_it or not holds_if_trained:
            return verdict
        caveat = NEEDS_MORE if verdict.answer == NOT_NEEDED else KNOWS_LESS
        answer = f"{verdict.answer} {TRAINED_ON_IT}"
        return replace(verdict, answer=answer, because=f"{verdict.because}. {caveat}")


def share_with_own_word(examples: Sequence[Example], families: Families) -> float | None:
    """The share of rows with a word that no row of another family has; None for too few rows."""
    if families.n < FEWEST:
        return None
    sets = [np.union1d(*(word_set(text or "") for text in example.texts)) for example in examples]
    row = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    words, word = np.unique(np.concatenate(sets), return_inverse=True)
    family = families.number[row]
    first = np.full(len(words), families.n)
    last = np.full(len(words), -1)
    np.minimum.at(first, word, family)
    np.maximum.at(last, word, family)
    has_own = np.zeros(len(sets), dtype=bool)
    has_own[row[(first == last)[word]]] = True
    return float(has_own.mean())
