"""One audit under way: stage by stage (the original texts, then each transformation) predict,
measure, and write down.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from disorder.engines import Engine
from disorder.errors import ModelStopped
from disorder.metrics import ORIGINAL, StopRule
from disorder.models.prompting import findings
from disorder.report.conclusions import verdict
from disorder.runs import Run, SampleParts, make_folder, write_examples, write_run
from disorder.runs.settings import Settings
from disorder.transformations import Transformation
from disorder.types import Dataset, Floats, Progress
from disorder.verbs.audit.block import BlockPredictor
from disorder.verbs.audit.block_source import BlockSource
from disorder.verbs.audit.budget import Budget
from disorder.verbs.audit.division import Stage, block_size, blocks_of, stages_of
from disorder.verbs.audit.likelihoods import rank_verdict
from disorder.verbs.audit.live_gate import LiveGate
from disorder.verbs.audit.measuring import Measuring
from disorder.verbs.audit.outcome_builder import OutcomeBuilder
from disorder.verbs.audit.portions import Portions
from disorder.verbs.audit.predicted import ExampleNumbers, Predicted
from disorder.verbs.audit.prompt_breaking import prompt_verdict
from disorder.verbs.audit.stopping import STOP_WHEN, StopWatch, not_predicted
from disorder.verbs.model_loading import resume_command


@dataclass
class Audit:
    """An audit under way."""

    dataset: Dataset
    predictor: BlockPredictor
    plan: list[Transformation]
    settings: Settings
    run: Run
    folder: Path
    progress: Progress
    engine: Engine
    requested: list[str]
    rule: StopRule | None
    is_resumed: bool = False
    budget: Budget = field(default_factory=Budget)
    gate: LiveGate = field(default_factory=LiveGate)
    resume_with: str = ""  # what to type, where the run is part of another

    def __post_init__(self) -> None:
        self.stages = stages_of(self.plan, self.settings.q)
        # as of probabilities, until the whole run shows whether it has any
        self.builder = OutcomeBuilder(self.predictor, self.settings, gives_probabilities=True)
        self.block_size = block_size(is_remote=self.predictor.model.is_remote)

    def go(self) -> Run:
        """Predict and measure everything."""
        began = time.perf_counter()
        try:
            self.source = self._open()
        except BaseException:
            self.engine.close()
            raise
        try:
            measuring = self._measure_all()
        except BaseException as error:
            self.run.status = "failed"
            self.run.error = f"{type(error).__name__}: {error}"
            self._finish(began)
            if isinstance(error, ModelStopped):
                raise self._resumable(error) from None
            raise
        finally:
            self.engine.close()
        measuring.conclusions.settle()
        self.run.status = "done"
        special = prompt_verdict(self.run) or rank_verdict(self.run)
        self.run.verdict = special or verdict(self.run)
        self._finish(began)
        return self.run

    def _open(self) -> BlockSource:
        """Start the run folder, or open it again."""
        make_folder(self.folder)
        write_run(self.folder, self.run)
        opened = SampleParts.open if self.is_resumed else SampleParts.new
        parts = opened(self.folder, of=self.run.binding)
        self.budget.take_up(parts.spent)
        return BlockSource(
            engine=self.engine,
            predictor=self.predictor,
            parts=parts,
            counts={stage.spec: stage.count for stage in self.stages},
            model_hash=self.run.hashes.get("model", ""),
            budget=self.budget,
            engine_name=self.settings.engine,
        )

    def _measure_all(self) -> Measuring:
        early = self._predict_in_portions() if self.settings.is_in_portions else {}
        write_examples(self.folder, self.dataset.examples)
        measuring = Measuring(
            run=self.run,
            dataset=self.dataset,
            predictor=self.predictor,
            builder=self.builder,
            plan=self.plan,
            settings=self.settings,
            requested=self.requested,
        )
        numbers = ExampleNumbers.of(self.dataset)

        def predicted(stage: Stage, original: Floats) -> Predicted:
            return early.pop(stage.number, None) or self._predict(stage, numbers, original)

        # no stage's predictions are held longer than needed: they can be as large as memory allows
        original = measuring.take_originals(predicted(self.stages[0], np.empty(0)))
        for stage, transformation in zip(self.stages[1:], self.plan, strict=True):
            measuring.take(predicted(stage, original), transformation)
            write_run(self.folder, self.run)
        measuring.finish()
        return measuring

    def _predict_in_portions(self) -> dict[int, Predicted]:
        """Predict all stages of some examples at a time; those not reached are left out."""
        portions = Portions(
            dataset=self.dataset,
            stages=self.stages,
            source=self.source,
            builder=self.builder,
            budget=self.budget,
            gate=self.gate,
            run=self.run,
            progress=self.progress,
            block_size=self.block_size,
        )
        self.dataset, predicted = portions.predict()
        return {each.stage.number: each for each in predicted}

    def _predict(self, stage: Stage, numbers: ExampleNumbers, original: Floats) -> Predicted:
        """Predict all examples of a stage, until a stopping rule is met."""
        examples = self.dataset.examples
        n = len(examples)
        predicted = Predicted.none_yet(stage, numbers)
        watch = self._watch(stage)
        is_curtailed = bool(self.predictor.decided_at)
        blocks = blocks_of(stage, examples, size=self.block_size, is_curtailed=is_curtailed)
        for block, result in self.source.in_order(blocks):
            places = predicted.fill(block, result)
            self.progress(stage.spec, predicted.n_done, n, self._note(predicted))
            if watch is None or not len(places):
                continue
            outcomes = self.builder.at(places, examples, original, predicted)
            if outcomes is not None:
                watch.take(outcomes)
            is_shown = bool(self.run.has_probabilities) or predicted.has_probabilities
            if watch.is_met(has_probabilities=is_shown):
                watch.record(self.run, stage.spec, predicted.n_done)
                break
        if predicted.n_done < n:
            predicted.skips[not_predicted(STOP_WHEN)] = n - predicted.n_done
            self.progress(stage.spec, n, n, "")
        return predicted

    def _watch(self, stage: Stage) -> StopWatch | None:
        if self.rule is None or stage.transformation is None:
            return None
        return StopWatch(self.rule, self.dataset.task, self.settings.fidelity)

    def _note(self, predicted: Predicted) -> str:
        """The running score beside the progress bar, and what was spent so far."""
        score = "" if predicted.stage.spec == ORIGINAL else predicted.running_accuracy
        notes = (score, self.budget.so_far(self.source.costs))
        return "  ".join(note for note in notes if note)

    def _resumable(self, error: ModelStopped) -> ModelStopped:
        """The error, with what is kept and what to type."""
        n = int(self.budget.spent(self.source.costs)["questions"])
        return ModelStopped(
            f"{error}; what was answered is kept ({n:,} questions in all), resume with: "
            f"{self.resume_with or resume_command(self.run, self.folder)}"
        )

    def _finish(self, began: float) -> None:
        """Write the run with what it took."""
        costs = self.source.costs
        self.run.seconds = round(self.run.seconds + time.perf_counter() - began, 3)
        notes = [*self.run.notes, *self.source.parts.notes, *self.predictor.model.notes]
        self.run.notes = list(dict.fromkeys(notes))
        self.run.n_predictions += int(costs.get("predicted", 0.0))
        if self.run.prompt:
            self.run.prompt |= findings(costs)
        self.run.profile = {name: round(float(cost), 3) for name, cost in sorted(costs.items())}
        self.run.spent = self.budget.to_record(costs)
        write_run(self.folder, self.run)
