"""What the model predicted in one stage of an audit, filled in block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from disorder.abstention import predicted_label
from disorder.runs import no_answers_of, predictions_of, storable
from disorder.types import Bools, Dataset, Floats, Ints, shows_probabilities
from disorder.verbs.audit.block import Block, BlockResult
from disorder.verbs.audit.division import Stage
from disorder.verbs.audit.prediction_array import empty_array
from disorder.verbs.outcomes import gold_of


@dataclass(frozen=True)
class ExampleNumbers:
    """The numbers of the examples by id, as samples name them, and their gold labels."""

    by_id: Mapping[str, int]
    gold: Floats | Ints
    n_labels: int  # 0: the gold labels are numbers

    @classmethod
    def of(cls, dataset: Dataset) -> ExampleNumbers:
        """Those of a dataset."""
        by_id = {storable(example.id): i for i, example in enumerate(dataset.examples)}
        gold = gold_of(dataset.task, dataset.examples)
        return cls(by_id, gold, len(dataset.task.labels))


@dataclass
class Predicted:
    """The predictions of one stage so far."""

    stage: Stage
    numbers: ExampleNumbers
    probabilities: Floats  # examples × variants × labels, NaN where there is none
    used: Bools
    n_unanswered: Ints  # variants of each example that got no answer
    skips: Counter[str] = field(default_factory=Counter)
    no_answers: Counter[str] = field(default_factory=Counter)
    n_done: int = 0
    n_predicted: int = 0
    n_right: int = 0
    has_probabilities: bool = False  # some prediction is neither 0 nor 1, or is no share at all

    @classmethod
    def none_yet(cls, stage: Stage, numbers: ExampleNumbers) -> Predicted:
        """Nothing predicted yet."""
        n = len(numbers.gold)
        array = empty_array((n, stage.count, max(1, numbers.n_labels)))
        return cls(stage, numbers, array, np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64))

    def fill(self, block: Block, result: BlockResult) -> Ints:
        """Enter the predictions of a block; gives the numbers of the examples that it answers."""
        rows, variants, probabilities = predictions_of(result.table)
        places = np.array([self.numbers.by_id[row] for row in rows], dtype=np.int64)
        is_answered = ~np.isnan(probabilities[:, 0])
        self.probabilities[places, variants] = probabilities
        self.used[places[is_answered]] = True
        np.add.at(self.n_unanswered, places[~is_answered], 1)
        self.no_answers.update(no_answers_of(result.table))
        self.skips.update(result.skips)
        self.n_done += len(block.examples)
        self.n_predicted += int(is_answered.sum())
        if not self.has_probabilities:
            is_shown = self.numbers.n_labels < 2 or shows_probabilities(probabilities)
            self.has_probabilities = is_shown
        if self.numbers.n_labels:
            gold = self.numbers.gold[places]
            self.n_right += int((predicted_label(probabilities) == gold).sum())
        return np.unique(places[is_answered])

    def cut(self, n: int) -> None:
        """Leave out all examples but the first n."""
        self.probabilities = self.probabilities[:n]
        self.used = self.used[:n]
        self.n_unanswered = self.n_unanswered[:n]

    @property
    def running_accuracy(self) -> str:
        """The accuracy so far, for the progress bar."""
        if not self.n_predicted or not self.numbers.n_labels:
            return ""
        return f"accuracy so far {self.n_right / self.n_predicted:.3f}"
