"""Corpus: the documents that queries are ranked against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b


@dataclass(frozen=True)
class Corpus:
    """Documents with their ids, in the order of these; two of one fingerprint are the same."""

    fingerprint: str
    ids: tuple[str, ...] = field(compare=False, repr=False)
    texts: tuple[str, ...] = field(compare=False, repr=False)

    @classmethod
    def of(cls, documents: Mapping[str, str]) -> Corpus:
        """The corpus of these documents by id."""
        ids = tuple(sorted(documents))
        texts = tuple(documents[each] for each in ids)
        hashed = blake2b(digest_size=16)
        for text in (*ids, *texts):
            content = text.encode("utf-8", "surrogatepass")
            hashed.update(len(content).to_bytes(8, "little") + content)
        return cls(hashed.hexdigest(), ids, texts)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def place(self) -> dict[str, int]:
        """The place of each document, by its id."""
        return {name: place for place, name in enumerate(self.ids)}
