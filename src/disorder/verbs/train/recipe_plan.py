"""What a recipe decides: which inputs, which loss, in which phases; the loop does the rest.

A recipe is a function `(job, *, settings) -> list[Phase]`, registered with `@recipe`: see
recipes/plain.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.data import vocabulary
from disorder.errors import BadData, DisorderError, option
from disorder.models import load
from disorder.transformations import parse
from disorder.types import ORIGINAL, Dataset, Example, Fidelity, Task
from disorder.verbs.model_loading import RunContext
from disorder.verbs.train.inputs import (
    Inputs,
    PerturbedCopies,
    answer_targets,
    cross_entropy,
    label_targets,
    perturbed_copies,
    salad_specs,
    squared_error,
)
from disorder.verbs.train.network_rows import score_spans_after, span_loss
from disorder.verbs.train.trainable import SPANS, TrainableModel

Loss = Callable[[Any, Any, Any], Any]
"""(logits, targets, is_perturbed), all tensors → the mean loss of a batch, a tensor."""

AfterPhase = Callable[[TrainableModel], Mapping[str, Any]]
"""Called with the model when a phase ends; what it returns is kept in result.json."""


@dataclass(frozen=True)
class Phase:
    """One training of the network: inputs, dev inputs that choose the best epoch, what outputs
    mean, and the loss.

    The head is replaced where `labels` differ from those before, or always with `new_head`. `after`
    is called with the model once the best epoch is back in the network (to calibrate it, say).
    With `keeps_last` the last epoch stays: accuracy on original texts does not show what a
    mitigation is for. `epochs=0` trains nothing. With labels SPANS the head finds answers, and
    targets are the gold answers.
    """

    name: str
    train: Inputs
    dev: Inputs
    labels: tuple[str, ...]
    loss: Loss
    epochs: int | None = None
    new_head: bool = False
    after: AfterPhase | None = None
    keeps_last: bool = False


@dataclass
class Job:
    """What every recipe is given: the data, what to train on, the seed, and the models at hand."""

    train: Dataset
    dev: Dataset
    seed: int = 0
    on: Sequence[str] = (ORIGINAL,)
    fidelity: Fidelity = "paper"  # how perturbed copies are written
    skips: dict[str, dict[str, int]] = field(default_factory=dict)
    is_fine_tuned: bool = False  # whether the starting model has the task's labels already
    asks: str | None = None  # the model that says which words matter to a transformation
    data_dir: str | None = None
    finds_spans: bool = False  # whether answers in a passage are trained, not labels
    keeps_unperturbed: bool = False  # whether copies hold what no transformation applies to

    @property
    def task(self) -> Task:
        """The task of the data."""
        return self.train.task

    @property
    def loss(self) -> Loss:
        """Cross-entropy, or squared error where gold labels are numbers."""
        if self.finds_spans:
            return span_loss
        return squared_error if self.task.is_regression else cross_entropy

    @property
    def labels(self) -> tuple[str, ...]:
        """The task's labels, for recipes that need labels."""
        if self.task.is_regression:
            raise BadData("this recipe is about labels, and the data has numbers")
        return self.task.labels

    def task_phase(self, *, new_head: bool = False) -> Phase:
        """The task itself on the texts of `--with`: labels, numbers, or answers in a passage."""
        dev = self.dev_inputs()
        labels = SPANS if self.finds_spans else self.task.labels
        after = score_spans_after(dev) if self.finds_spans else None
        return Phase("task", self.inputs(), dev, labels, self.loss, new_head=new_head, after=after)

    def epochs(self, learn: bool) -> int | None:
        """None (the loop's own number), or 0 for a recipe that only measures a trained model."""
        if not learn and not self.is_fine_tuned:
            raise DisorderError(
                "learn=false needs a model that is trained on these labels: "
                f"{option('model', 'FORM:FOLDER')}"
            )
        return None if learn else 0

    def inputs(self) -> Inputs:
        """The training data as `--with` says: original, perturbed, or several copies."""
        first, *more = [self.copies(spec) for spec in self.on]
        for other in more:
            first += other
        return first

    def dev_inputs(self) -> Inputs:
        """The original dev data."""
        return self._originals(self.dev.examples)

    def copies(self, spec: str, *, draw: int = 0) -> Inputs:
        """One copy of every training example under a transformation; those it does not apply to are
        counted, and left out or kept as they are.
        """
        if spec == ORIGINAL:
            return self._originals(self.train.examples)
        perturbed = self._copied([spec], draw)
        if self.keeps_unperturbed:
            perturbed = perturbed.completed(self.train.examples)
        return self._perturbed_inputs(self.train.examples, perturbed)

    def perturbed_by(self, usual: Sequence[str] | None = None) -> list[str]:
        """The transformations of a mitigation: of `--with`, the usual ones, or Word Salad's."""
        named = [spec for spec in self.on if spec != ORIGINAL] or list(usual or ())
        is_pair = self.train.examples[0].is_pair
        return named or salad_specs(is_pair=is_pair, has_model=self.asks is not None)

    def mixed(self, specs: Sequence[str], *, draw: int = 0) -> Inputs:
        """One perturbed copy of every training example, by a transformation drawn for it."""
        return self._perturbed_inputs(self.train.examples, self._copied(specs, draw))

    def _copied(self, specs: Sequence[str], draw: int) -> PerturbedCopies:
        perturbed = self._perturb(self.train.examples, specs, self.seed + draw)
        self.skips |= {spec: dict(sorted(skips.items())) for spec, skips in perturbed.skips.items()}
        return perturbed

    def dev_perturbed(self, specs: Sequence[str]) -> Inputs:
        """One perturbed copy of every dev example, by a transformation drawn for it."""
        perturbed = self._perturb(self.dev.examples, specs, self.seed)
        return self._perturbed_inputs(self.dev.examples, perturbed)

    def _perturb(
        self, examples: Sequence[Example], specs: Sequence[str], seed: int
    ) -> PerturbedCopies:
        for spec in specs:
            parse(spec, fidelity=self.fidelity).check_makes_texts()
        needy = next((spec for spec in specs if parse(spec).needs - {"tags"}), None)
        context = None if needy is None else self._context(needy)
        perturbed = perturbed_copies(
            examples, self.task, specs, seed=seed, context=context, fidelity=self.fidelity
        )
        if not perturbed.texts:
            reasons = sorted({reason for skips in perturbed.skips.values() for reason in skips})
            named = option("with_", list(specs))
            raise BadData(f"{named}: no example can be perturbed ({', '.join(reasons)})")
        return perturbed

    def _perturbed_inputs(self, examples: Sequence[Example], perturbed: PerturbedCopies) -> Inputs:
        used = [examples[i] for i in perturbed.examples]
        passages = [(text[1], e.texts[1]) for text, e in zip(perturbed.texts, used, strict=True)]
        if self.finds_spans and any(now != before for now, before in passages):
            raise BadData(
                "where the answer stands in a perturbed passage is not known: "
                "perturb the question (side=a)"
            )
        return Inputs(perturbed.texts, self._targets(used), np.ones(len(used), dtype=bool))

    def _originals(self, examples: Sequence[Example]) -> Inputs:
        texts = [e.texts for e in examples]
        return Inputs(texts, self._targets(examples), np.zeros(len(examples), dtype=bool))

    def _targets(self, examples: Sequence[Example]) -> NDArray[Any]:
        return answer_targets(examples) if self.finds_spans else label_targets(examples, self.task)

    def _context(self, spec: str) -> RunContext:
        if parse(spec).needs - {"tags"} == {"training data"}:
            return RunContext(data_dir=self.data_dir)
        if self.asks is None:
            raise DisorderError(
                f"{option('with_', spec)} needs a trained model that says which words matter: "
                f"{option('asks', 'FORM:FOLDER')}"
            )
        return self._model_context

    @cached_property
    def _model_context(self) -> RunContext:
        return RunContext(load(self.asks, task=self.task), vocabulary(self.train), self.data_dir)
