"""POS mini-trees: is a permutation accepted because words keep their usual company of word classes?

UnNatural Language Inference (Sinha et al., 2021), section 6, Figures 4 and 7: the mini-tree overlap
of a permuted text with training data, divided by that of the text itself, against acceptance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.data import read_data
from disorder.errors import BadSetting, NothingToMeasure, UnknownName
from disorder.metrics import mean
from disorder.randomness import digest
from disorder.registry import explanation
from disorder.results.result import Figure, Row
from disorder.transformations import parse
from disorder.transformations.tags import UNIVERSAL, named_or_usual, tagged
from disorder.transformations.words import split
from disorder.types import Bools, Example, Fidelity, Floats, Ints, PositionRows, Score, Sentence
from disorder.verbs.explain.acceptance_bins import (
    accepted,
    by_bin,
    edges_of,
    said_ends,
    said_within,
    slope_within,
)
from disorder.verbs.explain.chart_style import (
    colours,
    domain,
    intervals,
    joined,
    name,
    number,
    offset,
    ruled,
)
from disorder.verbs.explain.result import Explained, said
from disorder.verbs.explain.subject import PerturbedExamples, Subject

TAGGER = {"en": "spacy"}  # the paper's
MOST = 2.0  # ratios above are shown there
TEXTS = ("training data", "permuted text")
NUMBERS = {tag: i for i, tag in enumerate(UNIVERSAL)}


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
    words = parse(subject.transformation).splitter_for(subject.task)
    usual = [split(text, words=words) for each in examples for text in each.texts if text]
    trained = signatures(tagged(usual, tagger=chosen), radius, fidelity=subject.settings.fidelity)
    perturbed = subject.perturbed()
    perturbed.check_positions()
    texts = _tagged(perturbed, chosen)

    def scored(text: TaggedRows, positions: Ints) -> Floats:
        fidelity = subject.settings.fidelity
        again = tagged_again(text.sentence, positions, chosen) if fidelity == "released" else None
        return minitree_scores(
            text.sentence, positions, trained, k=k, radius=radius, fidelity=fidelity, classes=again
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
        "score of permutations": mean(
            np.array([float(np.mean([each.mean() for each in texts])) for texts in permuted])
        ),
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
    if not trained.count(drawn):
        notes.append(f"“{drawn}” never occurs in what is usual, so its score of 0 says nothing")
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


def _tagged(perturbed: PerturbedExamples, tagger: str) -> list[list[TaggedRows]]:
    """The texts of every example with their word classes, and the rows of their variants."""
    sides = [rows for variants in perturbed.variants for rows in variants.sides]
    sentences = iter(tagged([rows.sentence for rows in sides], tagger=tagger))
    return [
        [TaggedRows(next(sentences), rows) for rows in variants.sides]
        for variants in perturbed.variants
    ]


def tagged_again(sentence: Sentence, positions: Ints, tagger: str) -> Ints:
    """The numbers of the classes that words have where they stand in each row, as the released code
    has them: a tagger reads permuted texts too.
    """
    found = tagged([in_order(sentence, row) for row in positions], tagger=tagger)
    return np.array([numbers_of(each) for each in found]).reshape(positions.shape)


def in_order(sentence: Sentence, row: Ints) -> Sentence:
    """The words of a sentence in another order, single spaces between them."""
    words = [sentence.words[i] for i in row.tolist()]
    ends = np.cumsum([len(word) + 1 for word in words], dtype=np.int64) - 1
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    return Sentence(
        text=" ".join(words),
        starts=ends - lengths,
        ends=ends,
        is_punctuation=sentence.is_punctuation[row],
        is_spaced=sentence.is_spaced[row],
    )


def _ratios(
    perturbed: PerturbedExamples, permuted: list[list[Floats]], original: list[list[Floats]]
) -> Floats:
    """The score of each variant over that of the original texts (examples × variants)."""
    values = np.full(perturbed.outcomes.predictions.shape[:2], np.nan)
    for i, (after, before) in enumerate(zip(permuted, original, strict=True)):
        n = len(perturbed.variants[i])
        score = float(np.mean(before))
        if score > 0:
            values[i, :n] = np.mean([np.broadcast_to(each, n) for each in after], axis=0) / score
    if np.isnan(values).all():
        raise NothingToMeasure("no word of the texts stands in the training data")
    return values


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


@dataclass(frozen=True, eq=False)
class Signatures:
    """ψ of each lower-cased word, one row per word, and in how many texts (places) it was seen."""

    places: dict[str, int]
    psi: Floats
    n: Ints

    def of(self, words: Sequence[str]) -> Floats:
        """A row for each word; all 0 for one that was never seen."""
        rows = np.array([self.places.get(word.lower(), -1) for word in words], dtype=np.int64)
        if not len(self.psi):
            return np.zeros((len(rows), len(UNIVERSAL)))
        return np.where(rows[:, None] < 0, 0.0, self.psi[rows])

    def count(self, word: str) -> int:
        """In how many texts a word was seen."""
        place = self.places.get(word.lower(), -1)
        return int(self.n[place]) if place >= 0 else 0


def signatures(
    sentences: Sequence[Sentence], radius: int, *, fidelity: Fidelity = "paper"
) -> Signatures:
    """ψ over a corpus: the mean over texts of a word's share of each class."""
    places: dict[str, int] = {}
    sums: list[Floats] = []
    seen: list[int] = []
    for sentence in sentences:
        if not len(sentence):
            continue
        counts = neighbours_of(numbers_of(sentence)[None, :], radius)[0]
        words, which = np.unique([word.lower() for word in sentence.words], return_inverse=True)
        own = np.zeros((len(words), len(UNIVERSAL)))
        np.add.at(own, which, counts)
        if fidelity != "released":
            own /= np.maximum(own.sum(axis=1, keepdims=True), 1)
        for word, row in zip(words.tolist(), own, strict=True):
            if word not in places:
                places[word] = len(sums)
                sums.append(np.zeros(len(UNIVERSAL)))
                seen.append(0)
            sums[places[word]] += row
            seen[places[word]] += 1
    psi = np.array(sums).reshape(-1, len(UNIVERSAL))
    psi = psi / np.maximum(psi.sum(axis=1, keepdims=True), 1e-12)
    return Signatures(places, psi, np.array(seen, dtype=np.int64))


def numbers_of(sentence: Sentence) -> Ints:
    """The number of each word's class."""
    assert sentence.tags is not None
    return np.array(
        [NUMBERS.get(tag, NUMBERS["X"]) for tag in sentence.tags.tolist()], dtype=np.int64
    )


def neighbours_of(tags: Ints, radius: int) -> Ints:
    """How often each class stands within the radius of each word (texts × words × classes)."""
    is_class: Ints = (tags[:, :, None] == np.arange(len(UNIVERSAL))).astype(np.int64)
    found: Ints = np.zeros_like(is_class)
    n = tags.shape[1]
    for step in range(1, min(radius, n - 1) + 1):
        found[:, step:] += is_class[:, :-step]
        found[:, :-step] += is_class[:, step:]
    return found


def top(counts: Floats | Ints, k: int, *, fidelity: Fidelity = "paper") -> Bools:
    """The k most frequent classes, equal ones by name; only the released form takes absent ones."""
    chosen = np.zeros(counts.shape, dtype=bool)
    first = np.argsort(-np.round(counts.astype(np.float64), 12), axis=-1, kind="stable")[..., :k]
    np.put_along_axis(chosen, first, True, axis=-1)
    return chosen if fidelity == "released" else chosen & (counts > 0)


def minitree_scores(
    sentence: Sentence,
    positions: Ints,
    trained: Signatures,
    *,
    k: int,
    radius: int,
    fidelity: Fidelity = "paper",
    classes: Ints | None = None,
) -> Floats:
    """β of each row of positions: the mean over words of the overlap with the training data, of k
    classes (Eq. 4); 0 for a word never seen. `classes` are those of the rows, where they are not
    the sentence's own.
    """
    own_classes = numbers_of(sentence)[positions] if classes is None else classes
    own = top(neighbours_of(own_classes, radius), k, fidelity=fidelity)
    psi = trained.of(sentence.words)
    usual = top(psi, k, fidelity=fidelity) & (psi.sum(axis=1, keepdims=True) > 0)
    shared = (own & usual[positions]).sum(axis=-1)
    return np.asarray((shared / k).mean(axis=-1))


@dataclass(frozen=True, eq=False)
class TaggedRows:
    """A text with word classes, and the variants that reorder it."""

    sentence: Sentence
    rows: PositionRows


def signature_figure(
    texts: Sequence[TaggedRows], trained: Signatures, word: str, *, k: int, radius: int
) -> tuple[Figure, str, Score]:
    """One word's signature: what stands around it in training data, and in permutations of one
    text; with the word, and the share of its k most frequent classes that both have.
    """
    text, place = _text_with(texts, trained, word)
    chosen = text.sentence.words[place]
    positions = text.rows.positions
    around = neighbours_of(numbers_of(text.sentence)[positions], radius)
    counts = around[positions == place].sum(axis=0)
    psi = {TEXTS[0]: trained.of([chosen])[0], TEXTS[1]: counts / max(1, counts.sum())}
    rows: list[Row] = [
        {
            "class": tag,
            "texts": name_,
            "value": round(float(values[i]), 6),
            f"is_among_top_{k}": bool(top(values, k)[i]),
        }
        for name_, values in psi.items()
        for i, tag in enumerate(UNIVERSAL)
    ]
    faded = {"condition": {"test": f"datum.is_among_top_{k}", "value": 1}, "value": 0.35}
    encoding = {
        "x": name("class", UNIVERSAL) | {"axis": {"labelAngle": -45}},
        "y": number("value", "share of its neighbours"),
        **colours("texts", TEXTS),
        **offset("texts", TEXTS),
        "opacity": faded,
    }
    caption = (
        f"The signature of “{chosen}” with radius {radius}: word classes around it in training "
        f"data, and in all permutations of one text that holds it. The {k} most frequent of each, "
        "which are compared, are in full colour."
    )
    spec = {"mark": {"type": "bar"}, "encoding": encoding}
    shared = int((top(psi[TEXTS[0]], k) & top(psi[TEXTS[1]], k)).sum()) / k
    score = Score(shared, shared, shared, len(positions))
    return Figure("minitree_signature", caption, rows, spec), chosen.lower(), score


def _text_with(
    texts: Sequence[TaggedRows], trained: Signatures, word: str
) -> tuple[TaggedRows, int]:
    """The text and the place of the word to draw: the named one, or the commonest noun."""
    moved = [text for text in texts if not text.rows.is_shared]
    held = _words_of(moved) or _words_of(texts)
    if not word:
        return max(
            held,
            key=lambda each: (
                each[0].sentence.tags is not None and each[0].sentence.tags[each[1]] == "NOUN",
                trained.count(each[0].sentence.words[each[1]]),
            ),
        )
    for text, place in held:
        if text.sentence.words[place].lower() == word.lower():
            return text, place
    known = {text.sentence.words[place].lower() for text, place in held}
    raise UnknownName("word of the explained texts", word, known)


def _words_of(texts: Sequence[TaggedRows]) -> list[tuple[TaggedRows, int]]:
    return [(text, place) for text in texts for place in text.sentence.movable.tolist()]
