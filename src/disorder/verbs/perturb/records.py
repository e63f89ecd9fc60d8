"""Records of perturbed texts: one for each variant, with its positions and how disordered it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isnan
from typing import Any

from disorder.models.inputs.variants import are_texts, variant_segments
from disorder.transformations.positions.disorder import variant_disorder
from disorder.transformations.rendering import moved_span, variant_texts
from disorder.types import TEXT_NAMES, Example, Variants


def records_of(example: Example, spec: str, variants: Variants) -> Iterator[dict[str, Any]]:
    """A record for each variant of an example."""
    found = zip(_written(example, variants), variants.positions(), strict=True)
    measured = variant_disorder(variants)
    for k, (segments, (positions_a, positions_b)) in enumerate(found):
        yield {
            "id": example.id,
            "transformation": spec,
            "variant": k,
            **segments,
            "label": example.label,
            "positions_a": positions_a,
            "positions_b": positions_b,
            **{name: _rounded(values[k]) for name, values in measured.items()},
            **_moved_answers(example, variants, k),
        }


def _written(example: Example, variants: Variants) -> Iterator[dict[str, Any]]:
    """What each variant says: its texts, or all of its segments by their names."""
    if are_texts(example.segments):
        for texts in variant_texts(variants):
            yield dict(zip(TEXT_NAMES, texts, strict=True))
        return
    for segments in variant_segments(variants):
        yield {k: each if isinstance(each, str) else list(each) for k, each in segments.items()}


def _moved_answers(example: Example, variants: Variants, k: int) -> dict[str, Any]:
    """The gold answers of a question where they stand now; None where one was torn apart.

    Where the data does not say at which place of the passage an answer stands, it is the first
    that was not torn apart.
    """
    if example.answers is None or variants.b is None:
        return {}
    rows = variants.b
    answers = []
    for text, start in example.answers:
        starts = [start] if start >= 0 else _places(text, example.text("b"))
        moved = (moved_span(rows, k, place, place + len(text)) for place in starts)
        now = next((place for place in moved if place is not None), None)
        answers.append({"text": text, "answer_start": now})
    return {"answers": answers}


def _places(answer: str, passage: str) -> list[int]:
    """Every place of a passage at which an answer stands."""
    return [found.start() for found in re.finditer(re.escape(answer), passage)]


def _rounded(value: float) -> float | None:
    """A measure as it is written; None where there is none."""
    return None if isnan(value) else round(float(value), 6)
