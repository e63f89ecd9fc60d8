"""Measuring: from what a model predicted to the scores, counts and pictures that a run holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from disorder.abstention import predicted_label
from disorder.data import groups
from disorder.errors import DisorderError
from disorder.metrics import ORIGINAL, references, scores, step_counts
from disorder.runs import Omitted, Record, Run
from disorder.runs.settings import Settings
from disorder.transformations import Transformation
from disorder.types import Bools, Dataset, Example, Floats, Outcomes, Score, Variants
from disorder.verbs.audit.answers import answers
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.conclusions import Conclusions
from disorder.verbs.audit.figures import figures
from disorder.verbs.audit.outcome_builder import OutcomeBuilder
from disorder.verbs.audit.planning import score_points
from disorder.verbs.audit.predicted import Predicted
from disorder.verbs.audit.prediction_array import compacted
from disorder.verbs.audit.probability_scores import ProbabilityScores
from disorder.verbs.audit.relative_gain import controls, gains
from disorder.verbs.audit.stopping import use_anytime_intervals
from disorder.verbs.audit.telling_examples import telling
from disorder.verbs.outcomes import gold_of


@dataclass
class Measuring:
    """Enters what each stage of an audit gave into its run."""

    run: Run
    dataset: Dataset
    predictor: BlockPredictor
    builder: OutcomeBuilder
    plan: Sequence[Transformation]
    settings: Settings
    requested: Sequence[str]
    n_used: int = 0  # examples that some transformation could use
    acceptance: dict[str, Floats] = field(default_factory=dict)  # of those with a control

    def __post_init__(self) -> None:
        self.conclusions = Conclusions(self.run, self.dataset, self.predictor, self.settings)
        self.probability_scores = ProbabilityScores(self.run)

    def take_originals(self, predicted: Predicted) -> Floats:
        """Measure the original texts; gives their predictions, NaN where there is no answer."""
        self._count_no_answers(predicted)
        self.original = predicted.probabilities[:, 0]
        used = predicted.used
        if not used.any():
            reasons = ", ".join(f"{why} ({n:,})" for why, n in predicted.no_answers.items())
            raise DisorderError(f"the model answered no original text: {reasons}")
        examples = self._those(used)
        found = self.original[used]
        n_skipped = int((~used).sum())
        outcomes = self.builder.build(examples, found, found[:, None], n_skipped=n_skipped)
        with self.probability_scores.judged(is_shown=predicted.has_probabilities):
            self._record(outcomes, examples)
            use_anytime_intervals(self.run, ORIGINAL)
        self.conclusions.take_originals(self.dataset, used, outcomes.original_label)
        return self.original

    def take(self, predicted: Predicted, transformation: Transformation) -> None:
        """Measure all texts under a transformation, and draw what can be concluded from them."""
        spec = transformation.spec
        self._count_no_answers(predicted)
        used = self._usable(predicted)
        self.run.skips[spec] = dict(sorted(predicted.skips.items()))
        self.n_used += int(used.sum())
        if not used.any():
            return
        examples = self._those(used)
        outcomes = self.builder.build(
            examples,
            self.original[used],
            compacted(predicted.probabilities, used),
            transformation,
            n_skipped=sum(predicted.skips.values()),
            n_unanswered=predicted.n_unanswered[used],
        )
        with self.probability_scores.judged(is_shown=predicted.has_probabilities):
            self._record(outcomes, examples, keeps_words=transformation.keeps_words)
            use_anytime_intervals(self.run, spec)
            if not outcomes.task.is_regression and not self.predictor.decided_at:
                self._describe(outcomes, transformation, examples)
        if spec in self._controlled:
            self.acceptance[spec] = np.full(len(used), np.nan)
            self.acceptance[spec][used] = outcomes.acceptance

    def finish(self) -> None:
        """Compare transformations with their controls; raise where nothing was measured."""
        if self.acceptance:
            gold = gold_of(self.dataset.task, self.dataset.examples)
            is_right = (predicted_label(self.original) == gold).astype(np.float64)
            self.run.gains = gains(self.plan, is_right, self.acceptance)
        if any(record.transformation != ORIGINAL for record in self.run.scores):
            return
        if self.conclusions.drawn and not self.requested:
            return  # one number for every text, of which there is no rank correlation
        if self.requested and self.n_used:
            raise DisorderError(
                f"none of the requested scores applies here: {', '.join(self.requested)}; "
                "see disorder list metrics"
            )
        reasons = {reason for skips in self.run.skips.values() for reason in skips}
        raise DisorderError(
            f"no example can be perturbed this way: {', '.join(sorted(reasons)) or 'no data'}"
        )

    @cached_property
    def _controlled(self) -> set[str]:
        """The transformations that have a control, and the controls."""
        if self.dataset.task.predicts != "labels" or self.predictor.decided_at:
            return set()
        return {spec for pair in controls(self.plan).items() for spec in pair}

    def _those(self, used: Bools) -> list[Example]:
        return [e for e, kept in zip(self.dataset.examples, used, strict=True) if kept]

    def _count_no_answers(self, predicted: Predicted) -> None:
        """Count texts without an answer, and examples that are left out for it."""
        if predicted.no_answers:
            by_reason = dict(sorted(predicted.no_answers.items()))
            self.run.no_answers[predicted.stage.spec] = by_reason
        n_lost = int(((predicted.n_unanswered > 0) & ~predicted.used).sum())
        if n_lost:
            predicted.skips["no answer"] += n_lost

    def _usable(self, predicted: Predicted) -> Bools:
        """Which examples have predictions for their original text and for perturbed ones."""
        is_answered = ~np.isnan(self.original[:, 0])
        n_lost = int((predicted.used & ~is_answered).sum())
        if n_lost:
            predicted.skips["no answer to the original text"] += n_lost
        return predicted.used & is_answered

    def _record(
        self, outcomes: Outcomes, used: Sequence[Example], *, keeps_words: bool = False
    ) -> None:
        """Measure all examples, and each group."""
        points = score_points(self.settings)
        is_original = outcomes.transformation == ORIGINAL
        only = None if is_original or not self.requested else self.requested
        for group, mask, n_all in groups(used, self.dataset.examples):
            part = outcomes
            if group != "all":
                part = replace(outcomes.take(mask), n_skipped=n_all - int(mask.sum()))
            for name, score in scores(part, keeps_words=keeps_words, points=points, only=only):
                self._enter(outcomes.transformation, name, group, score)
            if keeps_words and self._concludes:
                self.conclusions.draw(part, group)

    def _enter(self, spec: str, metric: str, group: str, score: Score | str) -> None:
        if isinstance(score, str):
            omitted = Omitted(transformation=spec, metric=metric, group=group, reason=score)
            self.run.omitted.append(omitted)
        else:
            self.run.scores.append(Record.of(spec, metric, group, score))

    @property
    def _concludes(self) -> bool:
        """Whether the scores say how a model reads texts: not those of likelihoods or of perturbed
        prompts, nor where prediction stopped once Ω was decided.
        """
        is_of_texts = self.settings.break_ == "text" and not self.dataset.task.is_likelihood
        return is_of_texts and not self.predictor.decided_at

    def _describe(
        self, outcomes: Outcomes, transformation: Transformation, examples: Sequence[Example]
    ) -> None:
        """What the report shows beside the scores: reference models, filters, curves, telling
        examples.
        """
        spec = transformation.spec
        if transformation.keeps_words:
            self.run.dev_r[spec] = step_counts(outcomes)
        for name, reference in references(outcomes):
            measured = scores(
                reference, keeps_words=transformation.keeps_words, points={"omega": ()}
            )
            records = [
                Record.of(spec, metric, "all", score)
                for metric, score in measured
                if not isinstance(score, str)
            ]
            self.run.references.setdefault(name, []).extend(records)
        self.run.figures[spec] = figures(outcomes)
        self.run.answers[spec] = answers(outcomes)

        def rebuild(i: int) -> Variants:
            return self.predictor.perturbed(spec, examples[i])

        self.run.telling.extend(telling(outcomes, examples, rebuild))
