"""Rankings: which documents answer a query?

A row brings its own documents, of which some are relevant (`positives` and `negatives`, as in
rerankers' data, or by ids), or stands for a query against a whole corpus (a BEIR folder). What is
perturbed is the query, or the document that is relevant to it most (`--on document`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from disorder.errors import BadData
from disorder.registry import task
from disorder.tasks import TaskRow, column
from disorder.types import Segment, listed_segment

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
    has_ids = isinstance(given, Mapping)
    documents = given if has_ids else own | {_id_of(text): text for text in _texts(given)}
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
    if not has_ids:
        segments["candidates"] = tuple(sorted(documents))
    # queries that one document answers are not independent
    return TaskRow(
        segments,
        0 if known else None,
        on=QUERY,
        documents=documents,
        family=known[0] if known else "",
    )


def of_own_documents(rows: list[TaskRow]) -> list[TaskRow]:
    """Rows with their documents under ids: they are the corpus of all queries where each row has
    the same; else an id may mean another document in each row, and each ranks its own.
    """
    if all(row.documents == rows[0].documents for row in rows):
        return rows
    return [row if "candidates" in row.segments else _of_contents(row) for row in rows]


def _of_contents(row: TaskRow) -> TaskRow:
    """A row whose documents have ids of their texts, and are the only ones that it ranks."""
    ids = {name: _id_of(str(text)) for name, text in row.documents.items()}
    documents = {ids[name]: text for name, text in row.documents.items()}
    segments: dict[str, Segment] = {**row.segments, "candidates": tuple(sorted(documents))}
    grades: dict[str, str] = {}
    named, graded = (listed_segment(row.segments, each) for each in ("relevant", "grades"))
    for name, grade in zip(named, graded, strict=True):
        grades.setdefault(ids.get(name, name), grade)  # of a document with two ids, the best
    if grades:
        segments |= {"relevant": tuple(grades), "grades": tuple(grades.values())}
    return replace(row, segments=segments, documents=documents, family=ids.get(row.family, ""))


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
