"""A server that misbehaves: each fault ends in the documented way, and the key shows nowhere."""

from __future__ import annotations

import asyncio
import logging
import pickle
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from disorder.errors import BadModel, DisorderError, ModelStopped
from disorder.models.servers import client as client_module
from disorder.models.servers.addresses import Key, Network, split_address
from disorder.models.servers.client import Client, Rejected, Throttle
from fake_server import FakeServer, Fault

pytest.importorskip("httpx2", reason="needs httpx2")
SECRET = "sk-very-secret-0123456789"
BODY = {"model": "fake", "messages": [{"role": "user", "content": "hello"}]}


def post(client: Client, n: int = 1) -> list[Any]:
    """Send the same question n times at once."""

    async def everything() -> list[Any]:
        async with client:
            return list(
                await asyncio.gather(*(client.post("chat/completions", BODY) for _ in range(n)))
            )

    return asyncio.run(everything())


def client_of(server: FakeServer, **more: Any) -> Client:
    settings: dict[str, Any] = {"timeout": 5.0, "max_retries": 3, "first_wait": 0.01} | more
    return Client(server.url, Key(""), **settings)


def failing(times: int, fault: Fault) -> Callable[[int, str], Fault | None]:
    return lambda number, path: fault if number < times else None


TRANSIENT = {
    "500": Fault(status=500, content=b'{"error": {"message": "out of memory"}}'),
    "502 with HTML": Fault(status=502, content=b"<html>bad gateway</html>"),
    "HTML with HTTP 200": Fault(content=b"<!doctype html><p>Welcome"),
    "no JSON": Fault(content=b"{"),
    "an error with HTTP 200": Fault(content=b'{"error": "overloaded"}'),
    "a list": Fault(content=b"[]"),
    "closed in the middle": Fault(cut=True),
    "408": Fault(status=408, content=b'{"error": {"message": "timed out"}}'),
    "429": Fault(status=429, headers={"Retry-After": "0"}),
    "503": Fault(status=503),
}


@pytest.mark.parametrize(
    ("status", "kind"), [(500, ModelStopped), (400, Rejected), (401, BadModel), (402, ModelStopped)]
)
@pytest.mark.parametrize("content", [b"[" * 200_000, b'{"error":' * 200_000, b"9" * 100_000])
def test_an_error_that_is_nested_without_end_is_one_line(
    status: int, kind: type[Exception], content: bytes
) -> None:
    fault = Fault(status=status, content=content)
    with (
        FakeServer(faults=failing(9, fault)) as server,
        pytest.raises(kind) as raised,
    ):
        post(client_of(server, max_retries=1))
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_passing_fault_is_tried_again_and_lost_by_nobody(name: str) -> None:
    with FakeServer(faults=failing(2, TRANSIENT[name])) as server:
        [answer] = post(client_of(server))
        assert answer["choices"][0]["message"]["content"] == "yes"
        assert len(server.questions) == 3


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_lasting_fault_stops_with_one_line(name: str) -> None:
    with FakeServer(faults=failing(99, TRANSIENT[name])) as server:
        with pytest.raises(ModelStopped, match=r"failed 4 times in a row \(.+\)") as stopped:
            post(client_of(server))
        assert len(server.questions) == 4
        assert "\n" not in str(stopped.value)


@pytest.mark.parametrize(
    ("status", "content", "words"),
    [
        (429, b'{"error": {"message": "over your quota", "code": "quota"}}', "429: over your"),
        (200, b'{"error": {"message": "load the model first"}}', "load the model first"),
        (200, b'{"object": "error", "message": "no such model"}', "no such model"),
        (200, b'{"choices": [{"error": {"code": 502, "message": "gone"}}]}', "502: gone"),
        (200, b'data: {"choices": []}\n\ndata: [DONE]\n\n', "is a stream, .* turn streaming off"),
    ],
    ids=["quota", "an error", "an error as the object", "an error in the choice", "a stream"],
)
def test_a_lasting_fault_is_told_in_the_words_of_the_server(
    status: int, content: bytes, words: str
) -> None:
    fault = Fault(status=status, headers={"Retry-After": "0"}, content=content)
    with (
        FakeServer(faults=failing(9, fault)) as server,
        pytest.raises(ModelStopped, match=words),
    ):
        post(client_of(server, max_retries=1))


def test_a_refusal_inside_of_a_reply_is_a_refusal() -> None:
    content = b'{"error": {"code": 400, "message": "logprobs are not supported"}}'
    with FakeServer(faults=failing(9, Fault(content=content))) as server:
        with pytest.raises(Rejected, match=r"^logprobs are not supported$") as refused:
            post(client_of(server))
        assert (refused.value.status, len(server.questions)) == (400, 1)


def test_a_hanging_server_is_given_up_in_time() -> None:
    with FakeServer(faults=failing(99, Fault(hang=0.6))) as server:
        with pytest.raises(ModelStopped, match=r"no answer within 0.2 s \(timeout\)"):
            post(client_of(server, timeout=0.2, max_retries=1))
        assert len(server.questions) == 2


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_BYTES", 1024**2)
    with (
        FakeServer(faults=failing(99, Fault(content=b" " * 3 * 1024**2))) as server,
        pytest.raises(ModelStopped, match="an answer of more than 1 MB"),
    ):
        post(client_of(server, max_retries=1))


def test_a_dead_server_is_one_line() -> None:
    client = Client("http://127.0.0.1:9/v1", Key(""), max_retries=1, first_wait=0.01)
    with pytest.raises(ModelStopped, match="no connection"):
        post(client)


@pytest.mark.parametrize("form", ["seconds", "milliseconds", "date"])
def test_retry_after_is_obeyed(form: str) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=1.2), usegmt=True)
    header = {"seconds": ("Retry-After", "0.3"), "milliseconds": ("retry-after-ms", "300")}
    name, value = header.get(form, ("Retry-After", soon))
    fault = Fault(status=429, headers={name: value})
    with FakeServer(faults=failing(1, fault)) as server:
        began = time.monotonic()
        post(client_of(server, first_wait=0.001))
        # a date has whole seconds, so that 1.2 s from now may be 0.2 s
        assert time.monotonic() - began >= (0.3 if form != "date" else 0.15)


def test_connections_go_down_on_429_and_up_again() -> None:
    busy = Fault(status=429, headers={"Retry-After": "0.01"})
    with FakeServer(faults=failing(4, busy), latency=0.005) as server:
        client = client_of(server, max_connections=8, max_retries=9)
        answers = post(client, 60)
        assert len(answers) == 60
        assert 1 <= client.fewest_connections < 8
        assert server.most_under_way <= 8


def test_the_throttle_halves_once_for_all_that_failed_together() -> None:
    async def go() -> tuple[int, int]:
        throttle = Throttle(8)
        for _ in range(5):
            throttle.slow_down(0.05)
        after_failures = throttle.allowed
        for _ in range(40):
            throttle.succeeded()
        return after_failures, throttle.allowed

    assert asyncio.run(go()) == (4, 8)


@pytest.mark.parametrize("status", [400, 404, 413, 422, 501])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    content = b'{"error": {"message": "context\\nlength \\u001b[31m exceeded"}}'
    with FakeServer(faults=failing(9, Fault(status=status, content=content))) as server:
        with pytest.raises(Rejected, match=r"^context length \[31m exceeded$") as refused:
            post(client_of(server))
        assert (refused.value.status, len(server.questions)) == (status, 1)


def test_no_redirect_is_followed() -> None:
    other = Fault(status=307, headers={"Location": "http://evil.example/v1/chat/completions"})
    with (
        FakeServer(faults=failing(9, other)) as server,
        pytest.raises(BadModel, match=r"redirects to evil.example; name it in base_url"),
    ):
        post(client_of(server))


def test_no_proxy_of_the_environment_is_used_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with FakeServer() as server:
        assert post(client_of(server, network=Network.to(server.url)))


def test_a_proxy_is_used_and_its_password_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://models.example/v1"
    with FakeServer() as proxy:
        place = proxy.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("http_proxy", f"http://me:{SECRET}@{place}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        network = Network.to(url)
        assert post(Client(url, Key(""), max_retries=0, network=network))
        assert proxy.hosts == ["models.example"]
    assert list(network.notes(url)) == [
        f"requests to models.example go through the proxy at {place}"
    ]
    monkeypatch.setenv("no_proxy", "models.example")
    assert Network.to(url) == Network()
    with pytest.raises(BadModel, match="HTTPS_PROXY") as error:
        Network.to(url, f"http://me:{SECRET}@{place}")
    assert SECRET not in str(error.value)
    with pytest.raises(BadModel, match="no such file"):
        Network.to(url, ca_bundle="missing.pem")


def test_a_proxy_that_is_not_there_or_lets_nothing_through_is_named() -> None:
    with FakeServer() as proxy:
        place = proxy.url.removesuffix("/v1")
        for address, scheme, words in (
            (place, "https", "does not let it through: 501"),
            ("http://127.0.0.1:9", "http", "no connection to the proxy at 127.0.0.1:9"),
        ):
            network = Network.to("", address)
            url = f"{scheme}://models.example/v1"
            client = Client(url, Key(""), max_retries=0, network=network)
            with pytest.raises(ModelStopped, match=words):
                post(client)


def test_a_tls_failure_is_named_and_not_tried_again() -> None:
    with FakeServer() as server:
        url = server.url.replace("http://", "https://")
        with pytest.raises(BadModel, match="http:// rather than https://"):
            post(Client(url, Key(""), max_retries=6))


def test_certificates_of_the_environment_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "own.pem")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    assert list(Network().notes("https://one/v1")) == [
        "certificates are checked against own.pem (SSL_CERT_FILE)"
    ]
    assert not list(Network().notes("http://one/v1"))


def test_no_host_is_called_that_was_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(BadModel, match="no host is called unless you name it"):
        split_address("gpt", None)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one/v1")
    assert split_address("gpt", None) == ("gpt", "http://one/v1")
    assert split_address("org/model:7b", "http://two/v1/") == ("org/model:7b", "http://two/v1")
    assert split_address("m@https://three/v1", None) == ("m", "https://three/v1")


@pytest.mark.parametrize(
    ("address", "url", "message"),
    [
        ("m@http://one/v1", "http://two/v1", "names another server"),
        ("m", "ftp://one", "http://HOST:PORT/v1"),
        ("m", "one/v1", "http://HOST:PORT/v1"),
        ("m", "http://one:port/v1", "no address"),
        ("", "http://one/v1", "names no model"),
        ("m", f"http://user:{SECRET}@one/v1", "OPENAI_API_KEY"),
        ("m", f"http://one/v1?key={SECRET}", "OPENAI_API_KEY"),
    ],
)
def test_a_bad_address_is_one_line_without_its_secret(address: str, url: str, message: str) -> None:
    with pytest.raises(DisorderError, match=message) as error:
        split_address(address, url)
    assert SECRET not in str(error.value)


@pytest.fixture
def secret_client() -> Iterator[tuple[FakeServer, Client]]:
    with FakeServer(key="another") as server:
        yield server, Client(server.url, Key(SECRET), max_retries=0)


def test_the_key_is_sent_and_shown_nowhere(
    secret_client: tuple[FakeServer, Client], caplog: pytest.LogCaptureFixture
) -> None:
    server, client = secret_client
    caplog.set_level(logging.DEBUG)
    with pytest.raises(BadModel, match="does not accept the key in OPENAI_API_KEY") as error:
        post(client)
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    shown = "".join(traceback.format_exception(error.value)) + caplog.text + repr(client)
    assert "[key]" in str(error.value)
    assert SECRET not in shown
    assert SECRET not in repr(Key(SECRET))
    assert SECRET.encode() not in pickle.dumps(Key(SECRET))


def test_a_missing_key_is_said() -> None:
    with (
        FakeServer(key="another") as server,
        pytest.raises(BadModel, match="needs a key: set OPENAI_API_KEY"),
    ):
        post(client_of(server))
