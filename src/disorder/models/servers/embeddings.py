"""An embedder behind an OpenAI-compatible server: vectors of texts from /embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.errors import BadModel, ModelStopped
from disorder.models.servers.addresses import Key, Network, split_address
from disorder.models.servers.client import MAX_CONNECTIONS, MAX_RETRIES, TIMEOUT, Client, Rejected
from disorder.models.servers.endpoint import Endpoint, Reply
from disorder.models.servers.event_loop import as_they_come
from disorder.types import Costs, Floats

N_TEXTS = 32  # in one request


class ServerEmbedder:
    """Vectors of texts from a server, many requests at once."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.counts: Costs = endpoint.spent
        self.fingerprint = f"embed:{endpoint.client.url}|{endpoint.model}"
        self.batch_size: int | None = None
        self.notes = list(endpoint.client.network.notes(endpoint.client.url))

    @classmethod
    def at(cls, address: str, base_url: str, **asked: Any) -> ServerEmbedder:
        """The model of a server; None is the usual value of what is asked."""
        name, url = split_address(address, base_url, kind="embed")
        client = Client(
            url,
            Key.from_environment(),
            asked["max_connections"] or MAX_CONNECTIONS,
            asked["timeout"] or TIMEOUT,
            MAX_RETRIES if asked["max_retries"] is None else asked["max_retries"],
            network=Network.to(url, asked["proxy"], asked["ca_bundle"]),
        )
        return cls(Endpoint(client, name))

    def embed(self, texts: Sequence[str], /) -> Floats:
        """One row per text."""
        size = self.batch_size or N_TEXTS
        groups = [texts[start : start + size] for start in range(0, len(texts), size)]
        client = self.endpoint.client
        coming = as_they_come(self._vectors, groups, at_once=client.max_connections, inside=client)
        rows = dict(coming)
        try:
            return np.array([row for number in sorted(rows) for row in rows[number]], np.float64)
        except ValueError:
            raise ModelStopped(f"{self._name}: vectors of different lengths") from None

    @property
    def _name(self) -> str:
        return f"{self.endpoint.model} at {self.endpoint.client.url}"

    async def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        body = {"input": list(texts), "encoding_format": "float"}
        try:
            reply = await self.endpoint.decide("embeddings", body, sum(map(len, texts)))
        except Rejected as refusal:
            raise BadModel(f"{self._name} refuses (HTTP {refusal.status}): {refusal}") from None
        return self._read(reply, len(texts))

    def _read(self, reply: Reply, n: int) -> list[list[float]]:
        """The vectors in the order of the texts, whatever order the reply has."""
        data = reply.get("data")
        entries = (
            [each for each in data if isinstance(each, dict)] if isinstance(data, list) else []
        )
        by_number = {str(each.get("index", place)): each for place, each in enumerate(entries)}
        if len(entries) != n or set(by_number) != set(map(str, range(n))):
            raise ModelStopped(f"{self._name}: the reply has no vector for each of {n} texts")
        try:
            return [[float(x) for x in by_number[str(i)]["embedding"]] for i in range(n)]
        except (KeyError, TypeError, ValueError):
            raise ModelStopped(f"{self._name}: a vector is not a list of numbers") from None
