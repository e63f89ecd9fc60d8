"""Challenge sets: how verdicts are read where the models that are tested are trained elsewhere.

A challenge set (HANS, a suite made from templates) has no training data of its own. A model that is
trained on a part of it learns the templates: what it can do without says nothing about models that
never saw them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from disorder.data.families import Families, word_set
from disorder.types import Example
from disorder.verbs.sanity.equivalence import NOT_NEEDED
from disorder.verbs.sanity.result import TRAINED_ON_IT, CheckResult, Verdict

Role = Literal["benchmark", "challenge"]
CHALLENGE: Role = "challenge"
TEMPLATED = 0.1  # share of rows with a word of their own below which rows look templated
FEWEST = 50  # families from which that can be told
NEEDS_MORE = "A model trained elsewhere may need it"
KNOWS_LESS = "A model trained elsewhere does not know that"
SAME_TEMPLATES = "The model was trained on rows of the same templates"


@dataclass(frozen=True)
class Reading:
    """How the verdicts of a dataset are read: `role` as the user said, `own_words` the share of
    rows with a word that no other family has (None where it cannot be told).

    `is_trained_on_it` says that models are trained on rows of the dataset itself.
    """

    role: Role = "benchmark"
    own_words: float | None = None
    is_trained_on_it: bool = True

    @property
    def looks_templated(self) -> bool:
        """Whether hardly any row has a word of its own."""
        return self.own_words is not None and self.own_words < TEMPLATED

    @property
    def notes(self) -> list[str]:
        """What to type for a challenge set, where the rows look like one."""
        if not self.looks_templated or self.role == CHALLENGE or self.own_words is None:
            return []
        return [
            f"the rows look templated: {self.own_words:.3f} of them have a word that no row of "
            "another family has; is this a challenge set, for models trained elsewhere? Then add "
            "--role challenge"
        ]

    def read(self, found: CheckResult) -> CheckResult:
        """The result of a check, its verdicts as they are read in this role."""
        return replace(found, verdicts=[self._read(verdict) for verdict in found.verdicts])

    def _read(self, verdict: Verdict) -> Verdict:
        if not (self.is_trained_on_it and verdict.holds_if_trained):
            return verdict
        is_not_needed = verdict.answer == NOT_NEEDED
        if self.role == CHALLENGE:
            caveat = NEEDS_MORE if is_not_needed else KNOWS_LESS
            answer = f"{verdict.answer} {TRAINED_ON_IT}"
            return replace(verdict, answer=answer, because=f"{verdict.because}. {caveat}")
        if self.looks_templated and is_not_needed:
            return replace(verdict, because=f"{verdict.because}. {SAME_TEMPLATES}")
        return verdict


def share_with_own_word(examples: Sequence[Example], families: Families) -> float | None:
    """The share of rows with a word that no row of another family has; None for too few rows."""
    if families.n < FEWEST:
        return None
    sets = [
        np.union1d(word_set(example.text_a), word_set(example.text_b or "")) for example in examples
    ]
    row = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    words, word = np.unique(np.concatenate(sets), return_inverse=True)
    family = families.number[row]
    first = np.full(len(words), families.n)
    last = np.full(len(words), -1)
    np.minimum.at(first, word, family)
    np.maximum.at(last, word, family)
    has_own = np.zeros(len(sets), dtype=bool)
    has_own[row[(first == last)[word]]] = True
    return float(has_own.mean())
