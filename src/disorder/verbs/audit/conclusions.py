"""The conclusions of an audit under way: drawn for each group under each transformation that keeps
the words, settled at the end on one transformation.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from disorder.data import groups
from disorder.errors import DoesNotApply
from disorder.metrics import SkillRatio
from disorder.runs import Run
from disorder.runs.conclusion import MAIN, Caveat, Conclusion, WordBaseline
from disorder.runs.run import DIGITS
from disorder.runs.samples import storable
from disorder.runs.settings import Settings
from disorder.types import Bools, Dataset, Floats, Ints, Outcomes, Variants
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.caveats import caveats_of, of_behaviour, of_repeats, words_alone
from disorder.verbs.audit.concluding import ConclusionLimits, conclude
from disorder.verbs.audit.stopping import is_stopped_early
from disorder.verbs.audit.word_baseline import word_baseline
from disorder.verbs.outcomes import gold_of

KEEPS_SKILL = ("bag_of_words", "mixed")
N_SAMPLED = 50  # examples on which transformations are told apart by what they break
MOST_TOGETHER = 1 / 3  # of neighbours beyond chance, for a model that keeps its skill to be judged
FEWEST_ROWS = 50  # that `sanity` trains on
IN_MEMORY = "data"  # how rows that were given as they are are called


@dataclass
class Conclusions:
    """What can be concluded so far, by transformation and group."""

    run: Run
    dataset: Dataset
    predictor: BlockPredictor
    settings: Settings
    drawn: dict[str, dict[str, Conclusion]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.take_originals(self.dataset, np.empty(0, dtype=bool), np.empty(0, dtype=np.int64))

    def take_originals(self, dataset: Dataset, answered: Bools, labels: Ints) -> None:
        """The examples of the audit, which of them have a prediction for the original text, and
        which label it is for those.
        """
        self.dataset = dataset
        self.answered = answered
        self.original_label: Ints = np.full(len(answered), -1, dtype=np.int64)
        self.original_label[answered] = labels

    def _n_reached(self, outcomes: Outcomes, group: str) -> int:
        """How many examples of a group had their turn before prediction stopped."""
        n_done = self.run.stopped_after(outcomes.transformation)
        column, _, value = group.partition("=")
        return sum(
            group == "all" or example.groups.get(column) == value
            for example in self.dataset.examples[:n_done]
        )

    def draw(self, outcomes: Outcomes, group: str) -> None:
        """Conclude on a group of examples under a transformation that keeps their words."""
        limits = ConclusionLimits.of(self.settings)
        found = conclude(outcomes, limits, group=group)
        found.caveats = [
            *caveats_of(
                replace(outcomes, n_skipped=self._n_reached(outcomes, group) - len(outcomes)),
                skips=self.run.skips.get(outcomes.transformation, {}),
                renamed=self.settings.labels,
                model_labels=self.predictor.model.predictor.labels,
                least_skill=limits.least_skill,
            ),
            *of_behaviour(found, outcomes, limits.misled_above),
            *of_repeats(len({self._texts[str(name)] for name in outcomes.example}), len(outcomes)),
            *self._of_the_run(outcomes.transformation),
        ]
        self.drawn.setdefault(outcomes.transformation, {})[group] = found

    @cached_property
    def _texts(self) -> dict[str, tuple[str | None, ...]]:
        """The texts of each example, by the id that outcomes have."""
        return {storable(example.id): example.texts for example in self.dataset.examples}

    def _of_the_run(self, spec: str) -> list[Caveat]:
        """Caveats that hold for every group."""
        found = [Caveat(kind="language", text=text) for text in self.run.language_caveats]
        if is_stopped_early(self.run, spec):
            text = (
                "prediction stopped early (--stop-when, --fail-if), and this interval is that of a "
                "fixed sample"
            )
            found.append(Caveat(kind="stopped_early", text=text))
        return found

    def settle(self) -> None:
        """Enter the conclusions of one transformation into the run: `derange` where it was
        measured, else the one that leaves fewest neighbouring words together.
        """
        if not self.drawn:
            return
        main = MAIN
        if MAIN not in self.drawn:
            # the first of equals, in the user's order
            main = min(self.drawn, key=self._rank)
        found = self.drawn[main]
        self._claim_no_more_than_was_broken(found, main)
        if any(each.kind in KEEPS_SKILL for each in found.values()):
            self._ask_the_data(found)
        self.run.conclusion = found["all"]
        self.run.conclusions = {name: each for name, each in found.items() if name != "all"}

    def _claim_no_more_than_was_broken(self, found: dict[str, Conclusion], spec: str) -> None:
        """Skill that is kept where most neighbouring words stay together may rest on their order:
        only its loss can be concluded from.
        """
        kept = self._neighbours(spec)
        if kept is None or kept.above_chance <= MOST_TOGETHER:
            return
        instead = "" if spec == MAIN else f": --with {MAIN} moves every word"
        for each in found.values():
            if each.kind in KEEPS_SKILL:
                each.kind = "undecided"
                each.because += (
                    f"; {spec} leaves {kept.beside:.2f} of neighbouring words side by side, so "
                    f"that the skill that is kept may rest on them{instead}"
                )

    def _ask_the_data(self, found: dict[str, Conclusion]) -> None:
        """Whether words alone can answer: then a model that keeps its skill is not at fault."""
        examples = self.dataset.examples
        task = self.dataset.task
        gold = gold_of(task, examples).astype(np.int64)  # of no use for numbers
        baseline = None
        if not task.is_regression:
            baseline = word_baseline(self.dataset, gold, seed=self.settings.seed)
        for group, chosen, _ in groups(examples, examples):
            if found.get(group) is None or found[group].kind not in KEEPS_SKILL:
                continue
            beside = None
            if baseline is not None:
                is_right = self.original_label == gold
                beside = baseline.beside(gold, is_right, chosen & self.answered)
            row = None if beside is None else _row(group, beside)
            if row is not None:
                self.run.word_baselines.append(row)
            caveat = words_alone(row, sanity_command(self.run))
            if caveat.kind == "may_not_need_order" or found[group].kind == "bag_of_words":
                found[group].caveats.insert(0, caveat)

    def _rank(self, spec: str) -> float:
        kept = self._neighbours(spec)
        return 1.0 if kept is None else kept.in_order

    def _neighbours(self, spec: str) -> Neighbours | None:
        """What a transformation leaves of neighbouring words, on some examples; None where that
        cannot be said.
        """
        if self.predictor.transformation(spec).asks_others:
            return None
        counts = np.zeros(4)
        for example in self.dataset.examples[:N_SAMPLED]:
            try:
                counts += neighbours_kept(self.predictor.perturbed(spec, example))
            except DoesNotApply:
                continue
        return Neighbours(*(counts[:3] / counts[3]).tolist()) if counts[3] else None


@dataclass(frozen=True)
class Neighbours:
    """Shares of neighbouring words: still in order, still side by side in either order, and side by
    side by chance.
    """

    in_order: float
    beside: float
    by_chance: float

    @property
    def above_chance(self) -> float:
        """The share side by side beyond that of a random order; short texts always have some."""
        return (self.beside - self.by_chance) / max(1e-9, 1 - self.by_chance)


def sanity_command(run: Run) -> str:
    """What to type to find out whether the data needs word order; empty where it is too small."""
    if run.n_available < FEWEST_ROWS:
        return ""
    if run.data == IN_MEMORY:
        return "disorder.sanity with the same data"
    words = ["disorder", "sanity", run.data]
    for name in ("columns", "task", "language", "data_dir"):
        value = run.settings.get(name)
        if isinstance(value, Mapping):
            value = ",".join(f"{column}={meaning}" for column, meaning in value.items())
        if value and value != "auto":
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _row(group: str, beside: SkillRatio) -> WordBaseline:
    """The bag of words beside the model, as run.json holds it."""
    words, model = beside.plain(0), beside.plain(1)
    value, low, high, own, chance = (
        round(x, DIGITS) + 0.0
        for x in (words.value, words.low, words.high, model.value, beside.chance)
    )
    return WordBaseline(
        group=group, value=value, low=low, high=high, n=words.n, model=own, chance=chance
    )


def neighbours_kept(variants: Variants) -> Floats:
    """How many neighbouring words of a perturbed text are still in order, are still side by side,
    and are so by chance, per variant; and how many there are. A text that no variant changes does
    not count.
    """
    found = np.zeros(4)
    for rows in variants.sides:
        if rows.written is None and rows.positions.shape[1] > 1 and _is_moved(rows.positions):
            apart = np.diff(rows.positions, axis=1)
            n = apart.shape[1]
            in_order = (apart == 1).sum(axis=1).mean()
            beside = (np.abs(apart) == 1).sum(axis=1).mean()
            found += [in_order, beside, n * min(1.0, 2 / (n + 1)), n]
    return found


def _is_moved(positions: Ints) -> bool:
    return bool((positions != np.arange(positions.shape[1])).any())
