"""`--until decided`: a run ends at the first planned look that decides its conclusion.

Examples come in an order that follows from seed and id alone, family by family, so that the runs of
two models share their first part. By itself it is on where predicting everything would take over a
minute, or where a server is asked.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from disorder.errors import BadOption
from disorder.metrics.statistics.anytime import FIRST
from disorder.metrics.statistics.decomposition import EVERY_EXAMPLE
from disorder.metrics.statistics.intervals import Z
from disorder.metrics.statistics.skill import skill_of
from disorder.models import LoadedModel
from disorder.requests.audit import CONTINUED, DECIDED
from disorder.requests.settings import Settings
from disorder.results.conclusion import Conclusion
from disorder.results.run import EarlyStop, LastLook
from disorder.transformations import Transformation
from disorder.types import CONTROL_OF, SAME_WORDS, Costs, Dataset, Outcomes
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.conclusions import Neighbours, about_what_moved, main_transformation
from disorder.verbs.audit.order_kinds import KindLimits, RunFacts, conclude_on_order
from disorder.verbs.audit.sampling import stages_of
from disorder.verbs.audit.watching import Looks, Watcher

OPEN = ("undecided", "reads_or_mixed", "mixed_or_bag", "bag_or_misled")
NARROW = 0.05  # an interval that says enough, whatever the kind
LONG = 60.0  # seconds
TIMED = 4  # variants of an example whose prediction is timed
WARMING = 1  # example whose variants are predicted before
MEASURED = 2  # examples whose variants are timed


@dataclass
class UntilDecided(Watcher):
    """Over at the first planned look at which the kind is decided, or its interval narrow; one
    that is continued after that is never over.
    """

    spec: str  # the transformation that is concluded on
    looks: Looks
    limits: KindLimits
    kept: Neighbours | None
    left_out: frozenset[str]  # ids of examples that nothing is concluded from
    n_planned: int
    z: float  # of the last look, until another one ends the run
    is_continued: bool = False
    is_decided: bool = False

    @classmethod
    def of(
        cls,
        plan: Sequence[Transformation],
        dataset: Dataset,
        settings: Settings,
        families: Mapping[str, int],
        predictor: BlockPredictor,
    ) -> UntilDecided:
        """What watches an audit."""
        main, kept = main_transformation(_moving(plan), dataset.examples, predictor.perturbed)
        looks = Looks.over(dataset, families)
        return cls(
            main,
            looks,
            KindLimits(settings.reads_below, settings.bag_above, settings.least_skill),
            kept,
            frozenset(e.id for e in dataset.examples if e.groups.get(SAME_WORDS) == "yes"),
            len(dataset.examples),
            looks.planned[-1].z,
            is_continued=settings.until == CONTINUED,
        )

    def is_about(self, spec: str) -> bool:
        """The transformation that is concluded on."""
        return spec == self.spec

    def compares_with(self, spec: str) -> bool:
        """Its surface control."""
        return spec == CONTROL_OF + self.spec

    def take(
        self, outcomes: Mapping[str, Outcomes], n_done: int, *, has_probabilities: bool
    ) -> None:
        """Look at the conclusion where that was planned."""
        if self.spec not in outcomes:
            return
        given = outcomes[self.spec]
        keep = np.array([name not in self.left_out for name in given.example.tolist()])
        look = self.looks.take(given.take(keep), n_done)
        if look is None or look.is_last or self.is_continued:
            return
        found = self._concluded(look.z)
        # a wider interval reaches "no skill" more easily: the kind has to hold without it as well
        if _is_decided(found) and found.kind == self._concluded(Z).kind:
            self.is_decided = True
            self.z = look.z

    def _concluded(self, z: float) -> Conclusion:
        found = conclude_on_order(self.looks.seen, self.limits, RunFacts(z=z))
        return about_what_moved(found, self.kept)

    def is_over(self) -> str:
        """Once it is decided."""
        return f"--until {DECIDED}" if self.is_decided else ""

    def stops(self, n_done: int) -> list[EarlyStop]:
        """The skill kept, with the interval of the look that ended the run, where it has one."""
        if not self.looks.parts:
            return []
        seen = self.looks.seen
        has_ratio = seen.task.has_own_chance or len(np.unique(seen.gold)) > 1
        bounds = skill_of(seen).ratios()[0].t.interval(self.z) if has_ratio else None
        low, high = bounds or (None, None)
        return [
            LastLook(
                transformation=self.spec,
                metric="skill_kept",
                low=low,
                high=high,
                n_examples=n_done,
                z=self.z,
                n_planned=self.n_planned,
            )
        ]


def _is_decided(found: Conclusion) -> bool:
    is_narrow = found.low is not None and found.high is not None
    is_narrow = is_narrow and (found.high or 0.0) - (found.low or 0.0) < NARROW
    return found.kind not in OPEN or is_narrow


def _moving(plan: Sequence[Transformation]) -> list[Transformation]:
    """The transformations that are concluded on."""
    return [each for each in plan if each.keeps_words and not each.is_control]


def settled(
    settings: Settings,
    loaded: LoadedModel,
    dataset: Dataset,
    plan: Sequence[Transformation],
) -> Settings:
    """The settings with `until` decided where the user leaves that open and it is worth it."""
    reason = _why_not(dataset, plan)
    if settings.until == DECIDED and reason:
        raise BadOption("audit", until=settings.until, need=f"no {reason}")
    if not _is_open(settings, dataset, plan):
        return settings
    is_long = loaded.is_remote or _seconds(settings, loaded, dataset, plan) > LONG
    return replace(settings, until=DECIDED) if is_long else settings


def n_timed(dataset: Dataset, plan: Sequence[Transformation], settings: Settings) -> int:
    """How many texts are predicted at most to know how long an audit takes."""
    if not _is_open(settings, dataset, plan):
        return 0
    return (WARMING + MEASURED) * _moving(plan)[0].count(TIMED)


def _is_open(settings: Settings, dataset: Dataset, plan: Sequence[Transformation]) -> bool:
    """Whether it depends on the time it takes if an audit goes on until it is decided."""
    has_groups = any(set(example.groups) - {SAME_WORDS} for example in dataset.examples)
    is_left_open = settings.until is None and not settings.not_with_until and not has_groups
    return is_left_open and len(dataset.examples) > FIRST and not _why_not(dataset, plan)


def _why_not(dataset: Dataset, plan: Sequence[Transformation]) -> str:
    """What there is no interval for that could decide; empty where there is one."""
    if dataset.task.is_regression:
        return "numbers as gold labels"
    if dataset.task.is_likelihood:
        return "comparison of likelihoods"
    return "" if _moving(plan) else "transformations that change the words"


def _seconds(
    settings: Settings, loaded: LoadedModel, dataset: Dataset, plan: Sequence[Transformation]
) -> float:
    """About how long it takes to predict everything: a few variants are timed, past the cache,
    after those that warm the model up.
    """
    timed = replace(loaded, cache=None, counts=Costs())
    tried = replace(settings, q=TIMED, short="use")
    predictor = BlockPredictor.of(lambda: timed, dataset, plan, tried)
    [_, stage] = stages_of(_moving(plan)[:1], TIMED)
    predictor(stage.block(dataset.examples[:WARMING], 0, 0))
    began = time.perf_counter()
    found = predictor(stage.block(dataset.examples[WARMING : WARMING + MEASURED], 1, 1))
    each = (time.perf_counter() - began) / max(1, found.table.num_rows)
    q = settings.q or EVERY_EXAMPLE[0]
    n_texts = len(dataset.examples) * (1 + sum(one.count(q) for one in plan))
    return float(each * n_texts)
