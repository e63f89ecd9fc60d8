"""Trials: models trained and tested on original and on perturbed rows, and what that costs.

The three designs of NLI Data Sanity Check (Talman et al., 2021): corrupt the training data, the
test data, or both. Every cost is paired, over the same rows, against the model that was trained and
tested on original texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from disorder.data import groups
from disorder.data.families import Families, find_families
from disorder.errors import NothingToMeasure
from disorder.results.result import Row
from disorder.store.store import ARRAYS, Arrays, Store
from disorder.types import ORIGINAL, Bools, Dataset, Example, Floats, Ints, Score, Task, Texts
from disorder.verbs.sanity.features import shared_words
from disorder.verbs.sanity.linear import TrialModel
from disorder.verbs.sanity.result import record
from disorder.verbs.sanity.rows import DatasetRows, PerturbedRows, perturb_rows
from disorder.verbs.sanity.scoring import (
    balanced_accuracy,
    balanced_difference,
    correlation,
    correlation_difference,
)
from disorder.verbs.sanity.verdicts import VerdictRule

DESIGNS = ("corrupt-both", "corrupt-test", "corrupt-train")
ALL = "all"
UNCHANGED = 1e-6  # a smaller change of a probability is none
SELDOM = 0.01  # so few rows may change by odd spaces alone
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class TrialPredictions:
    """Predicted probabilities (or numbers), one row per row of the data, NaN where none; `balanced`
    is divided by how frequent labels were in training.
    """

    balanced: Floats
    plain: Floats


@dataclass(frozen=True, eq=False)
class Trial:
    """One transformation in the three designs; `overlap` is that of the perturbed test rows."""

    perturbed: PerturbedRows
    predictions: dict[str, TrialPredictions]
    overlap: float | None

    @property
    def spec(self) -> str:
        """The transformation."""
        return self.perturbed.spec


@dataclass(eq=False)
class Trials:
    """Trains and tests one model on the rows, original and perturbed.

    `run(specs)` gives a `Trial` per transformation; `score` and `cost` measure its predictions on
    the rows numbered in `rows.tested`, or on some of them. `by_group` repeats a measurement for all
    rows and for each group. Each transformation is trained on once, whatever check asks for it.
    """

    rows: DatasetRows
    model: TrialModel
    rule: VerdictRule
    seed: int = 0
    store: Store = field(default_factory=Store)
    _done: dict[str, Trial] = field(default_factory=dict)

    @property
    def task(self) -> Task:
        """The task of the data."""
        return self.rows.data.task

    @property
    def is_pairs(self) -> bool:
        """Whether rows have two texts."""
        return self.rows.examples[0].is_pair

    @property
    def metric(self) -> str:
        """The name of what `score` measures."""
        return "spearman" if self.task.is_regression else "balanced_accuracy"

    @property
    def done(self) -> list[Trial]:
        """Every trial so far."""
        return list(self._done.values())

    @cached_property
    def gold(self) -> Any:
        """The gold label of each row as a number."""
        if self.task.is_regression:
            return np.array([float(example.label) for example in self.rows.examples])
        labels = self.task.labels
        return np.array([labels.index(example.label) for example in self.rows.examples])

    @cached_property
    def texts(self) -> list[Texts]:
        """The original texts."""
        return [example.texts for example in self.rows.examples]

    @cached_property
    def encoded(self) -> Any:
        """The original texts in the form that the model learns from."""
        return self.model.encode(self.texts)

    @cached_property
    def original_models(self) -> list[Any]:
        """One model per part, trained on the original texts of the others."""
        return self.fit(self.model, self.encoded, ORIGINAL)

    @cached_property
    def original(self) -> TrialPredictions:
        """Predictions of those models for original texts."""
        found = self.store.once(
            ORIGINAL,
            lambda: vars(
                self.predict(self.model, self.original_models, self.encoded, self._every_row)
            ),
            ARRAYS,
        )
        return TrialPredictions(**found)

    @property
    def _every_row(self) -> Bools:
        return np.ones(len(self.texts), dtype=bool)

    def fit(self, model: TrialModel, encoded: Any, name: str) -> list[Any]:
        """One fitted model per part, trained on the rows of the other parts."""
        fitted = []
        for fold in self.rows.folds:
            rows = np.flatnonzero(self.rows.fold != fold)
            fitted.append(model.fit(encoded, rows, self.gold[rows], name, fold))
        return fitted

    def predict(
        self, model: TrialModel, fitted: Sequence[Any], encoded: Any, applies: Bools
    ) -> TrialPredictions:
        """Predictions for each part by the model that never saw it, where `applies` is true."""
        shape = (len(self.texts), max(1, len(self.task.labels)))
        plain = np.full(shape, np.nan)
        balanced = np.full(shape, np.nan)
        for fold, fitted_model in zip(self.rows.folds, fitted, strict=True):
            rows = np.flatnonzero((self.rows.fold == fold) & applies)
            if len(rows):
                plain[rows] = model.predict(fitted_model, encoded, rows)
                balanced[rows] = plain[rows] / self._label_shares(fold)
        return TrialPredictions(balanced, plain)

    def _label_shares(self, fold: int) -> Floats:
        """How frequent each label is in the training rows of a part; 1 for numbers."""
        if self.task.is_regression:
            return np.ones(1)
        counts = np.bincount(self.gold[self.rows.fold != fold], minlength=len(self.task.labels))
        return np.asarray(np.maximum(counts, 1) / max(1, counts.sum()))

    def label_shares_of(self, rows: Ints) -> Floats:
        """How frequent each label is among the rows that each of these was predicted from."""
        found = np.ones((len(rows), len(self.task.labels)))
        for fold in self.rows.folds:
            found[self.rows.fold[rows] == fold] = self._label_shares(fold)
        return found

    def run(self, specs: Sequence[str]) -> list[Trial]:
        """Each transformation in the three designs; raises where one applies to no row."""
        trials, reasons = self.try_each(specs)
        if reasons:
            raise NothingToMeasure(reasons[0])
        return trials

    def try_each(self, specs: Sequence[str]) -> tuple[list[Trial], list[str]]:
        """The transformations that apply, in the three designs, and why others do not."""
        missing = [spec for spec in specs if spec not in self._done]
        perturbed = perturb_rows(self.rows.examples, missing, task=self.task, seed=self.seed)
        perturbed.reverse()
        reasons = []
        while perturbed:  # popped, so that no texts are kept longer than needed
            rows = perturbed.pop()
            try:
                self._done[rows.spec] = self._run(rows)
            except NothingToMeasure as reason:
                reasons.append(str(reason))
        return [self._done[spec] for spec in specs if spec in self._done], reasons

    def _run(self, perturbed: PerturbedRows) -> Trial:
        tested = self.rows.tested
        if not perturbed.applies[tested].any():
            skips = ", ".join(perturbed.skips)
            raise NothingToMeasure(f"{perturbed.spec}: no row can be perturbed ({skips})")
        applies = perturbed.applies
        found = self.store.once(perturbed.spec, partial(self._predictions, perturbed), ARRAYS)
        predictions = {
            design: TrialPredictions(found[f"{design} balanced"], found[f"{design} plain"])
            for design in DESIGNS
        }
        overlap = None
        if self.is_pairs:
            overlap = float(np.mean(self.overlaps(perturbed.texts, tested[applies[tested]])))
        return Trial(perturbed, predictions, overlap)

    def _predictions(self, perturbed: PerturbedRows) -> Arrays:
        """What the models of original and of perturbed texts predict, in the three designs."""
        encoded = self.model.encode(perturbed.texts)
        # Rows that it does not apply to stay original, so that no model learns from fewer rows.
        fitted = self.fit(self.model, encoded, perturbed.spec)
        applies = perturbed.applies
        made = {
            "corrupt-both": self.predict(self.model, fitted, encoded, applies),
            "corrupt-test": self.predict(self.model, self.original_models, encoded, applies),
            "corrupt-train": self.predict(self.model, fitted, self.encoded, self._every_row),
        }
        return {
            f"{design} {name}": array
            for design, each in made.items()
            for name, array in vars(each).items()
        }

    def overlaps(self, texts: Sequence[Texts], rows: Ints) -> Floats:
        """The word overlap of these rows."""
        return np.array([shared_words(*texts[row]) for row in rows.tolist()])

    def score(self, predictions: TrialPredictions, rows: Ints) -> Score:
        """Balanced accuracy (numbers: rank correlation); rows without prediction are skipped."""
        kept, about = self._predicted(predictions, rows)
        if self.task.is_regression:
            return correlation(predictions.balanced[kept, 0], self.gold[kept], **about)
        return balanced_accuracy(self.is_right(predictions, kept), self.gold[kept], **about)

    def cost(self, predictions: TrialPredictions, rows: Ints) -> Score:
        """How far predictions for these rows score below those of the model of original texts."""
        return self.difference(self.original, predictions, rows)

    def difference(self, better: TrialPredictions, than: TrialPredictions, rows: Ints) -> Score:
        """How far one set of predictions scores above another, on the rows that the other has."""
        kept, about = self._predicted(than, rows)
        gold = self.gold[kept]
        if self.task.is_regression:
            columns = better.balanced[kept, 0], than.balanced[kept, 0]
            return correlation_difference(*columns, gold, **about)
        is_right = self.is_right(better, kept)
        return balanced_difference(is_right, self.is_right(than, kept), gold, **about)

    def _predicted(self, predictions: TrialPredictions, rows: Ints) -> tuple[Ints, dict[str, Any]]:
        """The rows that have a prediction; how many have none, and which rows belong together."""
        kept = rows[~np.isnan(predictions.balanced[rows, 0])]
        return kept, {"skipped": len(rows) - len(kept), "clusters": self.rows.cluster[kept]}

    def is_right(self, predictions: TrialPredictions, rows: Ints) -> Bools:
        """Which of these rows got their gold label."""
        return np.asarray(predictions.balanced[rows].argmax(axis=1) == self.gold[rows])

    def plain_accuracy(self, predictions: TrialPredictions) -> float | None:
        """The usual accuracy, where frequent labels count more; None for numbers."""
        if self.task.is_regression:
            return None
        tested = self.rows.tested
        return float((predictions.plain[tested].argmax(axis=1) == self.gold[tested]).mean())

    def chance(self, rows: Ints) -> float:
        """The score of a guess on these rows: one in the number of labels; 0 for numbers."""
        return 0.0 if self.task.is_regression else 1 / len(np.unique(self.gold[rows]))

    def groups(self) -> Iterator[tuple[str, Ints]]:
        """All rows that are tested, then those of each group."""
        tested = self.rows.tested
        examples = [self.rows.examples[row] for row in tested.tolist()]
        for name, mask, _ in groups(examples, examples):
            yield name, tested[mask]

    def by_group(self, measure: Callable[[str, Ints], T]) -> tuple[list[T], list[str]]:
        """`measure(group, rows)` for all rows and each group; and a line for each without any."""
        found = []
        notes = []
        for group, rows in self.groups():
            try:
                found.append(measure(group, rows))
            except NothingToMeasure as reason:
                if group == ALL:
                    raise
                notes.append(f"{group}: not judged ({reason})")
        return found, notes

    def records(self, check: str, trials: Sequence[Trial]) -> tuple[list[Row], list[str]]:
        """Score and cost of trials by design and group, as rows; and the groups without any."""
        records: list[Row] = []
        notes: dict[str, None] = {}
        for trial in trials:
            by_group, more = self.by_group(partial(self._records, check, trial))
            records += [row for rows in by_group for row in rows]
            notes |= dict.fromkeys(more)
        return records, list(notes)

    def _records(self, check: str, trial: Trial, group: str, rows: Ints) -> list[Row]:
        found = []
        for design in DESIGNS:
            predictions = trial.predictions[design]
            row = {"check": check, "transformation": trial.spec, "design": design, "group": group}
            found.append(row | {"metric": self.metric} | record(self.score(predictions, rows)))
            found.append(row | {"metric": "cost"} | record(self.cost(predictions, rows)))
        return found

    def uses_order(self, trial: Trial) -> bool:
        """Whether shuffling changes predictions of the original model in over 1 % of rows."""
        tested = self.rows.tested
        rows = tested[trial.perturbed.applies[tested]]
        before = self.original.plain[rows]
        after = trial.predictions["corrupt-test"].plain[rows]
        change = np.abs(after - before).max(axis=1)
        return bool((change > UNCHANGED).mean() > SELDOM)


@dataclass(frozen=True, eq=False)
class CheckInput:
    """What a check gets as its only argument.

    `data` is the dataset (with a limit, the rows that were drawn), `train` its training split (None
    where there is none); `families` says which of their `examples` are not independent. `rule`
    holds the margin and decides verdicts. `trials` trains the model on original and on perturbed
    rows, and scores it; a check that uses it says `trains=True`.

    A check returns a `CheckResult`; where it has nothing to measure it raises `NothingToMeasure`
    with the reason, and the other checks are still done.
    """

    data: Dataset
    train: Dataset | None
    rule: VerdictRule
    trained: Trials | str = "no model is trained"

    @property
    def task(self) -> Task:
        """The task of the data: its labels (none where gold values are numbers) and language."""
        return self.data.task

    @cached_property
    def examples(self) -> Sequence[Example]:
        """All rows that were read, training rows first."""
        training_rows = [] if self.train is None else self.train.examples
        return [*training_rows, *self.data.examples]

    @cached_property
    def families(self) -> Families:
        """The families that all rows fall into."""
        return find_families(self.examples)

    @property
    def trials(self) -> Trials:
        """The rows dealt into parts, and the model that is trained and tested on them."""
        if isinstance(self.trained, str):
            raise NothingToMeasure(self.trained)
        return self.trained
