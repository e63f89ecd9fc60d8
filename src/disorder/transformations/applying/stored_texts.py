"""Which texts stand behind a stored row? For transformations that asked a model or other data,
which keep their texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disorder.types import Example, Texts


def stored_texts(example: Example, row: Mapping[str, Any]) -> Texts:
    """The texts of one stored variant: as written there, whole where nothing was."""
    first, second = row["written_a"], row["written_b"]
    return example.text_a if first is None else first, example.text_b if second is None else second
