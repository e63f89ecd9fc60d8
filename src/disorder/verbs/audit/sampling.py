"""Sampling: the stages of an audit (the original texts, then each transformation) one after the
other, block after block. A block is perturbed and predicted (or read, where an earlier session did
that), kept in a part of its own, and shown to watchers, which may end it early.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa

from disorder.engines import Engine
from disorder.errors import BadData, DisorderError, option
from disorder.store.sample_parts import SampleParts
from disorder.store.samples import predictions_of, storable
from disorder.transformations import Transformation
from disorder.types import (
    CONTROL_OF,
    ORIGINAL,
    Costs,
    Dataset,
    Example,
    Floats,
    Ints,
    Outcomes,
    Progress,
)
from disorder.verbs.audit.block import Block, BlockPredictor, BlockResult
from disorder.verbs.audit.budget import Budget
from disorder.verbs.audit.watching import STOP_WHEN, Watcher, not_predicted
from disorder.verbs.outcomes import OutcomeFacts
from disorder.verbs.transformation_samples import ExampleNumbers, TransformationSamples

BLOCK = 4096  # texts in a block: what a crash can cost; fixed: files do not depend on batch size
BLOCK_LETTERS = 1 << 26  # letters in a block: only texts of many thousand words reach it
LONGEST_NAME = 100  # letters of a spec in the name of a part
CURTAILED_BLOCK = 512  # examples in a block whose variants are predicted in rounds
SERVER_BLOCK = 512  # texts in a block that a server predicts, where every prediction counts


@dataclass(frozen=True)
class Stage:
    """The original texts (transformation None), or all texts under one transformation."""

    number: int
    transformation: Transformation | None
    count: int  # variants of an example at most

    @property
    def spec(self) -> str:
        """The transformation as run files name it."""
        return ORIGINAL if self.transformation is None else self.transformation.spec

    def block(self, examples: Sequence[Example], start: int, index: int) -> Block:
        """Some examples of the stage as its block number `index`."""
        name = "".join(char if char.isalnum() else "-" for char in self.spec[:LONGEST_NAME])
        part = f"{self.number:02d}-{name}-{index:05d}.parquet"
        return Block(part, self.spec, examples, start)

    def again(self, examples: Sequence[Example], repeat: int) -> Block:
        """Some examples whose texts are predicted again, of several variants the first."""
        block = self.block(examples, 0, repeat)
        part = block.part.replace(".parquet", "-again.parquet")
        return replace(block, part=part, repeat=repeat)

    def blocks(
        self,
        examples: Sequence[Example],
        *,
        size: int,
        is_curtailed: bool,
        ends: Sequence[int] = (),
    ) -> Iterator[Block]:
        """The examples of the stage in blocks of `size` texts; one ends after each number of
        examples in `ends`, where somebody looks.
        """
        n_examples = max(1, size // self.count)
        if is_curtailed and self.count > 1:
            n_examples = CURTAILED_BLOCK
        start = index = 0
        for end in sorted({*ends, len(examples)}):
            for chosen in in_blocks(examples[start:end], n_examples, self.count):
                yield self.block(chosen, start, index)
                start += len(chosen)
                index += 1


def stages_of(plan: Sequence[Transformation], q: int) -> list[Stage]:
    """The stages of an audit: the original texts first."""
    perturbed = [Stage(number, each, each.count(q)) for number, each in enumerate(plan, start=1)]
    return [Stage(0, None, 1), *perturbed]


def in_blocks(examples: Sequence[Example], size: int, count: int) -> Iterator[Sequence[Example]]:
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


@dataclass
class BlockSource:
    """The results of blocks: parts that an earlier session finished come from disk, the others from
    an engine (this machine, or Ray); these are kept as they come.
    """

    engine: Engine
    predictor: BlockPredictor
    parts: SampleParts
    model_hash: str
    budget: Budget
    engine_name: str = "local"
    costs: Costs = field(default_factory=Costs)

    def in_order(self, blocks: Sequence[Block], count: int) -> Iterator[tuple[Block, BlockResult]]:
        """Each block with its result; engines may finish them in another order. `count` is how many
        variants an example has at most.
        """
        missing = [block for block in blocks if block.part not in self.parts.written]
        results = self.engine(missing)
        by_part = {block.part: block for block in missing}
        early: dict[str, BlockResult] = {}
        for block in blocks:
            if block.part not in by_part:
                yield block, self._finished(block, count)
                continue
            while block.part not in early:
                result = next(results)
                self._keep(by_part[result.part], result)
                early[result.part] = result
            yield block, early.pop(block.part)

    def tables(self, spec: str, n_examples: int) -> Iterator[pa.Table]:
        """The samples of the first examples under a transformation, read again from disk."""
        for name, entry in sorted(self.parts.known.items()):
            if entry["transformation"] == spec and entry["start"] < n_examples:
                yield self.parts.read(name)

    def _finished(self, block: Block, count: int) -> BlockResult:
        """A part from disk, read once; one that is damaged is predicted again."""
        try:
            table = self.parts.read(block.part)
            _check_about(block, table, count)
        except BadData:
            self.parts.kept.notes.append(f"{block.part} is damaged; it is predicted again")
            again = self.predictor(block)  # here, not by the engine, which is at work
            self._keep(block, again)
            return again
        self.costs["resumed"] += table.num_rows
        return BlockResult(block.part, table, self.parts.skips(block.part), {}, self.model_hash)

    def _keep(self, block: Block, result: BlockResult) -> None:
        began = time.perf_counter()
        if result.model != self.model_hash:
            raise DisorderError(
                f"{option('engine', self.engine_name)}: a worker has another version of the model "
                f"({result.model or 'unknown'}, not {self.model_hash or 'unknown'}); install the "
                "same everywhere, then resume"
            )
        self.costs.add(result.counts)
        self.parts.write(
            block.part,
            result.table,
            result.skips,
            self.budget.to_record(self.costs),
            transformation=block.transformation,
            start=block.start,
            n_examples=len(block.examples),
            n_predicted=int(result.counts.get("predicted", 0)),
            repeat=block.repeat,
        )
        self.costs["write"] += time.perf_counter() - began


def _check_about(block: Block, table: pa.Table, count: int) -> None:
    """Raise where a part holds an example or a variant that is not of its block."""
    examples, variants, _ = predictions_of(table)
    ids = {storable(example.id) for example in block.examples}
    if not set(examples) <= ids or variants.max(initial=0) >= count:
        raise BadData(f"{block.part} is of other examples")


@dataclass(frozen=True)
class Sampling:
    """What is sampled, from where, and who watches."""

    dataset: Dataset
    stages: Sequence[Stage]
    source: BlockSource
    facts: OutcomeFacts
    progress: Progress
    watch: Sequence[Watcher] = ()
    looks: Sequence[int] = ()  # examples after which watchers want to look

    @property
    def size(self) -> int:
        """How many texts go into a block."""
        return SERVER_BLOCK if self.source.predictor.model.is_remote else BLOCK


def sampled_stages(sampling: Sampling) -> Iterator[TransformationSamples]:
    """The samples of all examples, one stage after the other, the original texts first; only one of
    them is in memory at a time. A stage ends early when a watcher says so.
    """
    numbers = ExampleNumbers.of(sampling.dataset.task, sampling.dataset.examples)
    original: Floats = np.empty(0)
    has_probabilities = False
    for stage in sampling.stages:
        samples = TransformationSamples.empty(stage.transformation, stage.count, numbers)
        for places in _blocks(sampling, stage, samples):
            has_probabilities = has_probabilities or samples.has_probabilities
            if not sampling.watch:
                continue
            found = _watched(sampling, samples, original, places)
            for watcher in sampling.watch:
                watcher.take(found, samples.n_done, has_probabilities=has_probabilities)
            if any(watcher.ends(stage.spec) for watcher in sampling.watch):
                break
        n = len(numbers)
        if samples.n_done < n:
            samples.skips[not_predicted(STOP_WHEN)] = n - samples.n_done
            sampling.progress(stage.spec, n, n, "")
        if stage.transformation is None:
            original = samples.values[:, 0].copy()  # the array is whose it is given to
        yield samples


def _blocks(sampling: Sampling, stage: Stage, samples: TransformationSamples) -> Iterator[Ints]:
    """Enter the blocks of a stage one by one; gives the numbers of the examples answered."""
    source = sampling.source
    examples = sampling.dataset.examples
    is_curtailed = sampling.facts.is_curtailed
    blocks = list(
        stage.blocks(examples, size=sampling.size, is_curtailed=is_curtailed, ends=sampling.looks)
    )
    for block, result in source.in_order(blocks, stage.count):
        places = samples.add(result.table, result.skips, len(block.examples))
        accuracy = "" if stage.transformation is None else samples.running_accuracy
        notes = (accuracy, source.budget.so_far(source.costs))
        note = "  ".join(note for note in notes if note)
        sampling.progress(stage.spec, samples.n_done, len(examples), note)
        yield places


def _watched(
    sampling: Sampling,
    samples: TransformationSamples,
    original: Floats,
    places: Ints,
    control: Floats | None = None,
) -> dict[str, Outcomes]:
    """The outcomes of some examples, by transformation, where a watcher wants to see them: as far
    as their original texts have a prediction. `control` has those for surface controls.
    """
    if not any(watcher.is_about(samples.spec) for watcher in sampling.watch):
        return {}
    before = samples.values[:, 0] if samples.transformation is None else original
    places = places[~np.isnan(before[places, 0])]
    if not len(places):
        return {}
    # as of probabilities, until the whole run shows whether it has any
    found = samples.outcomes(
        before, places, sampling.facts, gives_probabilities=True, control=control
    )
    return {samples.spec: found}


def sampled_portions(sampling: Sampling) -> tuple[Dataset, Iterator[TransformationSamples]]:
    """Some examples at a time under all transformations, until a watcher allows no more: those
    reached by then are a random part of the data, and all that the audit is about.
    """
    dataset, source = sampling.dataset, sampling.source
    numbers = ExampleNumbers.of(dataset.task, dataset.examples)
    stages = [
        TransformationSamples.empty(stage.transformation, stage.count, numbers)
        for stage in sampling.stages
    ]
    n_variants = sum(stage.count for stage in sampling.stages)
    per_example = n_variants * source.predictor.model.n_questions
    n_all = len(dataset.examples)
    n_done = 0
    why = ""
    while n_done < n_all:
        n_next, why = _next(sampling, n_done, per_example)
        if not n_next:
            break
        _predict_portion(sampling, stages, n_done, n_next)
        n_done += n_next
        for watcher in sampling.watch:
            watcher.check(source.costs)
        notes = (stages[0].running_accuracy, source.budget.so_far(source.costs))
        sampling.progress("examples", n_done, n_all, "  ".join(note for note in notes if note))
    if not n_done:
        raise DisorderError(
            f"{why}: not even one example fits, which takes {per_example:,} questions; "
            f"allow more, or choose fewer variants ({option('q')}) or transformations "
            f"({option('with_')})"
        )
    if n_done < n_all:
        dataset = _reached(dataset, n_done, why)
        numbers = ExampleNumbers.of(dataset.task, dataset.examples)
        for samples in stages:
            samples.cut(numbers)
        sampling.progress("examples", n_all, n_all, "")
    return dataset, iter(stages)


def _next(sampling: Sampling, n_done: int, per_example: int) -> tuple[int, str]:
    """How many examples come next, or none and the option that ends the run."""
    over = [option for watcher in sampling.watch if (option := watcher.is_over())]
    if over:
        return 0, over[0]
    known = sampling.source.parts.portions.get(n_done)  # a resumed run takes those it has
    if known is not None:
        return known, ""
    costs = sampling.source.costs
    rooms = [watcher.room(costs) for watcher in sampling.watch]
    room, why = min(rooms, default=(math.inf, ""))
    ends = [*sampling.looks, len(sampling.dataset.examples)]
    left = next(end for end in ends if end > n_done) - n_done
    # the first of a session is small: a server is probed, which costs questions, too
    is_first = not n_done or (sampling.source.budget.limits and not costs.get("predicted"))
    size = 1 if is_first else max(1, sampling.size // per_example)
    return int(min(size, left, room // per_example)), why


def _predict_portion(
    sampling: Sampling, stages: Sequence[TransformationSamples], start: int, n: int
) -> None:
    """Predict a portion under all transformations, and show it to the watchers."""
    examples = sampling.dataset.examples[start : start + n]
    original = stages[0].values[:, 0]
    outcomes: dict[str, Outcomes] = {}
    controls: dict[str, Floats] = {}
    for stage, samples in zip(sampling.stages, stages, strict=True):
        block = stage.block(examples, start, start)
        for _, result in sampling.source.in_order([block], stage.count):
            places = samples.add(result.table, result.skips, n)
            control = controls.get(CONTROL_OF + stage.spec)
            outcomes |= _watched(sampling, samples, original, places, control)
        if any(watcher.compares_with(stage.spec) for watcher in sampling.watch):
            perturbed = partial(sampling.source.predictor.perturbed, stage.spec)
            samples.enter_unchanged(original, perturbed, start)
            controls[stage.spec] = samples.values[:, 0]
    is_shown = any(samples.has_probabilities for samples in stages)
    for watcher in sampling.watch:
        watcher.take(outcomes, start + n, has_probabilities=is_shown)


def _reached(dataset: Dataset, n_done: int, why: str) -> Dataset:
    """The examples that were reached; they are a random part."""
    n_left = len(dataset.examples) - n_done
    note = f"{why}: stopped after {n_done:,} examples, a random part of the data"
    return replace(
        dataset,
        examples=dataset.examples[:n_done],
        skipped={**dataset.skipped, not_predicted(why): n_left},
        notes=[*dataset.notes, note],
    )
