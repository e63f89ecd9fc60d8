"""How much of the accuracy comes from words alone, and how much from each kind of order? A ladder
of nested information.

Each rung draws texts uniformly from all orders that keep what it keeps: first the words alone, then
also the window of text that each word stands in, then also the sequence of word classes within it,
last the original text. A rung's orders are a part of those of the rung before, so every step adds one
kind of order and takes nothing away. Punctuation stays in place throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from disorder.abstention import predicted_label
from disorder.errors import BadSetting
from disorder.metrics import mean, resampled
from disorder.randomness import generator
from disorder.registry import TAGGERS, explanation
from disorder.report.exhibits import Figure, Row, Table
from disorder.transformations.tags import tagged, tagger_notes
from disorder.transformations.words import split
from disorder.types import Floats, Ints, Score, Sentence, Task, Texts
from disorder.verbs.explain.chart_style import FILLS, GREY, name, number
from disorder.verbs.explain.result import Explained, bounds, said, signed
from disorder.verbs.explain.subject import Subject

TAGGER = TAGGERS | {"en": "spacy"}  # as the ladder's transformations
WORDS, WHOLE = "words only", "original text"
STEPS = {
    "windows": {"+ windows": "global order", "+ word classes": "word-class order"},
    "classes": {"+ word classes": "word-class order", "+ windows": "global order"},
}


@dataclass(frozen=True)
class Rung:
    """What is kept: the words, and perhaps their window of the text and the sequence of word
    classes.
    """

    title: str
    share: str
    keeps_windows: bool
    keeps_classes: bool


@explanation(asks="How much is words, and how much is which kind of order?")
def ladder(
    subject: Subject,
    *,
    window: int = 5,
    first: Literal["windows", "classes"] = "windows",
    draws: int = 10,
    tagger: str = "",
) -> Explained:
    """Split the accuracy above chance into words alone, global order, word-class order and local
    order, which add up.

    `window` words make a window, `first` says which kind of order is added first, `draws` texts of
    each example are asked on each rung.
    """
    if window < 2 or draws < 1:
        raise BadSetting(
            "ladder", window=window, draws=draws, need="a window of 2 or more and 1 draw or more"
        )
    rungs = _rungs(first)
    right = _right(subject, rungs, window, draws, tagger)
    steps = differences(right, subject.task.chance)
    shares = {
        share: _scored(steps[:, i])
        for i, share in enumerate([rung.share for rung in rungs] + ["local order"])
    }
    total = _scored(steps.sum(axis=1))
    levels = {
        title: mean(right[:, i]) for i, title in enumerate([rung.title for rung in rungs] + [WHOLE])
    }
    parts = ", ".join(f"{share} {signed(score)}" for share, score in shares.items())
    finding = f"accuracy {said(levels[WHOLE])} is {signed(total)} above chance ({subject.task.chance:.3f}): {parts}"
    rows = _rows(shares, subject.task.chance)
    table = Table(
        "ladder_rungs",
        "Accuracy on each rung",
        [{"keeps": k, **bounds(s)} for k, s in levels.items()],
    )
    scores = {
        "total": total,
        **shares,
        **{f"accuracy, {title}": score for title, score in levels.items()},
    }
    notes = [*_notes(window, first), *tagger_notes([_tagger(tagger, subject.task)])]
    return Explained(finding, [_figure(rows, subject.task)], [table], scores, notes)


def _rungs(first: str) -> list[Rung]:
    one, two = STEPS[first].items()
    windows = first == "windows"
    return [
        Rung(WORDS, "words alone", False, False),
        Rung(one[0], one[1], windows, not windows),
        Rung(f"{one[0]} {two[0]}", two[1], True, True),
    ]


def groups_of(sentence: Sentence, window: int, *, keeps_windows: bool, keeps_classes: bool) -> Ints:
    """Which words may trade places: those of one group; punctuation has groups of its own."""
    groups = -1 - np.arange(len(sentence))
    places, tags = sentence.movable, sentence.tags
    assert tags is not None
    near = (
        np.arange(len(places)) // window if keeps_windows else np.zeros(len(places), dtype=np.int64)
    )
    kinds = (
        np.unique(tags[places], return_inverse=True)[1]
        if keeps_classes
        else np.zeros(len(places), dtype=np.int64)
    )
    groups[places] = near * len(sentence) + kinds
    return groups


def orders_of(groups: Ints, count: int, rng: Generator) -> Ints:
    """Orders drawn uniformly from all that keep every word within its group, the text's own among
    them.
    """
    rank = np.unique(groups, return_inverse=True)[1]
    orders = np.empty((count, len(groups)), dtype=np.int64)
    orders[:, np.argsort(rank, kind="stable")] = np.argsort(rank + rng.random(orders.shape), axis=1)
    return orders


def _tagger(given: str, task: Task) -> str:
    return given or TAGGER.get(task.language, "spacy")


def _right(subject: Subject, rungs: list[Rung], window: int, draws: int, tagger: str) -> Floats:
    """The share of draws answered right, examples × rungs, and last whether the original text was."""
    task = subject.task
    texts = [text for example in subject.examples for text in example.texts if text is not None]
    found = tagged(
        [split(text) if task.language != "zh" else split(text, words="jieba") for text in texts],
        tagger=_tagger(tagger, task),
    )
    sentences = iter(found)
    sides = [
        [next(sentences) for text in example.texts if text is not None]
        for example in subject.examples
    ]
    columns = []
    for rung in rungs:
        asked = [
            text
            for example, each in zip(subject.examples, sides, strict=True)
            for text in _drawn(each, rung, window, draws, subject.settings.seed, example.id)
        ]
        answers = _asked_once(subject, asked, rung.title).reshape(len(sides), draws)
        columns.append((answers == subject.gold[:, None]).mean(axis=1))
    return np.stack([*columns, predicted_label(subject.original) == subject.gold], axis=1).astype(
        np.float64
    )


def _drawn(
    sides: list[Sentence], rung: Rung, window: int, draws: int, seed: int, key: str
) -> list[Texts]:
    made = []
    for number_, sentence in enumerate(sides):
        groups = groups_of(
            sentence, window, keeps_windows=rung.keeps_windows, keeps_classes=rung.keeps_classes
        )
        rng = generator(seed, "ladder", rung.title, key, str(number_))
        made.append(sentence.render(orders_of(groups, draws, rng)))
    return [
        (a, b) for a, b in zip(made[0], made[1] if len(made) > 1 else [None] * draws, strict=True)
    ]


def _asked_once(subject: Subject, texts: list[Texts], stage: str) -> Ints:
    """Label numbers, −1 where the model abstains; texts that read the same are asked once."""
    distinct = dict.fromkeys(texts)
    labels = predicted_label(subject.ask(list(distinct), stage=stage))
    answers = dict(zip(distinct, labels.tolist(), strict=True))
    return np.array([answers[text] for text in texts])


def differences(right: Floats, chance: float) -> Floats:
    """What each rung adds to the one before, a row an example, so that the rows of any resample add
    up.

    Two imagined examples stand last, one up where the other is down: as in `mean`, resampling would
    see no doubt without them where all examples agree.
    """
    imagined = np.arange(right.shape[1]) % 2 == np.arange(2)[:, None]
    return np.diff(np.concatenate([right, imagined]), axis=1, prepend=chance)


def _scored(values: Floats) -> Score:
    """A mean difference with a bootstrap over examples; the resamples are the same for all."""

    def statistic(block: Ints) -> Floats:
        return np.asarray(values[block].mean(axis=1))

    value, n = float(values[:-2].mean()), len(values) - 2
    low, high = resampled(statistic, n + 2)
    return Score(value, min(low, value), max(high, value), n)


def _rows(shares: dict[str, Score], chance: float) -> list[Row]:
    rows, place = [], chance
    for share, score in shares.items():
        start, place = place, place + score.value
        rows.append(
            {
                "bar": "accuracy",
                "part": share,
                "from": round(start, 6),
                "to": round(place, 6),
                **bounds(score),
            }
        )
    return rows


def _figure(rows: list[Row], task: Task) -> Figure:
    parts = [row["part"] for row in rows]
    fill = {
        "field": "part",
        "type": "nominal",
        "scale": {"domain": parts, "range": list(FILLS[: len(parts)])},
    }
    bar = {"field": "bar", "type": "nominal", "title": None, "axis": None}
    x = number("from", "accuracy, from chance to the original text", {"scale": {"domain": [0, 1]}})
    legend = {"title": None, "orient": "top", "symbolStrokeWidth": 1, "symbolStrokeColor": "black"}
    chance = [{"x": round(task.chance, 6)}]
    stacked = {
        "width": 460,
        "height": 46,
        "layer": [
            {
                "mark": {"type": "bar", "stroke": "black", "strokeWidth": 1, "size": 34},
                "encoding": {
                    "y": bar,
                    "x": x,
                    "x2": {"field": "to"},
                    "color": fill | {"legend": legend},
                },
            },
            {
                "data": {"values": chance},
                "mark": {"type": "rule", "strokeDash": [2, 3], "color": GREY, "size": 2},
                "encoding": {"x": {"field": "x", "type": "quantitative"}},
            },
        ],
    }
    y, value = name("part", parts), number("value", "what it adds to accuracy")
    zero = {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "aria": False, "color": GREY},
        "encoding": {"x": {"datum": 0}},
    }
    apart = {
        "width": 460,
        "height": {"step": 26},
        "layer": [
            zero,
            {
                "mark": {"type": "rule", "size": 2},
                "encoding": {"y": y, "x": value | {"field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {
                    "type": "point",
                    "filled": True,
                    "opacity": 1,
                    "size": 90,
                    "stroke": "black",
                    "strokeWidth": 1,
                },
                "encoding": {"y": y, "x": value, "color": fill | {"legend": legend}},
            },
        ],
    }
    caption = (
        "Accuracy from chance (dotted) upwards, split into what each kind of order adds; below, each part with its 95 % "
        "interval over the same examples. The parts add up to the accuracy above chance; one below 0 is drawn back over the "
        "one before."
    )
    return Figure("ladder", caption, rows, {"vconcat": [stacked, apart], "spacing": 14})


def _notes(window: int, first: str) -> list[str]:
    other = "classes" if first == "windows" else "windows"
    return [
        f"Global order is which window of {window} words a word stands in; word-class order the sequence of classes within it; "
        "local order which word of a class comes first there. What is added first gets what either would give: compare "
        f"first={other}.",
        "Words alone are what this model makes of words without order; a model trained on such texts might make more of them.",
    ]
