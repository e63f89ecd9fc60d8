"""A reranker behind a server: the relevance of documents to a query from /rerank, as Cohere, Jina,
vLLM, llama.cpp and LiteLLM offer it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from disorder.errors import ModelStopped
from disorder.models.rerank import by_query
from disorder.models.servers.endpoint import Reply
from disorder.models.servers.grouped import GroupedServer, numbered
from disorder.types import Floats, Texts


class ServerReranker(GroupedServer):
    """Numbers for the documents of a query from a server, one request per query."""

    kind = "rerank"
    path = "rerank"
    is_costly = True
    labels: tuple[str, ...] = ()

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """The number of each pair; pairs with one query go together."""
        return by_query(self.relevance, texts)

    def relevance(self, requests: Sequence[tuple[str, Sequence[str]]], /) -> list[Floats]:
        """The numbers of each query's documents."""
        bodies = [
            ({"query": query, "documents": list(texts), "top_n": len(texts)}, [query, *texts])
            for query, texts in requests
        ]
        return [np.array(each, dtype=np.float64) for each in self.answers(bodies)]

    def read(self, reply: Reply, n: int) -> list[float]:
        """The numbers in the order of the documents, whatever order the reply has."""
        entries = numbered(reply.get("results"), n - 1)
        try:
            found = [float(each["relevance_score"]) for each in entries or ()]
        except (KeyError, TypeError, ValueError):
            found = []
        if len(found) != n - 1 or not all(map(math.isfinite, found)):
            raise ModelStopped(f"{self.name}: the reply lacks a number for one of its documents")
        return found
