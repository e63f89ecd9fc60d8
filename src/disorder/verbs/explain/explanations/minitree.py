"""POS mini-trees: is a permutation accepted because words keep their usual company of word classes?

UnNatural Language Inference (Sinha et al., 2021), section 6, Figures 4 and 7: the mini-tree overlap
of a permuted text with training data, divided by that of the text itself, against acceptance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.data import read_data
from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import mean
from disorder.randomness import digest
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.transformations import parse
from disorder.transformations.tags import named_or_usual, tagged
from disorder.transformations.words import split
from disorder.types import Example, Floats, Ints
from disorder.verbs.explain.acceptance_bins import (
    accepted,
    by_bin,
    edges_of,
    said_ends,
    said_within,
    slope_within,
)
from disorder.verbs.explain.chart_style import domain, intervals, joined, number, ruled
from disorder.verbs.explain.result import Explained, said
from disorder.verbs.explain.subject import PerturbedExamples, Subject
from disorder.verbs.explain.tag_signature import (
    Signatures,
    TaggedRows,
    minitree_scores,
    signature_figure,
    signatures,
)

TAGGER = {"en": "spacy"}  # the paper's
MOST = 2.0  # ratios above are shown there


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

    `train` is the data that tells what is usual (a data spec, `n_train` examples of it, 0 for all;
    else the data that is explained), `r` the radius (half of `k`), `k` how many classes are
    compared, `word` the one whose signature is drawn.
    """
    radius = k // 2 if r is None else r
    if k < 1 or radius < 1 or n_train < 0 or not 0 < width <= 1:
        need = "1 or more, and a width up to 1"
        raise BadSetting("minitree", k=k, r=radius, n_train=n_train, width=width, need=need)
    chosen = named_or_usual(tagger, subject.task.language, TAGGER)
    examples, note = _training_examples(subject, train, n_train)
    trained = _signatures(subject, examples, chosen, radius)
    perturbed = subject.perturbed()
    perturbed.check_positions()
    texts = _tagged(perturbed, chosen)

    def scored(text: TaggedRows, positions: Ints) -> Floats:
        fidelity = subject.settings.fidelity
        return minitree_scores(
            text.sentence, positions, trained, k=k, radius=radius, fidelity=fidelity
        )

    permuted = [[scored(text, text.rows.positions) for text in each] for each in texts]
    original = [
        [scored(text, np.arange(len(text.sentence))[None]) for text in each] for each in texts
    ]
    values = _ratios(perturbed, permuted, original)
    is_accepted = accepted(perturbed.outcomes)
    points = by_bin(np.minimum(values, MOST), is_accepted, edges_of(width, MOST))
    if not points:
        raise NothingToMeasure("no range of the ratio holds five examples")
    slope = slope_within(values, is_accepted)
    signature, drawn, of_word = signature_figure(
        [text for each in texts for text in each], trained, word, k=k, radius=radius
    )
    figures = [_figure(subject, perturbed, [row for row, _ in points]), signature]
    scores = {
        "score of original texts": mean(np.array([float(np.mean(each)) for each in original])),
        "score of permutations": mean(_means(permuted)),
        f"score of the word {drawn}": of_word,
    }
    if slope is not None:
        scores["slope_within"] = slope
    finding = (
        f"original texts score {said(scores['score of original texts'])}, permutations "
        f"{said(scores['score of permutations'])}; {said_ends(points, 'a ratio', 1)}"
        f"{said_within(slope, 'the ratio')}"
    )
    compared = f"the {k} most frequent classes within radius {radius} are compared"
    notes = [note, f"{compared}, tagged by {chosen}"]
    return Explained(finding, figures, scores=scores, notes=notes, skips=perturbed.skips)


def _training_examples(subject: Subject, train: str, n_train: int) -> tuple[Sequence[Example], str]:
    """The examples that tell what is usual, and where they come from."""
    if not train:
        return subject.examples, (
            f"what is usual comes from the {len(subject.examples):,} explained examples "
            "themselves; name training data with train=DATA"
        )
    every = read_data(train, data_dir=subject.settings.data_dir).examples
    seed = subject.settings.seed
    drawn = sorted(every, key=lambda example: digest(seed, "minitree", example.id))
    drawn = drawn[: n_train or None]
    return drawn, f"what is usual comes from {len(drawn):,} of {len(every):,} examples of {train}"


def _signatures(
    subject: Subject, examples: Sequence[Example], tagger: str, radius: int
) -> Signatures:
    words = parse(subject.transformation).splitter_for(subject.task)
    texts = [split(text, words=words) for example in examples for text in example.texts if text]
    return signatures(tagged(texts, tagger=tagger), radius, fidelity=subject.settings.fidelity)


def _tagged(perturbed: PerturbedExamples, tagger: str) -> list[list[TaggedRows]]:
    """The texts of every example with their word classes, and the rows of their variants."""
    sides = [rows for variants in perturbed.variants for rows in variants.sides]
    sentences = iter(tagged([rows.sentence for rows in sides], tagger=tagger))
    return [
        [TaggedRows(next(sentences), rows) for rows in variants.sides]
        for variants in perturbed.variants
    ]


def _ratios(
    perturbed: PerturbedExamples, permuted: list[list[Floats]], original: list[list[Floats]]
) -> Floats:
    """The score of each variant, mean of the texts of a pair, divided by that of the original texts
    (examples × variants).
    """
    values = np.full(perturbed.outcomes.predictions.shape[:2], np.nan)
    for i, (after, before) in enumerate(zip(permuted, original, strict=True)):
        n = len(perturbed.variants[i])
        score = float(np.mean(before))
        if score > 0:
            values[i, :n] = np.mean([np.broadcast_to(each, n) for each in after], axis=0) / score
    if np.isnan(values).all():
        raise NothingToMeasure("no word of the texts stands in the training data")
    return values


def _means(scores: list[list[Floats]]) -> Floats:
    return np.array([float(np.mean([each.mean() for each in texts])) for texts in scores])


def _figure(subject: Subject, perturbed: PerturbedExamples, rows: list[Row]) -> Figure:
    middles = [row["middle"] for row in rows]
    axis = domain(round(min(middles) - 0.1, 2), round(max(middles) + 0.1, 2))
    x = number("middle", "mini-tree overlap, permuted / original text (middle of the bin)", axis)
    y = number("value", "share that gets the gold label", domain(0, 1))
    layers = [joined(x, y, {}), *intervals(x, y), *ruled("y", subject.task.chance)]
    caption = (
        f"Share of permutations ({perturbed.outcomes.transformation}) that get the gold label, by "
        "how much of each word's usual neighbourhood of word classes is left (1: as much as in the "
        "original text); 95 % intervals over examples; dotted: chance."
    )
    return Figure("minitree", caption, rows, {"layer": layers})
