"""Cosine: is a text nearer to its own words in another order than to a paraphrase? Needs no gold.

A cosine of 0.93 between a text and its permutation says nothing by itself: it is set against that
of two unrelated texts of the data and, where the data marks them, of paraphrases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from disorder.data import stream
from disorder.errors import BadModel, DoesNotApply, NothingToMeasure
from disorder.metrics import average, share
from disorder.models import Similarity
from disorder.models.embed import similar_label
from disorder.randomness import generator
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.transformations.rendering import variant_texts
from disorder.types import Example, Score, Texts
from disorder.verbs.explain.chart_style import domain, intervals, name, number
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Subject

N_VARIANTS = 5  # permutations of each text: more hardly change a mean over texts

NO_ORDER = "no other order of its words"


@explanation(
    asks="Is a text nearer to its shuffled self than to a paraphrase?",
    on="any",
    needs="an embedder (embed:…)",
    calls=lambda subject, **_: {"texts embedded": (N_VARIANTS + 3) * len(subject.examples)},
    needs_gold=False,
)
def cosine(subject: Subject, *, paraphrases: str = "") -> Explained:
    """Compare the cosine of a text and its permutation with that of two other texts, and with that
    of a paraphrase.

    Paraphrases are pairs that the data marks as such, or those of a file of pairs.
    """
    model = subject.model.predictor
    if not isinstance(model, Similarity):
        raise BadModel(f"{subject.model.name} is no embedder; name one as embed:FOLDER")
    texts = list(dict.fromkeys(example.text("a") for example in subject.examples))
    shuffled = _shuffled(subject, model, texts)
    if len(shuffled) < 2:
        raise NothingToMeasure(f"{subject.transformation} changes the order of too few texts")
    marked = _paraphrases(subject, paraphrases)
    # each text is in one pair, so that the pairs are independent
    order = generator(subject.settings.seed, "cosine", "others").permutation(len(texts)).tolist()
    others = [(texts[i], texts[j]) for i, j in zip(order[::2], order[1::2], strict=False)]
    found = {
        "shuffled": average(np.array(list(shuffled.values()))),
        "other": average(model.cosines(others)),
    }
    scores = dict(found)
    if len(marked) > 1:
        near = model.cosines(marked)
        found["paraphrase"] = scores["paraphrase"] = average(near)
        own = [(shuffled[a], c) for (a, _), c in zip(marked, near, strict=True) if a in shuffled]
        if len(own) > 1:
            scores["nearer_than_paraphrase"] = share(np.array([s > p for s, p in own]))
    n_left_out = len(texts) - len(shuffled)
    return Explained(
        _finding(scores),
        [_figure(found, subject.transformation)],
        scores=scores,
        skips={NO_ORDER: n_left_out} if n_left_out else {},
    )


def _shuffled(subject: Subject, model: Similarity, texts: Sequence[str]) -> dict[str, float]:
    """The mean cosine of each text with its permutations; texts without any are left out."""
    alone = [Example.of(f"{i}", text, None, "") for i, text in enumerate(texts)]
    single = replace(subject, dataset=replace(subject.dataset, examples=alone))
    pairs: list[Texts] = []
    for text, variants in zip(
        texts, single.variants(subject.transformation, q=N_VARIANTS), strict=True
    ):
        if not isinstance(variants, DoesNotApply):
            pairs += [(text, made) for made, _ in variant_texts(variants) if made != text]
    by_text: dict[str, list[float]] = {}
    for (text, _), value in zip(pairs, model.cosines(pairs).tolist(), strict=True):
        by_text.setdefault(text, []).append(value)
    return {text: float(np.mean(values)) for text, values in by_text.items()}


def _paraphrases(subject: Subject, file: str) -> list[Texts]:
    """Pairs marked as paraphrases: all of a file, or those of the data with that label."""
    if file:
        read = stream(file, data_dir=subject.settings.data_dir)[2]
        return [
            (first, second) for first, second in (each.texts for each in read) if second is not None
        ]
    label = similar_label(subject.task)
    return [example.texts for example in subject.examples if example.label == label]


def _finding(scores: dict[str, Score]) -> str:
    line = (
        f"the cosine of a text and its permutation is {said(scores['shuffled'])}, of two texts of "
        f"the data {said(scores['other'])}"
    )
    if "paraphrase" not in scores:
        return f"{line}; no pairs are marked as paraphrases"
    line += f", of two paraphrases {said(scores['paraphrase'])}"
    if "nearer_than_paraphrase" not in scores:
        return line
    nearer = said(scores["nearer_than_paraphrase"])
    return f"{line}; {nearer} of the texts are nearer to their permutation than to their paraphrase"


def _figure(found: dict[str, Score], transformation: str) -> Figure:
    titles = {
        "shuffled": "its permutation",
        "paraphrase": "a paraphrase",
        "other": "another text",
    }
    shown = [each for each in titles if each in found]
    rows: list[Row] = [{"with": titles[each], **bounds(found[each])} for each in shown]
    x = name("with", [titles[each] for each in shown], "a text and")
    y = number("value", "cosine", domain(min(0.0, *(row["low"] for row in rows)), 1))
    caption = (
        f"Mean cosine of a text with its permutation ({transformation}) and with what it is to be "
        "compared with; 95 % intervals over texts."
    )
    return Figure("cosine", caption, rows, {"layer": intervals(x, y)})
