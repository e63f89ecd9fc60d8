"""Ray under faults: a worker killed again and again, the whole cluster killed, a node with another
version of the model. Identical scores, or one clear line and a run that can be resumed.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from disorder.engines import ray as ray_engine
from disorder.errors import DisorderError
from disorder.models.bow import Bow
from disorder.results.run_folder import read_run
from disorder.verbs.audit import audit, resume
from faults.laboratory import note, samples_of, scores_of
from models.test_fingerprint_contract import bow_folder

ray = pytest.importorskip("ray", reason="needs ray")
pytestmark = [
    pytest.mark.laboratory,
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

GATED = """
import os, pathlib, time
labels = ("entailment", "neutral", "contradiction")
here = pathlib.Path(__file__).parent
def predict(pairs):
    if pathlib.Path("/proc/self/cmdline").read_bytes().startswith(b"ray::_Actor.run"):
        (here / f"at-work-{os.getpid()}").touch()
        while not (here / "go").exists():
            time.sleep(0.01)
    return ["neutral"] * len(pairs)
"""
SETTINGS: dict[str, Any] = {"limit": 12, "q": 2, "with_": ["reverse"], "cache": "off"}
GATED_MODEL = "python:gated:predict"


@contextmanager
def own_cluster(folder: Path) -> Iterator[None]:
    """A cluster whose workers find the modules of a folder."""
    paths = [str(folder), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    ray.init(
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}},
    )
    try:
        yield
    finally:
        ray.shutdown()


@pytest.fixture
def gated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model that waits, on Ray, until a file lets it go."""
    (tmp_path / "gated.py").write_text(GATED)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@contextmanager
def meanwhile(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do something in a thread while the audit runs."""
    is_over = threading.Event()
    thread = threading.Thread(target=work, args=(is_over,))
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def processes_of_ours() -> list[int]:
    """All processes that descend from this one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                after = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(after[1])
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def names_of(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def test_a_worker_killed_mid_block_and_one_killed_again_and_again(gated: Path) -> None:
    """Once: the scores are the same. Always: one line, and what was begun is resumed here."""
    (gated / "go").touch()
    whole = audit(GATED_MODEL, "builtin", out=gated / "whole", **SETTINGS)
    (gated / "go").unlink()
    with own_cluster(gated):
        killed: list[int] = []
        with meanwhile(lambda over: _kill_at_work(gated, killed, over, times=1)):
            spread = audit(
                GATED_MODEL, "builtin", out=gated / "once", engine="ray", workers=1, **SETTINGS
            )
        assert len(killed) == 1
        assert spread.scores == whole.scores
        assert samples_of(gated / "once") == samples_of(gated / "whole")
        (gated / "go").unlink()
        with (
            meanwhile(lambda over: _kill_at_work(gated, killed, over, times=99)),
            pytest.raises(DisorderError, match="a worker died 4 times") as told,
        ):
            audit(GATED_MODEL, "builtin", out=gated / "often", engine="ray", workers=1, **SETTINGS)
        assert len(str(told.value).splitlines()) == 1
        assert len(killed) >= 5  # a replacement of the first audit may be among them
    _is_resumed(gated / "often", whole, model=GATED_MODEL)
    note("ray: workers killed", len(killed), survived=len(killed))


def _kill_at_work(folder: Path, killed: list[int], over: threading.Event, times: int) -> None:
    """Kill the worker whose block has begun; after that many times, let the next one go."""
    while not over.is_set() and times:
        for mark in folder.glob("at-work-*"):
            mark.unlink()
            pid = int(mark.name.rpartition("-")[2])
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                times -= 1
        time.sleep(0.01)
    (folder / "go").touch()


def test_a_cluster_that_dies_is_one_line_and_the_run_can_be_resumed(gated: Path) -> None:
    """Head, node and workers are killed while a block runs."""
    (gated / "go").touch()
    whole = audit(GATED_MODEL, "builtin", out=gated / "whole", **SETTINGS)
    (gated / "go").unlink()

    def kill(over: threading.Event) -> None:
        while not over.is_set() and not list(gated.glob("at-work-*")):
            time.sleep(0.01)
        for pid in processes_of_ours():
            if b"ray" in names_of(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    with own_cluster(gated):
        with (
            meanwhile(kill),
            pytest.raises(DisorderError, match=r"cannot be reached|worker died") as told,
        ):
            audit(GATED_MODEL, "builtin", out=gated / "run", engine="ray", workers=1, **SETTINGS)
        assert len(str(told.value).splitlines()) == 1
    (gated / "go").touch()
    _is_resumed(gated / "run", whole, model=GATED_MODEL)
    note("ray: clusters killed", 1, survived=1)


def _is_resumed(folder: Path, whole: Any, model: str) -> None:
    """What is left of a run on Ray is finished here, with the scores of a run in one go."""
    path = folder / "result.json"
    raw = json.loads(path.read_text())
    assert raw["status"] != "done"
    raw["settings"]["engine"] = "local"
    path.write_text(json.dumps(raw))
    assert resume(folder, model=model).scores == whole.scores
    assert scores_of(folder) == scores_of(folder.parent / "whole")


def test_a_node_with_another_version_of_the_model_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is another one where the worker loads it."""
    spec = bow_folder(tmp_path / "bow")
    connected = ray_engine._connected

    def changed(address: str | None) -> Any:
        model = Bow.load(tmp_path / "bow")
        Bow(model.labels, -model.weights).save(tmp_path / "bow")
        return connected(address)

    monkeypatch.setattr(ray_engine, "_connected", changed)
    with own_cluster(tmp_path):
        with pytest.raises(DisorderError, match="a worker has another version of the model"):
            audit(spec, "builtin", out=tmp_path / "run", engine="ray", workers=1, **SETTINGS)
        assert read_run(tmp_path / "run").status != "done"
    note("ray: another version of the model", 1, survived=1)
