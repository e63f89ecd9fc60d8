"""One block of examples: perturbed, asked, and written down as a table. The inner loop of an audit,
which any worker can run.

Under curtailment the variants of all examples in a block are asked in rounds, and an example leaves
as soon as every requested score is decided for it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from disorder.abstention import predicted_label
from disorder.data import vocabulary
from disorder.errors import DoesNotApply
from disorder.metrics import ORIGINAL
from disorder.models import LoadedModel, choose_precision, load
from disorder.randomness import digest
from disorder.runs.cache_folder import default_folder
from disorder.runs.samples import sample_table
from disorder.runs.settings import Settings
from disorder.transformations import Transformation, parse
from disorder.transformations.rendering import variant_texts
from disorder.types import Bools, Costs, Dataset, Example, Floats, Ints, Task, Texts, Variants
from disorder.verbs.context import RunContext

N_SAMPLED = 200  # examples that a precision is tried on
ROUNDS = (1, 1, 1, 1, 2, 2, 4, 4, 8)  # variants asked in a round; the last size is repeated


@dataclass(frozen=True)
class Block:
    """Some examples under one transformation, and the part that their samples go to."""

    part: str
    transformation: str
    examples: Sequence[Example]


@dataclass
class BlockResult:
    """A block's samples, the examples it left out by reason, and what it cost."""

    part: str
    table: pa.Table
    skips: dict[str, int]
    counts: dict[str, float]


@dataclass
class BlockPredictor:
    """Breaks and asks blocks with one loaded model."""

    load: Callable[[], LoadedModel]
    task: Task
    q: int
    seed: int
    short: str
    decided_at: Sequence[Any] = ()  # thresholds of the requested scores; empty: ask everything
    words: Sequence[str] = ()  # of the data, for transformations that write words of their own
    data_dir: str | None = None
    _parsed: dict[str, Transformation] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        load: Callable[[], LoadedModel],
        dataset: Dataset,
        plan: Sequence[Transformation],
        settings: Settings,
        decided_at: Sequence[Any] = (),
    ) -> BlockPredictor:
        """An asker for these examples and settings."""
        words = (
            vocabulary(dataset)
            if any("vocabulary" in transformation.needs for transformation in plan)
            else ()
        )
        return cls(
            load,
            dataset.task,
            settings.q,
            settings.seed,
            settings.short,
            decided_at,
            words,
            settings.data_dir,
        )

    @cached_property
    def predictor(self) -> LoadedModel:
        """The model, loaded when it is first needed."""
        return self.load()

    def __call__(self, block: Block) -> BlockResult:
        """Break and ask one block."""
        costs = Costs()
        before = dict(self.predictor.counts)
        skips: Counter[str] = Counter()
        used, variants = self._perturbed(block, skips, costs)
        texts = [
            [e.texts] if v is None else variant_texts(v)
            for e, v in zip(used, variants, strict=True)
        ]
        answers = self._answers(used, texts, costs)
        costs.add(self.predictor.counts.since(before))
        began = time.perf_counter()
        asks_others = (
            block.transformation != ORIGINAL
            and self.transformation(block.transformation).asks_others
        )
        table = sample_table(
            block.transformation,
            self.task.labels,
            used,
            variants,
            answers,
            texts=texts if asks_others else None,
        )
        costs["write"] += time.perf_counter() - began
        return BlockResult(block.part, table, dict(sorted(skips.items())), dict(costs))

    def transformation(self, spec: str) -> Transformation:
        """The transformation of a spec, parsed once."""
        if spec not in self._parsed:
            self._parsed[spec] = parse(spec)
        return self._parsed[spec]

    def perturbed(self, spec: str, example: Example) -> Variants:
        """All variants of one example."""
        [variants] = self._variants(spec, [example])
        if isinstance(variants, DoesNotApply):
            raise variants
        return variants

    @cached_property
    def _surroundings(self) -> RunContext:
        return RunContext(self.predictor, self.words, self.data_dir)

    def _variants(
        self, spec: str, examples: Sequence[Example]
    ) -> Iterator[Variants | DoesNotApply]:
        chosen = self.transformation(spec)
        context = self._surroundings if chosen.asks_others else None
        return chosen.apply_all(
            examples, task=self.task, q=self.q, seed=self.seed, short=self.short, context=context
        )

    def _perturbed(
        self, block: Block, skips: Counter[str], costs: Costs
    ) -> tuple[list[Example], list[Variants | None]]:
        if block.transformation == ORIGINAL:
            return list(block.examples), [None] * len(block.examples)
        began, used, variants = time.perf_counter(), [], []
        before = dict(self.predictor.counts)
        found = self._variants(block.transformation, block.examples)
        for example, perturbed in zip(block.examples, found, strict=True):
            if isinstance(perturbed, DoesNotApply):
                skips[str(perturbed)] += 1
            else:
                variants.append(perturbed)
                used.append(example)
        asked = self.predictor.counts.since(
            before
        )  # importance asks the model, which has its own bill
        costs["draw"] += (
            time.perf_counter()
            - began
            - sum(asked.get(name, 0.0) for name in ("assemble", "forward", "cache"))
        )
        return used, list(variants)

    def _answers(
        self, used: Sequence[Example], texts: Sequence[list[Texts]], costs: Costs
    ) -> list[Floats]:
        if not self.decided_at or all(len(group) == 1 for group in texts):
            return (
                _split(self.predictor([text for group in texts for text in group]), texts)
                if texts
                else []
            )
        gold = [self.task.labels.index(example.label) for example in used]
        answers = self._in_rounds(texts, np.array(gold))
        costs["saved"] += sum(map(len, texts)) - sum(map(len, answers))
        return answers

    def _in_rounds(self, texts: Sequence[list[Texts]], gold: Ints) -> list[Floats]:
        """Ask a few variants of every undecided example at a time."""
        answers: list[list[Floats]] = [[] for _ in texts]
        totals = np.array([len(group) for group in texts])
        asked, accepted = np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=np.int64)
        for size in _rounds(int(totals.max())):
            alive = np.flatnonzero(~self._is_decided(accepted, asked, totals)).tolist()
            if not alive:
                break
            groups = [texts[i][asked[i] : asked[i] + size] for i in alive]
            for i, part in zip(
                alive, _split(self.predictor([t for g in groups for t in g]), groups), strict=True
            ):
                answers[i].append(part)
                asked[i] += len(part)
                accepted[i] += int((predicted_label(part) == gold[i]).sum())
        return [np.concatenate(parts) for parts in answers]

    def _is_decided(self, accepted: Ints, asked: Ints, totals: Ints) -> Bools:
        """Whether no further answer can change a requested score of an example."""
        decided = np.ones(len(totals), dtype=bool)
        for threshold in self.decided_at:
            needed = (
                totals * threshold.numerator // threshold.denominator + 1
                if threshold < 1
                else totals
            )
            decided &= (accepted >= needed) | (accepted + totals - asked < needed)
        return decided


def _rounds(total: int) -> Iterator[int]:
    left = total
    for size in ROUNDS:
        yield min(size, left)
        left -= min(size, left)
        if not left:
            return
    while left:
        yield min(ROUNDS[-1], left)
        left -= min(ROUNDS[-1], left)


def _split(answers: Floats, groups: Sequence[Sequence[Texts]]) -> list[Floats]:
    return np.split(answers, np.cumsum([len(group) for group in groups])[:-1])


def loaded_model(
    model: Any, dataset: Dataset, plan: list[Transformation], settings: Settings
) -> tuple[LoadedModel, list[str]]:
    """The model in the precision asked for, and what the user should know about it."""
    precision = settings.precision
    notes: list[str] = []
    if precision == "auto":
        texts = _sampled(dataset, plan, settings)
        precision, note = choose_precision(
            partial(load_model, model, dataset.task, settings), texts, settings.agree
        )
        notes.append(note)
    loaded = load_model(model, dataset.task, settings, precision)
    if any("importance" in transformation.needs for transformation in plan):
        notes.append(loaded.how_importance)
    return loaded, [*notes, *loaded.notes]


def _sampled(dataset: Dataset, plan: Sequence[Transformation], settings: Settings) -> list[Texts]:
    """Whole and perturbed texts of a few examples, such as the audit will ask; those only that can be
    perturbed without a model.
    """
    texts: list[Texts] = []
    transformation = next((each for each in plan if not each.asks_others), parse("derange"))
    for example in sorted(
        dataset.examples, key=lambda example: digest(settings.seed, "precision", example.id)
    )[:N_SAMPLED]:
        texts.append(example.texts)
        try:
            variants = transformation.apply(
                example, task=dataset.task, q=2, seed=settings.seed, short="use"
            )
            texts += variant_texts(variants)
        except DoesNotApply:
            continue
    return texts


def load_model(model: Any, task: Any, settings: Settings, precision: str) -> LoadedModel:
    """The model in one precision, with its cache."""
    folder = (
        None
        if settings.cache == "off"
        else Path(settings.cache)
        if settings.cache
        else default_folder()
    )
    return load(
        model,
        task=task,
        labels=settings.labels,
        batch_size=settings.batch_size,
        precision=precision,
        cache=folder,
    )
