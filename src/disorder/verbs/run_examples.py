"""The examples of a run, one row each, and the texts behind its samples: to look at what fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from disorder.errors import DisorderError
from disorder.results.run import Run
from disorder.store.sample_parts import read_examples
from disorder.types import CONTROL_OF, ORIGINAL, Example
from disorder.verbs.rebuilt_texts import rebuild

Row = dict[str, Any]
NOTICES = ("reads_order", "reads_or_mixed", "surface")  # kinds that a changed prediction shows


def with_texts(run: Run, samples: pa.Table) -> pa.Table:
    """Samples with the texts that the model saw, and the gold label of their example."""
    examples = _examples_of(run)
    rows = samples.to_pylist()
    texts: list[tuple[str | None, str | None]] = [(None, None)] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: _about(rows[i]))
    for (spec, name), group in groupby(order, key=lambda i: _about(rows[i])):
        numbers = list(group)
        found = _texts(run, spec, examples[name], [rows[i] for i in numbers])
        for i, each in zip(numbers, found, strict=True):
            texts[i] = each
    added = {
        "text_a": [text for text, _ in texts],
        "text_b": [text for _, text in texts],
        "gold": [examples[row["example"]].label for row in rows],
    }
    for name, values in added.items():
        samples = samples.append_column(name, pa.array(values, pa.string()))
    return samples


def example_table(run: Run) -> pa.Table:
    """One row per example, those first that show the conclusion best: its texts and gold answer,
    what was predicted, which share of its variants are right under each transformation, and one
    variant of the transformation that the conclusion is about.
    """
    examples = _examples_of(run)
    samples = sorted(run.samples().to_pylist(), key=lambda row: (row["example"], row["variant"]))
    spec = "" if run.conclusion is None else run.conclusion.transformation
    found = []
    for name, group in groupby(samples, key=lambda row: row["example"]):
        by_spec: dict[str, list[Row]] = {}
        for row in group:
            if row["repeat"] == 0:
                by_spec.setdefault(row["transformation"], []).append(row)
        found.append(_row(run, examples[name], by_spec, spec))
    found.sort(key=lambda row: _rank(run, row, spec))
    return pa.Table.from_pylist(found)


def _examples_of(run: Run) -> dict[str, Example]:
    if run.folder is None:
        raise DisorderError("this run was not read from a folder, so that it has no examples")
    return {example.id: example for example in read_examples(run.folder)}


def _about(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["transformation"], row["example"]


def _texts(
    run: Run, spec: str, example: Example, rows: list[Row]
) -> Iterator[tuple[str | None, str | None]]:
    """The texts of some variants of an example; None where they cannot be drawn again."""
    if spec == ORIGINAL or spec not in run.variants:
        return iter([example.texts] * len(rows))
    versions, _ = rebuild(run, spec, example, rows)
    return ((each.texts[0], each.texts[1] if len(each.texts) > 1 else None) for each in versions)


def _row(run: Run, example: Example, by_spec: Mapping[str, list[Row]], spec: str) -> Row:
    others = {k: v for k, v in example.segments.items() if k not in ("text_a", "text_b")}
    text_a, text_b = example.texts
    row: Row = {"example": example.id, "family": None, "text_a": text_a, "text_b": text_b}
    row |= {name: each if isinstance(each, str) else list(each) for name, each in others.items()}
    row |= {"gold": example.label, **example.groups}
    original = next(iter(by_spec.get(ORIGINAL, ())), None)
    row["prediction"] = None if original is None else _prediction(run, original)
    row["probability"] = None if original is None else _probability(run, original, example.label)
    row["is_right"] = None if original is None or not run.labels else _is_right(original, example)
    for name in (each for each in run.transformations if not each.startswith(CONTROL_OF)):
        shares = [_is_right(each, example) for each in by_spec.get(name, ()) if run.labels]
        row[f"right under {name}"] = float(np.mean(shares)) if shares else None
    variants = by_spec.get(spec, [])
    row["family"] = original["family"] if original else None
    told = _told_first(variants, example) if run.labels else variants
    for each in told[:1]:
        texts = next(_texts(run, spec, example, [each]))
        row["variant_text_a"], row["variant_text_b"] = texts
        row["variant_prediction"] = _prediction(run, each)
    return row


def _told_first(variants: list[Row], example: Example) -> list[Row]:
    """The variants, those first that are right, or wrong, as most of them are."""
    share = np.mean([_is_right(each, example) for each in variants]) if variants else 0.0
    return sorted(variants, key=lambda each: _is_right(each, example) != (share >= 0.5))


def _prediction(run: Run, row: Row) -> Any:
    if run.labels:
        return row["label"]
    values = row["probabilities"]
    return values[0] if values else None


def _probability(run: Run, row: Row, gold: str) -> float | None:
    values = row["probabilities"]
    if gold not in run.labels or not values:
        return None
    return float(values[run.labels.index(gold)])


def _is_right(row: Row, example: Example) -> bool:
    return bool(row["label"] == example.label)


def _rank(run: Run, row: Row, spec: str) -> tuple[Any, ...]:
    """Right originals first: those whose variants stay right, or change, as the conclusion says;
    among these the surest.
    """
    share = row.get(f"right under {spec}")
    notices = run.conclusion is not None and run.conclusion.kind in NOTICES
    shown = 0.0 if share is None else 1 - share if notices else share
    is_wrong = bool(run.labels) and not row["is_right"]
    return is_wrong, share is None, -shown, -(row["probability"] or 0.0), row["example"]
