"""Word overlap of two texts: the only definition that `sanity` uses, so that it can be swapped."""

from __future__ import annotations

from disorder.verbs.sanity.features import hashes


def word_overlap(a: str, b: str | None) -> float:
    """The share of the distinct words of `b` that `a` has too; 0 where `b` has none."""
    first = set(hashes(a).tolist())
    second = set(hashes(b or "").tolist())
    return len(first & second) / max(1, len(second))
