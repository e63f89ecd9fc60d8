"""Which texts stand behind stored positions? For transformations that asked a model, which cannot simply be applied again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from disorder.perturb._transformation import PIECES, Transformation
from disorder.perturb.words import split
from disorder.types import Example, Task, Texts


def stored_texts(
    transformation: Transformation, example: Example, task: Task, row: Mapping[str, Any]
) -> Texts | None:
    """The texts of one stored variant; None where the words were a model's own tokens, which only it can cut."""
    words = transformation.splitter_for(task)
    if words == PIECES:
        return None
    texts: list[str | None] = []
    for name, whole in zip("ab", example.texts, strict=True):
        positions, written = row[f"positions_{name}"], row[f"written_{name}"]
        if positions is None:
            texts.append(whole if written is None else written)
            continue
        source = example.text_a if transformation.is_copy else whole
        rendered = split(str(source), words=words).render(np.array([positions], dtype=np.int64))
        texts.append(rendered[0])
    return str(texts[0]), texts[1]
