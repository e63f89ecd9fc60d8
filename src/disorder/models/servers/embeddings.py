"""An embedder behind an OpenAI-compatible server: vectors of texts from /embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disorder.errors import ModelStopped
from disorder.models.servers.endpoint import Reply
from disorder.models.servers.grouped import GroupedServer, numbered
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
        found = self.answers(
            [({"input": list(group), "encoding_format": "float"}, group) for group in groups]
        )
        try:
            return np.array([row for rows in found for row in rows], np.float64)
        except ValueError:
            raise ModelStopped(f"{self.name}: vectors of different lengths") from None

    def read(self, reply: Reply, n: int) -> list[list[float]]:
        """The vectors in the order of the texts, whatever order the reply has."""
        entries = numbered(reply.get("data"), n)
        if entries is None:
            raise ModelStopped(f"{self.name}: the reply has no vector for each of {n} texts")
        try:
            return [[float(x) for x in each["embedding"]] for each in entries]
        except (KeyError, TypeError, ValueError):
            raise ModelStopped(f"{self.name}: a vector is not a list of numbers") from None
