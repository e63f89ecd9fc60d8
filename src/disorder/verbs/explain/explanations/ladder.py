"""The ladder: how much skill comes from length, from words, from global and from local order?

Local order is the order of words within runs of three, global order that of the runs. Each rung
draws texts that keep some of it: as many other words (length), the words in any order (words), the
words within their runs (global order), the runs in any order (local order), and the original text.
What the two orders add is shared between them in equal parts of both ways up (Shapley, 1953), so
that nothing depends on which is added first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np
from numpy.random import Generator

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics.statistics.intervals import effective_number, moves_of_families, student
from disorder.metrics.statistics.ranks import rank_correlation, rank_influence
from disorder.randomness import generator
from disorder.registry import explanation
from disorder.results.result import Figure, Row, Table
from disorder.results.writing import capitalised
from disorder.transformations.rendering import render
from disorder.transformations.words import split
from disorder.types import Floats, Ints, Score, Sentence, Texts
from disorder.types.predictions import predicted_label
from disorder.verbs.explain.chart_style import FILLS, GREY, VegaLite, name, number
from disorder.verbs.explain.result import Explained, bounds, said, signed
from disorder.verbs.explain.subject import Calls, Subject

LEVELS = ("length only", "words only", "words in their runs", "runs in any order", "original text")
# what each part is made of: the rungs it is the difference of, after the best constant answer
PARTS: dict[str, Sequence[float]] = {
    "length": (-1, 1, 0, 0, 0, 0),
    "words": (0, -1, 1, 0, 0, 0),
    "global order": (0, 0, -0.5, 0.5, -0.5, 0.5),
    "local order": (0, 0, -0.5, -0.5, 0.5, 0.5),
}
ORDERS = ("global order", "local order")
TOTAL = (-1, 0, 0, 0, 0, 1)
ORDER = (0, 0, -1, 0, 0, 1)
STRICT = 2.576 / 1.960  # half of a 99 % interval over that of a 95 % one
SMALL = 0.05  # share of the skill that a part must have to be named

Rung = Callable[[Sentence, int, Generator], list[str]]


def climb_calls(subject: Subject, draws: int) -> Calls:
    """The texts of all rungs but the original ones."""
    return {"the ladder": (len(LEVELS) - 1) * draws * len(subject.examples)}


@explanation(
    asks="How much is length, how much words, how much order, and how local is that order?",
    on="any",
    calls=lambda subject, draws, **_: climb_calls(subject, draws),
)
def ladder(subject: Subject, *, window: int = 3, draws: int = 5) -> Explained:
    """Split the skill above the best constant answer into length, words, global order and local
    order, which add up.

    `window` words in a row make a run, `draws` texts per example are predicted on each rung.
    """
    found = climbed(subject, window=window, draws=draws)
    table = [{"keeps": title, **bounds(score)} for title, score in found.levels.items()]
    scores = {"total": found.total, **found.parts, "order": found.order}
    scores |= {f"{found.measure}, {title}": score for title, score in found.levels.items()}
    return Explained(
        found.finding,
        [Figure("ladder", found.caption, found.rows, parts_chart(found))],
        [Table("ladder_rungs", f"{found.measure.capitalize()} on each rung", table)],
        scores,
        found.notes,
        claims=found.claims,
        headline=found.headline,
    )


@dataclass(frozen=True)
class Climb:
    """What a ladder found: the score of every rung, and what each part adds to it."""

    measure: str
    constant: float
    window: int
    levels: Mapping[str, Score]
    parts: Mapping[str, Score]
    total: Score
    order: Score
    local_more: Score  # local − global

    @property
    def used(self) -> list[str]:
        """The parts that add something, the largest first: of four, each at 99 %."""
        found = [part for part, score in self.parts.items() if self._is_shown(score)]
        return sorted(found, key=lambda part: -self.parts[part].value)

    def _is_shown(self, score: Score, strictness: float = STRICT) -> bool:
        return score.value > max(SMALL * self.total.value, strictness * (score.value - score.low))

    @property
    def reads_order(self) -> bool:
        """Whether order of either kind is shown to matter."""
        return bool({*ORDERS}.intersection(self.used)) or self._is_shown(self.order, 1.0)

    @property
    def has_skill(self) -> bool:
        """Whether it is right more often than the best constant answer."""
        return self.total.low > 0

    @property
    def claims(self) -> dict[str, bool]:
        """What it says that another explanation might deny."""
        if not self.has_skill:
            return {}
        if self.reads_order:
            return {"order": True}
        return {"order": False} if self.order.high < SMALL + SMALL * self.total.value else {}

    @property
    def finding(self) -> str:
        """The parts in words, then in numbers."""
        now = f"{self.measure} {said(self.levels['original text'])}"
        if not self.has_skill:
            return f"no skill to split: {now}, and the best constant answer has {self.constant:.3f}"
        parts = ", ".join(f"{part} {signed(score)}" for part, score in self.parts.items())
        return (
            f"{self._in_words()}: {now} is {signed(self.total)} above the best constant answer "
            f"({self.constant:.3f}): {parts}"
        )

    @property
    def headline(self) -> str:
        """The answer in words."""
        if self.has_skill:
            return capitalised(self._in_words())
        return "No skill to explain: a constant answer may be right as often"

    def _in_words(self) -> str:
        used = self.used
        if self.reads_order and not {*ORDERS}.intersection(used):
            used.append("order (local or global is undecided)")
        if not used:
            return "what it relies on is undecided"
        said_parts = f"it relies on {' and '.join(used)}"
        if not self.reads_order:
            return f"{said_parts}; no use of order is shown"
        if self.local_more.low > 0:
            return f"{said_parts}, more on local order than on global order"
        if self.local_more.high < 0:
            return f"{said_parts}, more on global order than on local order"
        both = {*ORDERS}.issubset(self.used)
        return f"{said_parts}; which order more is undecided" if both else said_parts

    @property
    def rows(self) -> list[Row]:
        """The parts for a figure."""
        return [{"part": part, **bounds(score)} for part, score in self.parts.items()]

    @property
    def caption(self) -> str:
        """What the bars are."""
        return (
            f"What each part adds to the {self.measure} of the best constant answer "
            f"({self.constant:.3f}); the parts add up to that of the original texts. Lines are "
            "95 % intervals over families of examples."
        )

    @property
    def notes(self) -> list[str]:
        """What the parts mean."""
        return [
            f"Local order is the order of words within runs of {self.window}, global order that "
            "of the runs; where a word stands in the text is a matter of both. Words are what this "
            "model makes of them in any order; one trained on such texts might make more.",
        ]


def climbed(subject: Subject, *, window: int, draws: int) -> Climb:
    """Predict the texts of every rung, and split the skill; once for all explanations."""
    if window < 2 or draws < 1:
        need = "a window of 2 or more and 1 draw or more"
        raise BadSetting("ladder", window=window, draws=draws, need=need)
    return subject.once(("ladder", window, draws), lambda: _climbed(subject, window, draws))


def _climbed(subject: Subject, window: int, draws: int) -> Climb:
    sides = [
        [split(text, words=subject.splitter) for text in example.texts if text is not None]
        for example in subject.examples
    ]
    pool = [side.words[i] for texts in sides for side in texts for i in side.movable.tolist()]
    rungs: list[Rung] = [
        partial(other_words, pool),
        partial(_moved, partial(within_runs, window=None)),
        partial(_moved, partial(within_runs, window=window)),
        partial(_moved, partial(orders_of_runs, window=window)),
    ]
    predictions = [
        _predicted(subject, sides, rung, title, draws)
        for title, rung in zip(LEVELS, rungs, strict=False)
    ]
    predictions.append(subject.original[:, None, :])
    scored = _ranked if subject.task.is_regression else _balanced
    return scored(subject, predictions, window)


def other_words(pool: Sequence[str], sentence: Sentence, count: int, rng: Generator) -> list[str]:
    """Texts of as many words, drawn from all texts by how frequent they are."""
    places = sentence.movable
    gaps = [
        sentence.text[i:j]
        for i, j in zip([0, *sentence.ends[places]], [*sentence.starts[places], None], strict=True)
    ]
    drawn = rng.integers(len(pool) or 1, size=(count, len(places)))
    return [
        "".join(gap + word for gap, word in zip(gaps, [*(pool[i] for i in row), ""], strict=True))
        for row in drawn.tolist()
    ]


def _moved(
    orders: Callable[[int, int, Generator], Ints], sentence: Sentence, count: int, rng: Generator
) -> list[str]:
    """Texts whose words stand in these orders; what is not a word stays."""
    places = sentence.movable
    rows = np.tile(np.arange(len(sentence)), (count, 1))
    rows[:, places] = places[orders(len(places), count, rng)]
    return render(sentence, rows)


def within_runs(n: int, count: int, rng: Generator, *, window: int | None) -> Ints:
    """Orders drawn uniformly from all that keep each word within its run; without one, from all."""
    run = np.arange(n) // (window or n or 1)
    return np.argsort(run + rng.random((count, n)), axis=1)


def orders_of_runs(n: int, count: int, rng: Generator, *, window: int) -> Ints:
    """Orders of whole runs, drawn uniformly."""
    run = np.arange(n) // window
    n_runs = -(-n // window)
    rank = np.argsort(rng.random((count, n_runs)), axis=1)
    return np.argsort(rank[:, run], axis=1, kind="stable")


def _predicted(
    subject: Subject, sides: Sequence[Sequence[Sentence]], rung: Rung, title: str, draws: int
) -> Floats:
    """Predictions for the texts of a rung (examples × draws × labels); equal ones are made once."""
    texts: list[Texts] = []
    for example, sentences in zip(subject.examples, sides, strict=True):
        made = [
            rung(
                sentence,
                draws,
                generator(subject.settings.seed, "ladder", title, example.id, str(side)),
            )
            for side, sentence in enumerate(sentences)
        ]
        second = made[1] if len(made) > 1 else [None] * draws
        texts += zip(made[0], second, strict=True)
    distinct = list(dict.fromkeys(texts))
    found = subject.predict(distinct, stage=title)
    place = {text: i for i, text in enumerate(distinct)}
    return found[[place[text] for text in texts]].reshape(len(sides), draws, -1)


def _balanced(subject: Subject, predictions: Sequence[Floats], window: int) -> Climb:
    """The parts of balanced accuracy; an abstention counts as a guess."""
    labels, gold = np.unique(subject.gold, return_inverse=True)
    if len(labels) < 2:
        raise NothingToMeasure("all examples have one gold label, so that none has skill")
    chance = 1 / len(labels)
    columns = [np.full(len(gold), chance)]
    for each in predictions:
        predicted = predicted_label(each)
        right = np.where(predicted < 0, chance, predicted == subject.gold[:, None])
        columns.append(right.mean(axis=1))
    right = np.stack(columns, axis=1)
    values = np.mean([right[gold == i].mean(axis=0) for i in range(len(labels))], axis=0)
    moves = moves_of_families(subject.family, gold, right)
    return _split("balanced accuracy", chance, values, moves.deviations, moves.effective, window)


def _ranked(subject: Subject, predictions: Sequence[Floats], window: int) -> Climb:
    """The parts of the rank correlation with gold numbers, mean over draws."""
    gold = np.asarray(subject.gold, dtype=np.float64)
    n = len(gold)
    values = [0.0]
    influence = [np.zeros(n)]
    for each in predictions:
        draws = each[:, :, 0].T
        correlations = rank_correlation(np.tile(gold, (len(draws), 1)), draws)
        values.append(float(np.nan_to_num(correlations).mean()))
        influence.append(np.mean([rank_influence(gold, draw) for draw in draws], axis=0) / n)
    family = subject.family
    moved = np.stack([np.bincount(family, column) for column in influence], axis=1)
    effective = effective_number(np.bincount(family))
    return _split(
        "rank correlation", 0.0, np.array(values), moved.astype(np.float64), effective, window
    )


def _split(
    measure: str, constant: float, values: Floats, moves: Floats, effective: float, window: int
) -> Climb:
    if effective < 2:
        raise NothingToMeasure("all examples are one family, which has no interval")
    factor = student(max(1, int(effective) - 1))
    least = 0.0 if constant else -1.0  # of a share, of a correlation

    def score(weights: Sequence[float]) -> Score:
        """A combination of rungs; two imagined examples keep the interval from closing."""
        mixed = np.asarray(weights, dtype=np.float64)
        value = float(values @ mixed)
        imagined = 2 * (np.abs(mixed).sum() / 2 / len(moves)) ** 2
        half = factor * sqrt(float(((moves @ mixed) ** 2).sum()) + imagined)
        return Score(value, value - half, value + half, len(moves))

    def level(i: int) -> Score:
        found = score([0.0] * i + [1.0] + [0.0] * (len(LEVELS) - i))
        return Score(found.value, max(found.low, least), min(found.high, 1.0), found.n)

    return Climb(
        measure=measure,
        constant=constant,
        window=window,
        levels={title: level(i) for i, title in enumerate(LEVELS, start=1)},
        parts={part: score(weights) for part, weights in PARTS.items()},
        total=score(TOTAL),
        order=score(ORDER),
        local_more=score(np.subtract(PARTS["local order"], PARTS["global order"]).tolist()),
    )


def parts_chart(found: Climb) -> VegaLite:
    """Each part as a bar with its interval, around a line at 0."""
    parts = list(found.parts)
    y = name("part", parts)
    x = number("value", f"what it adds to {found.measure}")
    fill: VegaLite = {
        "field": "part",
        "type": "nominal",
        "scale": {"domain": parts, "range": list(FILLS[: len(parts)])},
        "legend": None,
    }
    zero = {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "aria": False, "color": GREY},
        "encoding": {"x": {"datum": 0}},
    }
    bars = {
        "mark": {"type": "bar", "stroke": "black", "strokeWidth": 1, "size": 18},
        "encoding": {"y": y, "x": x, "color": fill},
    }
    spans = {
        "mark": {"type": "rule", "size": 2},
        "encoding": {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}},
    }
    return {"width": 300, "height": {"step": 30}, "layer": [bars, zero, spans]}
