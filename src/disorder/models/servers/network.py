"""The way to a server: a proxy and certificates, named by the user or by the environment, and never
used without a word.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from disorder.errors import BadModel

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
