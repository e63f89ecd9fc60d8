"""The ladder: how much accuracy comes from words alone, and how much from each kind of order?

Each rung draws texts uniformly from all orders that keep what it keeps: first the words alone, then
also the window of text that each word stands in, then also the sequence of word classes within it,
last the original text. A rung's orders are a part of those of the rung before, so every step adds
one kind of order and takes nothing away. Punctuation stays in place throughout.
"""

from __future__ import annotations

import numpy as np

from disorder.errors import BadSetting
from disorder.metrics import mean, resampled
from disorder.registry import explanation
from disorder.results.result import Figure, Row, Table
from disorder.transformations.tags import named_or_usual, tagged, tagger_notes
from disorder.transformations.words import default_splitter, split
from disorder.types import Floats, Ints, Score, Sentence, Task
from disorder.types.predictions import predicted_label
from disorder.verbs.explain.chart_style import FILLS, GREY, VegaLite, domain, name, number, ruled
from disorder.verbs.explain.ladder_rungs import First, Rung, rungs_of, share_right
from disorder.verbs.explain.result import Explained, bounds, said, signed
from disorder.verbs.explain.subject import Subject

TAGGER = {"en": "at_hand"}  # as the ladder's transformations
ORIGINAL_TEXT = "original text"


@explanation(asks="How much is words, and how much is which kind of order?")
def ladder(
    subject: Subject,
    *,
    window: int = 5,
    first: First = "windows",
    draws: int = 10,
    tagger: str = "",
) -> Explained:
    """Split the accuracy above chance into words alone, global order, word-class order and local
    order, which add up.

    `window` words make a window, `first` says which kind of order is added first, `draws` texts per
    example are predicted on each rung.
    """
    if window < 2 or draws < 1:
        raise BadSetting(
            "ladder", window=window, draws=draws, need="a window of 2 or more and 1 draw or more"
        )
    chance = subject.task.chance
    rungs = rungs_of(first)
    right = _right(subject, rungs, window, draws, tagger)
    steps = differences(right, chance)
    kinds = [*(rung.adds for rung in rungs), "local order"]
    titles = [*(rung.title for rung in rungs), ORIGINAL_TEXT]
    shares = {kind: _scored(steps[:, i]) for i, kind in enumerate(kinds)}
    levels = {title: mean(right[:, i]) for i, title in enumerate(titles)}
    total = _scored(steps.sum(axis=1))
    parts = ", ".join(f"{kind} {signed(score)}" for kind, score in shares.items())
    accuracy = said(levels[ORIGINAL_TEXT])
    finding = f"accuracy {accuracy} is {signed(total)} above chance ({chance:.3f}): {parts}"
    rungs_table = [{"keeps": title, **bounds(score)} for title, score in levels.items()]
    scores = {"total": total, **shares}
    scores |= {f"accuracy, {title}": score for title, score in levels.items()}
    return Explained(
        finding,
        [_figure(_rows(shares, chance), chance)],
        [Table("ladder_rungs", "Accuracy on each rung", rungs_table)],
        scores,
        [*_notes(window, first), *tagger_notes([_tagger(tagger, subject.task)])],
    )


def _right(subject: Subject, rungs: list[Rung], window: int, draws: int, tagger: str) -> Floats:
    """The share of draws predicted right, examples × rungs, and last whether the original text
    was.
    """
    sides = _tagged(subject, tagger)
    columns = [share_right(subject, sides, rung, window, draws) for rung in rungs]
    columns.append(np.asarray(predicted_label(subject.original) == subject.gold))
    return np.stack(columns, axis=1).astype(np.float64)


def _tagger(given: str, task: Task) -> str:
    """The named tagger, or the usual one of the language."""
    return named_or_usual(given, task.language, TAGGER)


def _tagged(subject: Subject, tagger: str) -> list[list[Sentence]]:
    """The texts of every example, cut into words with their classes."""
    words = default_splitter(subject.task.language)
    texts = [text for example in subject.examples for text in example.texts if text is not None]
    sentences = iter(
        tagged(
            [split(text, words=words) for text in texts],
            tagger=_tagger(tagger, subject.task),
        )
    )
    return [
        [next(sentences) for text in example.texts if text is not None]
        for example in subject.examples
    ]


def differences(right: Floats, chance: float) -> Floats:
    """What each rung adds to the one before, one row per example, so that the rows of any resample
    add up.

    Two imagined examples stand last, one up where the other is down: as in `mean`, without them the
    interval would have no width where all examples agree.
    """
    imagined = np.arange(right.shape[1]) % 2 == np.arange(2)[:, None]
    return np.diff(np.concatenate([right, imagined]), axis=1, prepend=chance)


def _scored(values: Floats) -> Score:
    """A mean difference with a bootstrap over examples; the resamples are the same for all."""

    def statistic(block: Ints) -> Floats:
        return np.asarray(values[block].mean(axis=1))

    value = float(values[:-2].mean())
    n = len(values) - 2
    low, high = resampled(statistic, n + 2)
    return Score(value, min(low, value), max(high, value), n)


def _rows(shares: dict[str, Score], chance: float) -> list[Row]:
    rows = []
    end = chance
    for kind, score in shares.items():
        start = end
        end = start + score.value
        span = {"from": round(start, 6), "to": round(end, 6)}
        rows.append({"bar": "accuracy", "part": kind, **span, **bounds(score)})
    return rows


def _figure(rows: list[Row], chance: float) -> Figure:
    parts = [row["part"] for row in rows]
    legend = {"title": None, "orient": "top", "symbolStrokeWidth": 1, "symbolStrokeColor": "black"}
    fill: VegaLite = {
        "field": "part",
        "type": "nominal",
        "scale": {"domain": parts, "range": list(FILLS[: len(parts)])},
        "legend": legend,
    }
    caption = (
        "Accuracy from chance (dotted) upwards, split into what each kind of order adds; below, "
        "each part with its 95 % interval over the same examples. The parts add up to the accuracy "
        "above chance; one below 0 is drawn back over the one before."
    )
    charts = [_stacked(fill, chance), _intervals(fill, parts)]
    return Figure("ladder", caption, rows, {"vconcat": charts, "spacing": 14})


def _stacked(fill: VegaLite, chance: float) -> VegaLite:
    """One bar from chance to the accuracy, made of the parts."""
    y = {"field": "bar", "type": "nominal", "title": None, "axis": None}
    x = number("from", "accuracy, from chance to the original text", domain(0, 1))
    bar = {
        "mark": {"type": "bar", "stroke": "black", "strokeWidth": 1, "size": 34},
        "encoding": {"y": y, "x": x, "x2": {"field": "to"}, "color": fill},
    }
    return {"width": 460, "height": 46, "layer": [bar, *ruled("x", round(chance, 6))]}


def _intervals(fill: VegaLite, parts: list[str]) -> VegaLite:
    """Each part with its interval, around a line at 0."""
    y = name("part", parts)
    x = number("value", "what it adds to accuracy")
    zero = {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "aria": False, "color": GREY},
        "encoding": {"x": {"datum": 0}},
    }
    spans = {
        "mark": {"type": "rule", "size": 2},
        "encoding": {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}},
    }
    point = {"type": "point", "filled": True, "opacity": 1, "size": 90}
    points = {
        "mark": point | {"stroke": "black", "strokeWidth": 1},
        "encoding": {"y": y, "x": x, "color": fill},
    }
    return {"width": 460, "height": {"step": 26}, "layer": [zero, spans, points]}


def _notes(window: int, first: First) -> list[str]:
    other = "classes" if first == "windows" else "windows"
    return [
        f"Global order is which window of {window} words a word stands in; word-class order the "
        "sequence of classes within it; local order which word of a class comes first there. What "
        f"is added first gets what either would give: compare first={other}.",
        "Words alone are what this model makes of words without order; a model trained on such "
        "texts might make more of them.",
    ]
