"""The local server: when it starts, when it does not, and the address that it prints."""

from __future__ import annotations

import socket

import pytest

from disorder.errors import DisorderError, MissingPackage
from disorder.web import server
from disorder.web.server import address, listen, new_app, require_web, serve


def test_an_open_address_without_a_token_does_not_start() -> None:
    with pytest.raises(DisorderError, match="needs a token"):
        serve(new_app(), print, host="0.0.0.0", port=0)


def test_a_taken_port_is_an_error() -> None:
    taken = listen("127.0.0.1", 0)
    taken.listen()
    port = taken.getsockname()[1]
    try:
        with pytest.raises(DisorderError, match=f"port {port} is taken"):
            listen("127.0.0.1", port)
    finally:
        taken.close()
    with pytest.raises(DisorderError, match="cannot listen on"):
        listen("203.0.113.1", 0)


def test_the_printed_address() -> None:
    assert address("127.0.0.1", 80) == "http://127.0.0.1:80/"
    assert address("::1", 80, "t") == "http://[::1]:80/?token=t"
    assert address("0.0.0.0", 80, "t") == f"http://{socket.gethostname()}:80/?token=t"


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PACKAGES", ("surely_not_installed",))
    with pytest.raises(
        MissingPackage,
        match=r"needs the package 'surely_not_installed': pip install .*\[web\]",
    ):
        require_web("disorder view")
