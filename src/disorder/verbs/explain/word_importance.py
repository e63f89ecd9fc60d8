"""Word importance, on original and on shuffled texts: do words weigh less once order is gone?

Out of Order §3.3: examples predicted right, original and under all of 5 shuffles (the 5/5 subset),
their words weighed before and after, and the change of the mean |attribution| per word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from disorder.errors import BadSetting, NothingToMeasure
from disorder.metrics import average, share
from disorder.results.result import Figure, Row, Table
from disorder.results.writing import MINUS
from disorder.transformations.rendering import render, variant_texts
from disorder.transformations.words import DEFAULT, split
from disorder.types import ORIGINAL, Bools, Example, Floats, Ints, Pair, Score, Sentence, Texts
from disorder.types.predictions import ABSTAINED, predicted_label
from disorder.verbs.explain.chart_style import domain, intervals, name, number
from disorder.verbs.explain.result import Explained, bounds, said
from disorder.verbs.explain.subject import Calls, PerturbedExamples, Subject
from disorder.verbs.explain.word_drawings import WeighedLine, importance_drawing
from disorder.verbs.explain.word_polarity import polarities, polarity_finding, read_lexicon

# A method takes the subject, pairs cut into words, and the column of the label to explain. It gives
# one array per text of each pair: positive for words that speak for the label. What it says about
# punctuation does not count.
WeighWords = Callable[[Subject, Sequence[Pair], Ints], list[list[Floats]]]
Among = Literal["right", "survivors", "all"]
RIGHT: Among = "right"
WHICH = {
    "survivors": "right on the original text and under every shuffle",
    "right": "right on the original text",
    "all": "drawn",
}
SHUFFLED = "shuffled"
HEAVIEST = "The words that carry most, in original texts."
N_DRAWN = 3  # examples in the drawing
N_NAMED = 5  # words in the finding
CLEAR = 3.0  # times the mean weight of a word that the top word of a text has on average
HEAVY = 0.25  # of what the top word of a text carries, from which on a word is named
TIE = 1e-6  # below the rounding of probabilities
ALL = 0  # as the number of examples
GLUED = ".,;:!?…\"'()[]{}“”‘’«»。，、！？；："  # marks that are no part of a word


@dataclass(frozen=True, eq=False)
class WeighedWords:
    """The words of one example, both texts in a row, and what each carries."""

    words: tuple[str, ...]
    side: tuple[str, ...]
    scores: Floats

    @property
    def size(self) -> float:
        """Mean |attribution| per word."""
        return float(np.abs(self.scores).mean())

    @property
    def top(self) -> int:
        """The word that speaks most for the label; of equals the first."""
        return int(self.scores.argmax())

    @property
    def tops(self) -> set[tuple[str, str]]:
        """The words that speak most for the label, with their texts: several where they tie."""
        is_top = self.scores >= self.scores.max() - TIE
        words = zip(self.side, self.words, is_top.tolist(), strict=True)
        return {(side, bare(word)) for side, word, holds in words if holds}


@dataclass(frozen=True, eq=False)
class WeighedExample:
    """One example with its words weighed, original and shuffled."""

    example: Example
    prediction: str
    original: WeighedWords
    shuffled: WeighedWords

    @property
    def versions(self) -> list[tuple[str, WeighedWords]]:
        """Both texts with their names."""
        return [(ORIGINAL, self.original), (SHUFFLED, self.shuffled)]


def weighed(pair: Pair, scores: Sequence[Floats]) -> WeighedWords:
    """The words of a pair with their scores, without punctuation."""
    words = [side.words[i] for side in pair.sides for i in side.movable.tolist()]
    sides = [side for side, text in zip("ab", pair.sides, strict=False) for _ in text.movable]
    kept = [found[side.movable] for found, side in zip(scores, pair.sides, strict=True)]
    return WeighedWords(tuple(words), tuple(sides), np.concatenate(kept))


def weighing_calls(subject: Subject, per_text: float, *, n: int, q: int, **_: object) -> Calls:
    """What `importance` predicts, where a text is predicted so often to weigh its words."""
    n = min(n or len(subject.examples), len(subject.examples))
    return {**subject.perturbed_calls(q=q), f"words left out of {n} texts": round(2 * n * per_text)}


def importance(
    subject: Subject,
    weigh: WeighWords,
    title: str,
    *,
    n: int,
    q: int,
    among: Among,
    lexicon: str,
    dev_r: bool = False,
) -> Explained:
    """Weigh the words of up to `n` examples (0: all), original and under the first shuffle."""
    if (n < 2 and n != ALL) or q < 1:
        need = "two examples or more (0: all), and one shuffle or more"
        raise BadSetting(title, n=n, q=q, need=need)
    known = read_lexicon(lexicon, subject.settings.data_dir) if lexicon else {}
    perturbed = subject.perturbed(q=q, dev_r=dev_r)
    examples = _weighed_examples(subject, weigh, perturbed, _drawn(subject, perturbed, among, q, n))
    scores = _scores(examples)
    if not subject.task.is_regression and (right := perturbed.outcomes.is_right).any():
        scores["survivors"] = share(perturbed.survivors(q)[right])
    originals = [each.original for each in examples]
    figures = [_words(title, examples), _change(title, scores)]
    every = [row for each in examples for row in _rows(each)]
    tables = [
        Table(f"{title}_heaviest", HEAVIEST, heaviest(originals)),
        Table(f"{title}_all", "Every word weighed.", every),
    ]
    finding = _finding(subject, said_heaviest(originals), scores, among)
    if lexicon:
        tops = [bare(each.original.words[each.original.top]) for each in examples]
        gold = [each.example.label for each in examples]
        drawn, table, found = polarities(title, tops, gold, known, subject.task.labels)
        figures += drawn
        tables.insert(0, table)
        scores |= found
        finding += "; " + polarity_finding(found)
    notes = [f"texts are shuffled by {perturbed.outcomes.transformation}"]
    return Explained(finding, figures, tables, scores, notes, perturbed.skips)


def _drawn(subject: Subject, perturbed: PerturbedExamples, among: Among, q: int, n: int) -> Ints:
    """Up to n examples of the wanted kind, drawn by seed; numbers are neither right nor wrong."""
    wanted = np.ones(len(perturbed.examples), dtype=bool)
    if not subject.task.is_regression and among != "all":
        right = perturbed.outcomes.is_right
        wanted = right if among == RIGHT else perturbed.survivors(q)
    places = [
        i
        for i in np.flatnonzero(wanted).tolist()
        if n_words(cut(perturbed.examples[i].texts, words=subject.splitter))
    ]
    if len(places) < 2:  # one alone has no interval
        few = "only one example is" if places else "no example is"
        raise NothingToMeasure(f"{few} {WHICH[among]}; among=all takes more")
    drawn = perturbed.by_seed("importance", np.array(places), subject.settings.seed)
    return np.array(sorted(drawn[: n or None]))


def _weighed_examples(
    subject: Subject, weigh: WeighWords, perturbed: PerturbedExamples, places: Ints
) -> list[WeighedExample]:
    outcomes = perturbed.outcomes
    examples = [perturbed.examples[i] for i in places.tolist()]
    originals = [cut(example.texts, words=subject.splitter) for example in examples]
    shuffled = [
        cut(variant_texts(perturbed.variants[i])[0], words=subject.splitter)
        for i in places.tolist()
    ]
    pairs = [*originals, *shuffled]
    columns = predicted_label(outcomes.original[places])
    shuffled_columns = predicted_label(outcomes.predictions[places, 0])
    scores = weigh(subject, pairs, np.concatenate([columns, shuffled_columns]))
    words = [weighed(pair, each) for pair, each in zip(pairs, scores, strict=True)]
    names = [(*subject.task.labels, ABSTAINED)[column] for column in columns.tolist()]
    if subject.task.is_regression:
        names = [f"{value:.3g}" for value in outcomes.original[places, 0].tolist()]
    return [
        WeighedExample(example, prediction, words[i], words[i + len(examples)])
        for i, (example, prediction) in enumerate(zip(examples, names, strict=True))
    ]


def heaviest(texts: Sequence[WeighedWords]) -> list[Row]:
    """The words that carry most over all texts, with what each carries where it stands."""
    found: dict[str, list[float]] = {}
    for text in texts:
        for word, score in zip(text.words, text.scores.tolist(), strict=True):
            found.setdefault(bare(word), []).append(score)
    rows = [
        {"word": word, "value": round(float(np.mean(scores)), 6), "n": len(scores)}
        for word, scores in found.items()
        if sum(scores) > TIE
    ]
    return sorted(rows, key=lambda row: (-row["value"] * row["n"], row["word"]))


def said_heaviest(texts: Sequence[WeighedWords]) -> str:
    """The heaviest words as a sentence; none where weights are spread over the words of a text, as
    those of a model are that counts words, or over many words of which none is heavy throughout.
    """
    usual = sum(text.size for text in texts)
    if usual <= TIE:
        return "no single word decides a prediction"
    tops = [top for text in texts if (top := float(text.scores.max())) > TIE]
    heavy = [row for row in heaviest(texts) if row["value"] >= HEAVY * float(np.mean(tops or 1))]
    if sum(tops) < CLEAR * usual or not heavy:
        return "no word stands out: weights are spread over the words of a text"
    words = [f"{row['word']} ({row['value']:.2f} in {row['n']})" for row in heavy[:N_NAMED]]
    return f"heaviest words: {', '.join(words)}"


def _scores(examples: Sequence[WeighedExample]) -> dict[str, Score]:
    sizes = {
        ORIGINAL: np.array([each.original.size for each in examples]),
        SHUFFLED: np.array([each.shuffled.size for each in examples]),
    }
    means = {name: average(each) for name, each in sizes.items()}
    return {
        **{name: replace(mean, low=max(0.0, mean.low)) for name, mean in means.items()},
        "change": average(sizes[SHUFFLED] - sizes[ORIGINAL]),
        "same_top": share(np.array([e.original.tops == e.shuffled.tops for e in examples])),
    }


def _finding(subject: Subject, words: str, scores: dict[str, Score], among: Among) -> str:
    of = "predicted number" if subject.task.is_regression else "predicted label's probability"
    which = WHICH["all" if subject.task.is_regression else among]
    change = scores["change"]
    signed = f"{change.value:+.4f} [{change.low:+.4f}, {change.high:+.4f}]".replace("-", MINUS)
    return (
        f"{words}; a word carries {said(scores[ORIGINAL])} of the {of} in "
        f"original texts, {said(scores[SHUFFLED])} in shuffled ones (change {signed}; "
        f"{change.n:,} examples of {subject.task.name}, {which}); the same words weigh most in "
        f"{said(scores['same_top'])} of them"
    )


def _change(title: str, scores: dict[str, Score]) -> Figure:
    rows = [{"texts": texts, **bounds(scores[texts])} for texts in (ORIGINAL, SHUFFLED)]
    top = max(0.01, *(row["high"] for row in rows)) * 1.15
    layers = intervals(
        name("texts", [ORIGINAL, SHUFFLED]),
        number("value", "mean |attribution| per word", domain(0, top)),
    )
    caption = (
        "What a word carries on average, in original and in shuffled texts, with 95 % intervals "
        "over examples."
    )
    return Figure(f"{title}_change", caption, rows, {"layer": layers, "width": 220})


def _words(title: str, examples: Sequence[WeighedExample]) -> Figure:
    """The examples whose words carry most, drawn original and shuffled."""
    chosen = sorted(examples, key=lambda each: (-each.original.scores.max(), each.example.id))
    chosen = chosen[:N_DRAWN]
    lines = [
        WeighedLine(
            f"{each.example.id} · prediction: {each.prediction} · {texts}",
            version.words,
            version.side,
            version.scores,
        )
        for each in chosen
        for texts, version in each.versions
    ]
    caption = (
        "The examples with the heaviest words. Darker: carries more; solid frame: for the "
        "predicted label, dashed frame: against it; the two texts of a pair stand apart."
    )
    rows = [row for each in chosen for row in _rows(each)]
    return Figure(f"{title}_words", caption, rows, drawn=importance_drawing(lines))


def _rows(each: WeighedExample) -> Iterator[Row]:
    for texts, version in each.versions:
        words = zip(version.side, version.words, version.scores.tolist(), strict=True)
        for side, word, score in words:
            yield {
                "example": each.example.id,
                "prediction": each.prediction,
                "texts": texts,
                "side": side,
                "word": word,
                "score": round(score, 6),
            }


def cut(texts: Texts, *, words: str = DEFAULT) -> Pair:
    """A text or pair, cut into words."""
    first, second = texts
    return Pair(split(first, words=words), None if second is None else split(second, words=words))


def bare(word: str) -> str:
    """A word to be compared with others: without case, and without the marks glued to it."""
    return word.casefold().strip(GLUED) or word


def n_words(pair: Pair) -> int:
    """How many words a pair has, punctuation not counted."""
    return sum(len(side.movable) for side in pair.sides)


def by_side(pair: Pair, scores: Floats) -> list[Floats]:
    """Scores of the words of a pair as one array per text, 0 for punctuation."""
    found = [np.zeros(len(side)) for side in pair.sides]
    for array, side, part in zip(found, pair.sides, np.split(scores, _cuts(pair)), strict=True):
        array[side.movable] = part
    return found


def masked(pair: Pair, kept: Bools) -> list[Texts]:
    """The pair with words left out, once per row of `kept`."""
    parts = np.split(kept, _cuts(pair), axis=1)
    first, *rest = [_rendered(side, part) for side, part in zip(pair.sides, parts, strict=True)]
    second: Sequence[str | None] = rest[0] if rest else [None] * len(first)
    return list(zip(first, second, strict=True))


def _cuts(pair: Pair) -> Ints:
    """Where the words of the second text begin among those of both."""
    return np.cumsum([len(side.movable) for side in pair.sides])[:-1]


def _rendered(sentence: Sentence, kept: Bools) -> list[str]:
    """The texts that keep these words and all punctuation; those of one length together."""
    stays = np.ones((len(kept), len(sentence)), dtype=bool)
    stays[:, sentence.movable] = kept
    lengths = stays.sum(axis=1)
    texts = np.empty(len(kept), dtype=object)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        texts[rows] = render(sentence, stays[rows].nonzero()[1].reshape(len(rows), length))
    found: list[str] = texts.tolist()
    return found
