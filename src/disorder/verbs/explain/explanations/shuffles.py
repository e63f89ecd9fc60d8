"""Examples shuffled several times: which shuffles leave the prediction, and which change it?

Out of Order, Figures 1, 3, 4 and A2 to A4: every shuffle with its label and confidence, the words
that weigh (LIME), and the words that an attention head ties together. Successes and failures are
both shown, with how often each happens, so that a few examples are not taken for the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from disorder.errors import BadModel, BadSetting, MissingPackage, NothingToMeasure
from disorder.metrics import share
from disorder.models import n_heads
from disorder.registry import explanation
from disorder.results.result import Figure, Row, Table
from disorder.transformations.rendering import variant_texts
from disorder.types import Pair, Texts
from disorder.types.predictions import ABSTAINED, predicted_label, with_abstention
from disorder.verbs.explain.explanations.lime import by_lime
from disorder.verbs.explain.head_matching import N_PAIRS, TiedWords, found_heads, has_pairs
from disorder.verbs.explain.result import Explained, said
from disorder.verbs.explain.subject import PerturbedExamples, Subject
from disorder.verbs.explain.word_drawings import WeighedLine, importance_drawing
from disorder.verbs.explain.word_importance import WeighedWords, cut, n_words, weighed

STAYS = "prediction stays"
CHANGES = "prediction changes"
SAMPLES = 300  # of LIME: few words have few distinct ones


@explanation(
    asks="Which shuffles of an example change its prediction, and which words weigh in each?",
    paper="OOO Fig. 1, 3, 4, A2–A4",
    calls=lambda subject, q, n, samples: {
        **subject.perturbed_calls(q=q),
        "words of shuffles left out": 2 * n * (q + 1) * samples,
    },
)
def shuffles(subject: Subject, *, q: int = 5, n: int = 1, samples: int = SAMPLES) -> Explained:
    """Draw `n` examples whose prediction stays under `q` shuffles and `n` whose prediction changes:
    the label and confidence of each shuffle, and its words by weight.
    """
    if q < 1 or n < 1 or samples < 2:
        need = "1 shuffle or more, 1 example or more, 2 samples or more"
        raise BadSetting("shuffles", q=q, n=n, samples=samples, need=need)
    perturbed = subject.perturbed(q=q)
    right = perturbed.outcomes.is_right
    if not right.any():
        raise NothingToMeasure("no example is predicted right, so that no shuffle can change it")
    stays = perturbed.survivors(q)
    changes = right & (perturbed.outcomes.n_accepted < perturbed.outcomes.n_variants)
    figures: list[Figure] = []
    rows: list[Row] = []
    for title, chosen in ((STAYS, stays), (CHANGES, changes)):
        drawn = perturbed.by_seed("shuffles", np.flatnonzero(chosen), subject.settings.seed)
        for number, place in enumerate(drawn[:n], start=1):
            name = f"shuffles_{title.split()[-1]}_{number}"
            versions = text_versions(subject, list(_texts(perturbed, place)), samples=samples)
            example = perturbed.examples[place].id
            figures.append(versions_figure(name, versions, f"{example}, whose {title}"))
            rows += [{"shown": title, "example": example, **each.row} for each in versions]
    table = Table("shuffles_texts", "Every version of the examples shown.", rows)
    scores = {"stays": share(stays[right])}
    finding = (
        f"of {int(right.sum()):,} examples predicted right {said(scores['stays'])} stay so under "
        f"all of {q} shuffles"
    )
    notes = [f"texts are shuffled by {perturbed.outcomes.transformation}"]
    return Explained(finding, figures, [table], scores, notes, perturbed.skips)


def _texts(perturbed: PerturbedExamples, place: int) -> Iterator[tuple[str, Texts]]:
    example = perturbed.examples[place]
    yield "original", example.texts
    for number, texts in enumerate(variant_texts(perturbed.variants[place]), start=1):
        yield f"shuffle {number}", texts


@dataclass(frozen=True, eq=False)
class WeighedVersion:
    """One version of a text or pair, and what the model predicts for it."""

    name: str
    texts: Texts
    label: str
    confidence: float
    weighed: WeighedWords
    ties: TiedWords | None

    @property
    def line(self) -> WeighedLine:
        """The line of the drawing: its words with their weights, tied ones framed."""
        heading = f"{self.name} · {self.label} {self.confidence:.2f}"
        words = self.weighed
        return WeighedLine(heading, words.words, words.side, words.scores, self._frames)

    @property
    def _frames(self) -> Mapping[int, int]:
        """Which pen frames a word; a word of two ties has the first one's."""
        if self.ties is None:
            return {}
        n_first = self.weighed.side.count("a")
        frames: dict[int, int] = {}
        for pen, (i, j) in enumerate(self.ties.ties):
            frames.setdefault(i, pen)
            frames.setdefault(n_first + j, pen)
        return frames

    @property
    def row(self) -> Row:
        """The version for a table."""
        head = "" if self.ties is None else "layer {}, head {}".format(*self.ties.head)
        top = self.weighed.top
        return {
            "version": self.name,
            "text a": self.texts[0],
            "text b": self.texts[1] or "",
            "label": self.label,
            "confidence": round(self.confidence, 4),
            "heaviest word": self.weighed.words[top],
            "its weight": round(float(self.weighed.scores[top]), 4),
            "head": head,
        }


def text_versions(
    subject: Subject, named: Sequence[tuple[str, Texts]], *, samples: int = SAMPLES
) -> list[WeighedVersion]:
    """What the model predicts for each text that has words, and which of them weigh."""
    kept = [(name, texts) for name, texts in named if n_words(cut(texts, words=subject.splitter))]
    pairs = [cut(texts, words=subject.splitter) for _, texts in kept]
    predictions = subject.predict([texts for _, texts in kept])
    columns = predicted_label(predictions).astype(np.int64)
    tops = with_abstention(predictions).max(axis=-1)
    scores = by_lime(subject, pairs, columns, samples=samples)
    ties = _ties(subject, pairs)
    labels = (*subject.task.labels, ABSTAINED)
    return [
        WeighedVersion(
            name,
            texts,
            labels[int(columns[i])],
            float(tops[i]),
            weighed(pairs[i], scores[i]),
            ties.get(i),
        )
        for i, (name, texts) in enumerate(kept)
    ]


def _ties(subject: Subject, pairs: Sequence[Pair]) -> dict[int, TiedWords]:
    """What one head ties together in each pair; nothing in single texts or without heads."""
    usable = [i for i, pair in enumerate(pairs) if pair.b is not None and has_pairs(pair)]
    if not usable:
        return {}
    try:
        n_heads(subject.model)
        found = found_heads(subject.model, [pairs[i] for i in usable])
    except (BadModel, MissingPackage):
        return {}
    return dict(zip(usable, found, strict=True))


def versions_figure(name: str, versions: Sequence[WeighedVersion], about: str) -> Figure:
    """One drawing of all versions, each with its label, confidence, and weighed words."""
    tied = ""
    if any(version.ties is not None for version in versions):
        tied = (
            f" Thick frames: the {N_PAIRS} word pairs that the head with the likest pairs attends "
            "to most, a colour for each."
        )
    caption = (
        f"{about}: the prediction for each version and its confidence. Darker words weigh more "
        "(LIME), solid for the predicted label, dashed against it; the two texts of a pair stand "
        f"apart.{tied}"
    )
    rows = list(_word_rows(versions))
    lines = [version.line for version in versions]
    return Figure(name, caption, rows, drawn=importance_drawing(lines))


def _word_rows(versions: Sequence[WeighedVersion]) -> Iterator[Row]:
    for version in versions:
        words = version.weighed
        for side, word, score in zip(words.side, words.words, words.scores.tolist(), strict=True):
            yield {
                "version": version.name,
                "label": version.label,
                "confidence": round(version.confidence, 4),
                "side": side,
                "word": word,
                "score": round(score, 6),
            }
