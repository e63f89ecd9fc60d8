"""Is a permutation accepted because words still stand among the word classes they usually stand
among?

UnNatural Language Inference (Sinha et al., 2021), section 6, Figures 4 and 7: the POS mini-tree
overlap of a permuted text with training data, divided by that of the text itself, against
acceptance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.data import read_data
from disorder.errors import BadSetting, NothingToMeasure, UnknownName
from disorder.metrics import mean
from disorder.randomness import digest
from disorder.registry import TAGGERS, explanation
from disorder.report.exhibits import Figure, Row
from disorder.transformations import parse
from disorder.transformations.tags import UNIVERSAL, tagged
from disorder.transformations.words import split
from disorder.types import Example, Floats, PositionRows, Score, Sentence
from disorder.verbs.explain.binned import accepted, by_bin, edges_of, said_within, slope_within
from disorder.verbs.explain.chart_style import (
    colours,
    domain,
    intervals,
    joined,
    name,
    number,
    ruled,
)
from disorder.verbs.explain.result import Explained, said
from disorder.verbs.explain.subject import Broken, Subject
from disorder.verbs.explain.tag_signature import (
    Signatures,
    minitree_scores,
    neighbours_of,
    numbers_of,
    signatures,
    top,
)

TAGGER = TAGGERS | {"en": "spacy"}  # the paper's
MOST = 2.0  # ratios above are shown there
TEXTS = ("training data", "permuted text")


@explanation(
    asks="Do word classes around a word explain what is accepted?",
    paper="UNLI §6, Fig. 4, 7",
    needs="a tagger",
)
def minitree(
    subject: Subject,
    *,
    k: int = 4,
    r: int | None = None,
    train: str = "",
    n_train: int = 2000,
    tagger: str = "",
    width: float = 0.1,
    word: str = "",
) -> Explained:
    """Show acceptance by how much of each word's usual company of word classes is left, relative to
    the original text.

    `train` is the data that tells what is usual (a data spec, `n_train` examples of it; else the
    data that is explained), `r` the radius (half of `k`), `k` how many classes are compared, `word`
    the one whose signature is drawn.
    """
    radius = k // 2 if r is None else r
    if k < 1 or radius < 1 or n_train < 1 or not 0 < width <= 1:
        raise BadSetting(
            "minitree",
            k=k,
            r=radius,
            n_train=n_train,
            width=width,
            need="1 or more, and a width up to 1",
        )
    chosen, fidelity = (
        tagger or TAGGER.get(subject.task.language, "spacy"),
        subject.settings.fidelity,
    )
    learned, note = _learned(subject, train, n_train, chosen, radius)
    perturbed = subject.perturbed()
    perturbed.check_positions()
    tags = _tagged(perturbed, chosen)
    scores = [
        [
            minitree_scores(s, rows.positions, learned, k=k, radius=radius, fidelity=fidelity)
            for s, rows in each
        ]
        for each in tags
    ]
    whole = [
        [
            minitree_scores(
                s, np.arange(len(s))[None], learned, k=k, radius=radius, fidelity=fidelity
            )
            for s, _ in each
        ]
        for each in tags
    ]
    values, before = (
        _ratios(perturbed, scores, whole),
        np.array([float(np.mean(each)) for each in whole]),
    )
    is_accepted = accepted(perturbed.outcomes)
    points = by_bin(np.minimum(values, MOST), is_accepted, edges_of(width, MOST))
    if not points:
        raise NothingToMeasure("no range of the ratio holds five examples")
    slope = slope_within(values, is_accepted)
    figures = [
        _figure(subject, perturbed, [row for row, _ in points]),
        _drawn(tags, learned, word, k, radius),
    ]
    found = {"score of original texts": mean(before), "score of permutations": mean(_means(scores))}
    found |= {"slope_within": slope} if slope else {}
    finding = (
        f"original texts score {said(found['score of original texts'])}, permutations {said(found['score of permutations'])}; "
        f"{_ends(points)}{said_within(slope, 'the ratio')}"
    )
    notes = [
        note,
        f"compared are the {k} most frequent classes within radius {radius}, tagged by {chosen}",
    ]
    return Explained(finding, figures, scores=found, notes=notes, skips=perturbed.skips)


def _learned(
    subject: Subject, train: str, n_train: int, tagger: str, radius: int
) -> tuple[Signatures, str]:
    """What is usual, from training data or from the data itself."""
    examples: Sequence[Example] = subject.examples
    note = f"what is usual comes from the {len(examples):,} explained examples themselves; name training data with train=DATA"
    if train:
        every = read_data(train, data_dir=subject.settings.data_dir).examples
        examples = sorted(every, key=lambda e: digest(subject.settings.seed, "minitree", e.id))[
            :n_train
        ]
        note = f"what is usual comes from {len(examples):,} of {len(every):,} examples of {train}"
    words = parse(subject.transformation).splitter_for(subject.task)
    texts = [split(text, words=words) for example in examples for text in example.texts if text]
    return signatures(
        tagged(texts, tagger=tagger), radius, fidelity=subject.settings.fidelity
    ), note


def _tagged(perturbed: Broken, tagger: str) -> list[list[tuple[Sentence, PositionRows]]]:
    """The texts of every example with their word classes, and the rows of their variants."""
    sides = [rows for variants in perturbed.variants for rows in variants.sides]
    found = iter(zip(tagged([rows.sentence for rows in sides], tagger=tagger), sides, strict=True))
    return [[next(found) for _ in variants.sides] for variants in perturbed.variants]


def _ratios(perturbed: Broken, scores: list[list[Floats]], whole: list[list[Floats]]) -> Floats:
    """The score of each variant, mean of the texts of a pair, divided by that of the original texts
    (examples × variants).
    """
    values = np.full(perturbed.outcomes.predictions.shape[:2], np.nan)
    for i, (after, before) in enumerate(zip(scores, whole, strict=True)):
        n, original = len(perturbed.variants[i]), float(np.mean(before))
        if original > 0:
            values[i, :n] = np.mean([np.broadcast_to(each, n) for each in after], axis=0) / original
    if np.isnan(values).all():
        raise NothingToMeasure("no word of the texts stands in the training data")
    return values


def _means(scores: list[list[Floats]]) -> Floats:
    return np.array([float(np.mean([each.mean() for each in after])) for after in scores])


def _figure(subject: Subject, perturbed: Broken, rows: list[Row]) -> Figure:
    middles = [row["middle"] for row in rows]
    axis = domain(round(min(middles) - 0.1, 2), round(max(middles) + 0.1, 2))
    x = number("middle", "mini-tree overlap, permuted / original text (middle of the bin)", axis)
    y = number("value", "share that gets the gold label", domain(0, 1))
    layers = [joined(x, y, {}), *intervals(x, y), *ruled("y", subject.task.chance)]
    caption = (
        f"Share of permutations ({perturbed.outcomes.transformation}) that get the gold label, by how much of each word's usual "
        "neighbourhood of word classes is left (1: as much as in the original text); 95 % intervals over examples; dotted: chance."
    )
    return Figure("minitree", caption, rows, {"layer": layers})


def _drawn(
    tags: list[list[tuple[Sentence, PositionRows]]],
    learned: Signatures,
    word: str,
    k: int,
    radius: int,
) -> Figure:
    """One word's signature: what stands around it in training data, and in permutations of one
    text.
    """
    sentence, rows, place = _shown(tags, learned, word)
    chosen = sentence.words[place]
    counts = neighbours_of(numbers_of(sentence)[rows.positions], radius)[
        rows.positions == place
    ].sum(axis=0)
    psi = {TEXTS[0]: learned.of([chosen])[0], TEXTS[1]: counts / max(1, counts.sum())}
    data: list[Row] = [
        {
            "class": tag,
            "texts": texts,
            "value": round(float(values[i]), 6),
            f"is_among_top_{k}": bool(top(values, k)[i]),
        }
        for texts, values in psi.items()
        for i, tag in enumerate(UNIVERSAL)
    ]
    x = name("class", UNIVERSAL) | {"axis": {"labelAngle": -45}}
    offset = {"xOffset": {"field": "texts", "type": "nominal", "sort": list(TEXTS)}}
    faded = {"condition": {"test": f"datum.is_among_top_{k}", "value": 1}, "value": 0.35}
    encoding = {
        "x": x,
        "y": number("value", "share of its neighbours"),
        **colours("texts", TEXTS),
        **offset,
        "opacity": faded,
    }
    caption = (
        f"The signature of “{chosen}” with radius {radius}: word classes around it in training data, and in all permutations "
        f"of one text that holds it. The {k} most frequent of each, which are compared, are in full colour."
    )
    return Figure(
        "minitree_signature", caption, data, {"mark": {"type": "bar"}, "encoding": encoding}
    )


def _shown(
    tags: list[list[tuple[Sentence, PositionRows]]], learned: Signatures, word: str
) -> tuple[Sentence, PositionRows, int]:
    """The text and the place of the word to draw: the one asked for, or the noun that training data
    has most often.
    """
    held = [
        (s, rows, i)
        for each in tags
        for s, rows in each
        if not rows.is_shared
        for i in s.movable.tolist()
    ]
    held = held or [(s, rows, i) for each in tags for s, rows in each for i in s.movable.tolist()]
    if word:
        found = [each for each in held if each[0].words[each[2]].lower() == word.lower()]
        if not found:
            raise UnknownName(
                "word of the explained texts", word, {s.words[i].lower() for s, _, i in held}
            )
        return found[0]

    def rank(each: tuple[Sentence, PositionRows, int]) -> tuple[bool, int]:
        s, _, i = each
        place = learned.places.get(s.words[i].lower(), -1)
        return s.tags is not None and s.tags[i] == "NOUN", int(
            learned.n[place]
        ) if place >= 0 else 0

    return max(held, key=rank)


def _ends(points: Sequence[tuple[Row, Score]]) -> str:
    (first, low), (last, high) = points[0], points[-1]
    start = f"acceptance is {said(low)} at a ratio of {first['from']:.1f}–{first['to']:.1f}"
    return (
        start
        if len(points) == 1
        else f"{start} and {said(high)} at {last['from']:.1f}–{last['to']:.1f}"
    )
