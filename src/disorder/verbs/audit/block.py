"""One block of examples: perturb → predict → table. The inner loop of an audit, which any worker
can run.

Under curtailment the variants of all examples in a block are predicted in rounds, and an example
leaves as soon as every requested score is decided for it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, repeat
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from disorder.data import vocabulary
from disorder.errors import DoesNotApply
from disorder.models import LoadedModel, some_variants
from disorder.requests.settings import Settings
from disorder.store.samples import sample_table
from disorder.transformations import Transformation, parse
from disorder.transformations.positions.disorder import variant_disorder
from disorder.transformations.positions.orders import unchanged
from disorder.transformations.rendering import shown_texts
from disorder.transformations.words import split
from disorder.types import (
    OF_PROMPTS,
    ORIGINAL,
    Bools,
    Costs,
    Dataset,
    Example,
    Ints,
    Task,
    Variants,
)
from disorder.types.predictions import Predictions, predicted_label
from disorder.verbs.model_loading import RunContext

ROUNDS = (1, 1, 1, 1, 2, 2, 4, 4, 8)  # variants predicted in a round; the last size is repeated
FIRST = np.zeros(1, dtype=np.int64)  # of the variants of an example
PROMPT = "prompt"  # the key of draws that all examples share
MODEL_COSTS = ("assemble", "forward", "cache")  # what a model counts by itself, in seconds


@dataclass(frozen=True)
class Block:
    """Some examples under one transformation, the number of the first of them, and the part that
    their samples go to; `repeat` is how often the texts were predicted before.
    """

    part: str
    transformation: str
    examples: Sequence[Example]
    start: int = 0
    repeat: int = 0


@dataclass
class BlockResult:
    """A block's samples, the examples it left out by reason, what it cost, and the hash of the
    model that predicted it.
    """

    part: str
    table: pa.Table
    skips: dict[str, int]
    counts: dict[str, float]
    model: str


@dataclass
class PerturbedBlock:
    """The examples of a block that can be perturbed, their variants, and how many were left out by
    reason.
    """

    examples: list[Example] = field(default_factory=list)
    variants: list[Variants] = field(default_factory=list)
    skips: Counter[str] = field(default_factory=Counter)


@dataclass
class BlockPredictor:
    """Perturbs and predicts blocks with one loaded model."""

    load: Callable[[], LoadedModel]
    task: Task
    q: int
    seed: int
    short: str
    decided_at: Sequence[Any] = ()  # thresholds of the requested scores; empty: predict everything
    words: Sequence[str] = ()  # of the data, for transformations that write words of their own
    data_dir: str | None = None
    perturbs: str = "text"  # or a part of the prompt, which is perturbed alike for all examples
    splitters: Mapping[str, str] = field(default_factory=dict)  # by transformation, for any worker
    _parsed: dict[str, Transformation] = field(default_factory=dict)

    can_predict: ClassVar[bool] = True  # False where all predictions were made elsewhere

    @classmethod
    def of(
        cls,
        load: Callable[[], LoadedModel],
        dataset: Dataset,
        plan: Sequence[Transformation],
        settings: Settings,
        decided_at: Sequence[Any] = (),
    ) -> BlockPredictor:
        """A block predictor for these examples and settings."""
        needs_words = any("vocabulary" in transformation.needs for transformation in plan)
        return cls(
            load,
            dataset.task,
            settings.n_variants,
            settings.seed,
            settings.short_texts,
            decided_at,
            vocabulary(dataset) if needs_words else (),
            settings.data_dir,
            settings.break_,
            {each.spec: each.splitter_for(dataset.task) for each in plan},
        )

    @cached_property
    def model(self) -> LoadedModel:
        """The model, loaded when it is first needed."""
        return self.load()

    @property
    def is_drawn_once(self) -> bool:
        """Whether all examples have one first text, which is part of a prompt."""
        return self.perturbs in OF_PROMPTS

    def __call__(self, block: Block) -> BlockResult:
        """Perturb and predict one block."""
        costs = Costs()
        before = dict(self.model.counts)
        # one that is asked again does not know the predictions it made before
        model = replace(self.model, repeat=block.repeat) if block.repeat else self.model
        if block.transformation == ORIGINAL:
            table, skips = self._originals(block, model, costs), Counter[str]()
        else:
            table, skips = self._perturbations(block, model, costs)
        costs.add(self.model.counts.since(before))
        left_out = dict(sorted(skips.items()))
        return BlockResult(block.part, table, left_out, dict(costs), self.model.fingerprint)

    def _originals(self, block: Block, model: LoadedModel, costs: Costs) -> pa.Table:
        """The predictions for the original texts."""
        examples = block.examples
        predictions = self.predict_examples(examples, model)
        began = time.perf_counter()
        nothing_moved = [None] * len(examples)
        table = sample_table(
            ORIGINAL, self.task.labels, examples, nothing_moved, predictions, repeat=block.repeat
        )
        costs["write"] += time.perf_counter() - began
        return table

    def predict_examples(
        self, examples: Sequence[Example], model: LoadedModel | None = None
    ) -> Predictions:
        """The predictions for the original texts of some examples."""
        model = model or self.model
        return model.predict_segments([example.segments for example in examples])

    def _perturbations(
        self, block: Block, model: LoadedModel, costs: Costs
    ) -> tuple[pa.Table, Counter[str]]:
        """The predictions for the perturbed texts, under curtailment only as many as decide the
        scores, and which examples were left out.
        """
        perturbed = self._perturb(block, costs)
        variants = perturbed.variants
        if block.repeat:
            variants = [some_variants(each, FIRST) for each in variants]
        counts = [len(each) for each in variants]
        if self.decided_at and not block.repeat and max(counts, default=0) > 1:
            gold = [self.task.labels.index(example.label) for example in perturbed.examples]
            parts = self._predict_in_rounds(variants, np.array(gold))
            costs["saved"] += sum(counts) - sum(map(len, parts))
            counts = [len(part) for part in parts]
            predictions = Predictions.joined(parts)
        else:
            predictions = self._predict_all(variants, model)
        began = time.perf_counter()
        texts = None
        if self.is_drawn_once or self.transformation(block.transformation).needs_context:
            # they cannot be drawn again from the original text and the seed
            texts = [shown_texts(each) for each in variants]
        table = sample_table(
            block.transformation,
            self.task.labels,
            perturbed.examples,
            variants,
            predictions,
            counts=counts,
            texts=texts,
            disorder=[variant_disorder(each) for each in variants],
            repeat=block.repeat,
        )
        costs["write"] += time.perf_counter() - began
        return table, perturbed.skips

    def transformation(self, spec: str) -> Transformation:
        """The transformation of a spec, parsed once."""
        if spec not in self._parsed:
            self._parsed[spec] = parse(spec, usual_words=self.splitters.get(spec, ""))
        return self._parsed[spec]

    def perturbed(self, spec: str, example: Example) -> Variants:
        """All variants of one example."""
        [variants] = self._variants(spec, [example])
        if isinstance(variants, DoesNotApply):
            raise variants
        return variants

    @cached_property
    def _context(self) -> RunContext:
        return RunContext(self.model, self.words, self.data_dir)

    def _variants(
        self, spec: str, examples: Sequence[Example]
    ) -> Iterator[Variants | DoesNotApply]:
        chosen = self.transformation(spec)
        context = self._context if chosen.needs_context else None
        apply = partial(
            chosen.apply_all,
            task=self.task,
            q=self.q,
            seed=self.seed,
            short=self.short,
            context=context,
        )
        if not self.is_drawn_once:
            return apply(examples)
        [drawn] = apply([replace(examples[0], id=PROMPT)])
        return (_with_item(drawn, example) for example in examples)

    def _perturb(self, block: Block, costs: Costs) -> PerturbedBlock:
        began = time.perf_counter()
        before = dict(self.model.counts)
        perturbed = PerturbedBlock()
        found = self._variants(block.transformation, block.examples)
        for example, variants in zip(block.examples, found, strict=True):
            if isinstance(variants, DoesNotApply):
                perturbed.skips[str(variants)] += 1
            else:
                perturbed.examples.append(example)
                perturbed.variants.append(variants)
        # the importance of words calls the model, which counts its own seconds
        called = self.model.counts.since(before)
        counted = sum(called.get(name, 0.0) for name in MODEL_COSTS)
        costs["draw"] += time.perf_counter() - began - counted
        return perturbed

    def _predict_all(self, variants: Sequence[Variants], model: LoadedModel) -> Predictions:
        if not variants:
            return Predictions.empty(0, max(1, len(self.task.labels)))
        found = model.predict_variants(variants)
        if not any("options" in each.on for each in variants):
            return found
        own = found.split([len(each) for each in variants])
        return Predictions.joined([_by_content(*each) for each in zip(variants, own, strict=True)])

    def _predict_in_rounds(self, variants: Sequence[Variants], gold: Ints) -> list[Predictions]:
        """Predict a few variants of every undecided example at a time."""
        predictions: list[list[Predictions]] = [[] for _ in variants]
        totals = np.array([len(each) for each in variants])
        predicted = np.zeros(len(variants), dtype=np.int64)
        accepted = np.zeros(len(variants), dtype=np.int64)
        lost = np.zeros(
            len(variants), dtype=np.int64
        )  # no answer: as if there were no such variant
        for size in _rounds(int(totals.max())):
            decided = self._is_decided(accepted, predicted - lost, totals - lost)
            undecided = np.flatnonzero(~decided & (predicted < totals)).tolist()
            if not undecided:
                break
            ends = np.minimum(predicted + size, totals)
            chosen = [
                some_variants(variants[i], np.arange(predicted[i], ends[i])) for i in undecided
            ]
            together = self._predict_all(chosen, self.model)
            apart = together.split([len(each) for each in chosen])
            for i, found in zip(undecided, apart, strict=True):
                predictions[i].append(found)
                predicted[i] += len(found)
                accepted[i] += int((predicted_label(found.values) == gold[i]).sum())
                lost[i] += int(found.is_failed.sum())
        return [Predictions.joined(parts) for parts in predictions]

    def _is_decided(self, accepted: Ints, predicted: Ints, totals: Ints) -> Bools:
        """Whether no further prediction can change a requested score of an example."""
        decided = np.ones(len(totals), dtype=bool)
        for threshold in self.decided_at:
            needed = totals
            if threshold < 1:
                needed = totals * threshold.numerator // threshold.denominator + 1
            decided &= (accepted >= needed) | (accepted + totals - predicted < needed)
        return decided


def _with_item(drawn: Variants | DoesNotApply, example: Example) -> Variants | DoesNotApply:
    """Perturbed prompts, with the part about an example as it is."""
    if isinstance(drawn, DoesNotApply):
        return drawn
    item = unchanged(split(str(example.segments["item"])))
    return replace(drawn, b=item, label=example.label, segments=example.segments)


def _by_content(variants: Variants, found: Predictions) -> Predictions:
    """Predictions for options in another order, with each option in the column of its own."""
    if "options" not in variants.on:
        return found
    moved = variants.sides[variants.on.index("options")]
    orders = moved.positions[: len(found)]
    values = np.zeros_like(found.values)
    np.put_along_axis(values, orders, found.values[:, : orders.shape[1]], axis=1)
    return Predictions(values, found.outcomes)


def _rounds(total: int) -> Iterator[int]:
    left = total
    for size in chain(ROUNDS, repeat(ROUNDS[-1])):
        if not left:
            return
        yield min(size, left)
        left -= min(size, left)
