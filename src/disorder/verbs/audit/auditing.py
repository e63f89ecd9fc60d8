"""One audit under way: predict block by block, measure each transformation, keep everything.

Blocks are predicted by an engine (this machine, or Ray) and written as they come, so that a run
that is killed can be resumed.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from disorder.abstention import predicted_label
from disorder.data import groups
from disorder.engines import Engine
from disorder.errors import DisorderError, ModelStopped
from disorder.metrics import (
    ORIGINAL,
    Anytime,
    Metric,
    StopRule,
    references,
    scores,
    step_counts,
    threshold,
)
from disorder.metrics.omega import CURVE
from disorder.models.prompting import findings
from disorder.report.conclusions import verdict
from disorder.runs import (
    Omitted,
    Record,
    Run,
    SampleParts,
    is_about,
    make_folder,
    no_answers_of,
    predictions_of,
    storable,
    write_examples,
    write_run,
)
from disorder.runs.settings import Settings
from disorder.transformations import Transformation
from disorder.types import (
    Bools,
    Costs,
    Dataset,
    Example,
    Floats,
    Ints,
    Outcomes,
    Progress,
    Score,
    Variants,
)
from disorder.verbs.audit.answers import answers
from disorder.verbs.audit.block import Block, BlockPredictor, BlockResult
from disorder.verbs.audit.budget import Budget
from disorder.verbs.audit.conclusions import Conclusions
from disorder.verbs.audit.figures import figures
from disorder.verbs.audit.likelihoods import rank_verdict
from disorder.verbs.audit.live_gate import LiveGate
from disorder.verbs.audit.prediction_array import compacted, empty_array
from disorder.verbs.audit.prompt_breaking import prompt_verdict
from disorder.verbs.audit.relative_gain import controls, gains
from disorder.verbs.audit.telling_examples import telling
from disorder.verbs.model_loading import resume_command
from disorder.verbs.outcomes import build_outcomes, gold_of

BLOCK = 4096  # texts in a block: what a crash can cost; fixed: files do not depend on batch size
BLOCK_LETTERS = 1 << 26  # letters in a block: only texts of many thousand words reach it
LONGEST_NAME = 100  # letters of a spec in the name of a part
CURTAILED_BLOCK = 512  # examples in a block whose variants are predicted in rounds
SERVER_BLOCK = 512  # texts in a block that a server is asked about, where every answer counts


@dataclass
class Predicted:
    """What the model predicted under one transformation, filled in block by block."""

    probabilities: Floats  # examples × variants × labels, NaN where there is none
    used: Bools
    n_unanswered: Ints  # variants of each example that got no answer
    skips: Counter[str] = field(default_factory=Counter)
    no_answers: Counter[str] = field(default_factory=Counter)
    n_done: int = 0
    n_predicted: int = 0
    n_right: int = 0

    @classmethod
    def of(cls, n: int, count: int, width: int) -> Predicted:
        """Nothing predicted yet, for so many examples, variants and labels."""
        used = np.zeros(n, dtype=bool)
        return cls(empty_array((n, count, width)), used, np.zeros(n, dtype=np.int64))


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
    costs: Costs = field(default_factory=Costs)
    n_used: int = 0  # examples that some transformation could use
    acceptance: dict[str, Floats] = field(default_factory=dict)  # of those with a control

    def __post_init__(self) -> None:
        self.early: dict[int, Predicted] = {}  # what was predicted in portions, by transformation
        self.block = SERVER_BLOCK if self.predictor.model.is_remote else BLOCK
        self.conclusions = Conclusions(self.run, self.dataset, self.predictor, self.settings)

    def go(self) -> Run:
        """Predict and measure everything."""
        began = time.perf_counter()
        try:
            self._open()
        except BaseException:
            self.engine.close()
            raise
        try:
            self._measure_all()
        except BaseException as error:
            self.run.status = "failed"
            self.run.error = f"{type(error).__name__}: {error}"
            self._finish(began)
            if isinstance(error, ModelStopped):
                raise self._resumable(error) from None
            raise
        finally:
            self.engine.close()
        self.conclusions.settle()
        self.run.status = "done"
        special = prompt_verdict(self.run) or rank_verdict(self.run)
        self.run.verdict = special or verdict(self.run)
        self._finish(began)
        return self.run

    def _resumable(self, error: ModelStopped) -> ModelStopped:
        """The error, with what is kept and what to type."""
        n = int(self.budget.spent(self.costs)["questions"])
        return ModelStopped(
            f"{error}; what was answered is kept ({n:,} questions in all), resume with: "
            f"{resume_command(self.run, self.folder)}"
        )

    @cached_property
    def controlled(self) -> set[str]:
        """The transformations that have a control, and the controls."""
        if self.dataset.task.predicts != "labels" or self.predictor.decided_at:
            return set()
        return {spec for pair in controls(self.plan).items() for spec in pair}

    def _open(self) -> None:
        """Start the run folder."""
        make_folder(self.folder)
        write_run(self.folder, self.run)
        opened = SampleParts.open if self.is_resumed else SampleParts.new
        self.parts = opened(self.folder, of=self.run.binding)
        sizes = (
            re.fullmatch(r"00-original-(\d+)\+(\d+)\.parquet", name) for name in self.parts.known
        )
        self.portions = {int(found[1]): int(found[2]) for found in sizes if found}
        self.numbers = {storable(example.id): i for i, example in enumerate(self.dataset.examples)}
        self.gold = gold_of(self.dataset.task, self.dataset.examples)

    def _finish(self, began: float) -> None:
        costs = sorted(self.costs.items())
        self.run.seconds = round(self.run.seconds + time.perf_counter() - began, 3)
        notes = [*self.run.notes, *self.parts.notes, *self.predictor.model.notes]
        self.run.notes = list(dict.fromkeys(notes))
        self.run.n_predictions += int(self.costs["predicted"])
        if self.run.prompt:
            self.run.prompt |= findings(self.costs)
        self.run.profile = {name: round(float(cost), 3) for name, cost in costs}
        spent = self.budget.spent(self.costs)
        if spent["tokens"] or self.budget.is_limited:
            self.run.spent = {name: round(amount, 6) for name, amount in spent.items()}
        write_run(self.folder, self.run)

    def _measure_all(self) -> None:
        examples = self.dataset.examples
        if self.settings.is_in_portions:
            examples = self._predict_in_portions()
        write_examples(self.folder, examples)
        original = self._measure_original()
        for number, transformation in enumerate(self.plan, start=1):
            self._measure(number, transformation, original)
        if self.acceptance:
            is_right = (predicted_label(original) == self.gold).astype(np.float64)
            self.run.gains = gains(self.plan, is_right, self.acceptance)
        has_scores = any(record.transformation != ORIGINAL for record in self.run.scores)
        if not has_scores and self.requested and self.n_used:
            raise DisorderError(
                f"none of the scores asked for applies here: {', '.join(self.requested)}; "
                "see disorder list metrics"
            )
        if not has_scores:
            reasons = {reason for skips in self.run.skips.values() for reason in skips}
            raise DisorderError(
                f"no example can be perturbed this way: {', '.join(sorted(reasons)) or 'no data'}"
            )

    def _measure_original(self) -> Floats:
        """The predictions for the original texts, NaN where there is no answer."""
        predicted = self._predict(0, None, np.empty(0))
        self._note_no_answers(ORIGINAL, predicted)
        original = predicted.probabilities[:, 0]
        used = predicted.used
        if not used.any():
            reasons = ", ".join(f"{why} ({n:,})" for why, n in predicted.no_answers.items())
            raise DisorderError(f"the model answered no original text: {reasons}")
        examples = self._those(used)
        outcomes = self._outcomes(
            examples, original[used], original[used, None], n_skipped=int((~used).sum())
        )
        self._record(outcomes, examples)
        self.conclusions.take_originals(self.dataset, used, outcomes.original_label)
        return original

    def _those(self, used: Bools) -> list[Example]:
        return [e for e, kept in zip(self.dataset.examples, used, strict=True) if kept]

    def _note_no_answers(self, spec: str, predicted: Predicted) -> None:
        """Count texts without an answer, and examples that are left out for it."""
        if predicted.no_answers:
            self.run.no_answers[spec] = dict(sorted(predicted.no_answers.items()))
        n_lost = int(((predicted.n_unanswered > 0) & ~predicted.used).sum())
        if n_lost:
            predicted.skips["no answer"] += n_lost

    def _measure(self, number: int, transformation: Transformation, original: Floats) -> None:
        spec = transformation.spec
        predicted = self._predict(number, transformation, original)
        self._note_no_answers(spec, predicted)
        is_answered = ~np.isnan(original[:, 0])
        n_lost = int((predicted.used & ~is_answered).sum())
        if n_lost:
            predicted.skips["no answer to the original text"] += n_lost
        used = predicted.used & is_answered
        self.run.skips[spec] = dict(sorted(predicted.skips.items()))
        self.n_used += int(used.sum())
        if not used.any():
            return
        examples = self._those(used)
        outcomes = self._outcomes(
            examples,
            original[used],
            compacted(predicted.probabilities, used),
            transformation,
            n_skipped=sum(predicted.skips.values()),
            n_unanswered=predicted.n_unanswered[used],
        )
        self._record(outcomes, examples, keeps_words=transformation.keeps_words)
        if spec in self.controlled:
            self.acceptance[spec] = np.full(len(used), np.nan)
            self.acceptance[spec][used] = outcomes.acceptance
        self._use_anytime_interval(spec)
        if not outcomes.task.is_regression and not self.predictor.decided_at:
            self._describe(outcomes, transformation, examples)
        write_run(self.folder, self.run)

    def _outcomes(
        self,
        examples: Sequence[Example],
        original: Floats,
        predictions: Floats,
        transformation: Transformation | None = None,
        *,
        n_skipped: int = 0,
        n_unanswered: Ints | None = None,
    ) -> Outcomes:
        planned = self._planned(transformation, examples)
        if planned is not None and n_unanswered is not None:
            planned = planned - n_unanswered
        return build_outcomes(
            self.dataset.task,
            examples,
            original,
            predictions,
            transformation,
            n_skipped=n_skipped,
            seed=self.settings.seed,
            fidelity=self.settings.fidelity,
            n_planned=planned,
        )

    def _planned(
        self, transformation: Transformation | None, examples: Sequence[Example]
    ) -> Ints | None:
        """How many variants each example has, where not all are predicted."""
        if transformation is None or not self.predictor.decided_at:
            return None
        if self.settings.short == "skip":
            return np.full(len(examples), transformation.count(self.settings.q))
        spec = transformation.spec
        return np.array([len(self.predictor.perturbed(spec, example)) for example in examples])

    def _record(
        self, outcomes: Outcomes, used: Sequence[Example], *, keeps_words: bool = False
    ) -> None:
        """Measure all examples, and each group."""
        points = {"omega": sorted({*CURVE, *self.settings.omega}, key=threshold)}
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

    @property
    def _concludes(self) -> bool:
        """Whether the scores say how a model reads texts: not those of likelihoods or of perturbed
        prompts, nor where prediction stopped once Ω was decided.
        """
        is_of_texts = self.settings.break_ == "text" and not self.dataset.task.is_likelihood
        return is_of_texts and not self.predictor.decided_at

    def _enter(self, spec: str, metric: str, group: str, score: Score | str) -> None:
        if isinstance(score, str):
            omitted = Omitted(transformation=spec, metric=metric, group=group, reason=score)
            self.run.omitted.append(omitted)
        else:
            self.run.scores.append(Record.of(spec, metric, group, score))

    def _use_anytime_interval(self, spec: str) -> None:
        """Where prediction stopped early, the watched score has the interval that allows for it."""
        stopped = self.run.stopped.get(spec)
        record = self.run.score(spec, stopped["metric"]) if stopped else None
        if stopped and record is not None:
            record.low = min(stopped["low"], record.value)
            record.high = max(stopped["high"], record.value)

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

    def _predict(
        self, number: int, transformation: Transformation | None, original: Floats
    ) -> Predicted:
        """Predict all examples under one transformation (None: as they are), until a stopping rule
        is met.
        """
        if number in self.early:
            return self.early.pop(number)
        n = len(self.dataset.examples)
        spec, count = self._stage(transformation)
        found = Predicted.of(n, count, self._width)
        sequence = Anytime()
        for block, result in self._in_order(list(self._blocks(number, spec, count))):
            places = self._fill(found, block, result)
            self.progress(spec, found.n_done, n, self._note(spec, found))
            if self.rule is None or transformation is None or not len(places):
                continue
            self._watch(sequence, transformation, places, original, found)
            if self._is_narrow(sequence):
                self._stop(spec, sequence, found)
                break
        if found.n_done < n:
            self.progress(spec, n, n, "")
        return found

    @property
    def _width(self) -> int:
        return max(1, len(self.dataset.task.labels))

    def _stage(self, transformation: Transformation | None) -> tuple[str, int]:
        """The name of a transformation (None: original texts), and how many variants it draws."""
        if transformation is None:
            return ORIGINAL, 1
        return transformation.spec, transformation.count(self.settings.q)

    def _predict_in_portions(self) -> Sequence[Example]:
        """Predict some examples at a time under all transformations, until a limit is reached or
        the gate is decided; gives the examples that were reached, which are all from now on.
        """
        everything = self.dataset.examples
        stages = list(enumerate([None, *self.plan]))
        self.early = {
            number: Predicted.of(len(everything), self._stage(each)[1], self._width)
            for number, each in stages
        }
        per_example = sum(self._stage(each)[1] for _, each in stages)
        per_example *= self.predictor.model.n_questions
        n_done = 0
        why = ""
        while n_done < len(everything):
            n_next, why = self._next_portion(n_done, per_example)
            if not n_next:
                break
            self._predict_portion(stages, everything[n_done : n_done + n_next], n_done)
            n_done += n_next
            self.budget.check_counted(self.costs)
            self.progress("examples", n_done, len(everything), self._note("", self.early[0]))
        if not n_done:
            raise DisorderError(
                f"{why}: not even one example fits, which takes {per_example:,} questions; allow "
                "more, or choose fewer variants (--q) or transformations (--with)"
            )
        if n_done < len(everything):
            self._cut(n_done, why)
            self.progress("examples", len(everything), len(everything), "")
        self._note_gate()
        return self.dataset.examples

    def _next_portion(self, n_done: int, per_example: int) -> tuple[int, str]:
        """How many examples come next (none: the option that ends the run); a resumed run takes
        the portions that it has.
        """
        if self.gate.is_decided:
            return 0, "--fail-if"
        if n_done in self.portions:
            return self.portions[n_done], ""
        left = len(self.dataset.examples) - n_done
        size = max(1, self.block // per_example) if n_done else 1
        room, why = self.budget.room(self.costs)
        return int(min(size, left, room // per_example)), why

    def _predict_portion(
        self,
        stages: Sequence[tuple[int, Transformation | None]],
        examples: Sequence[Example],
        start: int,
    ) -> None:
        outcomes: dict[str, Outcomes] = {}
        original = self.early[0].probabilities[:, 0]
        for number, transformation in stages:
            spec, _ = self._stage(transformation)
            found = self.early[number]
            part = self._part(number, spec, start, f"+{len(examples)}")
            block = Block(part, spec, examples)
            for _, result in self._in_order([block]):
                places = self._fill(found, block, result)
                places = places[~np.isnan(original[places, 0])]
                if len(places) and self.gate.rules:
                    outcomes[spec] = self._outcomes(
                        [self.dataset.examples[i] for i in places.tolist()],
                        original[places],
                        found.probabilities[places],
                        transformation,
                        n_unanswered=found.n_unanswered[places],
                    )
        self.gate.watch(outcomes)

    def _cut(self, n_done: int, why: str) -> None:
        """Leave out the examples that were not reached; those that were are a random part."""
        n_left = len(self.dataset.examples) - n_done
        reason = f"not predicted ({why})"
        skipped = {**self.dataset.skipped, reason: n_left}
        self.dataset = replace(
            self.dataset, examples=self.dataset.examples[:n_done], skipped=skipped
        )
        self.conclusions.dataset = self.dataset
        self.gold = self.gold[:n_done]
        self.run.n_examples = n_done
        self.run.skips["data"] = dict(skipped)
        for found in self.early.values():
            found.probabilities = found.probabilities[:n_done]
            found.used = found.used[:n_done]
            found.n_unanswered = found.n_unanswered[:n_done]
        self.run.notes.append(
            f"{why}: stopped after {n_done:,} examples, a random part of the data"
        )

    def _note_gate(self) -> None:
        """The intervals of rules that were decided early, for the scores that they are about."""
        for rule in self.gate.rules:
            if rule.verdict is not None and rule.n_examples:
                low, high = rule.interval
                self.run.stopped[rule.spec] = {
                    "metric": rule.rule.metric,
                    "low": low,
                    "high": high,
                    "n_examples": len(self.dataset.examples),
                }

    def _fill(self, found: Predicted, block: Block, result: BlockResult) -> Ints:
        """Enter the predictions of a block; gives the numbers of the examples that it answers."""
        rows, variants, probabilities = predictions_of(result.table)
        places = np.array([self.numbers[row] for row in rows], dtype=np.int64)
        is_answered = ~np.isnan(probabilities[:, 0])
        found.probabilities[places, variants] = probabilities
        found.used[places[is_answered]] = True
        np.add.at(found.n_unanswered, places[~is_answered], 1)
        found.no_answers.update(no_answers_of(result.table))
        found.skips.update(result.skips)
        found.n_done += len(block.examples)
        found.n_predicted += int(is_answered.sum())
        if not self.dataset.task.is_regression:
            found.n_right += int((predicted_label(probabilities) == self.gold[places]).sum())
        return np.unique(places[is_answered])

    def _note(self, spec: str, found: Predicted) -> str:
        """The running score beside the progress bar, and what was spent so far."""
        if spec == ORIGINAL or not found.n_predicted or self.dataset.task.is_regression:
            return self._spent_so_far()
        score = f"accuracy so far {found.n_right / found.n_predicted:.3f}"
        return "  ".join(part for part in (score, self._spent_so_far()) if part)

    def _spent_so_far(self) -> str:
        """Questions, tokens and money, for models that count them."""
        spent = self.budget.spent(self.costs)
        if not spent["tokens"]:
            return ""
        cost = f", cost {spent['cost']:.4g}" if self.budget.prices else ""
        return f"{int(spent['questions']):,} questions, {int(spent['tokens']):,} tokens{cost}"

    def _watch(
        self,
        sequence: Anytime,
        transformation: Transformation,
        places: Ints,
        original: Floats,
        found: Predicted,
    ) -> None:
        """Take the examples just predicted into the confidence sequence."""
        assert self.rule is not None
        places = places[~np.isnan(original[places, 0])]
        if not len(places):
            return
        outcomes = self._outcomes(
            [self.dataset.examples[i] for i in places.tolist()],
            original[places],
            found.probabilities[places],
            transformation,
            n_unanswered=found.n_unanswered[places],
        )
        sequence.update(Metric.named(self.rule.metric).watched(outcomes))

    def _interval(self, sequence: Anytime) -> tuple[float, float]:
        """The interval of the watched score so far, in its own units."""
        assert self.rule is not None
        metric = Metric.named(self.rule.metric)
        task = self.dataset.task
        fidelity = self.settings.fidelity
        low, high = sorted(metric.in_units(task, fidelity, x) for x in sequence.interval)
        return low, high

    def _is_narrow(self, sequence: Anytime) -> bool:
        assert self.rule is not None
        low, high = self._interval(sequence)
        return high - low < self.rule.width

    def _stop(self, spec: str, sequence: Anytime, found: Predicted) -> None:
        """Note where prediction stopped, with the interval that holds however often one looked."""
        assert self.rule is not None
        low, high = self._interval(sequence)
        metric = self.rule.metric
        n_done = found.n_done
        self.run.stopped[spec] = {"metric": metric, "low": low, "high": high, "n_examples": n_done}
        left = len(self.dataset.examples) - n_done
        if left:
            found.skips["not predicted (--stop-when)"] = left
        note = (
            f"--stop-when: only the interval of {metric} holds at any time; the others are those "
            "of a fixed sample"
        )
        self.run.notes = list(dict.fromkeys([*self.run.notes, note]))

    def _in_order(self, blocks: list[Block]) -> Iterator[tuple[Block, BlockResult]]:
        """Blocks with their results in order: finished parts from disk, the others predicted, and
        written as they come.
        """
        missing = [block for block in blocks if block.part not in self.parts.known]
        waited_for = {block.part for block in missing}
        results = self.engine(missing)
        early: dict[str, BlockResult] = {}
        for block in blocks:
            if block.part not in waited_for:
                yield block, self._finished(block)
                continue
            while block.part not in early:
                result = next(results)
                self._keep(result)
                early[result.part] = result
            yield block, early.pop(block.part)

    def _finished(self, block: Block) -> BlockResult:
        """A part from disk, read once; one that is damaged is predicted again."""
        finished = self.parts.read(block.part)
        ids = {storable(example.id) for example in block.examples}
        width = max(1, len(self.dataset.task.labels))
        if finished is not None and not is_about(
            finished[0], ids, self._count(block.transformation), width
        ):
            self.parts.notes.append(f"{block.part} is of other examples; it is predicted again")
            finished = None
        if finished is None:
            again = self.predictor(block)  # here, not by the engine, which is at work
            self._keep(again)
            return again
        table, skips = finished
        self.costs["resumed"] += table.num_rows
        return BlockResult(block.part, table, skips, {}, self.run.hashes.get("model", ""))

    def _keep(self, result: BlockResult) -> None:
        began = time.perf_counter()
        expected = self.run.hashes.get("model", "")
        if result.model != expected:
            raise DisorderError(
                f"--engine {self.settings.engine}: a worker has another version of the model "
                f"({result.model or 'unknown'}, not {expected or 'unknown'}); install the same "
                "everywhere, then resume"
            )
        self.parts.write(result.part, result.table, result.skips)
        self.costs.add(result.counts)
        self.costs["write"] += time.perf_counter() - began

    def _blocks(self, number: int, spec: str, count: int) -> Iterator[Block]:
        """The examples in parts of a fixed size."""
        is_curtailed = bool(self.predictor.decided_at) and count > 1
        size = CURTAILED_BLOCK if is_curtailed else max(1, self.block // count)
        for index, examples in enumerate(_in_blocks(self.dataset.examples, size, count)):
            yield Block(self._part(number, spec, index), spec, examples)

    @staticmethod
    def _part(number: int, spec: str, index: int, size: str = "") -> str:
        name = "".join(char if char.isalnum() else "-" for char in spec[:LONGEST_NAME])
        return f"{number:02d}-{name}-{index:05d}{size}.parquet"

    def _count(self, spec: str) -> int:
        """How many variants of an example are drawn at most."""
        found = next((each for each in self.plan if each.spec == spec), None)
        return 1 if found is None else found.count(self.settings.q)


def _in_blocks(examples: Sequence[Example], size: int, count: int) -> Iterator[Sequence[Example]]:
    """The examples in blocks of `size`, fewer where their texts are so long that the variants
    would not fit into memory together.
    """
    start = 0
    letters = 0
    for i, example in enumerate(examples):
        own = count * sum(len(text or "") for text in example.texts)
        if i > start and (i - start == size or letters + own > BLOCK_LETTERS):
            yield examples[start:i]
            start = i
            letters = 0
        letters += own
    if start < len(examples):
        yield examples[start:]
