"""What does the grammar make? Examples, and groups of examples that belong together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from .draw import Draw


class Example(NamedTuple):
    """A text or a pair of texts, its label, and whether words or their order decide it."""

    text_a: str
    text_b: str | None
    label: str
    needs: str
    phenomenon: str


Group: TypeAlias = list[Example]
Maker: TypeAlias = Callable[[Draw], Group]
