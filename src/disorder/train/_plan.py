"""What does a recipe decide? Which inputs, which loss, in which phases; the loop does the rest.

A recipe is a function `(job, *, settings) -> list[Phase]`, registered with `@recipe`: see plain.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadData, DoesNotApply
from disorder.measure import ORIGINAL
from disorder.perturb import parse
from disorder.types import Bools, Dataset, Example, Floats, Task, Texts

Loss = Callable[[Any, Any, Any], Any]  # (logits, targets, is_broken), all tensors → the mean loss of a batch, a tensor


@dataclass(frozen=True, eq=False)
class Inputs:
    """Texts to learn from, each with its target (a label number, or a number) and whether it is a broken copy."""

    texts: Sequence[Texts]
    targets: NDArray[Any]
    is_broken: Bools

    def __len__(self) -> int:
        return len(self.texts)

    def __add__(self, more: Inputs) -> Inputs:
        targets = np.concatenate([self.targets, more.targets])
        return Inputs([*self.texts, *more.texts], targets, np.concatenate([self.is_broken, more.is_broken]))

    @property
    def is_pair(self) -> bool:
        """Whether there are two texts."""
        return self.texts[0][1] is not None


Answer = Callable[[Sequence[Texts]], Floats]  # texts → logits of the network as it stands


@dataclass(frozen=True)
class Phase:
    """One training of the network: inputs, dev inputs that choose the best epoch, what outputs mean, and the loss.

    The head is made anew where `labels` differ from those before, or always with `new_head`. `after` is called with the
    learner once the best epoch is back in the network (to calibrate it, say); what it returns is kept in training.json.
    """

    name: str
    train: Inputs
    dev: Inputs
    labels: tuple[str, ...]
    loss: Loss
    epochs: int | None = None
    new_head: bool = False
    after: Callable[[Any], Mapping[str, Any]] | None = None


@dataclass
class Job:
    """What every recipe is given: the data, what to train on, and the seed."""

    train: Dataset
    dev: Dataset
    seed: int = 0
    on: Sequence[str] = (ORIGINAL,)
    skips: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def task(self) -> Task:
        """What the data asks."""
        return self.train.task

    @property
    def loss(self) -> Loss:
        """Cross-entropy, or squared error where gold labels are numbers."""
        return squared_error if self.task.is_regression else cross_entropy

    def inputs(self) -> Inputs:
        """The training data as `--on` asks: whole, broken, or several copies one after the other."""
        first, *more = [self.copies(spec) for spec in self.on]
        for other in more:
            first += other
        return first

    def dev_inputs(self) -> Inputs:
        """The dev data, whole."""
        return whole(self.dev.examples, self.task)

    def copies(self, spec: str, *, draw: int = 0) -> Inputs:
        """One copy of every training example under a transformation; those it does not apply to are counted and left out."""
        return whole(self.train.examples, self.task) if spec == ORIGINAL else self._broken(spec, draw)

    def _broken(self, spec: str, draw: int) -> Inputs:
        transformation, skips = parse(spec), Counter[str]()
        texts: list[Texts] = []
        used: list[Example] = []
        for example in self.train.examples:
            try:
                variants = transformation.apply(example, task=self.task, q=1, seed=self.seed + draw, short="use")
            except DoesNotApply as reason:
                skips[str(reason)] += 1
                continue
            texts.append(variants.texts()[0])
            used.append(example)
        self.skips[spec] = dict(sorted(skips.items()))
        if not texts:
            raise BadData(f"--on {spec}: no example can be broken so ({', '.join(skips)})")
        return Inputs(texts, targets(used, self.task), np.ones(len(texts), dtype=bool))


def whole(examples: Sequence[Example], task: Task) -> Inputs:
    """Examples as they are."""
    return Inputs([e.texts for e in examples], targets(examples, task), np.zeros(len(examples), dtype=bool))


def targets(examples: Sequence[Example], task: Task) -> NDArray[Any]:
    """Gold labels as numbers: places in the task's labels, or the numbers themselves."""
    if task.is_regression:
        return np.array([float(e.label) for e in examples], dtype=np.float32)
    places = {label: i for i, label in enumerate(task.labels)}
    return np.array([places[e.label] for e in examples], dtype=np.int64)


def cross_entropy(logits: Any, targets: Any, is_broken: Any) -> Any:
    """The usual loss for labels."""
    from torch.nn.functional import cross_entropy as loss

    return loss(logits, targets)


def squared_error(logits: Any, targets: Any, is_broken: Any) -> Any:
    """The usual loss for numbers."""
    return ((logits[:, 0] - targets) ** 2).mean()
