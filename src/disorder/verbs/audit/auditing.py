"""One audit under way: predict block by block, measure each transformation, keep everything.

Blocks are predicted by an engine (this machine, or Ray) and written as they come, so that a run
that is killed can be resumed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from disorder.abstention import predicted_label
from disorder.data import groups
from disorder.engines import Engine
from disorder.errors import DisorderError
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
from disorder.runs import (
    Omitted,
    Record,
    Run,
    SampleParts,
    is_about,
    make_folder,
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
from disorder.verbs.audit.block import Block, BlockPredictor, BlockResult
from disorder.verbs.audit.figures import figures
from disorder.verbs.audit.prediction_array import compacted, empty_array
from disorder.verbs.audit.telling_examples import telling
from disorder.verbs.audit.verdict import verdict
from disorder.verbs.outcomes import build_outcomes, gold_of

BLOCK = 4096  # texts in a block: what a crash can cost; fixed: files do not depend on batch size
BLOCK_LETTERS = 1 << 26  # letters in a block: only texts of many thousand words reach it
LONGEST_NAME = 100  # letters of a spec in the name of a part
CURTAILED_BLOCK = 512  # examples in a block whose variants are predicted in rounds


@dataclass
class Predicted:
    """What the model predicted under one transformation, filled in block by block."""

    probabilities: Floats  # examples × variants × labels, NaN where there is none
    used: Bools
    skips: Counter[str] = field(default_factory=Counter)
    n_done: int = 0
    n_predicted: int = 0
    n_right: int = 0


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
    costs: Costs = field(default_factory=Costs)
    n_used: int = 0  # examples that some transformation could use

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
            raise
        finally:
            self.engine.close()
        self.run.status = "done"
        self.run.verdict = verdict(self.run)
        self._finish(began)
        return self.run

    def _open(self) -> None:
        """Start the run folder."""
        make_folder(self.folder)
        write_run(self.folder, self.run)
        opened = SampleParts.open if self.is_resumed else SampleParts.new
        self.parts = opened(self.folder, of=self.run.binding)
        self.numbers = {storable(example.id): i for i, example in enumerate(self.dataset.examples)}
        self.gold = gold_of(self.dataset.task, self.dataset.examples)

    def _finish(self, began: float) -> None:
        costs = sorted(self.costs.items())
        self.run.seconds = round(self.run.seconds + time.perf_counter() - began, 3)
        self.run.notes = list(dict.fromkeys([*self.run.notes, *self.parts.notes]))
        self.run.n_predictions += int(self.costs["predicted"])
        self.run.profile = {name: round(float(cost), 3) for name, cost in costs}
        write_run(self.folder, self.run)

    def _measure_all(self) -> None:
        examples = self.dataset.examples
        write_examples(self.folder, examples)
        original = self._predict(0, None, np.empty(0)).probabilities[:, 0]
        self._record(self._outcomes(examples, original, original[:, None]), examples)
        for number, transformation in enumerate(self.plan, start=1):
            self._measure(number, transformation, original)
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

    def _measure(self, number: int, transformation: Transformation, original: Floats) -> None:
        spec = transformation.spec
        predicted = self._predict(number, transformation, original)
        used = predicted.used
        self.run.skips[spec] = dict(sorted(predicted.skips.items()))
        self.n_used += int(used.sum())
        if not used.any():
            return
        examples = [e for e, kept in zip(self.dataset.examples, used, strict=True) if kept]
        outcomes = self._outcomes(
            examples,
            original[used],
            compacted(predicted.probabilities, used),
            transformation,
            n_skipped=sum(predicted.skips.values()),
        )
        self._record(outcomes, examples, keeps_words=transformation.keeps_words)
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
    ) -> Outcomes:
        return build_outcomes(
            self.dataset.task,
            examples,
            original,
            predictions,
            transformation,
            n_skipped=n_skipped,
            seed=self.settings.seed,
            fidelity=self.settings.fidelity,
            n_planned=self._planned(transformation, examples),
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

        def rebuild(i: int) -> Variants:
            return self.predictor.perturbed(spec, examples[i])

        self.run.telling.extend(telling(outcomes, examples, rebuild))

    def _predict(
        self, number: int, transformation: Transformation | None, original: Floats
    ) -> Predicted:
        """Predict all examples under one transformation (None: as they are), until a stopping rule
        is met.
        """
        n = len(self.dataset.examples)
        width = max(1, len(self.dataset.task.labels))
        spec = ORIGINAL if transformation is None else transformation.spec
        count = 1 if transformation is None else transformation.count(self.settings.q)
        found = Predicted(empty_array((n, count, width)), np.zeros(n, dtype=bool))
        sequence = Anytime()
        for block, result in self._in_order(list(self._blocks(number, spec, count))):
            places = self._fill(found, block, result)
            self.progress(spec, found.n_done, n, self._note(spec, found))
            if self.rule is None or transformation is None or not len(places):
                continue
            self._watch(sequence, transformation, np.unique(places), original, found)
            if self._is_narrow(sequence):
                self._stop(spec, sequence, found)
                break
        if found.n_done < n:
            self.progress(spec, n, n, "")
        return found

    def _fill(self, found: Predicted, block: Block, result: BlockResult) -> Ints:
        """Enter the predictions of a block; gives the example number of each row."""
        rows, variants, probabilities = predictions_of(result.table)
        places = np.array([self.numbers[row] for row in rows], dtype=np.int64)
        found.probabilities[places, variants] = probabilities
        found.used[places] = True
        found.skips.update(result.skips)
        found.n_done += len(block.examples)
        found.n_predicted += len(places)
        if not self.dataset.task.is_regression:
            found.n_right += int((predicted_label(probabilities) == self.gold[places]).sum())
        return places

    def _note(self, spec: str, found: Predicted) -> str:
        """The running score beside the progress bar."""
        if spec == ORIGINAL or not found.n_predicted or self.dataset.task.is_regression:
            return ""
        return f"accuracy so far {found.n_right / found.n_predicted:.3f}"

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
        outcomes = self._outcomes(
            [self.dataset.examples[i] for i in places.tolist()],
            original[places],
            found.probabilities[places],
            transformation,
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
        size = CURTAILED_BLOCK if is_curtailed else max(1, BLOCK // count)
        name = "".join(char if char.isalnum() else "-" for char in spec[:LONGEST_NAME])
        for index, examples in enumerate(_in_blocks(self.dataset.examples, size, count)):
            yield Block(f"{number:02d}-{name}-{index:05d}.parquet", spec, examples)

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
