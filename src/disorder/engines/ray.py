"""The Ray engine: blocks run by Ray actors, on this machine or a cluster. Each loads the model
once; a dead one costs its block only.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from disorder.errors import DisorderError, MissingPackage, option
from disorder.registry import engine
from disorder.safe_io import reason

logger = logging.getLogger("disorder")
AHEAD = 2  # blocks that wait at each worker, so that none is ever idle
RETRIES = 3  # deaths of a worker, and of workers on one block, before we give up
PRINTS = "print_to_stdstream"  # the function of Ray's that does
PATIENCE = 300  # seconds to wait for the first worker to be there


@engine(name="ray", needs="ray")
class RayEngine:
    """The engine that spreads blocks over a cluster."""

    has_started_ray: ClassVar[bool] = False  # in this process, which was not connected before

    def __init__(
        self, make: Callable[[], Callable[[Any], Any]], address: str | None, workers: int | None
    ) -> None:
        self.ray = _connected(address)
        self.quiet = ExitStack()
        kind, n_free = _places(self.ray)
        if workers and workers > n_free:
            raise DisorderError(
                f"{option('workers', workers)}: the cluster has room for {n_free} "
                f"({kind.removeprefix('num_')})"
            )
        if self.has_started_ray:
            self.quiet.enter_context(_unprinted(self.ray))
        actor = self.ray.remote(max_restarts=RETRIES, max_task_retries=RETRIES, **{kind: 1})(_Actor)
        self.pool = [actor.remote(make) for _ in range(workers or n_free)]

    def __call__(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Run the tasks on the workers that are there; results come as they are ready."""
        tasks = iter(tasks)
        waiting: dict[Any, Any] = {}

        def supply(worker: Any) -> None:
            task = next(tasks, None)
            if task is not None:
                waiting[worker.run.remote(task)] = worker

        for _ in range(AHEAD):
            for worker in self._ready():
                supply(worker)
        while waiting:
            ready, _ = self.ray.wait(list(waiting), num_returns=1)
            supply(waiting.pop(ready[0]))
            yield self._result(ready[0])

    def close(self) -> None:
        """Release the workers."""
        for worker in self.pool:
            self.ray.kill(worker)
        self.quiet.close()

    def _ready(self) -> list[Any]:
        """The workers that have started; those that never get a place are left out."""
        calls = {worker.is_there.remote(): worker for worker in self.pool}
        ready, _ = self.ray.wait(list(calls), num_returns=1, timeout=PATIENCE)
        ready, _ = self.ray.wait(list(calls), num_returns=len(calls), timeout=10 if ready else 0)
        if not ready:
            raise DisorderError(
                f"{option('engine', 'ray')}: no worker could start within {PATIENCE} s; is the "
                "cluster busy?"
            )
        for call in ready:
            self._result(call)
        return [calls[call] for call in ready]

    def _result(self, reference: Any) -> Any:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, DisorderError):
                raise error.cause from None
            raise
        except self.ray.exceptions.ActorDiedError as error:
            raise DisorderError(
                f"{option('engine', 'ray')}: a worker died {RETRIES + 1} times ({reason(error)}); "
                "what is "
                "finished is kept"
            ) from None
        except self.ray.exceptions.RayError as error:
            raise DisorderError(
                f"{option('engine', 'ray')}: the cluster cannot be reached any more "
                f"({reason(error)}); what is "
                "finished is kept: resume once it is back"
            ) from None


class _Actor:
    """One actor with its own model."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        self.worker = make()

    def is_there(self) -> bool:
        """True once the worker runs."""
        return True

    def run(self, task: Any) -> Any:
        """Run one task."""
        return self.worker(task)


def _places(ray: Any) -> tuple[str, int]:
    """What a worker takes, a GPU or else a CPU, and for how many there is room."""
    resources = ray.cluster_resources()
    if resources.get("GPU"):
        return "num_gpus", int(resources["GPU"])
    return "num_cpus", max(1, int(resources.get("CPU", 1)))


def _check_reachable(address: str | None) -> None:
    """Fail at once where nothing listens; Ray itself would try for minutes."""
    host, _, port = (address or "").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise DisorderError(
            f"{option('engine', 'ray')}: no cluster at {address} ({error.strerror or error})"
        ) from None


def _connected(address: str | None) -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingPackage(option("engine", "ray"), "ray", "ray") from error
    if not ray.is_initialized():
        _check_reachable(address)
        try:
            ray.init(
                address=address, log_to_driver=False, include_dashboard=False, logging_level="error"
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            where = address or "this machine"
            raise DisorderError(
                f"{option('engine', 'ray')}: no cluster at {where} ({str(error).splitlines()[0]})"
            ) from None
        RayEngine.has_started_ray = True
    return ray


@contextmanager
def _unprinted(ray: Any) -> Iterator[None]:
    """Log what Ray would print: a paragraph for each worker that dies, which is replaced. Ray has
    no switch for that; its versions may print otherwise.
    """
    worker = getattr(getattr(ray, "_private", None), "worker", None)
    printing = getattr(worker, PRINTS, None)
    if printing is not None:
        setattr(worker, PRINTS, _logged)
    try:
        yield
    finally:
        if printing is not None:
            setattr(worker, PRINTS, printing)


def _logged(data: Mapping[str, Any], **_: Any) -> None:
    """Log for those who debug what Ray would print."""
    logger.debug("ray: %s", "; ".join(data["lines"]))
