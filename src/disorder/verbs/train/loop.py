"""The training loop: AdamW, warm-up and decay, clipping, mixed precision, accumulation, early
stopping, exact resumption.

Every draw depends on (seed, phase, step) alone, never on what was drawn before. So a training that
was killed and goes on from a checkpoint gives the same bits, on a CPU, as one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadData, DisorderError
from disorder.metrics.statistics.ranks import rank_correlation
from disorder.types import Floats, Ints, Progress, Texts
from disorder.verbs.train.batches import epoch, grouped, tensors
from disorder.verbs.train.checkpoint import (
    Checkpoints,
    TrainingState,
    optimizer_tensors,
    restore_optimizer,
)
from disorder.verbs.train.devices import OneDevice
from disorder.verbs.train.learner import SPANS, Learner, number
from disorder.verbs.train.network_rows import Rows, asked, rows_of
from disorder.verbs.train.recipe_plan import Inputs, Phase, cross_entropy, squared_error
from disorder.verbs.train.span_learning import dev_f1, judged, span_rows
from disorder.verbs.train.training_settings import LoopSettings


@dataclass
class Loop:
    """One training, phase by phase."""

    learner: Learner
    settings: LoopSettings
    devices: OneDevice
    seed: int
    checkpoints: Checkpoints
    progress: Progress
    state: TrainingState = field(default_factory=TrainingState)
    best: dict[str, Any] = field(default_factory=dict)

    def run(self, phases: Sequence[Phase], *, is_resumed: bool = False) -> None:
        """Train all phases, or what a checkpoint says is left of them."""
        kept = self.checkpoints.read() if is_resumed else None
        self.state = kept[0] if kept else TrainingState()
        with fresh_draws():
            for index, phase in enumerate(phases):
                self._fit_head(index, phase)
                if index >= self.state.phase:
                    _Run(self, index, phase).go(kept[1] if kept and index == kept[0].phase else {})

    def _fit_head(self, index: int, phase: Phase) -> None:
        if phase.labels != self.learner.labels or (phase.new_head and index):
            seed = number(self.seed, "head", str(index))
            self.learner.new_head(phase.labels, is_pair=phase.train.is_pair, seed=seed)


class _Run:
    """One phase."""

    def __init__(self, loop: Loop, index: int, phase: Phase) -> None:
        self.loop, self.index, self.phase = loop, index, phase
        self.learner, self.settings, self.devices = loop.learner, loop.settings, loop.devices
        self.network = self.devices.prepare(self.learner.network)
        self.n_epochs = (
            self.settings.epochs or self.learner.epochs if phase.epochs is None else phase.epochs
        )
        self.rate = self.settings.lr or self.learner.lr
        self.optimizer, self.names = adamw(
            self.learner.network, self.rate, self.settings.weight_decay
        )

    @cached_property
    def rows(self) -> Rows:
        """The training inputs; not encoded where nothing is learned."""
        return encoded(self.learner, self.phase.train)

    @cached_property
    def judge(self) -> Callable[[], tuple[float, float]]:
        """What finds the dev score."""
        return dev_judge(self.learner, self.phase.dev)

    @cached_property
    def n_steps(self) -> int:
        """How often the weights change."""
        n_batches = -(-len(self.rows) // self.settings.batch_size)
        return self.n_epochs * -(-n_batches // self._group)

    @property
    def _group(self) -> int:
        return self.settings.accumulate * self.devices.n_processes

    def go(self, kept: Mapping[str, Mapping[str, Any]]) -> None:
        """Train, epoch by epoch, and end with the best epoch in the network."""
        state = self.loop.state
        if kept:
            try:
                self.learner.network.load_state_dict(kept["network"])
            except RuntimeError:
                raise BadData(
                    "the checkpoint does not fit the network; did another version make it? Train again"
                ) from None
            restore_optimizer(self.optimizer, self.names, kept.get("optimizer", {}))
            self.loop.best = dict(kept.get("best", {}))
        while state.epoch < self.n_epochs and not self._is_settled():
            self._epoch()
        if self.loop.best and not self.phase.keeps_last:
            self.learner.network.load_state_dict(self.loop.best)
        if self.phase.after is not None:
            state.after |= dict(self.phase.after(self.learner))
        done = {"phase": self.index + 1, "epoch": 0, "best": None, "best_epoch": 0, "waited": 0}
        state.__dict__.update(done)
        self.loop.best = {}

    def _is_settled(self) -> bool:
        can_settle = bool(self.settings.patience) and not self.phase.keeps_last
        return can_settle and self.loop.state.waited >= self.settings.patience

    def _epoch(self) -> None:
        state, key = self.loop.state, (str(self.index), str(self.loop.state.epoch))
        steps = grouped(
            epoch(self.rows.lengths, self.settings.batch_size, self.loop.seed, *key), self._group
        )
        for step in range(state.step, len(steps)):
            began = time.perf_counter()
            self._step(steps[step], state.epoch * len(steps) + step)
            state.step = step + 1
            state.seconds += time.perf_counter() - began
            self._say(state.n_rows, f"loss {state.loss / state.n_rows:.3f}")
            if state.step % self.settings.save_every == 0:
                self._save()
        self._judge()
        self._save()

    def _step(self, batches: Sequence[Ints], step: int) -> None:
        """One update of the weights, from one or more batches."""
        import torch

        torch.manual_seed(
            number(self.loop.seed, "step", str(self.index), str(step), str(self.devices.rank))
        )
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * rate_at(step, self.n_steps, self.settings.warmup)
        self.network.train()
        n_rows = sum(map(len, batches))
        mine = shared_out(batches, self.devices.rank, self.devices.n_processes)
        for place, (batch, counts) in enumerate(mine, start=1):
            with self.devices.alone(self.network, is_last=place == len(mine)):
                loss = self._loss(batch)
                self.devices.backward(
                    loss * (counts * len(batch) * self.devices.n_processes / n_rows)
                )
            self.loop.state.loss += self._checked(float(loss.detach())) * len(batch)
            self.loop.state.n_rows += len(batch)
            self.loop.state.n_learned += len(batch)
        torch.nn.utils.clip_grad_norm_(self.names, self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def _checked(self, loss: float) -> float:
        if not np.isfinite(loss):
            raise DisorderError(
                f"the loss is {loss}: training has gone astray; try a lower lr than {self.rate:g}"
            )
        return loss

    def _loss(self, batch: Ints) -> Any:
        rows, device = self.rows, self.devices.device
        given = tensors(self.learner.feed([rows.encoded[i] for i in batch.tolist()]), device)
        more = tensors(
            {"targets": rows.targets[batch], "is_perturbed": rows.is_perturbed[batch]}, device
        )
        with self.devices.autocast():
            logits = self.learner.logits(self.network, given)
        return self.phase.loss(logits.float(), more["targets"], more["is_perturbed"])

    def _judge(self) -> None:
        """The dev score of the epoch; the best epoch's weights are kept."""
        state = self.loop.state
        score, cost = self.devices.same(self.judge())
        loss = state.loss / state.n_rows
        record = {
            "phase": self.phase.name,
            "epoch": state.epoch + 1,
            "loss": round(loss, 6),
            "dev": round(score, 6),
            "dev_loss": round(cost, 6),
        }
        state.curve.append(record)
        self._say(
            len(self.rows), f"loss {loss:.3f}, dev {metric_of(self.phase.labels)} {score:.3f}"
        )
        if state.best is None or [score, -cost] > state.best:
            state.best, state.best_epoch, state.waited = (
                [score, -cost],
                state.epoch + 1,
                0,
            )
            self.loop.best = {
                name: value.detach().clone()
                for name, value in self.learner.network.state_dict().items()
            }
        else:
            state.waited += 1
        state.epoch, state.step, state.loss, state.n_rows = (
            state.epoch + 1,
            0,
            0.0,
            0,
        )

    def _say(self, done: int, note: str) -> None:
        if self.devices.rank == 0:
            name = "" if self.phase.name == "task" else f"{self.phase.name}, "
            place = min(self.loop.state.epoch + 1, self.n_epochs)
            self.loop.progress(f"{name}epoch {place}", done, len(self.rows), note)

    def _save(self) -> None:
        if self.devices.rank == 0:
            state = {"network": self.learner.network.state_dict(), "best": self.loop.best}
            state["optimizer"] = optimizer_tensors(self.optimizer, self.names)
            self.loop.checkpoints.write(
                self.loop.state, {kind: named for kind, named in state.items() if named}
            )
        self.devices.wait()


def adamw(network: Any, rate: float, decay: float) -> tuple[Any, dict[Any, str]]:
    """AdamW with decoupled decay, but none on biases, norms and other single rows; and the names of
    what it trains.
    """
    import torch

    names = {
        parameter: name for name, parameter in network.named_parameters() if parameter.requires_grad
    }
    groups = [
        {"params": [p for p in names if p.ndim > 1], "weight_decay": decay},
        {"params": [p for p in names if p.ndim <= 1], "weight_decay": 0.0},
    ]
    # One pass over each weight, not one an operation: five times as fast on a CPU, where it is felt
    # with many weights.
    return torch.optim.AdamW(
        [group for group in groups if group["params"]], lr=rate, fused=True
    ), names


def rate_at(step: int, n_steps: int, warmup: float) -> float:
    """The share of the learning rate at a step: up in a line, then down in a line to nothing."""
    rising = max(1, round(n_steps * warmup)) if warmup else 0
    if step < rising:
        return (step + 1) / rising
    return (n_steps - step) / max(1, n_steps - rising)


def shared_out(batches: Sequence[Ints], rank: int, n_processes: int) -> list[tuple[Ints, bool]]:
    """The batches of one process, and whether they count: all take part in every step, so some go
    through one twice.
    """
    padded = [(batch, True) for batch in batches]
    padded += [(batches[i % len(batches)], False) for i in range(-len(batches) % n_processes)]
    return padded[rank::n_processes]


def encoded(learner: Learner, inputs: Inputs) -> Rows:
    """Inputs as the learner's head takes them."""
    if learner.labels == SPANS:
        return span_rows(learner, inputs)[0]
    return rows_of(learner, learner.encode(inputs.texts), inputs.targets, inputs.is_perturbed)


def answers(learner: Learner, texts: Sequence[Texts]) -> Floats:
    """Logits of the learner's network as it stands, one row a text."""
    return _answered(learner, learner.encode(texts))


def _answered(learner: Learner, given: Sequence[Any]) -> Floats:
    logits = np.empty((len(given), max(1, len(learner.labels))))
    for batch, part in asked(learner, given):
        logits[batch] = part.cpu().numpy()
    return logits


def metric_of(labels: tuple[str, ...]) -> str:
    """What the dev score of a phase is."""
    return "f1" if labels == SPANS else "accuracy" if labels else "spearman"


def dev_judge(learner: Learner, dev: Inputs) -> Callable[[], tuple[float, float]]:
    """A function that judges the network as it stands: the dev score, and the loss, for ties; texts
    are encoded once.
    """
    if learner.labels == SPANS:
        rows, read = span_rows(learner, dev)

        def judge_spans() -> tuple[float, float]:
            found, cost = judged(learner, dev, rows, read)
            return dev_f1(found), cost

        return judge_spans
    given = learner.encode(dev.texts)
    return lambda: dev_score(_answered(learner, given), dev, is_regression=not learner.labels)


def dev_score(found: NDArray[Any], dev: Inputs, *, is_regression: bool) -> tuple[float, float]:
    """Accuracy, or Spearman's correlation for numbers (−1 where every answer is the same); and the
    loss, for ties.
    """
    import torch

    loss = squared_error if is_regression else cross_entropy
    cost = float(loss(torch.from_numpy(found), torch.from_numpy(dev.targets), None))
    if not is_regression:
        return float((found.argmax(axis=1) == dev.targets).mean()), cost
    value = float(rank_correlation(found.T, dev.targets[None, :].astype(float))[0])
    return (-1.0 if np.isnan(value) else value), cost


@contextmanager
def fresh_draws() -> Iterator[None]:
    """A scope in which torch may be seeded; outside, its generators are as before."""
    import torch

    with torch.random.fork_rng():
        yield
