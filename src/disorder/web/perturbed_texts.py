"""What did the model read? The perturbed texts of an example, rebuilt from the word positions that a
run stores.

The transformation is applied again with the run's seed; where that gives the stored positions, the
texts are those that the model was asked, to the letter. Else (a plug-in that is not installed,
another version) they are rendered from the positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from disorder.data import known_tasks
from disorder.errors import DisorderError, DoesNotApply
from disorder.registry import SplitterPart, parts
from disorder.runs import Run
from disorder.transformations import Transformation, parse, stored_texts
from disorder.transformations.rendering import render, row_texts
from disorder.transformations.words import split
from disorder.types import Example, PositionRows, Sentence, Task, Variants

MOST = 100_000  # variants of an example that are drawn again
Word = tuple[str, int]  # a word and the place it came from, counted from 1


@dataclass(frozen=True)
class Version:
    """One perturbed version of an example: its texts, and their words with where they came from."""

    variant: int
    texts: list[str | None]
    words: list[list[Word]]
    original: list[
        list[Word]
    ]  # the words they were chosen from (for a copied text, those of the other one)
    is_changed: list[bool]


def rebuilt(
    run: Run, spec: str, example: Example, rows: Sequence[Mapping[str, Any]]
) -> tuple[list[Version], bool]:
    """The versions behind stored rows, and whether they are surely what the model was asked."""
    try:
        transformation = parse(spec)
        if (
            any(":" in (step.tagger or "") for step in transformation.steps)
            or not 0 < int(run.settings["q"]) <= MOST
        ):
            raise DisorderError(
                "a run that others made may not say what is loaded here, or how much is drawn"
            )
        side = rows[0]["side"] if rows else "a"
        task = _task(run, side)
        if transformation.asks_others:
            return [_stored(transformation, task, example, row) for row in rows], True
        variants = transformation.apply(
            example, task=task, q=run.settings["q"], seed=run.seed, short=run.settings["short"]
        )
        if all(_agrees(variants, row) for row in rows):
            return [_version(variants, row) for row in rows], True
        return _from_positions(transformation, task, example, rows), False
    except (DisorderError, DoesNotApply, KeyError, TypeError, ValueError):
        return _from_positions(None, None, example, rows), False


def _task(run: Run, side: str) -> Task:
    """As much of the task as breaking needs: which text was perturbed shows in the rows."""
    language = known_tasks()[run.task].language if run.task in known_tasks() else "en"
    return Task(run.task, tuple(run.labels), "b" if side == "b" else "a", language=language)


def _agrees(variants: Variants, row: Mapping[str, Any]) -> bool:
    """Whether a stored row has the positions that were drawn again."""
    k = row["variant"]
    if k >= len(variants):
        return False
    for name, rows in zip("ab", variants.sides, strict=False):
        stored = row[f"positions_{name}"]
        drawn = _row(rows, k)
        if stored is not None and drawn != list(stored):
            return False
    return True


def _row(rows: PositionRows, k: int) -> list[int]:
    positions: list[int] = rows.positions[0 if rows.is_shared else k].tolist()
    return positions


def _version(variants: Variants, row: Mapping[str, Any]) -> Version:
    k, changed = row["variant"], [row[f"positions_{name}"] is not None for name in "ab"]
    texts, words = [], []
    for rows in variants.sides:
        one = replace(rows, positions=rows.positions[[0 if rows.is_shared else k]])
        texts.append(row_texts(one)[0])
        words.append(_words(rows.sentence, _row(rows, k)))
    originals = [_words(rows.sentence, range(len(rows.sentence))) for rows in variants.sides]
    return Version(k, [*texts], words, originals, changed[: len(texts)])


def _stored(
    transformation: Transformation, task: Task, example: Example, row: Mapping[str, Any]
) -> Version:
    """A version whose texts were kept; its words are led back to the original where the positions
    give the text.
    """
    cutter = transformation.splitter_for(task)
    wholes = [
        split(text, words=cutter if cutter in parts(SplitterPart) else "simple")
        for text in example.texts
        if text is not None
    ]
    texts = stored_texts(example, row)
    words: list[list[Word]] = []
    originals: list[list[Word]] = []
    for name, whole, text in zip("ab", wholes, texts, strict=False):
        source = wholes[0] if transformation.is_copy else whole
        positions = row[f"positions_{name}"]
        if positions is None and text == whole.text:
            positions, source = range(len(whole)), whole
        words.append(
            _words(source, positions)
            if _gives(source, positions, str(text))
            else _new_words(str(text))
        )
        originals.append(_words(source, range(len(source))))
    changed = [text != whole.text for text, whole in zip(texts, wholes, strict=False)]
    return Version(row["variant"], list(texts[: len(wholes)]), words, originals, changed)


def _gives(sentence: Sentence, positions: Sequence[int] | None, text: str) -> bool:
    """Whether these words of the sentence are those of the text."""
    if positions is None or not all(0 <= place < len(sentence) for place in positions):
        return False
    return "".join(sentence.words[place] for place in positions) == "".join(text.split())


def _new_words(text: str) -> list[Word]:
    """The words of a text that was written, each at its own place."""
    return [(word, place) for place, word in enumerate(split(text).words, start=1)]


def _from_positions(
    transformation: Transformation | None,
    task: Task | None,
    example: Example,
    rows: Sequence[Mapping[str, Any]],
) -> list[Version]:
    """Texts from the stored positions alone; None where they do not fit, or nobody knows how words
    were cut.
    """
    is_known = transformation is not None and task is not None
    splitter = (
        transformation.splitter_for(task)
        if transformation is not None and task is not None
        else "simple"
    )
    texts = [text for text in example.texts if text is not None]
    sentences = [split(text, words=splitter) for text in texts]
    return [_fitted(sentences, row, is_known=is_known) for row in rows]


def _fitted(sentences: Sequence[Sentence], row: Mapping[str, Any], *, is_known: bool) -> Version:
    texts: list[str | None] = []
    words: list[list[Word]] = []
    changed = [row[f"positions_{name}"] is not None for name in "ab"][: len(sentences)]
    for name, sentence in zip("ab", sentences, strict=False):
        stored = row[f"positions_{name}"]
        positions = list(range(len(sentence))) if stored is None else list(stored)
        fits = (is_known or stored is None) and all(
            0 <= place < len(sentence) for place in positions
        )
        texts.append(render(sentence, np.array([positions], dtype=np.int64))[0] if fits else None)
        words.append(_words(sentence, positions) if fits else [])
    originals = [_words(sentence, range(len(sentence))) for sentence in sentences]
    return Version(row["variant"], texts, words, originals, changed)


def _words(sentence: Sentence, positions: Sequence[int]) -> list[Word]:
    return [(sentence.words[place], place + 1) for place in positions]
