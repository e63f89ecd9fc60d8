"""Rankings: how well a model ranks documents for a query, scored against the relevant ones.

An embedder ranks by the cosine with the query, each document embedded once; a reranker reads query
and document together. Ties go to the larger id, as in trec_eval, whose scores are single precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from disorder.errors import BadModel, option
from disorder.models.answering import Match
from disorder.models.embed import Similarity
from disorder.models.protocols import MadeOf, Reranks
from disorder.models.rerank import by_query
from disorder.types import Floats, Ints, Predictor, Segments, Task, Texts, listed_segment

MOST_READ = 200  # documents per query that a reranker reads without being told to
AT_ONCE = 256  # queries whose scores are held together


class Ranker(MadeOf):
    """The score of the ranking of each query: a row is how good it is, and what it lacks to 1."""

    def __init__(self, model: Any, match: Match, task: Task) -> None:
        assert task.corpus is not None
        super().__init__(model)
        self.labels = task.labels
        corpus = task.corpus
        self.match = match
        self.corpus = corpus
        own = model.fingerprint
        self.fingerprint = f"{own}/{match.__name__}/{corpus.fingerprint}" if own else ""

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """A text alone is no query."""
        raise BadModel("this model ranks documents for a query, and a text alone has none")

    def predict_segments(self, inputs: Sequence[Segments], /) -> Floats:
        """A row per query."""
        found = np.empty(len(inputs))
        for start in range(0, len(inputs), AT_ONCE):
            chunk = inputs[start : start + AT_ONCE]
            ranked = [self._ranked(each) for each in chunk]
            scores = self.relevance(chunk, ranked)
            for i, (each, places, own) in enumerate(zip(chunk, ranked, scores, strict=True)):
                found[start + i] = self._scored(each, places, own)
        return np.stack([found, 1 - found], axis=1)

    def relevance(self, inputs: Sequence[Segments], ranked: Sequence[Ints]) -> list[Floats]:
        """The scores of the ranked documents of each query, given by their places in the corpus."""
        raise NotImplementedError

    def own_document(self, given: Segments) -> tuple[int, str]:
        """The place of the document that may be perturbed, and its text."""
        return self.corpus.place[listed_segment(given, "relevant")[0]], str(given["document"])

    @cached_property
    def _everything(self) -> Ints:
        return np.arange(len(self.corpus))

    def _ranked(self, given: Segments) -> Ints:
        """The places of the documents that are ranked, in ascending order of their ids."""
        if "candidates" not in given:
            aside = [self.corpus.place[name] for name in listed_segment(given, "aside")]
            return np.delete(self._everything, aside) if aside else self._everything
        names = listed_segment(given, "candidates")
        return np.array(sorted(self.corpus.place[name] for name in names), dtype=np.int64)

    def _scored(self, given: Segments, ranked: Ints, scores: Floats) -> float:
        scores = np.asarray(scores, dtype=np.float32)
        if scores.shape != ranked.shape or not np.isfinite(scores).all():
            raise BadModel(f"need a finite number for each of {len(ranked)} documents")
        places = []
        for name in listed_segment(given, "relevant"):
            at = int(np.searchsorted(ranked, self.corpus.place.get(name, -1)))
            if at >= len(ranked) or self.corpus.ids[ranked[at]] != name:
                places.append(0)
                continue
            above = int((scores > scores[at]).sum()) + int((scores[at + 1 :] == scores[at]).sum())
            places.append(above + 1)
        grades = np.array([float(each) for each in listed_segment(given, "grades")])
        return self.match(np.array(places), grades)


class EmbeddingRanker(Ranker):
    """Ranks by the cosine of query and document."""

    model: Similarity

    @cached_property
    def _documents(self) -> Floats:
        """The vectors of the corpus, embedded once."""
        return self.model.vectors(self.corpus.texts)

    def relevance(self, inputs: Sequence[Segments], ranked: Sequence[Ints]) -> list[Floats]:
        """The cosines."""
        queries = self.model.vectors([str(each["query"]) for each in inputs])
        scores = queries @ self._documents.T
        own = [self.own_document(each) for each in inputs]
        changed = [i for i, (at, text) in enumerate(own) if text != self.corpus.texts[at]]
        if changed:
            vectors = self.model.vectors([own[i][1] for i in changed])
            for i, vector in zip(changed, vectors, strict=True):
                scores[i, own[i][0]] = queries[i] @ vector
        return [row[places] for row, places in zip(scores, ranked, strict=True)]


class ReadingRanker(Ranker):
    """Ranks by the score of a model that reads query and document together."""

    model: Reranks

    def relevance(self, inputs: Sequence[Segments], ranked: Sequence[Ints]) -> list[Floats]:
        """What the model gives."""
        requests = []
        for each, places in zip(inputs, ranked, strict=True):
            if "candidates" not in each and len(places) > MOST_READ:
                raise BadModel(
                    f"a reranker reads every document with every query, {len(places):,} here; say "
                    f"which: {option('candidates', 'bm25:20')}"
                )
            at, text = self.own_document(each)
            texts = [text if i == at else self.corpus.texts[i] for i in places.tolist()]
            requests.append((str(each["query"]), texts))
        return self.model.relevance(requests)


class RankingFunction:
    """A function that gets a list of queries, each with its documents, and returns a list of
    numbers for each: one per document, the largest for the best.
    """

    labels: tuple[str, ...] = ()

    def __init__(self, function: Callable[[list[dict[str, Any]]], Any], fingerprint: str) -> None:
        self.function = function
        self.fingerprint = fingerprint

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """The score of each pair of a query and a document."""
        return by_query(self.relevance, texts)

    def relevance(self, requests: Sequence[tuple[str, Sequence[str]]], /) -> list[Floats]:
        """The numbers of each query."""
        given = self.function(
            [{"query": query, "documents": list(documents)} for query, documents in requests]
        )
        if isinstance(given, str) or len(given) != len(requests):
            raise BadModel(
                "a function that ranks returns a list with one list of numbers for each query"
            )
        return [np.asarray(each, dtype=np.float64) for each in given]


def ranker_of(name: str, predictor: Predictor, match: Match | None, task: Task) -> Predictor:
    """A predictor of how good a model's rankings are."""
    assert match is not None
    if isinstance(predictor, Ranker):
        return predictor
    if isinstance(predictor, Similarity):
        return EmbeddingRanker(predictor, match, task)
    if isinstance(predictor, Reranks):
        return ReadingRanker(predictor, match, task)
    raise BadModel(
        f"{name} ranks no documents; a ranking needs an embedder (embed:…), a reranker (rerank:…), "
        "or a function that gets queries with their documents"
    )
