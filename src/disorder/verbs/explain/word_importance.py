"""Do words weigh less once their order is gone? The question that every way to weigh words is
asked, and how it is shown.

Out of Order §3.3: examples that are answered right whole and under all of 5 shuffles (the 5/5
subset), their words weighed whole and shuffled, and the change of the mean |attribution| of a word.
§3.4.1: the polarity of the word that weighs most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from disorder.abstention import ABSTAINED
from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import average, share
from disorder.randomness import digest
from disorder.report.exhibits import Figure, Row, Table
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Example, Ints, Score
from disorder.verbs.explain.attribution import Weigh, Weighed, cut, n_words, weighed
from disorder.verbs.explain.chart_style import domain, intervals, name, number
from disorder.verbs.explain.polarity import polarities, polarity_finding, read_lexicon
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Broken, Subject
from disorder.verbs.explain.word_boxes import Line, drawing

Among = Literal["survivors", "right", "all"]
SURVIVORS: Among = "survivors"
WHICH = {"survivors": "right whole and under every shuffle", "right": "right whole", "all": "drawn"}
N_DRAWN = 3  # examples in the drawing


@dataclass(frozen=True, eq=False)
class Seen:
    """One example with its words weighed, whole and shuffled."""

    example: Example
    answer: str
    whole: Weighed
    shuffled: Weighed

    @property
    def has_same_top(self) -> bool:
        """Whether the same word weighs most."""
        tops = [
            (each.side[each.top], each.words[each.top].casefold())
            for each in (self.whole, self.shuffled)
        ]
        return tops[0] == tops[1]


def importance(
    subject: Subject, weigh: Weigh, title: str, *, n: int, q: int, among: Among, lexicon: str
) -> Explained:
    """Weigh the words of up to `n` examples, whole and under the first of `q` shuffles."""
    if n < 2 or q < 1:
        raise BadSetting(title, n=n, q=q, need="two examples or more, and one shuffle or more")
    known = read_lexicon(lexicon, subject.settings.data_dir) if lexicon else {}
    perturbed = subject.perturbed(q=q)
    survives = survivors(perturbed, q)
    seen = _seen(subject, weigh, perturbed, _drawn(subject, perturbed, among, survives, n))
    survived = (
        share(survives[perturbed.outcomes.is_right]) if perturbed.outcomes.is_right.any() else None
    )
    scores = _scores(seen) | ({} if survived is None else {"survivors": survived})
    figures, tables = [_words(title, seen), _change(title, scores)], [_table(title, seen)]
    finding = _finding(subject, seen, scores, among)
    if lexicon:
        tops = [each.whole.words[each.whole.top] for each in seen]
        figure, table, more = polarities(
            title, tops, [each.example.label for each in seen], known, subject.task.labels
        )
        figures, tables, scores = [*figures, *figure], [table, *tables], scores | more
        finding += "; " + polarity_finding(more)
    notes = [f"texts are shuffled by {perturbed.outcomes.transformation}"]
    return Explained(finding, figures, tables, scores, notes, perturbed.skips)


def survivors(perturbed: Broken, q: int) -> Bools:
    """The examples answered right whole and under every one of q shuffles (fewer where no example
    has as many).
    """
    outcomes = perturbed.outcomes
    wanted = min(q, int(outcomes.n_variants.max()))
    return np.asarray(
        outcomes.is_right
        & (outcomes.n_accepted == outcomes.n_variants)
        & (outcomes.n_variants >= wanted)
    )


def _drawn(subject: Subject, perturbed: Broken, among: Among, survives: Bools, n: int) -> Ints:
    """Up to n examples of the kind asked for, drawn by seed."""
    right = perturbed.outcomes.is_right
    wanted = {"survivors": survives, "right": right, "all": np.ones_like(right)}[among]
    places = [
        i for i in np.flatnonzero(wanted).tolist() if n_words(cut(perturbed.examples[i].texts))
    ]
    if len(places) < 2:  # one alone has no interval
        few = "only one example is" if places else "no example is"
        raise NothingToMeasure(f"{few} {WHICH[among]}; among=right or among=all takes more")
    places.sort(key=lambda i: digest(subject.settings.seed, "importance", perturbed.examples[i].id))
    return np.array(sorted(places[:n]))


def _seen(subject: Subject, weigh: Weigh, perturbed: Broken, places: Ints) -> list[Seen]:
    examples = [perturbed.examples[i] for i in places.tolist()]
    wholes = [cut(example.texts) for example in examples]
    parts = [cut(variant_texts(perturbed.variants[i])[0]) for i in places.tolist()]
    columns = (
        perturbed.outcomes.original_label[places],
        perturbed.outcomes.label[places, 0].astype(np.int64),
    )
    scores = weigh(subject, [*wholes, *parts], np.concatenate(columns))
    found = [weighed(pair, each) for pair, each in zip([*wholes, *parts], scores, strict=True)]
    labels = [(*subject.task.labels, ABSTAINED)[i] for i in columns[0].tolist()]
    return [
        Seen(*each)
        for each in zip(examples, labels, found[: len(wholes)], found[len(wholes) :], strict=True)
    ]


def _scores(seen: Sequence[Seen]) -> dict[str, Score]:
    whole, shuffled = np.array([[each.whole.size, each.shuffled.size] for each in seen]).T
    return {
        "whole": average(whole),
        "shuffled": average(shuffled),
        "change": average(shuffled - whole),
        "same_top": share(np.array([each.has_same_top for each in seen])),
    }


def _finding(subject: Subject, seen: Sequence[Seen], scores: dict[str, Score], among: Among) -> str:
    return (
        f"a word carries {said(scores['whole'])} of the answer's probability in original texts, {said(scores['shuffled'])} in "
        f"shuffled ones (change {_signed(scores['change'])}; {len(seen):,} examples of {subject.task.name}, {WHICH[among]}); "
        f"the same word weighs most in {said(scores['same_top'])} of them"
    )


def _signed(score: Score) -> str:
    return f"{score.value:+.4f} [{score.low:+.4f}, {score.high:+.4f}]"


def _change(title: str, scores: dict[str, Score]) -> Figure:
    rows = [
        {"texts": texts, **bounds(scores[key])}
        for texts, key in (("whole", "whole"), ("shuffled", "shuffled"))
    ]
    top = max(0.01, *(row["high"] for row in rows)) * 1.15
    layers = intervals(
        name("texts", ["whole", "shuffled"]),
        number("value", "mean |attribution| of a word", domain(0, top)),
    )
    caption = "What a word carries on average, in whole and in shuffled texts, with 95 % intervals over examples."
    return Figure(f"{title}_change", caption, rows, {"layer": layers, "width": 220})


def _words(title: str, seen: Sequence[Seen]) -> Figure:
    """The examples whose words carry most, drawn whole and shuffled."""
    chosen = sorted(seen, key=lambda each: (-each.whole.scores.max(), each.example.id))[:N_DRAWN]
    lines = [
        Line(
            f"{each.example.id} · answer: {each.answer} · {texts}",
            part.words,
            part.side,
            part.scores,
        )
        for each in chosen
        for texts, part in (("whole", each.whole), ("shuffled", each.shuffled))
    ]
    caption = (
        "The examples with the heaviest words. Darker: carries more; solid frame: for the answer, dashed frame: against it; "
        "the two texts of a pair stand apart."
    )
    return Figure(
        f"{title}_words",
        caption,
        [row for each in chosen for row in _rows(each)],
        drawn=drawing(lines),
    )


def _table(title: str, seen: Sequence[Seen]) -> Table:
    return Table(
        f"{title}_all", "Every word weighed.", [row for each in seen for row in _rows(each)]
    )


def _rows(each: Seen) -> list[Row]:
    return [
        {
            "example": each.example.id,
            "answer": each.answer,
            "texts": texts,
            "side": side,
            "word": word,
            "score": round(x, 6),
        }
        for texts, part in (("whole", each.whole), ("shuffled", each.shuffled))
        for side, word, x in zip(part.side, part.words, part.scores.tolist(), strict=True)
    ]
