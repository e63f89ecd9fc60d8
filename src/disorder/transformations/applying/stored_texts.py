"""Stored texts: what transformations that use a model or other data keep in a run's samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disorder.types import Example, Texts


def stored_texts(example: Example, row: Mapping[str, Any]) -> Texts:
    """The texts of one stored variant; the original where none was kept."""
    written_a, written_b = row["written_a"], row["written_b"]
    text_a = example.text_a if written_a is None else written_a
    text_b = example.text_b if written_b is None else written_b
    return text_a, text_b
