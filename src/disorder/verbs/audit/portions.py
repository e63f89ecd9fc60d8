"""Portions of an audit that may end early (`--max-…`, `--fail-if`): some examples at a time under
all transformations, until a limit is reached or the gate is decided.

The examples reached by then are a random part of the data, and all that the audit is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from disorder.errors import DisorderError
from disorder.runs import Run, majority_share
from disorder.types import Dataset, Example, Outcomes, Progress
from disorder.verbs.audit.block_source import BlockSource
from disorder.verbs.audit.budget import Budget
from disorder.verbs.audit.division import Stage, portion_block, portions_in
from disorder.verbs.audit.live_gate import LiveGate
from disorder.verbs.audit.outcome_builder import OutcomeBuilder
from disorder.verbs.audit.predicted import ExampleNumbers, Predicted
from disorder.verbs.audit.stopping import (
    FAIL_IF,
    add_early_stop,
    not_predicted,
    note_other_intervals,
)


@dataclass(kw_only=True)
class Portions:
    """Predicts portion by portion."""

    dataset: Dataset
    stages: Sequence[Stage]
    source: BlockSource
    builder: OutcomeBuilder
    budget: Budget
    gate: LiveGate
    run: Run
    progress: Progress
    block_size: int  # texts in a portion

    def __post_init__(self) -> None:
        numbers = ExampleNumbers.of(self.dataset)
        self.predicted = [Predicted.none_yet(stage, numbers) for stage in self.stages]
        self.known = portions_in(self.source.parts.known)  # a resumed run takes those it has
        n_variants = sum(stage.count for stage in self.stages)
        self.per_example = n_variants * self.source.predictor.model.n_questions

    def predict(self) -> tuple[Dataset, list[Predicted]]:
        """The data that was reached, and what was predicted in each stage."""
        n_all = len(self.dataset.examples)
        n_done = 0
        why = ""
        while n_done < n_all:
            n_next, why = self._next(n_done)
            if not n_next:
                break
            self._predict_portion(self.dataset.examples[n_done : n_done + n_next], n_done)
            n_done += n_next
            self.budget.check_counted(self.source.costs)
            self.progress("examples", n_done, n_all, self._note())
        if not n_done:
            raise DisorderError(
                f"{why}: not even one example fits, which takes {self.per_example:,} questions; "
                "allow more, or choose fewer variants (--q) or transformations (--with)"
            )
        if n_done < n_all:
            self._cut(n_done, why)
            self.progress("examples", n_all, n_all, "")
        self._record_gate()
        return self.dataset, self.predicted

    def _next(self, n_done: int) -> tuple[int, str]:
        """How many examples come next, or none and the option that ends the run."""
        if self.gate.is_decided:
            return 0, FAIL_IF
        if n_done in self.known:
            return self.known[n_done], ""
        left = len(self.dataset.examples) - n_done
        # the first of a session is small: a server is probed, which costs questions, too
        is_first = not n_done or (self.budget.is_limited and not self.source.costs.get("predicted"))
        size = 1 if is_first else max(1, self.block_size // self.per_example)
        room, why = self.budget.room(self.source.costs)
        return int(min(size, left, room // self.per_example)), why

    def _predict_portion(self, examples: Sequence[Example], start: int) -> None:
        outcomes: dict[str, Outcomes] = {}
        original = self.predicted[0].probabilities[:, 0]
        for predicted in self.predicted:
            stage = predicted.stage
            for block, result in self.source.in_order([portion_block(stage, examples, start)]):
                places = predicted.fill(block, result)
                if not self.gate.rules:
                    continue
                found = self.builder.at(places, self.dataset.examples, original, predicted)
                if found is not None:
                    outcomes[stage.spec] = found
        is_shown = any(predicted.has_probabilities for predicted in self.predicted)
        self.gate.watch(outcomes, has_probabilities=is_shown)

    def _note(self) -> str:
        """The accuracy on the original texts, and what was spent so far."""
        notes = (self.predicted[0].running_accuracy, self.budget.so_far(self.source.costs))
        return "  ".join(note for note in notes if note)

    def _cut(self, n_done: int, why: str) -> None:
        """Leave out the examples that were not reached; those that were are a random part."""
        n_left = len(self.dataset.examples) - n_done
        skipped = {**self.dataset.skipped, not_predicted(why): n_left}
        reached = self.dataset.examples[:n_done]
        self.dataset = replace(self.dataset, examples=reached, skipped=skipped)
        for predicted in self.predicted:
            predicted.cut(n_done)
        self.run.n_examples = n_done
        self.run.majority = majority_share(reached)
        self.run.skips["data"] = dict(skipped)
        self.run.notes.append(
            f"{why}: stopped after {n_done:,} examples, a random part of the data"
        )

    def _record_gate(self) -> None:
        """The intervals of rules that were decided early, for the scores that they are about."""
        decided = [r for r in self.gate.rules if r.verdict is not None and r.n_examples]
        n_done = len(self.dataset.examples)
        for rule in decided:
            add_early_stop(self.run, rule.spec, rule.rule.metric, rule.interval, n_done)
        if not_predicted(FAIL_IF) in self.dataset.skipped:
            names = dict.fromkeys(f"{rule.spec}:{rule.rule.metric}" for rule in decided)
            note_other_intervals(self.run, FAIL_IF, list(names))
