"""What a model does whatever is perturbed: does it read long texts to the end, and how often does
it change its prediction by itself (the noise floor)?

What a model does not read cannot be moved away: words that leave the part that it sees look like
order. So the last third of some long texts is replaced by that of another text, then the first.
For the noise floor some texts are predicted again, past every cache, in other batches and at other
places. Their samples are kept under their repeat number, so that a resumed or repeated run predicts
none again. Agreement and word-order sensitivity mean what they say only beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator

from disorder.errors import NothingToMeasure
from disorder.metrics.statistics.anytime import FIRST
from disorder.metrics.statistics.intervals import share
from disorder.models.inputs.tokens import word_spans
from disorder.randomness import generator
from disorder.requests.settings import Settings
from disorder.results.run import AGAIN, Record
from disorder.store.samples import predictions_of
from disorder.store.store import records
from disorder.transformations.words import NATURAL
from disorder.types import ORIGINAL, Dataset, Floats, Ints, Score, Texts
from disorder.types.predictions import predicted_label
from disorder.verbs.audit.sampling import BlockSource, Stage
from disorder.verbs.outcomes import OutcomeFacts, build_outcomes, measure
from disorder.verbs.transformation_samples import ExampleNumbers, TransformationSamples

BESIDE_FLOOR = ("agreement", "wos")  # scores that mean what they say only beside their noise floor
NO_ROOM = "the budget has no room to predict some texts again: no noise floor"
SHARE_REPEATED = 0.01  # of the originals, and as many variants
FEWEST_REPEATED = 15
N_PROBED = 20
FEWEST_WORDS = 40  # of a text; hardly a model reads less
FEWEST_MOVED = 5  # labels that must change with the beginning, for none at the end to be no chance
PARTS = 3
N_TEXTS = PARTS * N_PROBED  # that are predicted at most
SAME = 1e-4  # by which a probability moves with its batch alone

Predict = Callable[[Sequence[Texts]], Floats]


@dataclass(frozen=True)
class ModelBehaviour:
    """What was found out so far."""

    reads_beginning_only: bool = False
    noise: Score | None = None  # share of the same texts that get another label
    floor: Sequence[Record] = ()  # what scores are of the same texts again


@dataclass
class BehaviourProbe:
    """Finds out what a model does, as far as the budget of the run has room for it."""

    source: BlockSource
    dataset: Dataset
    settings: Settings
    facts: OutcomeFacts
    notes: list[str] = field(default_factory=list)
    _is_cut: bool = False
    _begun: set[str] = field(default_factory=set)  # the stages of which texts are predicted again
    _places: list[Ints] = field(default_factory=list)  # of the examples
    _first: list[Floats] = field(default_factory=list)
    _again: list[Floats] = field(default_factory=list)

    def under(
        self, samples: TransformationSamples, original: Floats, stages: Mapping[str, Stage]
    ) -> ModelBehaviour:
        """What is known once a transformation is sampled: before the first some original texts are
        predicted again, then some of its variants.
        """
        if not self._begun:
            self._begun.add(ORIGINAL)
            self._is_cut = self._reads_beginning_only()
            self._predict_again(stages[ORIGINAL], original, samples.numbers)
        is_control = samples.transformation is not None and samples.transformation.is_control
        if not is_control and len(self._begun) == 1:
            self._begun.add(samples.spec)
            self._predict_again(stages[samples.spec], samples.values[:, 0], samples.numbers)
        if not any(map(len, self._first)):
            return ModelBehaviour(self._is_cut)
        first, again = np.concatenate(self._first), np.concatenate(self._again)
        noise = noise_floor(_labels(first), _labels(again))
        return ModelBehaviour(self._is_cut, noise, self._floor(first, again, samples))

    def _floor(
        self, first: Floats, again: Floats, samples: TransformationSamples
    ) -> Sequence[Record]:
        """Scores that say how often predictions change, of the same texts again."""
        found = build_outcomes(
            replace(self.facts, families=None),
            [self.dataset.examples[i] for i in np.concatenate(self._places).tolist()],
            first,
            again[:, None],
            samples.transformation,
        )
        return measure(replace(found, transformation=AGAIN), only=BESIDE_FLOOR)[0]

    def _predict_again(self, stage: Stage, before: Floats, numbers: ExampleNumbers) -> None:
        answered = np.flatnonzero(~np.isnan(before[:, 0]))
        if self.settings.is_until_decided:  # the same texts when such a run is continued
            answered = answered[:FIRST]
        rng = generator(self.settings.seed, "repeats", stage.spec)
        for repeat in range(1, self.settings.repeats + 1):
            places = answered[repeated_texts(len(answered), rng)]
            block = stage.again([self.dataset.examples[i] for i in places.tolist()], repeat)
            is_known = block.part in self.source.parts.written
            if not len(places) or not (is_known or self._has_room(len(places))):
                return
            for _, result in self.source.in_order([block], stage.count):
                ids, _, values = predictions_of(result.table)
                answered_again = ~np.isnan(values[:, 0])
                again = numbers.places(ids)[answered_again]
                self._places.append(again)
                self._first.append(before[again].astype(np.float64))
                self._again.append(values[answered_again].astype(np.float64))

    def _has_room(self, n_texts: int) -> bool:
        """Whether so many more texts fit into the budget."""
        if not self.source.budget.limits:
            return True
        room, _ = self.source.budget.room(self.source.costs)
        fits = n_texts * self.source.predictor.model.n_questions <= room
        if not fits and NO_ROOM not in self.notes:
            self.notes.append(NO_ROOM)
        return fits

    def _reads_beginning_only(self) -> bool:
        """Whether the model cuts long texts off; some are predicted with another end."""
        texts = [example.texts for example in self.dataset.examples]
        gold = [example.label for example in self.dataset.examples]
        model = self.source.predictor.model
        parts = self.source.parts

        def probe() -> bool:
            if self.dataset.task.has_own_chance or not self._has_room(N_TEXTS):
                return False
            before = dict(model.counts)
            found = reads_beginning_only(
                lambda given: model.predict_texts(given).values, texts, gold
            )
            self.source.costs.add(model.counts.since(before))
            return found

        return parts.kept.once("truncation", probe, records(bool), of=parts.of)


def repeated_texts(n_texts: int, rng: Generator) -> Ints:
    """Which of so many texts are predicted again, in the order in which that is done: a random one,
    so that each comes at another place among others.
    """
    return rng.choice(n_texts, size=n_repeated(n_texts), replace=False)


def n_repeated(n_texts: int) -> int:
    """How many of so many texts are predicted again."""
    return min(n_texts, max(FEWEST_REPEATED, int(SHARE_REPEATED * n_texts)))


def noise_floor(first: Ints, again: Ints) -> Score:
    """The share of texts whose predicted label is another the second time; −1 is an abstention."""
    if not len(first):
        raise NothingToMeasure("no text was predicted again")
    return share(np.asarray(first != again))


def reads_beginning_only(predict: Predict, texts: Sequence[Texts], gold: Sequence[str]) -> bool:
    """Whether no prediction for the longest texts moves with their last third, and some do with
    their first; False where no text is long. Only the longer text of a pair is looked at. One
    probability that moves is enough, but labels do not show all that a model reads.
    """
    probed = long_texts(texts)
    if len(probed) < 2:
        return False
    donors = [_donor(i, probed, gold) for i in probed]
    given = [texts[i] for i in probed]
    other_end, other_start = (
        [
            _with_part_of(texts[donor], texts[i], part)
            for i, donor in zip(probed, donors, strict=True)
        ]
        for part in (PARTS - 1, 0)
    )
    found = predict([*given, *other_end, *other_start])
    before, ends, starts = np.split(found, [len(given), 2 * len(given)])
    n_at_end, n_at_start = (
        int((~np.isclose(before, after, rtol=0, atol=SAME, equal_nan=True)).any(axis=1).sum())
        for after in (ends, starts)
    )
    has_labels_only = bool(np.isin(found[~np.isnan(found)], (0, 1)).all())
    return n_at_end == 0 and n_at_start >= (FEWEST_MOVED if has_labels_only else 1)


def long_texts(texts: Sequence[Texts]) -> list[int]:
    """The longest of some texts, if they are long, by their place: those that are probed."""
    n_words = [len(word_spans(_longer(each))) for each in texts]
    longest = sorted(range(len(texts)), key=lambda i: -n_words[i])[:N_PROBED]
    return [i for i in longest if n_words[i] >= FEWEST_WORDS]


def n_besides(dataset: Dataset, settings: Settings) -> int:
    """How many texts an audit predicts at most to know what the model does: the same texts again,
    originals and variants, and long ones with another end.
    """
    if settings.fidelity != NATURAL or not dataset.task.labels or settings.curtail:
        return 0
    again = 2 * settings.repeats * n_repeated(len(dataset.examples))
    if dataset.task.has_own_chance:
        return again
    return again + PARTS * len(long_texts([example.texts for example in dataset.examples]))


def _donor(i: int, probed: Sequence[int], gold: Sequence[str]) -> int:
    """Another of the texts, with another gold label if there is one."""
    at = probed.index(i)
    others = [*probed[at + 1 :], *probed[:at]]
    return next((other for other in others if gold[other] != gold[i]), others[0])


def _with_part_of(donor: Texts, texts: Texts, part: int) -> Texts:
    """The texts with one of three parts of the longer one replaced by that of another text; what
    stands before it stays as it is to the letter.
    """
    is_second = _is_second_longer(texts)
    text, other = _longer(texts), _longer(donor)
    own, others = word_spans(text), word_spans(other)
    start, end = _ends_of(part, own)
    first, last = _ends_of(part, others)
    from_other = [other[a:b] for a, b in others[first:last]]
    # as many words as there were, so that what stands behind them is where it was
    filled = (from_other * (1 + (end - start) // max(1, len(from_other))))[: end - start]
    glue = " " if re.search(r"\s", text[own[start][0] : own[end - 1][1]]) else ""
    changed = text[: own[start][0]] + glue.join(filled) + text[own[end - 1][1] :]
    return (texts[0], changed) if is_second else (changed, texts[1])


def _ends_of(part: int, spans: Sequence[object]) -> tuple[int, int]:
    return part * len(spans) // PARTS, (part + 1) * len(spans) // PARTS


def _longer(texts: Texts) -> str:
    return str(texts[1]) if _is_second_longer(texts) else texts[0]


def _is_second_longer(texts: Texts) -> bool:
    return texts[1] is not None and len(texts[1].split()) > len(texts[0].split())


def _labels(values: Floats) -> Ints:
    """The predicted label numbers; −1 where there is no answer."""
    return np.where(np.isnan(values[:, 0]), -1, predicted_label(np.nan_to_num(values)))
