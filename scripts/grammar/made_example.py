"""What the grammar makes: examples, and groups of examples that belong together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from .draw import Draw


class MadeExample(NamedTuple):
    """A text or a pair of texts, its label, and whether words or their order decide it."""

    text_a: str
    text_b: str | None
    label: str
    needs: str
    phenomenon: str


MadeGroup: TypeAlias = list[MadeExample]
Maker: TypeAlias = Callable[[Draw], MadeGroup]
