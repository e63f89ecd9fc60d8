"""The examples of a run, one row each, and the perturbed texts behind its samples, rebuilt from the
word positions that it stores.

The transformation is applied again with the run's seed; where that gives the stored positions, the
texts are exactly those that the model saw. Otherwise (a plugin that is not installed, another
version) they are rendered from the positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from disorder.errors import DisorderError, DoesNotApply
from disorder.registry import SplitterPart, parts
from disorder.results.run import Run
from disorder.store.sample_parts import read_examples
from disorder.transformations import Transformation, parse, stored_texts
from disorder.transformations.rendering import render, row_texts
from disorder.transformations.words import DEFAULT, split
from disorder.types import (
    CONTROL_OF,
    OF_PROMPTS,
    ORIGINAL,
    Example,
    PositionRows,
    Sentence,
    Task,
    Variants,
)
from disorder.types.predictions import FAILED

MAX_VARIANTS = 100_000  # variants of an example that are drawn again
PlacedWord = tuple[str, int]  # a word and the place it came from, counted from 1
StoredRow = Mapping[str, Any]  # one row of the samples


@dataclass(frozen=True)
class RebuiltVersion:
    """One perturbed version of an example: its texts, and their words with where they came from.

    `original` holds the words they were chosen from: for a copied text, those of the other text.
    """

    variant: int
    texts: list[str | None]
    words: list[list[PlacedWord]]
    original: list[list[PlacedWord]]
    is_changed: list[bool]


def rebuild(
    run: Run, spec: str, example: Example, rows: Sequence[StoredRow]
) -> tuple[list[RebuiltVersion], bool]:
    """The versions behind stored rows, and whether they are certainly what the model saw."""
    try:
        transformation = parse(spec, usual_words=run.usual_words(spec))
        _check_safe(transformation, run)
        example = as_perturbed(example, rows)
        task = _task(run, example, rows)
        is_prompt = run.settings.get("break_") in OF_PROMPTS
        if transformation.needs_context or is_prompt:
            return [_from_stored(transformation, task, example, row) for row in rows], True
        variants = transformation.apply(
            example, task=task, q=run.settings["q"], seed=run.seed, short=run.settings["short"]
        )
        if all(_has_stored_positions(variants, row) for row in rows):
            return [_from_variants(variants, row) for row in rows], True
        splitter = transformation.splitter_for(task)
        return _from_positions(example, rows, splitter=splitter), False
    except (DisorderError, DoesNotApply, KeyError, TypeError, ValueError):
        return _from_positions(example, rows, splitter=None), False


def _check_safe(transformation: Transformation, run: Run) -> None:
    """Raise where a run from elsewhere would decide what is loaded here, or draw without limit."""
    names_a_tagger = any(":" in (step.tagger or "") for step in transformation.steps)
    if names_a_tagger or not 0 < int(run.settings["q"]) <= MAX_VARIANTS:
        raise DisorderError("the transformation of this run is not applied again")


def as_perturbed(example: Example, rows: Sequence[StoredRow]) -> Example:
    """The example with the segments that the rows are about as its texts."""
    names = tuple(str(rows[0].get("segment") or "").split("+")) if rows else ()
    is_other = names and not set(names) <= set(example.on) and set(names) <= set(example.segments)
    return replace(example, on=names) if is_other else example


def _task(run: Run, example: Example, rows: Sequence[StoredRow]) -> Task:
    """The task of the run, with the perturbed text as the rows show it."""
    task = run.full_task
    segment = (rows[0].get("segment") or rows[0].get("side")) if rows else None  # as of old
    return replace(task, breaks="b" if segment in ("text_b", "b") else "a")


def _has_stored_positions(variants: Variants, row: StoredRow) -> bool:
    """Whether the variant that was drawn again has the stored positions."""
    number = row["variant"]
    if number >= len(variants):
        return False
    for name, rows in zip("ab", variants.sides, strict=False):
        stored = row[f"positions_{name}"]
        if stored is not None and _positions(rows, number) != list(stored):
            return False
    return True


def _positions(rows: PositionRows, number: int) -> list[int]:
    positions: list[int] = rows.positions[0 if rows.is_shared else number].tolist()
    return positions


def _from_variants(variants: Variants, row: StoredRow) -> RebuiltVersion:
    number = row["variant"]
    texts: list[str | None] = []
    words = []
    for rows in variants.sides:
        one = replace(rows, positions=rows.positions[[0 if rows.is_shared else number]])
        texts.append(row_texts(one)[0])
        words.append(_words(rows.sentence, _positions(rows, number)))
    originals = [_words(rows.sentence, range(len(rows.sentence))) for rows in variants.sides]
    is_changed = [row[f"positions_{name}"] is not None for name in "ab"][: len(texts)]
    return RebuiltVersion(number, texts, words, originals, is_changed)


def _from_stored(
    transformation: Transformation, task: Task, example: Example, row: StoredRow
) -> RebuiltVersion:
    """A version whose texts were stored; its words are traced to the original where the positions
    give the text.
    """
    splitter = transformation.splitter_for(task)
    if splitter not in parts(SplitterPart):
        splitter = DEFAULT
    sentences = [split(text, words=splitter) for text in example.texts if text is not None]
    texts = stored_texts(example, row)[: len(sentences)]
    words: list[list[PlacedWord]] = []
    originals: list[list[PlacedWord]] = []
    for name, sentence, text in zip("ab", sentences, texts, strict=False):
        source = sentences[0] if transformation.is_copy else sentence
        positions = row[f"positions_{name}"]
        if positions is None and text == sentence.text:
            source = sentence
            positions = range(len(sentence))
        if _gives_text(source, positions, str(text)):
            words.append(_words(source, positions))
        else:
            words.append(_new_words(str(text)))
        originals.append(_words(source, range(len(source))))
    is_changed = [text != sentence.text for text, sentence in zip(texts, sentences, strict=True)]
    return RebuiltVersion(row["variant"], list(texts), words, originals, is_changed)


def _gives_text(sentence: Sentence, positions: Sequence[int] | None, text: str) -> bool:
    """Whether these words of the sentence are those of the text."""
    if positions is None or not all(0 <= place < len(sentence) for place in positions):
        return False
    return "".join(sentence.words[place] for place in positions) == "".join(text.split())


def _new_words(text: str) -> list[PlacedWord]:
    """The words of a text that was written, each at its own place."""
    return [(word, place) for place, word in enumerate(split(text).words, start=1)]


def _from_positions(
    example: Example, rows: Sequence[StoredRow], *, splitter: str | None
) -> list[RebuiltVersion]:
    """Texts from the stored positions alone; a perturbed text is None where the positions do not
    fit, or where it is not known how words were split.
    """
    texts = [text for text in example.texts if text is not None]
    sentences = [split(text, words=splitter or DEFAULT) for text in texts]
    return [_rendered(sentences, row, is_known=splitter is not None) for row in rows]


def _rendered(sentences: Sequence[Sentence], row: StoredRow, *, is_known: bool) -> RebuiltVersion:
    texts: list[str | None] = []
    words: list[list[PlacedWord]] = []
    is_changed: list[bool] = []
    for name, sentence in zip("ab", sentences, strict=False):
        stored = row[f"positions_{name}"]
        is_changed.append(stored is not None)
        positions = list(range(len(sentence))) if stored is None else list(stored)
        is_inside = all(0 <= place < len(sentence) for place in positions)
        if is_inside and (is_known or stored is None):
            texts.append(render(sentence, np.array([positions], dtype=np.int64))[0])
            words.append(_words(sentence, positions))
        else:
            texts.append(None)
            words.append([])
    originals = [_words(sentence, range(len(sentence))) for sentence in sentences]
    return RebuiltVersion(row["variant"], texts, words, originals, is_changed)


def _words(sentence: Sentence, positions: Sequence[int]) -> list[PlacedWord]:
    return [(sentence.words[place], place + 1) for place in positions]


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
    answered = {name: [r for r in rows if not _is_failed(r)] for name, rows in by_spec.items()}
    original = next(iter(answered.get(ORIGINAL, ())), None)
    row["prediction"] = None if original is None else _prediction(run, original)
    row["probability"] = None if original is None else _probability(run, original, example.label)
    row["is_right"] = None if original is None or not run.labels else _is_right(original, example)
    for name in (each for each in run.transformations if not each.startswith(CONTROL_OF)):
        shares = [_is_right(each, example) for each in answered.get(name, ()) if run.labels]
        row[f"right under {name}"] = float(np.mean(shares)) if shares else None
    variants = answered.get(spec, [])
    row["family"] = next((each["family"] for each in by_spec.get(ORIGINAL, ())), None)
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


def _is_failed(row: Row) -> bool:
    return str(row["outcome"]).startswith(FAILED)


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
