"""The perturbed texts of an example, rebuilt from the word positions that a run stores.

The transformation is applied again with the run's seed; where that gives the stored positions, the
texts are exactly those that the model saw. Otherwise (a plugin that is not installed, another
version) they are rendered from the positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from disorder.errors import DisorderError, DoesNotApply
from disorder.registry import SplitterPart, parts
from disorder.results.run import Run
from disorder.transformations import Transformation, parse, stored_texts
from disorder.transformations.rendering import render, row_texts
from disorder.transformations.words import DEFAULT, split
from disorder.types import OF_PROMPTS, Example, PositionRows, Sentence, Task, Variants

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
