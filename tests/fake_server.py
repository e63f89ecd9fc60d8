"""A server of our own that speaks the OpenAI API and misbehaves on demand.

`brain` maps the last message (or the end of a plain prompt) to probabilities of words; everything
else a server says follows from it. `faults` is called before each answer with the number of the
question and may break it.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Brain = Callable[[str], Mapping[str, float]]
Body = dict[str, Any]


@dataclass
class Fault:
    """One way to break an answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    hang: float = 0.0
    cut: bool = False  # close in the middle of the answer


def always_yes(text: str) -> dict[str, float]:
    return {"yes": 0.7, "maybe": 0.2, "no": 0.05}


@dataclass
class FakeServer:
    """A server in threads of this process; use it as a context manager."""

    brain: Brain = always_yes
    faults: Callable[[int, str], Fault | None] = lambda number, path: None
    offers: Sequence[str] = ("first-token", "constrained", "parse")
    reply: Callable[[str], Mapping[str, Any]] | None = None  # the message of a free reply
    usage: Callable[[int], Any] = lambda n: {"prompt_tokens": n, "completion_tokens": 1}
    echo_error: float = 0.0  # added to log-probabilities that are read back
    # why a request is rejected, or status and content
    refuses: Callable[[Body], str | tuple[int, Any]] = lambda body: ""
    thinks: Callable[[str], int] | None = None  # hidden tokens before a reply to a text
    embeds: Callable[[str], Sequence[float]] | None = None
    reranks: Callable[[str, str], float] | None = None  # a query and a document
    key: str = ""
    latency: float = 0.0
    query: str = ""  # what every address must end with, as Azure's
    key_name: str = "Authorization"
    models: Sequence[str] = ("fake",)
    questions: list[tuple[str, Body]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)  # that requests were meant for, as by a proxy
    n_under_way: int = 0
    most_under_way: int = 0

    def __enter__(self) -> FakeServer:
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def asked(self) -> list[str]:
        """The last part of every prompt that was asked, in order."""
        return [last_text(path, body) for path, body in self.questions]

    def fault(self, path: str, body: Body, headers: Mapping[str, str]) -> Fault | None:
        with self._lock:
            number = len(self.questions)
            self.questions.append((path, body))
            self.headers.append(dict(headers))
        return self.faults(number, path)

    def answer(self, path: str, body: Body) -> tuple[int, Any]:
        """Status and content of an honest answer."""
        refusal = self.refuses(body)
        if isinstance(refusal, tuple):
            return refusal
        if refusal:
            return 400, {"error": {"message": refusal}}
        match path:
            case "/v1/chat/completions":
                return 200, self._chat(body)
            case "/v1/completions":
                return 200, self._completion(body)
            case "/v1/embeddings" if self.embeds is not None:
                return 200, self._embeddings(body, self.embeds)
            case "/v1/rerank" if self.reranks is not None:
                return 200, self._rerank(body, self.reranks)
            case "/v1/systemone" if "decisions" in self.offers:
                return 200, self._systemone(body)
            case "/v1/decisions" if "openai-decisions" in self.offers:
                return 200, self._decisions(body)
            case "/tokenize" if "tokenize" in self.offers:
                return 200, {"tokens": [ord(char) for char in str(body["content"])]}
        return 404, {"error": {"message": f"no such path {path}"}}

    def _embeddings(self, body: Body, embeds: Callable[[str], Sequence[float]]) -> Body:
        """Vectors, the last text first: the order of a reply means nothing, its numbers do."""
        found = [
            {"object": "embedding", "index": i, "embedding": list(embeds(text))}
            for i, text in enumerate(body["input"])
        ]
        n = sum(map(len, body["input"])) // 4
        return {"data": found[::-1], "usage": {"prompt_tokens": n, "total_tokens": n}}

    def _rerank(self, body: Body, reranks: Callable[[str, str], float]) -> Body:
        """Numbers for documents, the most relevant first, as all such servers order them."""
        found = [
            {"index": i, "relevance_score": reranks(body["query"], text)}
            for i, text in enumerate(body["documents"])
        ]
        return {"results": sorted(found, key=lambda each: -float(each["relevance_score"]))}

    def _chat(self, body: Body) -> Body:
        text = last_text("", body)
        probabilities = self.brain(text)
        best = max(probabilities, key=lambda word: probabilities[word])
        message: dict[str, Any] = {"role": "assistant", "content": best}
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        if "response_format" in body and "constrained" in self.offers:
            schema = body["response_format"]["json_schema"]["schema"]
            options = schema["properties"]["answer"]["enum"]
            chosen = best if best in options else options[0]
            message["content"] = json.dumps({"answer": chosen})
        elif self.reply is not None:
            given = dict(self.reply(text))
            choice["finish_reason"] = given.pop("finish_reason", "stop")
            message |= given
        if body.get("logprobs") and "first-token" in self.offers:
            choice["logprobs"] = {"content": [_top(probabilities)]}
        if self.thinks is not None:
            return self._thought(body, self.thinks(text), choice | {"message": message})
        return self._with_usage(body, {"choices": [choice | {"message": message}]})

    def _thought(self, body: Body, n_thought: int, choice: Body) -> Body:
        """A reply after hidden thoughts, which take from its limit and show in `usage` alone."""
        limit = int(body.get("max_completion_tokens") or body["max_tokens"])
        n_shown = len(str(choice["message"]["content"]).split())
        if n_thought + n_shown > limit:
            choice = choice | {"finish_reason": "length"}
            choice["message"] = choice["message"] | {"content": ""}
            n_thought = limit
            n_shown = 0
        usage = {
            "prompt_tokens": len(json.dumps(body)) // 4,
            "completion_tokens": n_thought + n_shown,
            "completion_tokens_details": {"reasoning_tokens": n_thought},
        }
        return {"choices": [choice], "usage": usage}

    def _completion(self, body: Body) -> Body:
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        choices = [self._continued(i, prompt, body) for i, prompt in enumerate(prompts)]
        return self._with_usage(body, {"choices": choices})

    def _continued(self, number: int, prompt: str, body: Body) -> Body:
        is_echoed = bool(body.get("echo")) and "prompt-logprobs" in self.offers
        known = "prompt-logprobs" in self.offers or "plain-first-token" in self.offers
        start, _, written = prompt.rpartition(" ")
        before = start if is_echoed and start.endswith("Answer:") else prompt
        probabilities = self.brain(before)
        best = max(probabilities, key=lambda word: probabilities[word])
        if not is_echoed:
            values = {f" {word}": math.log(p) for word, p in probabilities.items()}
            logprobs = {
                "tokens": [f" {best}"],
                "token_logprobs": [values[f" {best}"]],
                "top_logprobs": [values],
            }
            return {"index": number, "text": f" {best}", "logprobs": logprobs if known else None}
        tokens = [prompt] if before == prompt else [start, f" {written}"]
        scores: list[float | None] = [None]
        if before != prompt:
            scores.append(math.log(probabilities.get(written, 1e-6)) + self.echo_error)
        logprobs = {"tokens": [*tokens, " x"], "token_logprobs": [*scores, -1.0]}
        return {"index": number, "text": prompt + " x", "logprobs": logprobs}

    def _systemone(self, body: Body) -> Body:
        [(name, question)] = body["questions"].items()
        found = self._of_options(str(body["state"]), list(question["criteria"]))
        answer = {"type": "choice", "choice": max(found, key=found.get), "probabilities": found}  # type: ignore[arg-type]
        return {"answers": {name: answer}, "usage": {"input_tokens": 50, "output_tokens": 0}}

    def _decisions(self, body: Body) -> Body:
        [question] = body["questions"]
        found = self._of_options(str(body["input"]), [c["value"] for c in question["choices"]])
        listed = [{"value": value, "probability": p} for value, p in found.items()]
        answer = {"type": "choice", "name": "label", "probabilities": listed}
        return {"answers": [answer], "usage": {"input_tokens": 50, "output_tokens": 0}}

    def _of_options(self, text: str, options: list[str]) -> dict[str, float]:
        probabilities = self.brain(text)
        found = {option: probabilities.get(option, 1e-6) for option in options}
        return {option: p / sum(found.values()) for option, p in found.items()}

    def _with_usage(self, body: Body, answer: Body) -> Body:
        n = len(json.dumps(body)) // 4
        usage = self.usage(n)
        whole = {"id": "one", "model": body.get("model", ""), **answer}
        return whole if usage is None else {**whole, "usage": usage}


def last_text(path: str, body: Body) -> str:
    """What is asked: the last message, the state, or the prompt."""
    if "messages" in body:
        return str(body["messages"][-1]["content"])
    given = body.get("state", body.get("input", body.get("prompt", "")))
    return str(given[0] if isinstance(given, list) else given)


def _top(probabilities: Mapping[str, float]) -> Body:
    pairs = [{"token": word, "logprob": math.log(p)} for word, p in probabilities.items() if p]
    best = max(pairs, key=lambda pair: float(str(pair["logprob"])))
    return {**best, "top_logprobs": pairs}


def _handler(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            data = [{"id": name} for name in server.models]
            self._send(200, json.dumps({"data": data}).encode())

        def do_POST(self) -> None:
            meant = urlsplit(self.path)
            server.hosts.append(meant.netloc)
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.path = meant.path
            if self.path == "/tokenize":
                status, answer = server.answer(self.path, body)
                self._send(status, json.dumps(answer).encode())
                return
            if meant.query != server.query:
                self._send(404, b'{"error": {"message": "Resource not found"}}')
                return
            server.n_under_way += 1
            server.most_under_way = max(server.most_under_way, server.n_under_way)
            try:
                self._answer(body)
            finally:
                server.n_under_way -= 1

        def _answer(self, body: Body) -> None:
            fault = server.fault(self.path, body, self.headers)
            time.sleep(server.latency)
            wanted = f"Bearer {server.key}" if server.key_name == "Authorization" else server.key
            if server.key and self.headers.get(server.key_name) != wanted:
                given = self.headers.get("Authorization", "")
                self._send(401, json.dumps({"error": {"message": f"bad key {given}"}}).encode())
                return
            status, answer = server.answer(self.path, body)
            content = json.dumps(answer).encode()
            if fault is not None:
                time.sleep(fault.hang)
                status = fault.status
                content = content if fault.content is None else fault.content
                if fault.cut:
                    self._cut(content)
                    return
            self._send(status, content, {} if fault is None else fault.headers)

        def _send(self, status: int, content: bytes, headers: Mapping[str, str] = {}) -> None:
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _cut(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler
