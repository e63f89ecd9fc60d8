"""Workers on Ray give the very predictions of this process, also when one of them dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from disorder.errors import DisorderError
from disorder.verbs.audit.pipeline import audit

ray = pytest.importorskip("ray", reason="needs ray")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

MORTAL = """
import os, signal
from pathlib import Path

HERE = Path(__file__).parent

def predict(texts):
    is_worker = "ray::" in Path("/proc/self/cmdline").read_text()
    if is_worker and not (HERE / "died").exists():
        (HERE / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return ["entailment"] * len(texts)
"""
SETTINGS = {
    "limit": 90,
    "q": 60,
    "with_": ["derange", "shuffle_ngrams", "reverse"],
    "cache": "off",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


@pytest.mark.xdist_group("ray")
def test_the_built_in_model_scores_the_same(cluster: None, tmp_path: Path) -> None:
    local = audit("builtin", "builtin", out=tmp_path / "local", **SETTINGS)
    spread = audit("builtin", "builtin", out=tmp_path / "ray", engine="ray", workers=2, **SETTINGS)
    assert spread.scores == local.scores
    assert spread.n_predictions == local.n_predictions
    for path in (tmp_path / "local" / "samples").glob("*.parquet"):
        assert (tmp_path / "ray" / "samples" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.xdist_group("ray")
def test_a_hugging_face_folder_scores_the_same_when_a_worker_is_killed(
    cluster: None, tiny_bert: Path, tmp_path: Path
) -> None:
    spec = f"hf:{tiny_bert}"
    local = audit(spec, "builtin", **SETTINGS)
    killed: list[int] = []
    is_over = threading.Event()
    thread = threading.Thread(target=_kill_a_worker, args=(killed, is_over))
    thread.start()
    try:
        spread = audit(spec, "builtin", engine="ray", workers=2, **SETTINGS)
    finally:
        is_over.set()
        thread.join()
    assert killed
    assert spread.scores == local.scores


def _kill_a_worker(killed: list[int], is_over: threading.Event) -> None:
    """SIGKILL the first actor process of this test's own cluster that is seen at work."""
    while not is_over.is_set():
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and _is_own_worker(entry):
                os.kill(int(entry.name), signal.SIGKILL)
                killed.append(int(entry.name))
                return
        time.sleep(0.01)


def _is_own_worker(process: Path) -> bool:
    """Whether a process is an actor at work that descends from this one; others may run Ray."""
    try:
        if b"ray::_Actor.run" not in (process / "cmdline").read_bytes():
            return False
        pid = int(process.name)
        while pid > 1 and pid != os.getpid():
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
            pid = int(after_name.split()[1])
    except OSError:
        return False
    return pid == os.getpid()


def test_a_worker_that_dies_is_replaced_without_a_word_of_rays(tmp_path: Path) -> None:
    """Ray printed a paragraph, whatever was said about its logs."""
    (tmp_path / "mortal.py").write_text(MORTAL)
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = "audit python:mortal:predict builtin --limit 20 --q 2 --cache off --with derange"
    command = [sys.executable, "-m", "disorder", *words.split(), "--engine", "ray"]
    done = subprocess.run(
        [*command, "--workers", "1", "--out", "run"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0
    assert (tmp_path / "died").exists()
    assert "raylet" not in done.stdout + done.stderr
    assert "retries" not in done.stdout + done.stderr


PRINTS_AGAIN = """
import ray
from disorder import audit

printing = ray._private.worker.print_to_stdstream
audit("uniform", "builtin", limit=10, q=2, cache="off", engine="ray", workers=1)
assert ray._private.worker.print_to_stdstream is printing
"""


def test_ray_prints_again_once_an_audit_is_over() -> None:
    """It was silenced for the whole process of the user."""
    done = subprocess.run([sys.executable, "-c", PRINTS_AGAIN], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_an_unknown_cluster_is_one_line() -> None:
    if ray.is_initialized():
        ray.shutdown()
    with pytest.raises(DisorderError, match=r"no cluster at 127\.0\.0\.1:1"):
        audit("uniform", "builtin", limit=10, q=2, engine="ray", address="127.0.0.1:1")
