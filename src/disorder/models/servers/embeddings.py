"""An embedder behind an OpenAI-compatible server: vectors of texts from /embeddings."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from disorder.errors import ModelStopped
from disorder.models.servers.endpoint import Reply
from disorder.models.servers.grouped import GroupedServer, Request, numbered
from disorder.types import Floats

N_TEXTS = 32  # in one request


class ServerEmbedder(GroupedServer):
    """Vectors of texts from a server."""

    kind = "embed"
    path = "embeddings"

    def embed(self, texts: Sequence[str], /) -> Floats:
        """One row per text."""
        size = self.batch_size or N_TEXTS
        groups = [texts[start : start + size] for start in range(0, len(texts), size)]
        found = self.answers([({"input": list(group)}, group) for group in groups])
        try:
            return np.array([row for rows in found for row in rows], np.float64)
        except ValueError:
            raise ModelStopped(f"{self.name}: vectors of different lengths") from None

    def halves(self, request: Request) -> list[Request]:
        """Fewer texts at once, for servers with smaller batches."""
        texts = request[1]
        middle = len(texts) // 2
        parts = [texts[:middle], texts[middle:]] if middle else []
        return [({"input": list(part)}, part) for part in parts]

    def read(self, reply: Reply, n: int) -> list[list[float]]:
        """The vectors in the order of the texts, whatever order the reply has."""
        entries = numbered(reply.get("data"), n)
        if entries is None:
            raise ModelStopped(f"{self.name}: the reply has no vector for each of {n} texts")
        try:
            return [_vector(each["embedding"]) for each in entries]
        except (KeyError, TypeError, ValueError):
            raise ModelStopped(f"{self.name}: a vector is not a list of numbers") from None


def _vector(given: Any) -> list[float]:
    """The numbers of a vector, also of one in base64: single precision, the lowest byte first."""
    if isinstance(given, str):
        found: list[float] = np.frombuffer(base64.b64decode(given, validate=True), "<f4").tolist()
        return found
    return [float(x) for x in given]
