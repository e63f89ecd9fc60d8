"""What does it cost to break the data? Models trained on whole and on perturbed rows, each asked whole
and perturbed rows.

NLI Data Sanity Check's three designs (Talman et al., 2021): corrupt the training data, the test
data, or both. Every cost is paired, over the same rows, against the model that was trained on and
asked original texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from disorder.data import groups
from disorder.errors import DoesNotApply, NothingToMeasure
from disorder.metrics import ORIGINAL
from disorder.report.exhibits import Row
from disorder.transformations import parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Floats, Ints, Score, Task, Texts, Variants
from disorder.verbs.sanity.equivalence import Rule
from disorder.verbs.sanity.features import share_overlap
from disorder.verbs.sanity.learner import Learner
from disorder.verbs.sanity.result import bounds
from disorder.verbs.sanity.scoring import (
    balanced,
    balanced_difference,
    correlation,
    correlation_difference,
)
from disorder.verbs.sanity.splits import Rows

CHUNK = 1000  # rows perturbed in all ways before the next, so that none is tagged twice
DESIGNS = ("corrupt-both", "corrupt-test", "corrupt-train")
ALL = "all"
SAME, SELDOM = (
    1e-6,
    0.01,
)  # a smaller change of an answer is none; so few changed rows may be odd spaces
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Broken:
    """The rows as a transformation leaves them: their texts, which it applies to, words it removed,
    why it leaves rows out.
    """

    spec: str
    texts: Sequence[Texts]
    applies: Bools
    removed: Floats
    skips: dict[str, int]


@dataclass(frozen=True, eq=False)
class Answers:
    """What models answered: probabilities by row, corrected for how frequent labels were in
    training, and as they came.
    """

    fair: Floats
    plain: Floats


@dataclass(frozen=True, eq=False)
class Probe:
    """One transformation in three designs: answers and costs, and what it did to the texts."""

    perturbed: Broken
    answers: dict[str, Answers]
    overlap: float | None

    @property
    def spec(self) -> str:
        """The transformation."""
        return self.perturbed.spec


@dataclass(eq=False)
class Bench:
    """The rows, the model that learns from them, and the rule that verdicts follow."""

    rows: Rows
    learner: Learner
    rule: Rule
    seed: int = 0
    _kept: dict[str, Probe] = field(default_factory=dict)

    @property
    def task(self) -> Task:
        """What the data asks."""
        return self.rows.data.task

    @property
    def is_pairs(self) -> bool:
        """Whether rows have two texts."""
        return self.rows.examples[0].text_b is not None

    @cached_property
    def gold(self) -> Any:
        """The gold label of each row as a number."""
        labels = self.task.labels
        if self.task.is_regression:
            return np.array([float(e.label) for e in self.rows.examples])
        return np.array([labels.index(e.label) for e in self.rows.examples])

    @cached_property
    def texts(self) -> list[Texts]:
        """The rows as they are."""
        return [example.texts for example in self.rows.examples]

    @cached_property
    def read(self) -> Any:
        """The rows as the model reads them."""
        return self.learner.read(self.texts)

    @cached_property
    def models(self) -> list[Any]:
        """One model for each part, trained on the original texts of the others."""
        return self.fit(self.learner, self.read, ORIGINAL)

    @cached_property
    def whole(self) -> Answers:
        """What they answer to original texts."""
        return self.ask(self.learner, self.models, self.read, np.ones(len(self.texts), dtype=bool))

    def fit(self, learner: Learner, read: Any, name: str) -> list[Any]:
        """A model a part."""
        learned = {fold: np.flatnonzero(self.rows.fold != fold) for fold in self.rows.folds}
        return [
            learner.fit(read, rows, self.gold[rows], name, fold) for fold, rows in learned.items()
        ]

    def ask(self, learner: Learner, models: Sequence[Any], read: Any, applies: Bools) -> Answers:
        """Each part asked by its model; rows that are not asked stay NaN."""
        width = max(1, len(self.task.labels))
        plain, fair = (
            np.full((len(self.texts), width), np.nan),
            np.full((len(self.texts), width), np.nan),
        )
        for fold, model in zip(self.rows.folds, models, strict=True):
            rows = np.flatnonzero((self.rows.fold == fold) & applies)
            if len(rows):
                plain[rows] = learner.ask(model, read, rows)
                fair[rows] = plain[rows] / self._prior(fold)
        return Answers(fair, plain)

    def _prior(self, fold: int) -> Floats:
        """How frequent each label is in the training rows of a part; 1 for numbers."""
        if self.task.is_regression:
            return np.ones(1)
        counts = np.bincount(self.gold[self.rows.fold != fold], minlength=len(self.task.labels))
        return np.asarray(np.maximum(counts, 1) / max(1, counts.sum()))

    def probes(self, specs: Sequence[str]) -> list[Probe]:
        """Each transformation in the three designs; raises where one applies to no row."""
        found, reasons = self.tried(specs)
        if reasons:
            raise NothingToMeasure(reasons[0])
        return found

    def tried(self, specs: Sequence[str]) -> tuple[list[Probe], list[str]]:
        """The transformations that apply, in the three designs, and why others do not; none is done
        twice.
        """
        missing = [spec for spec in specs if spec not in self._kept]
        made = dict(zip(missing, self._perturbed(missing), strict=True))
        reasons = []
        for spec in missing:
            try:
                self._kept[spec] = self._probe(made.pop(spec))
            except NothingToMeasure as reason:
                reasons.append(str(reason))
        return [self._kept[spec] for spec in specs if spec in self._kept], reasons

    @property
    def done(self) -> list[Probe]:
        """What was probed so far."""
        return list(self._kept.values())

    def _probe(self, perturbed: Broken) -> Probe:
        if not perturbed.applies[self.rows.asked].any():
            raise NothingToMeasure(
                f"{perturbed.spec}: no row can be perturbed ({', '.join(perturbed.skips)})"
            )
        learner, every = self.learner, np.ones(len(self.texts), dtype=bool)
        read = learner.read(perturbed.texts)
        models = self.fit(
            learner, read, perturbed.spec
        )  # rows it does not apply to stay whole: no model learns from fewer
        answers = {
            "corrupt-both": self.ask(learner, models, read, perturbed.applies),
            "corrupt-test": self.ask(learner, self.models, read, perturbed.applies),
            "corrupt-train": self.ask(learner, models, self.read, every),
        }
        shared = [
            share_overlap(*perturbed.texts[i])
            for i in self.rows.asked.tolist()
            if perturbed.applies[i]
        ]
        return Probe(perturbed, answers, float(np.mean(shared)) if self.is_pairs else None)

    def _perturbed(self, specs: Sequence[str]) -> list[Broken]:
        """The rows perturbed in each way, some rows at a time."""
        chosen = [parse(spec) for spec in specs]
        made: list[list[Variants | DoesNotApply]] = [[] for _ in specs]
        examples = self.rows.examples
        for start in range(0, len(examples), CHUNK):
            for found, transformation in zip(made, chosen, strict=True):
                part = examples[start : start + CHUNK]
                found += transformation.apply_all(
                    part, task=self.task, q=1, seed=self.seed, short="use"
                )
        return [self._gathered(spec, found) for spec, found in zip(specs, made, strict=True)]

    def _gathered(self, spec: str, made: Sequence[Variants | DoesNotApply]) -> Broken:
        skips = Counter(str(each) for each in made if isinstance(each, DoesNotApply))
        texts = [
            whole if isinstance(v, DoesNotApply) else variant_texts(v)[0]
            for v, whole in zip(made, self.texts, strict=True)
        ]
        removed = np.array(
            [0 if isinstance(each, DoesNotApply) else _removed(each) for each in made], dtype=float
        )
        applies = np.array([not isinstance(each, DoesNotApply) for each in made])
        return Broken(spec, texts, applies, removed, dict(sorted(skips.items())))

    def score(self, answers: Answers, rows: Ints) -> Score:
        """How good answers to these rows are; rows without an answer are counted as left out."""
        kept = rows[~np.isnan(answers.fair[rows, 0])]
        about: dict[str, Any] = {
            "skipped": len(rows) - len(kept),
            "clusters": self.rows.cluster[kept],
        }
        if self.task.is_regression:
            return correlation(answers.fair[kept, 0], self.gold[kept], **about)
        return balanced(self.right(answers, kept), self.gold[kept], **about)

    def cost(self, answers: Answers, rows: Ints, *, than: Answers | None = None) -> Score:
        """How much worse answers to these rows are than those of the model that saw original texts
        only.
        """
        base = self.whole if than is None else than
        kept = rows[~np.isnan(answers.fair[rows, 0])]
        about: dict[str, Any] = {
            "skipped": len(rows) - len(kept),
            "clusters": self.rows.cluster[kept],
        }
        if self.task.is_regression:
            return correlation_difference(
                base.fair[kept, 0], answers.fair[kept, 0], self.gold[kept], **about
            )
        return balanced_difference(
            self.right(base, kept), self.right(answers, kept), self.gold[kept], **about
        )

    def right(self, answers: Answers, rows: Ints) -> Bools:
        """Which of these rows got their gold label."""
        return np.asarray(answers.fair[rows].argmax(axis=1) == self.gold[rows])

    def plain_accuracy(self, answers: Answers) -> float | None:
        """The usual accuracy, where frequent labels count more; None for numbers."""
        if self.task.is_regression:
            return None
        asked = self.rows.asked
        return float((answers.plain[asked].argmax(axis=1) == self.gold[asked]).mean())

    def chance(self, rows: Ints) -> float:
        """What a guess scores on these rows: one label in as many as there are; 0 for numbers."""
        return 0.0 if self.task.is_regression else 1 / len(np.unique(self.gold[rows]))

    def groups(self) -> Iterator[tuple[str, Ints]]:
        """All rows that are asked, then those of each group."""
        asked = self.rows.asked
        examples = [self.rows.examples[i] for i in asked.tolist()]
        for name, mask, _ in groups(examples, examples):
            yield name, asked[mask]

    def judged(self, judge: Callable[[str, Ints], T]) -> tuple[list[T], list[str]]:
        """What is found for all rows and for each group, and a line for each group that has nothing
        to measure.
        """
        found, notes = [], []
        for group, rows in self.groups():
            try:
                found.append(judge(group, rows))
            except NothingToMeasure as reason:
                if group == ALL:
                    raise
                notes.append(f"{group}: not judged ({reason})")
        return found, notes

    def records(self, check: str, probes: Sequence[Probe]) -> tuple[list[Row], list[str]]:
        """Score and cost of probes in each design and group, as rows of the results file; and which
        groups have none.
        """
        found: list[Row] = []
        notes: dict[str, None] = {}
        for probe in probes:
            rows, more = self.judged(partial(self._recorded, check, probe))
            found += [row for each in rows for row in each]
            notes |= dict.fromkeys(more)
        return found, list(notes)

    def _recorded(self, check: str, probe: Probe, group: str, rows: Ints) -> list[Row]:
        found = []
        for design in DESIGNS:
            answers = probe.answers[design]
            row = {"check": check, "transformation": probe.spec, "design": design, "group": group}
            found.append(row | {"metric": self.metric} | record(self.score(answers, rows)))
            found.append(row | {"metric": "cost"} | record(self.cost(answers, rows)))
        return found

    def uses_order(self, probe: Probe) -> bool:
        """Whether shuffling changes what the model of original texts answers, in more than one row of
        a hundred.
        """
        rows = self.rows.asked[probe.perturbed.applies[self.rows.asked]]
        change = np.abs(probe.answers["corrupt-test"].plain[rows] - self.whole.plain[rows]).max(
            axis=1
        )
        return bool((change > SAME).mean() > SELDOM)

    @property
    def metric(self) -> str:
        """What is measured."""
        return "spearman" if self.task.is_regression else "balanced_accuracy"


def record(score: Score) -> Row:
    """A score as a row of the results file."""
    return bounds(score) | {"skipped": score.skipped}


def _removed(variants: Variants) -> int:
    """How many words are gone, of both texts."""
    return sum(
        len(rows.sentence) - rows.positions.shape[1]
        for rows in variants.sides
        if rows.written is None
    )
