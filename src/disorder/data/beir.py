"""A folder in the form of BEIR: `corpus.jsonl`, `queries.jsonl`, and who answers whom in
`qrels/SPLIT.tsv` (Thakur et al., 2021).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from disorder.data.examples import SourceRow
from disorder.data.files import jsonl, tsv
from disorder.errors import BadData, UnknownName
from disorder.registry import data
from disorder.tasks.ranking import grade_of

CORPUS = "corpus.jsonl"
USUAL = "test"  # the split where none is named
COLUMNS = ("query-id", "corpus-id", "score")


@data(form="beir:FOLDER[:SPLIT]")
def beir(address: str) -> Iterator[SourceRow]:
    """Queries with their relevant documents and the corpus, as retrieval benchmarks ship them; the
    folder alone is enough.
    """
    folder, split = _named(address)
    relevant = _judgements(_qrels(folder, split))
    documents: dict[str, str] = {}
    for where, name, text in _texts(folder, CORPUS):
        if documents.setdefault(name, text) != text:
            raise BadData(f"{folder}/{where}: {name} stands twice, with another text")
    for where, name, text in _texts(folder, "queries.jsonl"):
        if name in relevant:
            yield (
                where,
                {"id": name, "query": text, "relevant": relevant[name], "documents": documents},
            )


def is_beir(path: Path) -> bool:
    """Whether a path is a folder in this form."""
    return os.path.isfile(_file(path, CORPUS))  # pathlib raises on a name that is too long


def _named(address: str) -> tuple[Path, str]:
    """The folder and the split that an address names."""
    folder, _, split = address.rpartition(":")
    if folder and not Path(address).is_dir():
        return Path(folder), split
    return Path(address), ""


def _file(folder: Path, name: str) -> Path:
    """A file, packed or not."""
    packed = folder / f"{name}.gz"
    return packed if os.path.isfile(packed) else folder / name


def _texts(folder: Path, name: str) -> Iterator[tuple[str, str, str]]:
    """Where each text of a file stands, its id, and the text with its title before it."""
    path = _file(folder, name)
    for where, row in jsonl(path):
        if not isinstance(row, dict) or not {"_id", "text"} <= row.keys():
            raise BadData(f"{path}, {where}: need _id and text")
        given = (row["_id"], row.get("title") or "", row["text"] or "")
        if any(isinstance(each, list | dict) for each in given):
            raise BadData(f"{path}, {where}: _id, title and text must be texts")
        identity, *parts = map(str, given)
        yield f"{name}, {where}", identity, " ".join(filter(None, parts)).strip()


def _qrels(folder: Path, split: str) -> Path:
    found = {each.stem: each for each in sorted((folder / "qrels").glob("*.tsv"))}
    if not found:
        raise BadData(f"{folder}: no qrels/*.tsv, which says what is relevant")
    if split and split not in found:
        raise UnknownName(f"split of {folder}", split, found)
    if not split and USUAL not in found and len(found) > 1:
        named = " or ".join(f"beir:{folder}:{each}" for each in found)
        raise BadData(f"{folder}: several splits and none is called {USUAL}: write {named}")
    return found.get(split or USUAL) or next(iter(found.values()))


def _judgements(path: Path) -> dict[str, dict[str, float]]:
    """The grades of documents by query and document."""
    found: dict[str, dict[str, float]] = {}
    for where, row in tsv(path):
        try:
            query, document, grade = (row[name] for name in COLUMNS)
            known = found.setdefault(query, {}).setdefault(document, grade_of(grade))
        except KeyError:
            raise BadData(f"{path}, {where}: need the columns {', '.join(COLUMNS)}") from None
        except BadData as error:
            raise BadData(f"{path}, {where}: {error}") from None
        if known != grade_of(grade):
            raise BadData(f"{path}, {where}: {document} stands twice under {query}")
    return found
