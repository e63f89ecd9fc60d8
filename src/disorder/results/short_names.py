"""Short names of models and data: what tells them apart, without the folders before it."""

from __future__ import annotations

from pathlib import PurePath


def short_name(spec: str) -> str:
    """The name without the folders before its last part.

    >>> short_name("hf:/home/anna/models/minilm"), short_name("mnli:matched")
    ('hf:minilm', 'mnli:matched')
    >>> short_name("data/pairs.jsonl")
    'pairs.jsonl'
    """
    head, colon, rest = spec.partition(":")
    return f"{head}:{PurePath(rest).name}" if colon else PurePath(head).name
