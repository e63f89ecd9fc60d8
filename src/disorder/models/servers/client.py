"""The HTTP client: one server, JSON in and out, retried until it answers or is given up.

httpx2 keeps the connections. No redirect is followed: the only host that is ever called is the one
the user named, through a proxy where one is named (`network`).
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from disorder.errors import BadModel, MissingPackage, ModelStopped, option
from disorder.models.servers.addresses import (
    KEY_VARIABLE,
    Key,
    Network,
    below,
    host_of,
    key_header,
    tls_failure,
)
from disorder.safe_io import reason

MAX_CONNECTIONS = 8
MAX_RETRIES = 6
TIMEOUT = 120.0  # seconds for one request, from connecting to the last byte
MAX_BYTES = 8 * 1024**2  # of one answer
FIRST_WAIT = 0.5  # seconds before the first retry without Retry-After; doubled each time
LONGEST_WAIT = 60.0
LONGEST_ERROR = 4096  # bytes of an error that are read
LONGEST_NUMBER = 18  # digits of a whole number that is read as one
LONGEST_MESSAGE = 200  # characters of a server's own words that are shown
BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
QUESTION = ("model", "messages", "prompt")  # fields that every request has
_jitter = random.SystemRandom()  # spreads retries; no result depends on it


class Refusal(Exception):
    """What a server says against a request: all of its words, of which the beginning is shown."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words[:LONGEST_MESSAGE] + "…" * (len(words) > LONGEST_MESSAGE))
        self.status = status
        self.words = words

    def names(self, field: str) -> bool:
        """Whether the words are about a field of the request."""
        return re.search(rf"(?<!\w){re.escape(field)}(?!\w)", self.words) is not None


class Rejected(Refusal):
    """The server refuses this request, and would again: a status of 400 to 499, or 501."""


class ServerError(ModelStopped):
    """The server is there, and fails at this request every time."""

    def __init__(self, message: str, refusal: Refusal) -> None:
        super().__init__(message)
        self.refusal = refusal


class _Failed(Exception):
    """One attempt failed in a way that another may not; `status` is 0 where nothing came back."""

    def __init__(
        self, why: str, wait: float | None = None, *, words: str = "", status: int = 0
    ) -> None:
        super().__init__(why)
        self.wait = wait
        self.refusal = Refusal(status, words)
        self.is_busy = status in BUSY


@dataclass
class Client:
    """A server that is called with JSON; `key` is sent to it and shown to nobody."""

    url: str
    key: Key
    max_connections: int = MAX_CONNECTIONS
    timeout: float = TIMEOUT
    max_retries: int = MAX_RETRIES
    first_wait: float = FIRST_WAIT
    network: Network = field(default_factory=Network)
    n_retries: int = 0
    fewest_connections: int = 0  # how far their number went down
    _allowed: int = 0
    _is_trying: bool = False
    _http: Any = field(default=None, repr=False)
    _throttle: Throttle | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._allowed = self.fewest_connections = self.max_connections

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; raises `Rejected`, or `ModelStopped` when all retries failed."""
        return await self._request("POST", path, body)

    async def get(self, path: str) -> dict[str, Any]:
        """The answer to a request without a body."""
        return await self._request("GET", path, None)

    async def __aenter__(self) -> Client:
        """Open the pool of connections; it belongs to the event loop that runs now."""
        try:
            import httpx2
        except ImportError as error:
            raise MissingPackage("openai:", "httpx2", "llm") from error
        n = self.max_connections
        self._throttle = Throttle(n, self._allowed)
        self._http = httpx2.AsyncClient(
            headers=key_header(self.url, self.key),
            timeout=self.timeout,
            limits=httpx2.Limits(max_connections=n, max_keepalive_connections=n),
            follow_redirects=False,
            trust_env=False,
            proxy=self.network.proxy or None,
            verify=self.network.certificates() if self.url.startswith("https") else False,
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close all connections, and remember how many the server could take."""
        assert self._throttle is not None
        self._allowed = self._throttle.allowed
        self.fewest_connections = min(self.fewest_connections, self._throttle.fewest)
        await self._http.aclose()

    def notes(self) -> Iterator[str]:
        """What the user should know about the way to the server, and what it was like."""
        yield from self.network.notes(self.url)
        if self.n_retries:
            yield f"requests that failed and were sent again: {self.n_retries:,}"
        if self.fewest_connections < self.max_connections:
            yield (
                f"the server asked to slow down: connections went from {self.max_connections} to "
                f"{self.fewest_connections}"
            )

    async def _request(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        throttle = self._throttle
        assert throttle is not None, "used outside of `async with`"
        for attempt in range(self.max_retries + 1):
            try:
                async with throttle.place():
                    answer = await self._attempt(method, path, body)
                throttle.succeeded()
                return answer
            except _Failed as failure:
                if attempt >= self._most_retries(failure):
                    raise self._given_up(failure, attempt + 1) from None
                self.n_retries += 1
                wait = min(LONGEST_WAIT, self.first_wait * 2**attempt)
                wait = wait if failure.wait is None else failure.wait  # what the server asked for
                # a little more, so that requests that failed together do not come back together
                wait *= 1 + 0.25 * _jitter.random()
                if failure.is_busy:
                    throttle.slow_down(wait)
                await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _most_retries(self, failure: _Failed) -> int:
        """How often a request that failed this way is sent again."""
        is_asked_to_wait = failure.refusal.status == HTTPStatus.TOO_MANY_REQUESTS
        return (
            min(1, self.max_retries)
            if self._is_trying and not is_asked_to_wait
            else self.max_retries
        )

    def _given_up(self, failure: _Failed, tries: int) -> ModelStopped:
        times = "once" if tries == 1 else f"{tries} times in a row"
        said = f"the server at {self.url} failed {times} ({failure})"
        if failure.refusal.status >= 500 and not failure.is_busy:
            return ServerError(said, failure.refusal)
        return ModelStopped(said)

    @contextmanager
    def retrying_once(self) -> Iterator[None]:
        """Retry at most once, for requests that a server need not understand, unless it asks to
        wait.
        """
        self._is_trying = True
        try:
            yield
        finally:
            self._is_trying = False

    async def _attempt(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        import httpx2

        try:
            async with asyncio.timeout(self.timeout):
                status, headers, content = await self._exchange(method, path, body)
        except TimeoutError:
            raise _Failed(f"no answer within {self.timeout:g} s ({option('timeout')})") from None
        except httpx2.HTTPError as error:
            refused = tls_failure(error)
            if refused:
                raise BadModel(f"the server at {self.url}: {refused}") from None
            raise _Failed(self._kind(error)) from None
        except httpx2.InvalidURL:
            raise BadModel(f"{option('base_url', self.url)} is no address") from None
        found = _parsed(content) if status < 300 else {}
        status = _status_inside(found) or status
        if status < 300:
            return found
        raise self._failure(status, headers, self._words(content), body or {})

    def _kind(self, error: Exception) -> str:
        """What went wrong on the way, in words; never the request, which holds the key."""
        import httpx2

        proxy = self.network.proxy and f"the proxy at {host_of(self.network.proxy)}"
        if isinstance(error, httpx2.ProxyError):
            return f"{proxy} does not let it through: {self.key.hidden_in(reason(error))}"
        if isinstance(error, httpx2.ConnectError):
            where = f" to {proxy}" if proxy else ""
            return f"no connection{where}; is it running, and is this its address?"
        if isinstance(error, httpx2.TimeoutException):
            return "no answer in time (--timeout)"
        if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError):
            return "the connection was closed in the middle of an answer"
        return type(error).__name__

    def _failure(self, status: int, headers: Any, words: str, body: Mapping[str, Any]) -> Exception:
        """What a status other than success means."""
        refusal = Rejected(status, words)
        is_passing = status >= 500 or status in (*BUSY, HTTPStatus.REQUEST_TIMEOUT)
        if is_passing and status != HTTPStatus.NOT_IMPLEMENTED:
            why = f"HTTP {status}: {refusal}"
            return _Failed(why, _retry_after(headers), words=words, status=status)
        if 300 <= status < 400:
            target = urlsplit(str(headers.get("location", ""))).netloc or "another address"
            return BadModel(
                f"{self.url} redirects to {target}; name it in {option('base_url')} if you trust it"
            )
        return self._refusal(refusal, body)

    async def _exchange(
        self, method: str, path: str, body: dict[str, Any] | None
    ) -> tuple[int, Any, bytes]:
        """Send a request and read its answer, up to a size that no honest answer has."""
        async with self._http.stream(method, below(self.url, path), json=body) as response:
            content = bytearray()
            async for part in response.aiter_bytes():
                content += part
                if len(content) > MAX_BYTES:
                    raise _Failed(f"an answer of more than {MAX_BYTES // 1024**2} MB")
            return response.status_code, response.headers, bytes(content)

    def _refusal(self, refusal: Rejected, body: Mapping[str, Any]) -> Exception:
        status = refusal.status
        # OpenAI forbids log-probabilities of some models with the status of a wrong key, and
        # OpenRouter texts
        is_of_request = status == HTTPStatus.FORBIDDEN and any(
            refusal.names(name) for name in (*body, "flagged") if name not in QUESTION
        )
        if not is_of_request and status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            has = "does not accept the key in" if self.key else "needs a key: set"
            return BadModel(
                f"the server at {self.url} {has} {KEY_VARIABLE} (HTTP {status}: {refusal})"
            )
        if status == HTTPStatus.PAYMENT_REQUIRED:
            return ModelStopped(f"the server at {self.url} wants to be paid (HTTP 402: {refusal})")
        return refusal

    def _words(self, content: bytes) -> str:
        """What a server says about an error, in one printable line without the key."""
        text = content[:LONGEST_ERROR].decode("utf-8", "replace")
        try:
            found = json.loads(text)
            found = _error_in(found) or found
            error = found.get("error", found.get("detail", found.get("message", text)))
            if isinstance(error, dict):
                about = error.get("param")  # some name the field here alone
                error = error.get("message", error)
                error = f"{error} ({about})" if about and str(about) not in str(error) else error
            text = str(error)
        except (ValueError, AttributeError, RecursionError):
            text = text.strip()
        printable = "".join(char if char.isprintable() else " " for char in text)
        return " ".join(self.key.hidden_in(printable).split()) or "no reason given"


def _whole_number(digits: str) -> int | float:
    """A whole number of JSON; one too long to count anything is a float, as in most languages."""
    return int(digits) if len(digits) <= LONGEST_NUMBER else float(digits)


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content, parse_int=_whole_number)
    except (ValueError, RecursionError):
        raise _Failed(_instead_of_json(content.lstrip())) from None
    if not isinstance(found, dict):
        raise _Failed("the answer is JSON, but no object")
    return found


def _instead_of_json(content: bytes) -> str:
    """What an answer is that is no JSON."""
    if content.startswith((b"data:", b"event:")):
        return "the answer is a stream, which was not requested; turn streaming off in the server"
    what = "HTML" if content.startswith(b"<") else "not JSON"
    return f"the answer is {what}; is this the address of an API (…/v1)?"


def _error_in(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a reply that holds an error, whatever its status: the whole, or its only choice
    (OpenRouter, where the host behind it fails half-way); empty where there is none.
    """
    choices = reply.get("choices")
    if reply.get("object") == "error" or (reply.get("error") and not choices):
        return reply
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and first.get("error") else {}


def _status_inside(reply: Mapping[str, Any]) -> int:
    """The status that an error in a reply of HTTP 200 stands for; 0 where it holds none."""
    found = _error_in(reply)
    error = found.get("error")
    code = (error if isinstance(error, dict) else found).get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    return HTTPStatus.INTERNAL_SERVER_ERROR if found else 0


def _retry_after(headers: Any) -> float | None:
    """Seconds that the server asks to wait; None where it does not say."""
    try:
        if "retry-after-ms" in headers:
            return _bounded(float(headers["retry-after-ms"]) / 1000)
        given = headers.get("retry-after", "")
        if not given:
            return None
        if given.replace(".", "", 1).isdigit():
            return _bounded(float(given))
        return _bounded((parsedate_to_datetime(given) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


def _bounded(seconds: float) -> float | None:
    return min(max(0.0, seconds), 10 * LONGEST_WAIT) if seconds == seconds else None


class Throttle:
    """A limit on requests under way that follows what the server can take."""

    def __init__(self, most: int, allowed: int | None = None) -> None:
        self.most = most
        self.allowed = most if allowed is None else allowed
        self.fewest = self.allowed  # the smallest limit so far
        self._under_way = 0
        self._successes = 0
        self._open_at = 0.0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place among the requests under way."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._under_way < self.allowed)
            self._under_way += 1
        try:
            await self._wait_for_opening()
            yield
        finally:
            async with self._changed:
                self._under_way -= 1
                self._changed.notify()

    async def _wait_for_opening(self) -> None:
        """Nobody sends while the server asked for a pause."""
        loop = asyncio.get_running_loop()
        while (left := self._open_at - loop.time()) > 0:
            await asyncio.sleep(left)

    def slow_down(self, seconds: float) -> None:
        """The server is overloaded: half as many requests, and none for so many seconds."""
        opens = asyncio.get_running_loop().time() + seconds
        if opens > self._open_at:
            if self._open_at <= opens - seconds:  # one halving for all that failed together
                self.allowed = max(1, self.allowed // 2)
                self.fewest = min(self.fewest, self.allowed)
            self._open_at = opens
        self._successes = 0

    def succeeded(self) -> None:
        """A request went through."""
        self._successes += 1
        if self.allowed < self.most and self._successes >= self.allowed:
            self.allowed += 1
            self._successes = 0
