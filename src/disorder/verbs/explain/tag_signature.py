"""Tag signatures: the word classes around a word, in a text and usually in training data.

UnNatural Language Inference (Sinha et al., 2021), section 6. ψ counts the universal classes within
a radius to the left and right, the word's own left out; β is the overlap of the k most frequent
ones in the text with those in the training data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disorder.errors import UnknownName
from disorder.results.result import Figure, Row
from disorder.transformations.tags import UNIVERSAL
from disorder.types import Bools, Fidelity, Floats, Ints, PositionRows, Score, Sentence
from disorder.verbs.explain.chart_style import colours, name, number, offset

TEXTS = ("training data", "permuted text")
NUMBERS = {tag: i for i, tag in enumerate(UNIVERSAL)}


@dataclass(frozen=True, eq=False)
class Signatures:
    """ψ of each lower-cased word over a corpus, one row per word, and in how many texts (released:
    places) it was seen.
    """

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
    """ψ over a corpus: the mean over texts of a word's share of each class; released weighs every
    neighbour alike.
    """
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
    """The k most frequent classes; equal ones in alphabetical order.

    An absent class is not among them; the released form always takes k.
    """
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
) -> Floats:
    """β of each row of positions: the mean over words of the overlap with the training data; 0 for
    a word never seen.
    """
    own = top(neighbours_of(numbers_of(sentence)[positions], radius), k, fidelity=fidelity)
    psi = trained.of(sentence.words)
    usual = top(psi, k, fidelity=fidelity) & (psi.sum(axis=1, keepdims=True) > 0)
    shared = (own & usual[positions]).sum(axis=-1)
    compared = k if fidelity == "released" else np.maximum(own.sum(axis=-1), 1)
    return np.asarray((shared / compared).mean(axis=-1))


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
    """The text and the place of the word to draw: the named word, or the noun that is most
    frequent in training data.
    """
    moved = [text for text in texts if not text.rows.is_shared]
    held = _words_of(moved) or _words_of(texts)
    if not word:
        return max(held, key=lambda each: _rank(each[0], each[1], trained))
    for text, place in held:
        if text.sentence.words[place].lower() == word.lower():
            return text, place
    known = {text.sentence.words[place].lower() for text, place in held}
    raise UnknownName("word of the explained texts", word, known)


def _words_of(texts: Sequence[TaggedRows]) -> list[tuple[TaggedRows, int]]:
    return [(text, place) for text in texts for place in text.sentence.movable.tolist()]


def _rank(text: TaggedRows, place: int, trained: Signatures) -> tuple[bool, int]:
    tags = text.sentence.tags
    is_noun = tags is not None and bool(tags[place] == "NOUN")
    return is_noun, trained.count(text.sentence.words[place])
