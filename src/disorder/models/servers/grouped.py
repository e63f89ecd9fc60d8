"""A server that is asked about several texts in one request, with many requests at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from disorder.errors import BadModel
from disorder.models.servers.addresses import Key, Network, split_address
from disorder.models.servers.client import MAX_CONNECTIONS, MAX_RETRIES, TIMEOUT, Client, Rejected
from disorder.models.servers.endpoint import Endpoint, Reply
from disorder.models.servers.event_loop import as_they_come
from disorder.types import Costs

Request = tuple[Mapping[str, Any], Sequence[str]]  # what is sent, and the texts it is about
TOO_MUCH = (400, 413, 422)  # how servers refuse more texts than they take at once


class GroupedServer:
    """What embedders and rerankers behind a server share; `kind` is the name of their spec."""

    kind: str
    path: str  # of the address

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.counts: Costs = endpoint.spent
        self.fingerprint = f"{self.kind}:{endpoint.client.url}|{endpoint.model}"
        self.batch_size: int | None = None

    @classmethod
    def at(cls, address: str, base_url: str, **asked: Any) -> Self:
        """The model of a server; None is the usual value of what is asked."""
        name, url = split_address(address, base_url, kind=cls.kind)
        client = Client(
            url,
            Key.from_environment(),
            asked["max_connections"] or MAX_CONNECTIONS,
            asked["timeout"] or TIMEOUT,
            MAX_RETRIES if asked["max_retries"] is None else asked["max_retries"],
            network=Network.to(url, asked["proxy"], asked["ca_bundle"]),
        )
        return cls(Endpoint(client, name))

    @property
    def notes(self) -> list[str]:
        """What is known of the server."""
        return list(self.endpoint.client.notes())

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"{self.endpoint.model} at {self.endpoint.client.url}"

    def answers(self, requests: Sequence[Request]) -> list[Any]:
        """What is read of the reply to each request."""
        client = self.endpoint.client
        coming = as_they_come(self._answer, requests, at_once=client.max_connections, inside=client)
        found = dict(coming)
        return [found[number] for number in range(len(requests))]

    async def _answer(self, request: Request) -> Any:
        body, texts = request
        try:
            reply = await self.endpoint.decide(self.path, body, sum(map(len, texts)))
        except Rejected as refusal:
            halves = self.halves(request) if refusal.status in TOO_MUCH else []
            if halves:
                return [each for half in halves for each in await self._answer(half)]
            raise BadModel(f"{self.name} refuses (HTTP {refusal.status}): {refusal}") from None
        return self.read(reply, len(texts))

    def halves(self, request: Request) -> list[Request]:
        """A request in two, where its texts need not go together; else nothing."""
        return []

    def read(self, reply: Reply, n: int) -> Any:
        """What a reply says of n texts."""
        raise NotImplementedError


def numbered(entries: Any, n: int) -> list[Mapping[str, Any]] | None:
    """Entries of a reply in the order of their numbers; None where not each of n texts has one."""
    given = (
        [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    )
    by_number = {str(each.get("index", place)): each for place, each in enumerate(given)}
    if len(given) != n or set(by_number) != set(map(str, range(n))):
        return None
    return [by_number[str(i)] for i in range(n)]
