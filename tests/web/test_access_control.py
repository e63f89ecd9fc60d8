"""Access control: hosts, origins, tokens, paths and sizes, and what is shown and logged."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from asgi_request import AppResponse, request
from fastapi import Request

from disorder.errors import BadSetting
from disorder.web.access_control import (
    HEADERS,
    MAX_BODY,
    AccessControl,
    is_loopback,
    one_token,
    token_for,
)
from disorder.web.server import new_app

GOOD = "a-very-good-token-0001"


def app() -> Any:
    made = new_app()

    async def hello(request: Request) -> str:
        return f"hello {request.state.token}"

    made.add_api_route("/", hello, methods=["GET", "POST"])
    return made


def local(target: str = "/", **more: Any) -> AppResponse:
    return request(AccessControl(app()), target, **more)


def shared(target: str = "/", **more: Any) -> AppResponse:
    return request(AccessControl(app(), "0.0.0.0", one_token(GOOD)), target, **more)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8765", "localhost:9000", "LOCALHOST", "[::1]:8765"]
)
def test_loopback_accepts_its_own_names(host: str) -> None:
    assert local(host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil",
        "127.0.0.1.evil",
        "192.168.0.9",
        "",
        "[::1",
        "a@localhost",
        "localhost:x",
    ],
)
def test_a_name_pointed_at_this_machine_is_denied(
    host: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert local(host=host).status == 403
    assert "host name" in caplog.text


def test_an_open_address_accepts_addresses_and_its_own_name_only() -> None:
    for host in ("192.168.0.9:8765", "[fe80::1]:8765", socket.gethostname(), "localhost"):
        assert shared(f"/?token={GOOD}", host=host).status == 200
    assert shared(f"/?token={GOOD}", host="evil.example").status == 403


def test_the_right_token_is_put_into_a_strict_cookie_and_leaves_the_address() -> None:
    first = shared(f"/?token={GOOD}&a=1")
    assert first.status == 200
    assert first.headers["set-cookie"] == f"disorder_8765={GOOD}; HttpOnly; SameSite=Strict; Path=/"
    assert 'url=/?a=1"' in first.text
    assert GOOD not in first.text
    assert shared(cookie=f"other=1; disorder_8765={GOOD}").text == f'"hello {GOOD}"'
    assert shared(authorization=f"Bearer {GOOD}").status == 200
    assert shared(f"/?token={GOOD}", method="POST").text == f'"hello {GOOD}"'


@pytest.mark.parametrize(
    "target",
    ["/", "/?token=", f"/?token={GOOD[:-1]}", f"/?token={GOOD}x", f"/?token={GOOD.upper()}"],
)
def test_a_wrong_token_is_denied_and_not_logged(
    target: str, caplog: pytest.LogCaptureFixture
) -> None:
    response = shared(target, cookie="disorder_8765=wrong-wrong-wrong-wrong")
    assert response.status == 403
    assert response.headers["content-type"].startswith("text/plain")
    assert "denied 403 GET / from 127.0.0.1" in caplog.text
    assert "token=" not in caplog.text
    assert "wrong-wrong" not in caplog.text


def test_a_cookie_for_another_port_does_not_count() -> None:
    assert shared(cookie=f"disorder_8766={GOOD}").status == 403


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://127.0.0.1:8765.evil"]
)
def test_another_origin_is_denied(
    method: str, origin: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert local(method=method, origin=origin).status == 403
    assert "other origins" in caplog.text


def test_our_own_pages_may_send() -> None:
    assert (
        local(method="POST", origin="http://127.0.0.1:8765", sec_fetch_site="same-origin").status
        == 200
    )
    assert local(method="POST").status == 200


def test_another_site_may_link_to_us_but_not_load_from_us() -> None:
    assert local(sec_fetch_site="cross-site", sec_fetch_mode="navigate").status == 200
    assert local(sec_fetch_site="cross-site", sec_fetch_mode="no-cors").status == 403
    assert (
        local(method="POST", sec_fetch_site="cross-site", sec_fetch_mode="navigate").status == 403
    )


@pytest.mark.parametrize(
    "path",
    [
        "/../etc/passwd",
        "/static/../../x",
        "/%2e%2e/x",
        "/a%2f..%2fx",
        "/%252e%252e/x",
        "//evil.example/",
        "/a%00b",
        "/..%5cx",
        "/a%0d%0aSet-Cookie:%20x=1",
        "/./x",
        "/%1b[2J",
    ],
)
def test_a_path_that_climbs_is_denied_and_logged_in_one_harmless_line(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert local(path).status == 403
    assert len(caplog.messages) == 1
    assert caplog.messages[0].isprintable()


def test_a_token_does_not_lead_elsewhere() -> None:
    assert shared(f"//evil.example/?token={GOOD}").status == 403
    page = shared(f"/%22%3E%3Cscript%3Ealert(1)%3C/script%3E?token={GOOD}").text
    assert "<script" not in page


def test_every_response_has_the_security_headers() -> None:
    for response in (
        local(),
        local("/nothing"),
        local(host="evil.example"),
        shared(f"/?token={GOOD}"),
    ):
        for name, value in HEADERS.items():
            assert response.headers[name] == value
    assert "access-control-allow-origin" not in local(method="OPTIONS").headers


def test_errors_are_plain_text() -> None:
    missing = local("/nothing")
    assert (missing.status, missing.text) == (404, "Not Found\n")
    assert missing.headers["content-type"].startswith("text/plain")


def test_too_much_and_of_unknown_length_is_denied() -> None:
    assert local(method="POST", content_length=str(MAX_BODY + 1)).status == 413
    assert local(method="POST", content_length="-1").status == 413
    assert local(method="POST", transfer_encoding="chunked").status == 411


def test_a_token_is_made_only_where_one_is_needed() -> None:
    assert token_for("127.0.0.1") is None
    made = token_for("0.0.0.0")
    assert made is not None
    assert len(made) >= 32
    assert token_for("0.0.0.0") != made
    assert token_for("127.0.0.1", GOOD) == GOOD


@pytest.mark.parametrize(
    "token",
    ["", "short", "with spaces in the middle", "semi;colon;semi;colon", "ünïcödé-ünïcödé-ü"],
)
def test_a_token_that_can_be_guessed_or_breaks_a_cookie_is_denied(token: str) -> None:
    with pytest.raises(BadSetting, match="16 or more"):
        token_for("0.0.0.0", token)


def test_which_addresses_are_loopback() -> None:
    assert [
        host
        for host in ("localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]")
        if not is_loopback(host)
    ] == []
    assert [
        host
        for host in ("0.0.0.0", "::", "", "10.0.0.1", "localhost.evil.example")
        if is_loopback(host)
    ] == []
