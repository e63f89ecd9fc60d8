"""Rerankers: how relevant a document is to a query, both read together by one network."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.hf import HFClassifier, hf
from disorder.registry import model
from disorder.types import Floats, Predictor, Task, Texts


@model(form="rerank:NAME_OR_FOLDER", needs="transformers, torch, or a server")
def rerank(
    address: str,
    *,
    task: Task,
    base_url: str | None = None,
    max_connections: int | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
    proxy: str | None = None,
    ca_bundle: str | None = None,
) -> Predictor:
    """A reranker (cross-encoder) from the hub, a folder, or a server's /rerank (--base-url): a
    number for a query and a document.
    """
    if base_url is not None:
        from disorder.models.servers.reranking import ServerReranker

        return ServerReranker.at(
            address,
            base_url,
            max_connections=max_connections,
            timeout=timeout,
            max_retries=max_retries,
            proxy=proxy,
            ca_bundle=ca_bundle,
        )
    found = hf(address, task=task)
    if not isinstance(found, HFClassifier) or found.labels:
        raise BadModel(f"rerank:{address}: a reranker has one output, and this model has labels")
    return NetworkReranker(found.network, found.tokenizer, found.fingerprint)


class NetworkReranker(HFClassifier):
    """A network of transformers with one output, read for a query and a document."""

    def relevance(self, requests: Sequence[tuple[str, Sequence[str]]], /) -> list[Floats]:
        """The numbers of each query's documents."""
        return by_request(self, requests)


class LibraryReranker:
    """A CrossEncoder that predicts by itself."""

    is_costly = True
    labels: tuple[str, ...] = ()

    def __init__(self, network: Any) -> None:
        self.network = network
        self.fingerprint = ""
        self.batch_size: int | None = None
        self.notes = ["sentence-transformers itself reads the pairs"]

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """A number for each pair, without the activation, which makes the largest ones equal."""
        import torch

        settings = {} if self.batch_size is None else {"batch_size": self.batch_size}
        found = self.network.predict(
            [(a, str(b)) for a, b in texts],
            activation_fn=torch.nn.Identity(),
            show_progress_bar=False,
            **settings,
        )
        return np.asarray(found, dtype=np.float64).reshape(len(texts), -1)

    def relevance(self, requests: Sequence[tuple[str, Sequence[str]]], /) -> list[Floats]:
        """The numbers of each query's documents."""
        return by_request(self, requests)


def by_request(
    predict: Callable[[Sequence[Texts]], Floats], requests: Sequence[tuple[str, Sequence[str]]]
) -> list[Floats]:
    """What a predictor of pairs gives for the documents of each query."""
    pairs: list[Texts] = [(query, text) for query, documents in requests for text in documents]
    found = predict(pairs)[:, 0]
    ends = np.cumsum([len(documents) for _, documents in requests])
    return np.split(found, ends[:-1])


def by_query(
    relevance: Callable[[Sequence[tuple[str, Sequence[str]]]], list[Floats]],
    texts: Sequence[Texts],
) -> Floats:
    """What a reranker gives for pairs of a query and a document; those of one query together."""
    documents: dict[str, dict[str, int]] = {}
    for query, text in texts:
        own = documents.setdefault(query, {})
        own.setdefault(str(text), len(own))
    found = relevance([(query, list(own)) for query, own in documents.items()])
    scores = dict(zip(documents, found, strict=True))
    return np.array([[scores[query][documents[query][str(text)]]] for query, text in texts])


def is_reranker(thing: Any) -> bool:
    """Whether an object is a CrossEncoder of sentence-transformers."""
    library = sys.modules.get("sentence_transformers")
    return library is not None and isinstance(thing, library.CrossEncoder)


def from_reranker(thing: Any) -> LibraryReranker:
    """A CrossEncoder as a predictor of relevance."""
    if getattr(thing, "num_labels", 1) != 1:
        raise BadModel(f"a reranker has one output, and this CrossEncoder has {thing.num_labels}")
    return LibraryReranker(thing)
