"""Access control: the checks that every request passes before a page is made.

Loopback needs no token; any other address does. A page of another site can reach a loopback port
too, through the user's own browser, so the Host header (DNS rebinding) and the Origin (forged
requests) are checked on loopback as well.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from hmac import compare_digest
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from disorder.errors import BadSetting

log = logging.getLogger("disorder.web")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # not no-referrer: forms would then send "Origin: null"
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
READING = ("GET", "HEAD")
MAX_BODY = 1024**2
MIN_TOKEN = 16
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGI = Callable[[Message, Receive, Send], Awaitable[None]]
TokenCheck = Callable[[str], bool]


class RequestDenied(Exception):
    """A request that is not let in, with the status and the reason, which is shown and logged."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def token_for(host: str, given: str | None = None) -> str | None:
    """The token that a server on this address needs: the given one, a new one where it must have
    one, or none.
    """
    if given is None:
        return None if is_loopback(host) else secrets.token_urlsafe(24)
    if len(given) < MIN_TOKEN or not re.fullmatch(r"[A-Za-z0-9_-]+", given):
        need = f"{MIN_TOKEN} or more of the characters A-Z a-z 0-9 _ - (or none, to generate one)"
        raise BadSetting("--token", token="…", need=need)
    return given


def one_token(token: str) -> TokenCheck:
    """A check for one token that takes the same time however many characters are right."""
    expected = token.encode()
    return lambda given: compare_digest(given.encode("utf-8", "replace"), expected)


def allowed_hosts(host: str) -> frozenset[str]:
    """The host names that this server accepts; `AccessControl` also accepts literal addresses
    where it does not listen on loopback.
    """
    names = [host.strip("[]"), *LOCAL_NAMES]
    if not is_loopback(host):
        here = socket.gethostname()
        names += [here, f"{here}.local"]
    return frozenset(name.lower() for name in names)


@dataclass
class AccessControl:
    """An ASGI application that passes allowed requests on to `app` and denies the others.

    `is_good` says whether a token is good; without it no token is needed. The token of a request is
    in `request.state.token`, which tells a server with personal links whose request it is.
    """

    app: ASGI
    host: str = "127.0.0.1"
    is_good: TokenCheck | None = None
    hosts: frozenset[str] = field(default=frozenset())
    hint: str = "open the address that was printed when the server started"

    def __post_init__(self) -> None:
        self.hosts = self.hosts or allowed_hosts(self.host)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _handle(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        try:
            self._check_host(headers)
            check_path(scope)
            _check_origin(scope, headers)
            _check_size(scope, headers)
            token, is_in_address = self._token(scope, headers)
        except RequestDenied as denied:
            log.warning("%s", log_line(scope, denied))
            await _plain(send, denied.status, denied.reason)
            return
        scope.setdefault("state", {})["token"] = token
        if is_in_address and scope["method"] in READING:
            await _set_cookie(scope, send, token)
        else:
            await self.app(scope, receive, send)

    def _check_host(self, headers: dict[str, list[str]]) -> None:
        """Deny a name that is not ours: a page of another site whose name was pointed at this
        machine would use it.
        """
        given = headers.get("host", [])
        name = _host_name(given[0]) if len(given) == 1 else None
        if name is None or not self._is_allowed_host(name):
            raise RequestDenied(403, "this server does not accept that host name")

    def _is_allowed_host(self, name: str) -> bool:
        return name in self.hosts or (not is_loopback(self.host) and _is_address(name))

    def _token(self, scope: Message, headers: dict[str, list[str]]) -> tuple[str, bool]:
        """The good token of a request, and whether it came in the address."""
        if self.is_good is None:
            return "", False
        query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
        if "token" in query:
            if self.is_good(query["token"]):
                return query["token"], True
            raise RequestDenied(403, f"wrong token; {self.hint}")
        bearer = [value.removeprefix("Bearer ") for value in headers.get("authorization", [])]
        for token in [*bearer, *_cookies(headers, cookie_name(scope))]:
            if self.is_good(token):
                return token, False
        raise RequestDenied(403, f"a token is needed; {self.hint}")


def check_path(scope: Message) -> None:
    """Deny paths with "..", backslashes or control characters, however they are encoded."""
    raw = scope.get("raw_path", b"").decode("latin-1") or quote(scope["path"])
    path = unquote(unquote(raw))
    has_control = any(ord(char) < 32 for char in path)
    has_dots = bool({".", ".."} & set(path.split("/")))
    if "\\" in path or "//" in path or has_control or has_dots:
        raise RequestDenied(403, "that path is not served here")


def cookie_name(scope: Message) -> str:
    """The name of our cookie: all ports of a host share their cookies, so it has the port."""
    return f"disorder_{scope['server'][1]}"


def log_line(scope: Message, denied: RequestDenied) -> str:
    """One line for the log; it holds no control characters and no token."""
    client = (scope.get("client") or ("?",))[0]
    method = scope["method"][:10]
    path = scope["path"][:200].encode("unicode_escape").decode("ascii")
    return f"denied {denied.status} {method} {path} from {client}: {denied.reason}"


def _check_origin(scope: Message, headers: dict[str, list[str]]) -> None:
    """Deny what a page of another site sends through the user's browser; links are allowed."""
    host = headers["host"][0].lower()
    if any(_origin_host(origin) != host for origin in headers.get("origin", [])):
        raise RequestDenied(403, "requests from other origins are denied")
    site = headers.get("sec-fetch-site", ["none"])[0]
    is_link = scope["method"] in READING and headers.get("sec-fetch-mode", [""])[0] == "navigate"
    if site not in ("same-origin", "none") and not is_link:
        raise RequestDenied(403, "requests from other sites are denied")


def _origin_host(origin: str) -> str | None:
    """The host and port of an Origin header; None for one that is no address."""
    try:
        return urlsplit(origin.lower()).netloc
    except ValueError:
        return None


def _check_size(scope: Message, headers: dict[str, list[str]]) -> None:
    if scope["method"] in READING:
        return
    if "transfer-encoding" in headers:
        raise RequestDenied(411, "send the length of the content")
    length = headers.get("content-length", ["0"])[0]
    if not length.isdecimal() or int(length) > MAX_BODY:
        raise RequestDenied(413, f"at most {MAX_BODY:,} bytes are accepted")


async def _set_cookie(scope: Message, send: Send, token: str) -> None:
    """Put the token into a cookie and continue at the address without it.

    Not a redirect: a strict cookie is not sent with one that began on another site, such as a link
    in an e-mail.
    """
    query = [
        (name, value)
        for name, value in parse_qsl(scope["query_string"].decode("latin-1"))
        if name != "token"
    ]
    target = escape(quote(scope["path"]) + (f"?{urlencode(query)}" if query else ""))
    page = (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>disorder</title>'
        f'<meta http-equiv="refresh" content="0; url={target}"></head>'
        f'<body><main><p><a href="{target}">Continue</a></p></main></body></html>'
    )
    cookie = f"{cookie_name(scope)}={quote(token)}; HttpOnly; SameSite=Strict; Path=/"
    await _respond(send, 200, "text/html; charset=utf-8", page, [("set-cookie", cookie)])


async def _plain(send: Send, status: int, text: str) -> None:
    await _respond(send, status, "text/plain; charset=utf-8", f"{text}\n")


async def _respond(
    send: Send, status: int, kind: str, text: str, more: Iterable[tuple[str, str]] = ()
) -> None:
    body = text.encode()
    headers = [("content-type", kind), ("content-length", str(len(body))), *more]
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    """Add the security headers to every response that does not set them itself."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            added = [
                (name.encode(), value.encode())
                for name, value in HEADERS.items()
                if name.encode() not in present
            ]
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return sending


def _headers(scope: Message) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _host_name(header: str) -> str | None:
    """The host of a Host header without its port."""
    matched = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?", header)
    return matched[1].strip("[]").lower() if matched else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _cookies(headers: dict[str, list[str]], name: str) -> list[str]:
    found = []
    for header in headers.get("cookie", []):
        try:
            cookies = SimpleCookie(header)
        except CookieError:
            continue
        if name in cookies:
            found.append(unquote(cookies[name].value))
    return found
