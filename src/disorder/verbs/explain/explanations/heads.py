"""Which attention heads match words across the two texts, in whatever order they stand? Out of
Order §3.4.2, App. A.

On examples answered right whole and under all of 5 shuffles: the head that best ties like words
together is found on the shuffled text, looked at again on the original one, and counted; then the
model is asked without the heads so found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.errors import BadModel, BadSetting, NothingToMeasure, UnknownName
from disorder.metrics import share
from disorder.models import Head, n_heads
from disorder.randomness import digest
from disorder.registry import explanation
from disorder.report.exhibits import Figure, Row, Table
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Example, Ints, Pair, Score
from disorder.verbs.explain.attribution import cut
from disorder.verbs.explain.chart_style import number
from disorder.verbs.explain.head_ablation import RANDOM, WITHOUT, From, ablation, random_heads
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Broken, Subject
from disorder.verbs.explain.tied_words_picture import drawing
from disorder.verbs.explain.word_importance import survivors
from disorder.verbs.explain.word_matching import MATCH, N_PAIRS, Found, found_heads

SHORT = 80  # letters that fit in one row of the drawing
LIMITS = (0, 1, 2, 3, 4, 15)  # of Table A1
FEWEST = 20  # draws of random heads, of which 95 % can be told


@dataclass(frozen=True, eq=False)
class Seen:
    """One example with what its head ties together, shuffled and whole."""

    place: int
    example: Example
    shuffled_pair: Pair
    whole_pair: Pair
    shuffled: Found
    whole: Found

    @property
    def is_match(self) -> bool:
        """Whether like words are tied in both."""
        return self.shuffled.is_match and self.whole.is_match


@explanation(
    asks="Which attention heads match words, whatever their order?",
    paper="OOO §3.4.2, App. A",
    usual=False,
    needs="an hf: encoder, rapidfuzz",
)
def heads(
    subject: Subject, *, q: int = 5, label: str = "", draws: int = 20, random: From = "any"
) -> Explained:
    """Find the heads that tie like words of the two texts together, and ask the model without them.

    `label` is the label whose examples are searched (the task's default label where there is one).
    `random` heads, zeroed for comparison in `draws` sets, are of `any` layer, as in the paper, or
    of the same `layers`, as many of each.
    """
    _check(subject, q, label, draws)
    perturbed = subject.perturbed(q=q)
    label = label or subject.task.default_label or ""
    is_positive = np.array([label in ("", example.label) for example in perturbed.examples])
    seen, skips = _seen(subject, perturbed, np.flatnonzero(survivors(perturbed, q) & is_positive))
    winners = Counter(each.shuffled.head for each in seen if each.is_match)
    scores = {
        "match shuffled": share(np.array([each.shuffled.is_match for each in seen])),
        "match both": share(np.array([each.is_match for each in seen])),
    }
    layers, width = n_heads(subject.model)
    finding = (
        f"one head ties {N_PAIRS} pairs of like words together in {said(scores['match shuffled'])} of {len(seen):,} shuffled "
        f"texts, and again in the original text in {said(scores['match both'])}; "
        f"{len(winners)} of {layers * width} heads do it"
    )
    figures = [_histogram(winners, layers, width), *_drawn(seen)]
    notes = [f"texts are shuffled by {perturbed.outcomes.transformation}"]
    if winners:
        try:
            zeroed = random_heads(subject, sorted(winners), draws, of=random)
            figure, more = _ablated(subject, perturbed, seen, sorted(winners), is_positive, zeroed)
            figures, scores = [*figures, figure], scores | more
            finding += "; " + _said_ablation(figure, scores)
        except BadModel as error:
            notes.append(str(error))
    tables = [_table_a1(seen), _by_layer(winners, layers), _table(seen)]
    return Explained(finding, figures, tables, scores, notes, perturbed.skips | skips)


def _check(subject: Subject, q: int, label: str, draws: int) -> None:
    if q < 1 or draws < FEWEST:
        raise BadSetting(
            "heads",
            q=q,
            draws=draws,
            need=f"1 shuffle or more, and {FEWEST} draws or more to have an interval",
        )
    if label and label not in subject.task.labels:
        raise UnknownName("label", label, subject.task.labels)
    if not subject.is_pairs:
        raise NothingToMeasure("heads are looked at between two texts, and these examples have one")
    n_heads(subject.model)  # a model without heads is told before it is asked anything


def _seen(subject: Subject, perturbed: Broken, places: Ints) -> tuple[list[Seen], dict[str, int]]:
    """The four steps: shuffle, attend, choose the head, look at the original text."""
    kept = [i for i in places.tolist() if _n_ties(cut(perturbed.examples[i].texts)) >= N_PAIRS]
    skips = (
        {f"fewer than {N_PAIRS} pairs of words": len(places) - len(kept)}
        if len(kept) < len(places)
        else {}
    )
    if not kept:
        few = f" and has {N_PAIRS} pairs of words" if len(places) else ""
        raise NothingToMeasure(
            f"no example of this label is right whole and under every shuffle{few}"
        )
    wholes = [cut(perturbed.examples[i].texts) for i in kept]
    parts = [cut(variant_texts(perturbed.variants[i])[0]) for i in kept]
    shuffled = found_heads(subject.model, parts)
    whole = found_heads(subject.model, wholes, [each.head for each in shuffled])
    examples = [perturbed.examples[i] for i in kept]
    return [
        Seen(*each) for each in zip(kept, examples, parts, wholes, shuffled, whole, strict=True)
    ], skips


def _n_ties(pair: Pair) -> int:
    return int(np.prod([len(side.movable) for side in pair.sides]))


def _ablated(
    subject: Subject,
    perturbed: Broken,
    seen: Sequence[Seen],
    winners: list[Head],
    is_positive: Bools,
    zeroed: list[list[Head]],
) -> tuple[Figure, dict[str, Score]]:
    """Accuracy without the winners on the examples that showed them, on a balanced sample, and on
    all answered right.
    """
    right = np.flatnonzero(perturbed.outcomes.is_right)
    rank = {int(place): i for i, place in enumerate(right)}
    sets = {"positives": np.array([rank[each.place] for each in seen if each.is_match])}
    groups = [
        _in_order(subject, perturbed, right[is_positive[right] == claim]) for claim in (True, False)
    ]
    size = min(map(len, groups))
    if size:
        sets["balanced"] = np.array([rank[i] for group in groups for i in group[:size]])
    sets["all"] = np.arange(len(right))
    examples, gold = [perturbed.examples[i] for i in right.tolist()], perturbed.outcomes.gold[right]
    return ablation(subject, examples, gold, winners, sets, zeroed)


def _in_order(subject: Subject, perturbed: Broken, places: Ints) -> list[int]:
    return sorted(
        places.tolist(),
        key=lambda i: digest(subject.settings.seed, "heads", perturbed.examples[i].id),
    )


def _said_ablation(figure: Figure, scores: dict[str, Score]) -> str:
    without, random = scores[f"all, {WITHOUT}"], scores[f"all, {RANDOM}"]
    row = next(row for row in figure.rows if row["examples"] == "all")
    return (
        f"without them {said(without)} of {without.n:,} right answers stay right, without as many others {said(random)} "
        f"({row['draws as low']} of {row['draws']} draws as low)"
    )


def _histogram(winners: Counter[Head], layers: int, width: int) -> Figure:
    """How often each head won, as a grid."""
    rows: list[Row] = [
        {"layer": layer, "head": head, "examples": winners[layer, head]}
        for layer in range(layers)
        for head in range(width)
    ]
    axis = {"labelAngle": 0, "grid": False}
    x, y = (
        {"field": field, "type": "ordinal", "title": field, "axis": axis}
        for field in ("head", "layer")
    )
    top = max(1, *winners.values(), 1)
    scale = {
        "scale": {"domain": [0, top], "range": ["#f7fbff", "#08306b"]},
        "legend": {"format": "d", "tickMinStep": 1},
    }
    colour = number("examples", "examples", scale)
    ink = {"condition": {"test": f"datum.examples > {top / 2}", "value": "white"}, "value": "black"}
    layers_ = [
        {
            "mark": {"type": "rect", "stroke": "#cccccc"},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        {
            "transform": [{"filter": "datum.examples > 0"}],
            "mark": {"type": "text", "fontSize": 11},
            "encoding": {
                "x": x,
                "y": y,
                "text": {"field": "examples", "type": "quantitative"},
                "color": ink,
            },
        },
    ]
    caption = "In how many examples each head ties like words best, shuffled and whole (layers and heads counted from 0)."
    size = {"width": {"step": 32}, "height": {"step": 24}}
    return Figure("heads_histogram", caption, rows, {"layer": layers_, **size})


def _by_layer(winners: Counter[Head], layers: int) -> Table:
    total = sum(winners.values())
    rows: list[Row] = []
    for layer in range(layers):
        count = sum(n for (each, _), n in winners.items() if each == layer)
        names = ", ".join(f"({a}, {b})" for a, b in sorted(winners) if a == layer)
        score = (
            bounds(share(np.arange(total) < count))
            if total
            else {"value": None, "low": None, "high": None, "n": 0}
        )
        rows.append({"layer": layer, "heads": names, "examples": count, **score})
    return Table("heads_layers", "Matching heads by layer.", rows)


def _table_a1(seen: Sequence[Seen]) -> Table:
    """Table A1: how many examples have a summed distance of at most so much."""
    shuffled = np.array([each.shuffled.distance for each in seen])
    whole = np.array([each.whole.distance for each in seen if each.shuffled.is_match])
    rows = [
        {
            "summed distance": f"≤ {limit}",
            **_counted("shuffled", shuffled <= limit),
            **_counted("whole", whole <= limit),
        }
        for limit in LIMITS
    ]
    rows.append(
        {
            "summed distance": "total",
            **_counted("shuffled", shuffled >= 0),
            **_counted("whole", whole >= 0),
        }
    )
    caption = (
        f"Examples by the summed edit distance of the {N_PAIRS} tied word pairs: shuffled, and whole (of those that match, "
        f"≤ {MATCH}, when shuffled)."
    )
    return Table("heads_distances", caption, rows)


def _counted(title: str, claims: Bools) -> Row:
    score = share(claims) if len(claims) else None
    found = (
        (None, None, None)
        if score is None
        else (round(score.value, 4), round(score.low, 4), round(score.high, 4))
    )
    return {
        title: int(claims.sum()),
        **dict(zip((f"{title} share", f"{title} low", f"{title} high"), found, strict=True)),
    }


def _drawn(seen: Sequence[Seen]) -> list[Figure]:
    """The example with the longest words tied most exactly, shuffled and whole; one that needs few
    rows if there is one.
    """
    matches = [each for each in seen if each.is_match]
    if not matches:
        return []
    short = [
        each for each in matches if max(len(side.text) for side in each.whole_pair.sides) <= SHORT
    ] or matches
    chosen = min(
        short,
        key=lambda each: (
            each.shuffled.distance + each.whole.distance,
            -_letters(each),
            each.example.id,
        ),
    )
    layer, head = chosen.shuffled.head
    panels = [
        (f"{chosen.example.id} · {texts}", pair, found.ties)
        for texts, pair, found in (
            ("shuffled", chosen.shuffled_pair, chosen.shuffled),
            ("whole", chosen.whole_pair, chosen.whole),
        )
    ]
    caption = f"The {N_PAIRS} word pairs that layer {layer}, head {head} attends to most, in a shuffled text and the original one."
    return [Figure("heads_pair", caption, _rows(chosen), drawn=drawing(panels))]


def _letters(each: Seen) -> int:
    words = [each.whole_pair.a.words[int(each.whole_pair.a.movable[i])] for i, _ in each.whole.ties]
    return sum(map(len, set(words)))


def _table(seen: Sequence[Seen]) -> Table:
    return Table(
        "heads_all",
        "The tied word pairs of every example.",
        [row for each in seen for row in _rows(each)],
    )


def _rows(each: Seen) -> list[Row]:
    rows: list[Row] = []
    for texts, pair, found in (
        ("shuffled", each.shuffled_pair, each.shuffled),
        ("whole", each.whole_pair, each.whole),
    ):
        assert pair.b is not None
        for i, j in found.ties:
            words = pair.a.words[int(pair.a.movable[i])], pair.b.words[int(pair.b.movable[j])]
            layer, head = found.head
            rows.append(
                {
                    "example": each.example.id,
                    "texts": texts,
                    "layer": layer,
                    "head": head,
                    "word a": words[0],
                    "word b": words[1],
                    "summed distance": found.distance,
                }
            )
    return rows
