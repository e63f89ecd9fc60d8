"""The training loop: AdamW, warm-up and decay, clipping, mixed precision, accumulation, early
stopping, exact resumption.

Every draw depends on (seed, phase, step) alone, never on what was drawn before. So a training that
was killed and resumed from a checkpoint gives the same bits, on a CPU, as one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from disorder.errors import BadData, DisorderError
from disorder.results.progress import Steps
from disorder.store.store import Checkpoints
from disorder.types import Ints, Progress
from disorder.verbs.train.devices import OneDevice
from disorder.verbs.train.evaluation import Evaluate, dev_evaluation, dev_metric
from disorder.verbs.train.folder import (
    TrainingState,
    read_checkpoint,
    write_checkpoint,
)
from disorder.verbs.train.network_rows import (
    NetworkRows,
    epoch_batches,
    group_by_step,
    network_rows,
    share_batches,
    span_rows,
    to_tensors,
)
from disorder.verbs.train.recipe_plan import Phase
from disorder.verbs.train.trainable import SPANS, LoopSettings, TrainableModel, torch_seed


def adamw(network: Any, rate: float, decay: float) -> tuple[Any, dict[Any, str]]:
    """AdamW with decoupled decay, none on single rows; and the name of each parameter."""
    import torch

    names = {
        parameter: name for name, parameter in network.named_parameters() if parameter.requires_grad
    }
    groups = [
        {"params": [p for p in names if p.ndim > 1], "weight_decay": decay},
        {"params": [p for p in names if p.ndim <= 1], "weight_decay": 0.0},
    ]
    # fused: one pass over each weight instead of one per operation, five times as fast on a CPU
    filled = [group for group in groups if group["params"]]
    return torch.optim.AdamW(filled, lr=rate, fused=True), names


def rate_at(step: int, n_steps: int, warmup: float) -> float:
    """The share of the learning rate at a step: linear warm-up, then linear decay to 0."""
    rising = max(1, round(n_steps * warmup)) if warmup else 0
    if step < rising:
        return (step + 1) / rising
    return (n_steps - step) / max(1, n_steps - rising)


def optimizer_tensors(optimizer: Any, names: dict[Any, str]) -> dict[str, Any]:
    """The optimizer's state by the names of its parameters."""
    return {
        f"{names[parameter]}/{key}": value
        for parameter, state in optimizer.state.items()
        for key, value in state.items()
    }


def restore_optimizer(optimizer: Any, names: dict[Any, str], tensors: dict[str, Any]) -> None:
    """Put back what `optimizer_tensors` gave."""
    by_parameter: dict[str, dict[str, Any]] = {}
    for name, value in tensors.items():
        parameter_name, _, key = name.rpartition("/")
        by_parameter.setdefault(parameter_name, {})[key] = value
    for parameter, name in names.items():
        if name in by_parameter:
            optimizer.state[parameter] = {
                key: value.to(parameter.device) for key, value in by_parameter[name].items()
            }


@dataclass
class TrainingLoop:
    """One training, phase by phase."""

    model: TrainableModel
    settings: LoopSettings
    devices: OneDevice
    seed: int
    checkpoints: Checkpoints
    progress: Progress
    state: TrainingState = field(default_factory=TrainingState)

    def run(self, phases: Sequence[Phase], *, is_resumed: bool = False) -> None:
        """Train all phases, or what a checkpoint says is left of them."""
        checkpoint = read_checkpoint(self.checkpoints) if is_resumed else None
        if checkpoint is not None:
            self.state, tensors = checkpoint
        first = self.state.phase
        names = [
            epoch_name(phase, number)
            for phase in phases
            for number in range(1, self.n_epochs(phase) + 1)
        ]
        self.progress = Steps(self.progress, names)
        with forked_torch_rng():
            for index, phase in enumerate(phases):
                # of finished phases too: later ones build on it
                if phase.labels != self.model.labels or (phase.new_head and index):
                    seed = torch_seed(self.seed, "head", str(index))
                    self.model.new_head(phase.labels, is_pair=phase.train.is_pair, seed=seed)
                if index < first:
                    continue
                training = PhaseTraining(self, index, phase)
                if checkpoint is not None and index == first:
                    training.restore(tensors)
                training.run()

    def n_epochs(self, phase: Phase) -> int:
        """How many epochs a phase takes at most."""
        return self.settings.epochs or self.model.epochs if phase.epochs is None else phase.epochs


class PhaseTraining:
    """One phase of a training: its rows, its optimizer, and the weights of its best epoch."""

    def __init__(self, loop: TrainingLoop, index: int, phase: Phase) -> None:
        self.loop = loop
        self.index = index
        self.phase = phase
        self.model = loop.model
        self.settings = loop.settings
        self.devices = loop.devices
        self.state = loop.state
        self.network = self.devices.prepare(self.model.network)
        self.rate = self.settings.lr or self.model.lr
        self.n_epochs = loop.n_epochs(phase)
        self.batches_per_step = self.settings.accumulate * self.devices.n_processes
        decay = self.settings.weight_decay
        self.optimizer, self.names = adamw(self.model.network, self.rate, decay)
        self.best_weights: dict[str, Any] = {}

    @cached_property
    def rows(self) -> NetworkRows:
        """The training inputs as the head takes them, encoded when they are first needed."""
        model, inputs = self.model, self.phase.train
        if model.labels == SPANS:
            return span_rows(model, inputs)[0]
        return network_rows(model, model.encode(inputs.texts), inputs.targets, inputs.is_perturbed)

    @property
    def keeps_last(self) -> bool:
        """Whether the last epoch stays, whatever the dev scores."""
        return self.phase.keeps_last or self.settings.epoch == "last"

    @cached_property
    def evaluate(self) -> Evaluate:
        """What evaluates the network on the dev data."""
        return dev_evaluation(self.model, self.phase.dev)

    @cached_property
    def n_steps(self) -> int:
        """How often the weights are updated in all epochs."""
        n_batches = -(-len(self.rows) // self.settings.batch_size)
        return self.n_epochs * -(-n_batches // self.batches_per_step)

    def run(self) -> None:
        """Train epoch by epoch, and end with the best epoch in the network, or with the last."""
        patience = 0 if self.keeps_last else self.settings.patience
        while self.state.epoch < self.n_epochs:
            if patience and self.state.waited >= patience:
                break
            self.train_epoch()
            self.evaluate_epoch()
            self.save()
        if self.best_weights and not self.keeps_last:
            self.model.network.load_state_dict(self.best_weights)
        if self.phase.after is not None:
            self.state.after |= self.phase.after(self.model)
        self.state.start_phase()

    def train_epoch(self) -> None:
        """One pass over the rows; a resumed epoch continues at its next step."""
        state = self.state
        key = (str(self.index), str(state.epoch))
        lengths = self.rows.lengths
        batches = epoch_batches(lengths, self.settings.batch_size, self.loop.seed, *key)
        steps = group_by_step(batches, self.batches_per_step)
        for step in range(state.step, len(steps)):
            began = time.perf_counter()
            self.update_weights(steps[step], state.epoch * len(steps) + step)
            state.step = step + 1
            state.seconds += time.perf_counter() - began
            self.report(state.n_rows, f"loss {state.loss / state.n_rows:.3f}")
            if state.step % self.settings.save_every == 0:
                self.save()

    def update_weights(self, batches: Sequence[Ints], step: int) -> None:
        """One update of the weights, from one or more batches."""
        import torch

        rank = self.devices.rank
        torch.manual_seed(torch_seed(self.loop.seed, "step", str(self.index), str(step), str(rank)))
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * rate_at(step, self.n_steps, self.settings.warmup)
        self.network.train()
        n_rows = sum(map(len, batches))
        mine = share_batches(batches, rank, self.devices.n_processes)
        for number, (batch, counts) in enumerate(mine, start=1):
            with self.devices.accumulate(self.network, is_last=number == len(mine)):
                loss = self.batch_loss(batch)
                # processes average their gradients, so each scales its share of the rows up
                share = counts * len(batch) * self.devices.n_processes / n_rows
                self.devices.backward(loss * share)
            self.count_loss(float(loss.detach()), len(batch))
        torch.nn.utils.clip_grad_norm_(self.names, self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.state.n_updates += 1

    def batch_loss(self, batch: Ints) -> Any:
        """The mean loss of a batch, with its graph."""
        rows = self.rows
        device = self.devices.device
        arrays = self.model.collate([rows.encoded[i] for i in batch.tolist()])
        inputs = to_tensors(arrays, device)
        known = {"targets": rows.targets[batch], "is_perturbed": rows.is_perturbed[batch]}
        gold = to_tensors(known, device)
        with self.devices.autocast():
            logits = self.model.logits(self.network, inputs)
        return self.phase.loss(logits.float(), gold["targets"], gold["is_perturbed"])

    def count_loss(self, loss: float, n_rows: int) -> None:
        """Add the loss of a batch to the epoch's."""
        if not np.isfinite(loss):
            raise DisorderError(
                f"the loss is {loss}: training diverged; try a lower lr than {self.rate:g}"
            )
        self.state.loss += loss * n_rows
        self.state.n_rows += n_rows
        self.state.n_learned += n_rows

    def evaluate_epoch(self) -> None:
        """The dev score of the epoch; the best epoch's weights are kept."""
        state = self.state
        score, dev_loss = self.devices.from_first(self.evaluate())
        loss = state.loss / state.n_rows
        state.curve.append(
            {
                "phase": self.phase.name,
                "epoch": state.epoch + 1,
                "loss": round(loss, 6),
                "dev": round(score, 6),
                "dev_loss": round(dev_loss, 6),
            }
        )
        metric = dev_metric(self.phase.labels)
        self.report(len(self.rows), f"loss {loss:.3f}, dev {metric} {score:.3f}")
        state.waited += 1
        if state.best is None or [score, -dev_loss] > state.best:
            state.best = [score, -dev_loss]
            state.best_epoch = state.epoch + 1
            state.waited = 0
            weights = self.model.network.state_dict()
            self.best_weights = {name: value.detach().clone() for name, value in weights.items()}
        state.start_epoch()

    def report(self, done: int, note: str) -> None:
        """Tell the progress callback how far the epoch is."""
        if self.devices.rank == 0:
            epoch = min(self.state.epoch + 1, self.n_epochs)
            self.loop.progress(epoch_name(self.phase, epoch), done, len(self.rows), note)

    def save(self) -> None:
        """Write a checkpoint."""
        if self.devices.rank == 0:
            tensors = {
                "network": self.model.network.state_dict(),
                "best": self.best_weights,
                "optimizer": optimizer_tensors(self.optimizer, self.names),
            }
            filled = {kind: named for kind, named in tensors.items() if named}
            write_checkpoint(self.loop.checkpoints, self.state, filled)
        self.devices.wait()

    def restore(self, tensors: Mapping[str, dict[str, Any]]) -> None:
        """Continue where a checkpoint was written."""
        try:
            self.model.network.load_state_dict(tensors["network"])
        except RuntimeError:
            raise BadData(
                "the checkpoint does not fit the network; did another version make it? Train again"
            ) from None
        restore_optimizer(self.optimizer, self.names, tensors.get("optimizer", {}))
        self.best_weights = dict(tensors.get("best", {}))


def epoch_name(phase: Phase, number: int) -> str:
    """What progress calls an epoch."""
    return f"epoch {number}" if phase.name == "task" else f"{phase.name}, epoch {number}"


@contextmanager
def forked_torch_rng() -> Iterator[None]:
    """A scope in which torch may be seeded; outside, its generators are as before."""
    import torch

    with torch.random.fork_rng():
        yield
