"""What does a recipe decide? Which inputs, which loss, in which phases; the loop does the rest.

A recipe is a function `(job, *, settings) -> list[Phase]`, registered with `@recipe`: see plain.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.data import vocabulary
from disorder.errors import BadData, DisorderError
from disorder.metrics import ORIGINAL
from disorder.models import load
from disorder.transformations import parse
from disorder.types import Bools, Dataset, Example, Floats, Task, Texts
from disorder.verbs.context import RunContext
from disorder.verbs.train.learner import SPANS
from disorder.verbs.train.perturbed_copies import Broken, mixed, salad

Loss = Callable[
    [Any, Any, Any], Any
]  # (logits, targets, is_perturbed), all tensors → the mean loss of a batch, a tensor


@dataclass(frozen=True, eq=False)
class Inputs:
    """Texts to learn from, each with its target (a label number, or a number) and whether it is a
    perturbed copy.
    """

    texts: Sequence[Texts]
    targets: NDArray[Any]
    is_perturbed: Bools

    def __len__(self) -> int:
        return len(self.texts)

    def __add__(self, more: Inputs) -> Inputs:
        targets = np.concatenate([self.targets, more.targets])
        return Inputs(
            [*self.texts, *more.texts],
            targets,
            np.concatenate([self.is_perturbed, more.is_perturbed]),
        )

    @property
    def is_pair(self) -> bool:
        """Whether there are two texts."""
        return self.texts[0][1] is not None


Answer = Callable[[Sequence[Texts]], Floats]  # texts → logits of the network as it stands


@dataclass(frozen=True)
class Phase:
    """One training of the network: inputs, dev inputs that choose the best epoch, what outputs
    mean, and the loss.

    The head is made again where `labels` differ from those before, or always with `new_head`.
    `after` is called with the learner once the best epoch is back in the network (to calibrate it,
    say); what it returns is kept in training.json. With `keeps_last` the last epoch stays: accuracy
    on original texts does not see what a mitigation is for. `epochs=0` learns nothing. Labels SPANS are
    those of a head that finds answers; targets are then the gold answers.
    """

    name: str
    train: Inputs
    dev: Inputs
    labels: tuple[str, ...]
    loss: Loss
    epochs: int | None = None
    new_head: bool = False
    after: Callable[[Any], Mapping[str, Any]] | None = None
    keeps_last: bool = False


@dataclass
class Job:
    """What every recipe is given: the data, what to train on, the seed, and the models at hand."""

    train: Dataset
    dev: Dataset
    seed: int = 0
    on: Sequence[str] = (ORIGINAL,)
    skips: dict[str, dict[str, int]] = field(default_factory=dict)
    is_fine_tuned: bool = (
        False  # whether the model that training starts from answers the task's labels already
    )
    asks: str | None = None  # the model that transformations ask which words matter
    data_dir: str | None = None
    finds_spans: bool = False  # whether answers are learned, not labels

    @property
    def task(self) -> Task:
        """What the data asks."""
        return self.train.task

    @property
    def loss(self) -> Loss:
        """Cross-entropy, or squared error where gold labels are numbers."""
        if self.finds_spans:
            from disorder.verbs.train.span_learning import span_loss

            return span_loss
        return squared_error if self.task.is_regression else cross_entropy

    @property
    def labels(self) -> tuple[str, ...]:
        """The task's labels, for recipes that are about labels."""
        if self.task.is_regression:
            raise BadData("this recipe is about labels, and the data has numbers")
        return self.task.labels

    def task_phase(self, *, new_head: bool = False) -> Phase:
        """The task itself, as `--on` asks for it: labels, numbers, or answers in a passage."""
        dev = self.dev_inputs()
        if not self.finds_spans:
            return Phase("task", self.inputs(), dev, self.task.labels, self.loss, new_head=new_head)
        from disorder.verbs.train.span_learning import settled

        return Phase(
            "task", self.inputs(), dev, SPANS, self.loss, new_head=new_head, after=settled(dev)
        )

    def epochs(self, learn: bool) -> int | None:
        """None (as the loop is told), or 0 for a recipe that only looks at a trained model."""
        if not learn and not self.is_fine_tuned:
            raise DisorderError(
                "learn=false needs a model that is trained on these labels: --model FORM:FOLDER"
            )
        return None if learn else 0

    def inputs(self) -> Inputs:
        """The training data as `--on` asks: whole, perturbed, or several copies one after the other."""
        first, *more = [self.copies(spec) for spec in self.on]
        for other in more:
            first += other
        return first

    def dev_inputs(self) -> Inputs:
        """The dev data, whole."""
        return self._whole(self.dev.examples)

    def copies(self, spec: str, *, draw: int = 0) -> Inputs:
        """One copy of every training example under a transformation; those it does not apply to are
        counted and left out.
        """
        return self._whole(self.train.examples) if spec == ORIGINAL else self._perturbed(spec, draw)

    def perturbed_by(self, usual: Sequence[str] | None = None) -> list[str]:
        """The transformations that a mitigation breaks texts by: those of `--on`, else the usual ones,
        else Word Salad's.
        """
        asked = [spec for spec in self.on if spec != ORIGINAL] or list(usual or ())
        is_pair = self.train.examples[0].text_b is not None
        return asked or salad(is_pair=is_pair, asks_model=self.asks is not None)

    def mixed(self, specs: Sequence[str], *, draw: int = 0) -> Inputs:
        """One perturbed copy of every training example, by a transformation drawn for it; counted like
        copies.
        """
        perturbed = self._made(self.train.examples, specs, self.seed + draw)
        self.skips |= {spec: dict(sorted(skips.items())) for spec, skips in perturbed.skips.items()}
        return self._inputs(self.train.examples, perturbed)

    def dev_perturbed(self, specs: Sequence[str]) -> Inputs:
        """One perturbed copy of every dev example, likewise."""
        return self._inputs(self.dev.examples, self._made(self.dev.examples, specs, self.seed))

    def _perturbed(self, spec: str, draw: int) -> Inputs:
        return self.mixed([spec], draw=draw)

    def _made(self, examples: Sequence[Example], specs: Sequence[str], seed: int) -> Broken:
        asks = next((spec for spec in specs if parse(spec).needs - {"tags"}), None)
        context = None if asks is None else self._context(asks)
        perturbed = mixed(examples, self.task, specs, seed=seed, context=context)
        if not perturbed.texts:
            reasons = sorted({reason for skips in perturbed.skips.values() for reason in skips})
            raise BadData(
                f"--on {' --on '.join(specs)}: no example can be perturbed so ({', '.join(reasons)})"
            )
        return perturbed

    def _inputs(self, examples: Sequence[Example], perturbed: Broken) -> Inputs:
        used = [examples[i] for i in perturbed.places]
        if self.finds_spans and any(
            text[1] != e.text_b for text, e in zip(perturbed.texts, used, strict=True)
        ):
            raise BadData(
                "where the answer stands in a perturbed passage is not known: break the question (side=a)"
            )
        return Inputs(perturbed.texts, self._targets(used), np.ones(len(used), dtype=bool))

    def _whole(self, examples: Sequence[Example]) -> Inputs:
        return Inputs(
            [e.texts for e in examples],
            self._targets(examples),
            np.zeros(len(examples), dtype=bool),
        )

    def _targets(self, examples: Sequence[Example]) -> NDArray[Any]:
        if not self.finds_spans:
            return targets(examples, self.task)
        found = np.empty(len(examples), dtype=object)
        found[:] = [e.answers for e in examples]
        return found

    def _context(self, spec: str) -> RunContext:
        if parse(spec).needs - {"tags"} == {"training data"}:
            return RunContext(data_dir=self.data_dir)
        if self.asks is None:
            raise DisorderError(
                f"--on {spec} asks a model which words matter: name a trained one, --asks FORM:FOLDER"
            )
        return self._surroundings

    @cached_property
    def _surroundings(self) -> RunContext:
        return RunContext(load(self.asks, task=self.task), vocabulary(self.train), self.data_dir)


def targets(examples: Sequence[Example], task: Task) -> NDArray[Any]:
    """Gold labels as numbers: places in the task's labels, or the numbers themselves."""
    if task.is_regression:
        return np.array([float(e.label) for e in examples], dtype=np.float32)
    places = {label: i for i, label in enumerate(task.labels)}
    return np.array([places[e.label] for e in examples], dtype=np.int64)


def cross_entropy(logits: Any, targets: Any, is_perturbed: Any) -> Any:
    """The usual loss for labels."""
    from torch.nn.functional import cross_entropy as loss

    return loss(logits, targets)


def squared_error(logits: Any, targets: Any, is_perturbed: Any) -> Any:
    """The usual loss for numbers."""
    return ((logits[:, 0] - targets) ** 2).mean()
