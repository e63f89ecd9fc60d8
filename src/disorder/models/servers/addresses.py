"""Addresses of servers and the way there: the one the user named, checked before anything is sent
to it, through a proxy and by certificates that are never used without a word.
"""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from disorder.errors import BadModel, option

URL_VARIABLE = "OPENAI_BASE_URL"
KEY_VARIABLE = "OPENAI_API_KEY"
# parts of the name of a query field that holds a secret
SECRET = re.compile(r"key|token|secret|sig|pass|auth|code|cred", re.IGNORECASE)


class Key:
    """An API key that shows itself nowhere: not in a repr, not in an error, not in a pickle."""

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def from_environment(cls) -> Key:
        """The key in OPENAI_API_KEY; empty where there is none."""
        return cls(os.environ.get(KEY_VARIABLE, "").strip())

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Key(hidden)" if self._value else "Key()"

    def __reduce__(self) -> tuple[object, ...]:
        """A worker elsewhere reads its own environment."""
        return Key.from_environment, ()

    def header(self, name: str = "Authorization") -> dict[str, str]:
        """The header that carries the key."""
        scheme = "Bearer " if name == "Authorization" else ""
        return {name: f"{scheme}{self._value}"} if self._value else {}

    def hidden_in(self, text: str) -> str:
        """A text with the key taken out."""
        return text.replace(self._value, "[key]") if self._value else text


def split_address(address: str, base_url: str | None, kind: str = "openai") -> tuple[str, str]:
    """The model's name and the server's URL, from `MODEL@URL`, --base-url or OPENAI_BASE_URL.

    >>> split_address("smollm2@http://127.0.0.1:8080/v1/", None)
    ('smollm2', 'http://127.0.0.1:8080/v1')
    """
    name, at, url = address.partition("@http")
    url = f"http{url}" if at else ""
    if url and base_url and url.rstrip("/") != base_url.rstrip("/"):
        raise BadModel(
            f"{kind}:{address}: {option('base_url', base_url)} names another server; give one"
        )
    found = url or base_url or os.environ.get(URL_VARIABLE, "")
    if not name:
        raise BadModel(f"{kind}: names no model; write {kind}:MODEL {option('base_url', 'URL')}")
    if not found:
        raise BadModel(
            f"{kind}:{name} needs the address of a server, for instance "
            f"{option('base_url', 'http://127.0.0.1:8080/v1')} (or {URL_VARIABLE}); no host "
            "is called unless you name it"
        )
    return name, _checked(found)


def _checked(url: str) -> str:
    """The URL without its last slash; an error for one that cannot be used, or holds a secret."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BadModel(
            f"{option('base_url')} is no address; write it as http://HOST:PORT/v1"
        ) from None
    if parts.scheme not in ("http", "https") or not host:
        raise BadModel(f"{option('base_url', url)}: write it as http://HOST:PORT/v1")
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    has_secret = any(SECRET.search(name) for name in names)
    if parts.username or parts.password or parts.fragment or has_secret:
        # runs keep the address, so that it must hold no secret; nor is it shown here
        raise BadModel(
            f"{option('base_url')} for {host}: leave out user names, keys and everything after "
            "'#'; the key "
            f"is read from {KEY_VARIABLE}"
        )
    return urlunsplit(parts._replace(path=parts.path.rstrip("/")))


def below(url: str, path: str) -> str:
    """The address of a path below a server's URL, whose query stays; with a leading slash, of the
    host itself.

    >>> below("https://one/openai/v1?api-version=2024-10-21", "models")
    'https://one/openai/v1/models?api-version=2024-10-21'
    """
    parts = urlsplit(url)
    if path.startswith("/"):
        return urlunsplit(parts._replace(path=path, query=""))
    return urlunsplit(parts._replace(path=f"{parts.path}/{path}"))


def key_header(url: str, key: Key) -> dict[str, str]:
    """The header that carries the key: Azure's own where the address has its version."""
    is_of_azure = any(name == "api-version" for name, _ in parse_qsl(urlsplit(url).query))
    return key.header("api-key" if is_of_azure else "Authorization")


CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # what OpenSSL itself reads


@dataclass(frozen=True)
class Network:
    """How a server is reached; empty for directly, with the certificates of the system."""

    proxy: str = ""  # may hold a password, where it comes from the environment: never shown whole
    ca_bundle: str = ""

    @classmethod
    def to(cls, url: str, proxy: str | None = None, ca_bundle: str | None = None) -> Network:
        """The way to a server: as the user says, else as the environment does."""
        if proxy is not None:
            parts = urlsplit(proxy)
            if parts.username or parts.password:  # runs keep the option
                raise BadModel(
                    "--proxy: leave out user names and passwords; put them in HTTPS_PROXY"
                )
        found = proxy or _of_environment(url)
        if found and urlsplit(found).scheme not in ("http", "https"):
            raise BadModel(f"the proxy of {host_of(url)}: write it as http://HOST:PORT")
        if ca_bundle is not None and not Path(ca_bundle).is_file():
            raise BadModel(f"--ca-bundle {ca_bundle}: there is no such file")
        return cls(found, ca_bundle or "")

    def certificates(self) -> ssl.SSLContext:
        """What certificates are checked against."""
        try:
            return ssl.create_default_context(cafile=self.ca_bundle or None)
        except (ssl.SSLError, OSError) as error:
            raise BadModel(
                f"--ca-bundle {self.ca_bundle} holds no certificates ({error})"
            ) from None

    def notes(self, url: str) -> Iterator[str]:
        """What the user should know about the way to a server."""
        if self.proxy:
            yield f"requests to {host_of(url)} go through the proxy at {host_of(self.proxy)}"
        if not url.startswith("https"):
            return
        named = {name: os.environ[name] for name in CERTIFICATES if os.environ.get(name)}
        if self.ca_bundle:
            yield f"certificates are checked against {self.ca_bundle}"
        for name, place in {} if self.ca_bundle else named.items():
            yield f"certificates are checked against {place} ({name})"


def host_of(url: str) -> str:
    """The host and port of an address, without a user's name."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.hostname}{port}"


def _of_environment(url: str) -> str:
    """The proxy that the environment names for an address; none for this very machine."""
    host = urlsplit(url).hostname or ""
    if _is_here(host) or proxy_bypass(host):
        return ""
    known = getproxies()
    return known.get(urlsplit(url).scheme) or known.get("all") or ""


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def tls_failure(error: BaseException | None) -> str:
    """What is wrong with a secure connection, in words; empty where it is something else."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({error.verify_message}); see --ca-bundle"
        if isinstance(error, ssl.SSLError):
            said = str(error.reason or "unknown").lower().replace("_", " ")
            return f"no secure connection ({said}); is it http:// rather than https://?"
        error = error.__cause__ or error.__context__
    return ""
