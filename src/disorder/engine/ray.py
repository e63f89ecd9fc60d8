"""Blocks asked by Ray actors, on this machine or a cluster. Each loads the model once; a dead one costs its block only."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from disorder.errors import DisorderError, MissingPackage

Task = TypeVar("Task")
Result = TypeVar("Result")
AHEAD = 2  # blocks that wait at each worker, so that none is ever idle


@dataclass
class Ray:
    """The engine that spreads blocks over a cluster."""

    address: str | None = None
    workers: int | None = None

    def __call__(self, make: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task]) -> Iterator[Result]:
        """Run the tasks on a pool of actors; results come as they are ready."""
        ray = _connected(self.address)
        n_cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        n_gpus = int(ray.cluster_resources().get("GPU", 0))
        n_workers = self.workers or n_gpus or min(2, n_cpus)
        share = {"num_gpus": 1} if n_gpus else {"num_cpus": max(1, n_cpus // n_workers)}
        actor = ray.remote(max_restarts=-1, max_task_retries=-1, **share)(_Worker)
        pool = [actor.remote(make) for _ in range(n_workers)]
        try:
            yield from _spread(ray, pool, iter(tasks))
        finally:
            for worker in pool:
                ray.kill(worker)


class _Worker:
    """One actor with its own model."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        self.answer = make()

    def run(self, task: Any) -> Any:
        """Answer one task."""
        return self.answer(task)


def _spread(ray: Any, pool: list[Any], tasks: Iterator[Task]) -> Iterator[Any]:
    """Keep every worker supplied; hand on whatever is ready."""
    waiting: dict[Any, Any] = {}

    def supply(worker: Any) -> None:
        task = next(tasks, None)
        if task is not None:
            waiting[worker.run.remote(task)] = worker

    for _ in range(AHEAD):
        for worker in pool:
            supply(worker)
    while waiting:
        ready, _ = ray.wait(list(waiting), num_returns=1)
        worker = waiting.pop(ready[0])
        supply(worker)
        yield _result(ray, ready[0])


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, DisorderError):
            raise error.cause from None
        raise


def _check_reachable(address: str | None) -> None:
    """Fail at once where nothing listens; Ray itself would try for minutes."""
    host, _, port = (address or "").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise DisorderError(f"--engine ray: no cluster at {address} ({error.strerror or error})") from None


def _connected(address: str | None) -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingPackage("--engine ray", "ray", "ray") from error
    if not ray.is_initialized():
        _check_reachable(address)
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False, logging_level="error")
        except (ConnectionError, ValueError, RuntimeError) as error:
            where = address or "this machine"
            raise DisorderError(f"--engine ray: no cluster at {where} ({str(error).splitlines()[0]})") from None
    return ray
