"""Overview: which words, and how local is the order that a model uses? In one picture.

The ladder splits the skill into length, words, global and local order; the words that carry most
are found by leaving each out once. `ladder` and `leave_one_out` show more of either.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import BadSetting
from disorder.randomness import digest
from disorder.registry import explanation
from disorder.results.result import Figure, Row, Table
from disorder.types.predictions import predicted_label
from disorder.verbs.explain.chart_style import BLUE, VegaLite, name, number
from disorder.verbs.explain.explanations.ladder import climb_calls, climbed, parts_chart
from disorder.verbs.explain.explanations.leave_one_out import by_leaving_out
from disorder.verbs.explain.result import Explained, bounds
from disorder.verbs.explain.subject import Subject
from disorder.verbs.explain.word_importance import (
    HEAVIEST,
    WeighedWords,
    cut,
    heaviest,
    n_words,
    said_heaviest,
    weighed,
)

N_SHOWN = 10  # words in the figure
REPLACED = (
    "Each word is left out alone, which does not find words that replace each other; several are "
    "left out at once by --by lime."
)


@explanation(
    asks="Which words, and how local is the order it uses?",
    on="any",
    usual=True,
    calls=lambda subject, draws, n, **_: {
        **climb_calls(subject, draws),
        "one word left out": round(min(n, len(subject.examples)) * (subject.n_words + 1)),
    },
)
def overview(subject: Subject, *, window: int = 3, draws: int = 5, n: int = 50) -> Explained:
    """Split the skill into length, words, global order and local order, and name the words that
    carry most.

    `window` words in a row make a run, whose order is local; `draws` texts per example are
    predicted for each part; the words of `n` examples are left out one by one.
    """
    if n < 1:
        raise BadSetting("overview", n=n, need="1 or more")
    found = climbed(subject, window=window, draws=draws)
    is_shown = "words" in found.used or found.reads_order  # words, in any order or in theirs
    texts = _weighed(subject, n) if found.has_skill and is_shown else []
    why = "no use of words is shown" if found.has_skill else "there is no skill to explain"
    words = said_heaviest(texts) if texts else f"no words are named, since {why}"
    heavy = heaviest(texts) if words.startswith("heaviest") else []
    tables = []
    charts: list[VegaLite] = [
        {"transform": [{"filter": "datum.panel == 'parts'"}], **parts_chart(found)}
    ]
    rows: list[Row] = [{"panel": "parts", **row} for row in found.rows]
    caption = found.caption
    if heavy:
        shown = [
            {"panel": "words", "of": f"{row['word']} ({row['n']})", **row}
            for row in sorted(heavy[:N_SHOWN], key=lambda row: -row["value"])
        ]
        charts.append(_words_chart(shown, "number" if subject.task.is_regression else ""))
        rows += shown
        caption = f"Left: {caption[0].lower()}{caption[1:]} Right: {WORDS_CAPTION}"
        tables = [Table("overview_words", HEAVIEST, heavy)]
    scores = {"total": found.total, **found.parts, "order": found.order}
    rungs = [{"keeps": title, **bounds(score)} for title, score in found.levels.items()]
    tables.append(Table("overview_rungs", f"{found.measure.capitalize()} on each rung", rungs))
    return Explained(
        f"{found.finding}; {words}",
        [Figure("overview", caption, rows, {"hconcat": charts, "spacing": 30})],
        tables,
        scores,
        [*found.notes, *([REPLACED] if texts and not heavy else [])],
        claims=found.claims,
        headline=found.headline,
    )


WORDS_CAPTION = (
    "the words that carry most over all texts: what the prediction loses without the word, on "
    "average over the places (in brackets) where it stands."
)


def _weighed(subject: Subject, n: int) -> list[WeighedWords]:
    """The words of the original texts of `n` examples, drawn by seed, with what each carries."""
    pairs = [cut(example.texts, words=subject.splitter) for example in subject.examples]
    seed = subject.settings.seed
    places = [i for i, pair in enumerate(pairs) if n_words(pair)]
    places.sort(key=lambda i: digest(seed, "overview", subject.examples[i].id))
    chosen = sorted(places[:n])
    columns = predicted_label(subject.original[chosen]).astype(np.int64)
    texts = [pairs[i] for i in chosen]
    scores = by_leaving_out(subject, texts, columns)
    return [weighed(*each) for each in zip(texts, scores, strict=True)]


def _words_chart(heavy: Sequence[Row], kind: str) -> VegaLite:
    """The heaviest words as bars."""
    what = f"predicted {kind or 'probability'} lost without the word"
    return {
        "transform": [{"filter": "datum.panel == 'words'"}],
        "width": 220,
        "height": {"step": 18},
        "mark": {"type": "bar", "color": BLUE},
        "encoding": {
            "y": name("of", [row["of"] for row in heavy], "word (places)"),
            "x": number("value", what, {"axis": {"tickCount": 5}}),
        },
    }
