"""What an audit measures on the samples of one transformation: scores and conclusions by group, and
what its report shows beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from disorder.errors import DisorderError
from disorder.metrics import references, step_counts
from disorder.metrics.statistics.intervals import Z
from disorder.requests.settings import Settings
from disorder.results.conclusion import Caveat, Conclusion
from disorder.results.run import EarlyStop, LastLook, Omitted, Record
from disorder.transformations import Transformation
from disorder.transformations.shuffle_options import may_move
from disorder.transformations.surface_control import SAME_AS_ORIGINAL
from disorder.transformations.words import NATURAL
from disorder.types import (
    CONTROL_OF,
    SAME_WORDS,
    TEXT_NAMES,
    Bools,
    Dataset,
    Example,
    Floats,
    Ints,
    Outcomes,
    Variants,
    is_about_texts,
)
from disorder.types.predictions import ABSTAINED, predicted_label
from disorder.verbs.audit.behaviour import ModelBehaviour
from disorder.verbs.audit.caveats import unread
from disorder.verbs.audit.conclusions import concluded
from disorder.verbs.audit.describing import answers, controls, figures, noteworthy
from disorder.verbs.audit.order_kinds import RunFacts
from disorder.verbs.audit.planning import score_points
from disorder.verbs.audit.watching import FAIL_IF, not_predicted
from disorder.verbs.outcomes import OutcomeFacts, in_groups, measure
from disorder.verbs.transformation_samples import TransformationSamples

NOT_REACHED = not_predicted(FAIL_IF)
STOPPED_EARLY = (
    "prediction stopped early (--stop-when, --fail-if), and this interval is that of a fixed sample"
)


@dataclass(frozen=True)
class Measured:
    """What the samples of one transformation say."""

    spec: str
    scores: Sequence[Record] = ()
    omitted: Sequence[Omitted] = ()
    skips: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)  # texts without an answer, by reason
    n_used: int = 0  # examples
    conclusions: Mapping[str, Conclusion] = field(default_factory=dict)  # by group
    described: Mapping[str, Any] = field(default_factory=dict)  # tables, by field of the run
    references: Mapping[str, Sequence[Record]] = field(default_factory=dict)  # by reference model
    noteworthy: Sequence[Mapping[str, Any]] = ()  # examples
    acceptance: Floats | None = None  # of each example, NaN where it was not used
    control: Floats | None = None  # predictions for surface controls, where this is one


@dataclass(frozen=True)
class Originals:
    """The predictions for the original texts of all examples, NaN where there is no answer."""

    values: Floats

    @cached_property
    def answered(self) -> Bools:
        """Which examples have a prediction."""
        return ~np.isnan(self.values[:, 0])

    @cached_property
    def labels(self) -> Ints:
        """The predicted label numbers; −1 where there is none."""
        found = np.full(len(self.values), -1, dtype=np.int64)
        found[self.answered] = predicted_label(self.values[self.answered])
        return found


@dataclass(frozen=True)
class Measuring:
    """What is measured, on which data, and how; the same for all transformations of an audit."""

    dataset: Dataset
    settings: Settings
    facts: OutcomeFacts
    plan: Sequence[Transformation]
    requested: Sequence[str]
    perturbed: Callable[[str, Example], Variants]  # all variants of one example
    model_labels: Sequence[str]
    language_caveats: Sequence[str] = ()
    n_cut: int = 0  # examples whose texts are longer than the model reads
    behaviour: ModelBehaviour = field(default_factory=ModelBehaviour)

    def of(
        self,
        samples: TransformationSamples,
        originals: Originals,
        stops: Sequence[EarlyStop],
        *,
        has_probabilities: bool,
        controls: Mapping[str, Floats],
    ) -> Measured:
        """Measure all texts under a transformation, or the original ones, and draw what can be
        concluded from them; the predictions are not needed any more.

        `stops` are the scores that were watched. `has_probabilities` says whether the model gives
        any, or labels alone. `controls` has the predictions for surface controls, by their spec.
        """
        is_original = samples.transformation is None
        if is_original and not samples.used.any():
            reasons = ", ".join(f"{why} ({n:,})" for why, n in samples.failures.items())
            raise DisorderError(f"the model answered no original text: {reasons}")
        if is_original and self._never_labels(samples):
            raise DisorderError(
                f"the model gave none of the labels to {len(samples):,} original texts: look at "
                "what it replies, and at how it is asked (--prompt, --labels)"
            )
        skips = {} if is_original else _skips(samples, originals)
        is_control = samples.transformation is not None and samples.transformation.is_control
        if is_control:
            perturbed = partial(self.perturbed, samples.spec)
            samples.enter_unchanged(originals.values, perturbed)
            skips.pop(SAME_AS_ORIGINAL, None)
        chosen = np.flatnonzero(samples.used & originals.answered)
        found = Measured(samples.spec, skips=skips, failures=dict(sorted(samples.failures.items())))
        if not len(chosen):
            return found
        if is_control:
            found = replace(found, control=samples.values[:, 0].copy())
        n_skipped = len(samples) - len(chosen) if is_original else sum(skips.values())
        outcomes = samples.outcomes(
            originals.values,
            chosen,
            self.facts,
            is_last=True,
            n_skipped=n_skipped,
            gives_probabilities=has_probabilities,
            control=controls.get(CONTROL_OF + samples.spec),
        )
        if samples.transformation is not None and samples.transformation.moves_options:
            outcomes = self._with_places(samples.spec, outcomes, chosen)
        found = self._scored(found, samples, outcomes, chosen, stops)
        is_of_labels = not self.facts.task.is_regression
        is_described = not is_original and not is_control
        if is_described and is_of_labels and not self.facts.is_curtailed:
            found = self._described(found, samples, outcomes, chosen)
        if samples.spec in self._controlled:
            acceptance = np.full(len(samples), np.nan)
            acceptance[chosen] = outcomes.acceptance
            found = replace(found, acceptance=acceptance)
        return found

    def _never_labels(self, samples: TransformationSamples) -> bool:
        """Whether a model that is not made to abstain declined every text."""
        if not self.facts.task.labels or ABSTAINED in self.model_labels:
            return False
        return bool((predicted_label(samples.values[samples.used, 0]) < 0).all())

    def _with_places(self, spec: str, outcomes: Outcomes, chosen: Ints) -> Outcomes:
        """The outcomes with where the chosen option stood in each variant, −1 where none was
        chosen or one that never moves, where the right one stood, a number for each order of the
        options, and how many of them move.
        """
        places = np.full(outcomes.label.shape, -1, dtype=np.int64)
        order, right = places.copy(), places.copy()
        n_movable = np.zeros(len(chosen), dtype=np.int64)
        for row, number in enumerate(chosen.tolist()):
            options = self.perturbed(spec, self.dataset.examples[number]).a
            orders = options.positions
            labels = outcomes.label[row, : len(orders)]
            order[row, : len(orders)] = np.unique(orders, axis=0, return_inverse=True)[1].ravel()
            is_chosen = labels >= 0
            where = (orders == labels[:, None]).argmax(axis=1)
            # an option may stay where it is in the few orders that were drawn
            is_moved = (orders != np.arange(orders.shape[1])).any(axis=0)
            is_moved |= may_move(options.sentence.words)
            n_movable[row] = is_moved.sum()
            places[row, : len(orders)] = np.where(is_chosen & is_moved[where], where, -1)
            right[row, : len(orders)] = (orders == outcomes.gold[row]).argmax(axis=1)
        return replace(outcomes, place=places, order=order, right_place=right, n_movable=n_movable)

    def _scored(
        self,
        found: Measured,
        samples: TransformationSamples,
        outcomes: Outcomes,
        chosen: Ints,
        stops: Sequence[EarlyStop],
    ) -> Measured:
        """All examples, and each group."""
        transformation = samples.transformation
        keeps_words = transformation is not None and transformation.keeps_words
        only = None if transformation is None or not self.requested else self.requested
        points = score_points(self.settings)
        records: list[Record] = []
        omitted: list[Omitted] = []
        conclusions = {}
        everyone = self.dataset.examples
        used = [everyone[i] for i in chosen.tolist()]
        for group, part, members in in_groups(outcomes, used, everyone):
            own, missing = measure(part, group, keeps_words=keeps_words, points=points, only=only)
            records += [_with_anytime_interval(record, stops) for record in own]
            omitted += missing
            if group == "all" and self.facts.task.kind == "pair":
                keep = np.array([each.groups.get(SAME_WORDS) != "yes" for each in members])
                part = part.take(keep)
                members = [each for each, is_kept in zip(members, keep, strict=True) if is_kept]
            is_decidable = group != f"{SAME_WORDS}=yes" and len(members)
            if keeps_words and self._concludes and is_decidable:
                conclusions[group] = self._concluded(part, group, members, found.skips, stops)
        return replace(
            found,
            scores=records,
            omitted=omitted,
            n_used=len(chosen),
            conclusions=conclusions,
        )

    @property
    def _concludes(self) -> bool:
        """Whether the scores say how a model reads texts: not those of likelihoods or of perturbed
        prompts, nor where prediction stopped once Ω was decided.
        """
        is_of_texts = is_about_texts(self.settings.break_) and not self.facts.task.is_likelihood
        return is_of_texts and not self.facts.is_curtailed

    def _concluded(
        self,
        outcomes: Outcomes,
        group: str,
        members: Sequence[Example],
        skips: Mapping[str, int],
        stops: Sequence[EarlyStop],
    ) -> Conclusion:
        """The conclusion on a group, with what a reader should know."""
        own = [stop for stop in stops if stop.transformation == outcomes.transformation]
        examples = self.dataset.examples[: own[0].n_examples if own else None]
        column, _, value = group.partition("=")
        n_reached = sum(
            group == "all" or example.groups.get(column) == value for example in examples
        )
        return concluded(
            replace(outcomes, n_skipped=n_reached - len(outcomes)),
            group,
            settings=self.settings,
            skips=skips,
            model_labels=self.model_labels,
            n_distinct=len({example.texts for example in members}),
            run=RunFacts(self._moved(outcomes.transformation), self.behaviour, _z_of(own)),
            more=[*self.caveats_of_the_run(own), *self._left_out_pairs(group)],
        )

    def _left_out_pairs(self, group: str) -> list[Caveat]:
        """That a conclusion on all pairs is about those whose texts differ in their words."""
        examples = self.dataset.examples
        n_same = sum(each.groups.get(SAME_WORDS) == "yes" for each in examples)
        if group != "all" or not n_same:
            return []
        text = (
            f"{n_same:,} of {len(examples):,} pairs have the same words in another order: order "
            "alone decides these, and the conclusion is about the others"
        )
        return [Caveat(kind="same_words", text=text)]

    def _moved(self, spec: str) -> list[str]:
        """The texts that a transformation moves, where it leaves another in place."""
        transformation = next(each for each in self.plan if each.spec == spec)
        names = transformation.segment_names(self.dataset.examples[0])
        if names != TEXT_NAMES[: len(names)]:
            return [f"the {name}" for name in names]
        is_pair = len(names) > 1
        sides = transformation.perturbed_sides(self.dataset.task, is_pair=is_pair)
        return [f"text_{side}" for side in sides] if is_pair and len(sides) == 1 else []

    def caveats_of_the_run(self, stops: Sequence[EarlyStop]) -> list[Caveat]:
        """Caveats that hold for every group under a transformation that stopped so."""
        found = [Caveat(kind="language", text=text) for text in self.language_caveats]
        if self.facts.fidelity == NATURAL and self.settings.limit is None:
            found += unread(self.dataset)
        if any(isinstance(each, LastLook) for each in stops):  # their interval allows for it
            return found
        n = len(self.dataset.examples)
        is_early = any(stop.n_examples < n or self.facts.fidelity != NATURAL for stop in stops)
        if is_early or NOT_REACHED in self.dataset.skipped:
            found.append(Caveat(kind="stopped_early", text=STOPPED_EARLY))
        if self.n_cut:
            text = (
                f"the texts of {self.n_cut:,} of {n:,} examples are longer than the model reads: "
                "they are cut at a word, so that original, control and variants hold the same words"
            )
            found.append(Caveat(kind="cut_texts", text=text))
        return found

    @cached_property
    def _controlled(self) -> set[str]:
        """The transformations that have a control, and the controls."""
        if self.facts.task.predicts != "labels" or self.facts.is_curtailed:
            return set()
        return {spec for pair in controls(self.plan).items() for spec in pair}

    def _described(
        self, found: Measured, samples: TransformationSamples, outcomes: Outcomes, chosen: Ints
    ) -> Measured:
        """With what the report shows beside the scores: filters, reference models, curves,
        examples.
        """
        assert samples.transformation is not None
        spec = samples.spec
        keeps_words = samples.transformation.keeps_words
        examples = [self.dataset.examples[i] for i in chosen.tolist()]
        tables: dict[str, Any] = {"figures": figures(outcomes), "answers": answers(outcomes)}
        shown = noteworthy(outcomes, examples, lambda i: self.perturbed(spec, examples[i]))
        if keeps_words:
            tables["dev_r"] = step_counts(outcomes)
        return replace(
            found,
            described=tables,
            references={
                name: measure(reference, keeps_words=keeps_words, points={"omega": ()})[0]
                for name, reference in references(outcomes)
            },
            noteworthy=shown,
        )


def _skips(samples: TransformationSamples, originals: Originals) -> dict[str, int]:
    """How many examples are left out, by reason."""
    found = Counter(samples.skips)
    n_failed = int(((samples.n_failed > 0) & ~samples.used).sum())
    n_unanswered = int((samples.used & ~originals.answered).sum())
    for reason, n in (("no answer", n_failed), ("no answer to the original text", n_unanswered)):
        if n:
            found[reason] += n
    return dict(sorted(found.items()))


def _z_of(stops: Sequence[EarlyStop]) -> float:
    """The normal point of the look that ended a run."""
    return next((each.z for each in stops if isinstance(each, LastLook)), Z)


def _with_anytime_interval(record: Record, stops: Sequence[EarlyStop]) -> Record:
    """Where prediction stopped early, watched scores have the intervals that allow for it."""
    for stop in stops:
        is_watched = (record.transformation, record.metric) == (stop.transformation, stop.metric)
        if is_watched and record.group == "all" and stop.low is not None and stop.high is not None:
            low, high = min(stop.low, record.value), max(stop.high, record.value)
            return replace(record, low=low, high=high)
    return record
