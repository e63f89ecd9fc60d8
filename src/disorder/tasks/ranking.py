"""Rankings: which documents answer a query?

A row brings its own documents, of which some are relevant (`positives` and `negatives`, as in
rerankers' data), or stands for a query against a whole corpus (a BEIR folder). What is perturbed is
the query, or the document that is relevant to it most (`--on document`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from disorder.errors import BadData
from disorder.registry import task
from disorder.tasks import TaskRow, column
from disorder.types import Segment

RANKED = ("ranked well", "ranked badly")  # a score above one half, and below
QUERY = ("query",)
RELEVANT = ("relevant", "positives", "positive")
DOCUMENTS = ("documents", "negatives", "negative")


@task(columns=(QUERY, RELEVANT, DOCUMENTS), scored="ranking", title="queries with documents")
def ranking(row: Mapping[str, Any]) -> TaskRow:
    """A query, the documents that are relevant to it, and those that are not."""
    query = column(row, QUERY)
    if not isinstance(query, str):
        raise BadData(f"a query must be a text, got {type(query).__name__}")
    grades, own = _relevant(column(row, RELEVANT))
    given = column(row, DOCUMENTS)
    is_corpus = isinstance(given, Mapping)  # of all queries, by id
    documents = given if is_corpus else own | {_id_of(text): text for text in _texts(given)}
    best_first = sorted(grades, key=lambda name: (-grades[name], name))
    known = [name for name in best_first if name in documents]
    segments: dict[str, Segment] = {"query": query}
    if known:
        best = documents[known[0]]
        if not isinstance(best, str):
            raise BadData(f"a document must be a text, got {type(best).__name__}")
        segments["document"] = best
        segments["relevant"] = (*known, *(name for name in best_first if name not in documents))
        segments["grades"] = tuple(f"{grades[name]:g}" for name in segments["relevant"])
    if not is_corpus:
        segments["candidates"] = tuple(sorted(documents))
    # queries that one document answers are not independent
    return TaskRow(
        segments,
        0 if known else None,
        on=QUERY,
        documents=documents,
        family=known[0] if known else "",
    )


def _relevant(given: Any) -> tuple[dict[str, float], dict[str, str]]:
    """The grades of relevant documents by id, and their texts where the row has them."""
    if isinstance(given, Mapping):
        grades = {str(name): grade_of(grade) for name, grade in given.items()}
        return {name: grade for name, grade in grades.items() if grade > 0}, {}
    texts = {_id_of(text): text for text in _texts(given)}
    return dict.fromkeys(texts, 1.0), texts


def grade_of(given: Any) -> float:
    """How relevant a document is: any finite number."""
    try:
        grade = float(given)
    except (TypeError, ValueError):
        grade = math.nan
    if not math.isfinite(grade):
        raise BadData(f"{given!r} is no grade")
    return grade


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise BadData(f"documents must be a list of texts, got {type(given).__name__}")
    return [text for text in texts if text.strip()]


def _id_of(text: str) -> str:
    """An id that says nothing of where a document stands."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
