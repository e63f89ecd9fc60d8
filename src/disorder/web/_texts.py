"""What did the model read? The broken texts of an example, rebuilt from the word positions that a run stores.

The transformation is applied again with the run's seed; where that gives the stored positions, the texts are those that the
model was asked, to the letter. Else (a plug-in that is not installed, another version) they are rendered from the positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from disorder.data.tasks import KNOWN
from disorder.errors import DisorderError, DoesNotApply
from disorder.perturb import Transformation, parse, stored_texts
from disorder.perturb.words import split
from disorder.report import Run
from disorder.types import Example, Rows, Sentence, Task, Variants

Word = tuple[str, int]  # a word and the place it came from, counted from 1


@dataclass(frozen=True)
class Version:
    """One broken version of an example: its texts, and their words with where they came from."""

    variant: int
    texts: list[str | None]
    words: list[list[Word]]
    original: list[list[Word]]  # the words they were chosen from (for a copied text, those of the other one)
    is_changed: list[bool]


def rebuilt(run: Run, spec: str, example: Example, rows: Sequence[Mapping[str, Any]]) -> tuple[list[Version], bool]:
    """The versions behind stored rows, and whether they are surely what the model was asked."""
    try:
        transformation = parse(spec)
        side = rows[0]["side"] if rows else "a"
        task = _task(run, side)
        if transformation.asks_others:
            return [_stored(transformation, task, example, row) for row in rows], "pieces" not in transformation.needs
        variants = transformation.apply(
            example, task=task, q=run.settings["q"], seed=run.seed, short=run.settings["short"]
        )
        if all(_agrees(variants, row) for row in rows):
            return [_version(variants, row) for row in rows], True
        return _from_positions(transformation, task, example, rows), False
    except (DisorderError, DoesNotApply, KeyError):
        return _from_positions(None, None, example, rows), False


def _task(run: Run, side: str) -> Task:
    """As much of the task as breaking needs: which text was broken shows in the rows."""
    language = KNOWN[run.task].language if run.task in KNOWN else "en"
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


def _row(rows: Rows, k: int) -> list[int]:
    positions: list[int] = rows.positions[0 if rows.is_shared else k].tolist()
    return positions


def _version(variants: Variants, row: Mapping[str, Any]) -> Version:
    k, changed = row["variant"], [row[f"positions_{name}"] is not None for name in "ab"]
    texts, words = [], []
    for rows in variants.sides:
        one = replace(rows, positions=rows.positions[[0 if rows.is_shared else k]])
        texts.append(one.texts()[0])
        words.append(_words(rows.sentence, _row(rows, k)))
    originals = [_words(rows.sentence, range(len(rows.sentence))) for rows in variants.sides]
    return Version(k, [*texts], words, originals, changed[: len(texts)])


def _stored(transformation: Transformation, task: Task, example: Example, row: Mapping[str, Any]) -> Version:
    """A version as it was stored; words that were written have come from nowhere."""
    texts = stored_texts(transformation, example, task, row)
    if texts is None:
        return _from_positions(None, None, example, [row])[0]
    wholes = [split(text) for text in example.texts if text is not None]
    words: list[list[Word]] = []
    for name, whole, text in zip("ab", wholes, texts, strict=False):
        positions = row[f"positions_{name}"]
        source = wholes[0] if transformation.is_copy else whole
        is_fit = positions is not None and max(positions, default=-1) < len(source)
        words.append(_words(source, positions) if is_fit else [(word, i) for i, word in enumerate(split(str(text)).words, 1)])
    originals = [_words(whole, range(len(whole))) for whole in wholes]
    changed = [row[f"positions_{name}"] is not None or row[f"written_{name}"] is not None for name in "ab"]
    return Version(row["variant"], list(texts[: len(wholes)]), words, originals, changed[: len(wholes)])


def _from_positions(
    transformation: Transformation | None, task: Task | None, example: Example, rows: Sequence[Mapping[str, Any]]
) -> list[Version]:
    """Texts from the stored positions alone; a text whose positions do not fit is None."""
    splitter = "simple" if transformation is None or task is None else transformation.splitter_for(task)
    texts = [text for text in example.texts if text is not None]
    sentences = [split(text, words=splitter) for text in texts]
    return [_fitted(sentences, row) for row in rows]


def _fitted(sentences: Sequence[Sentence], row: Mapping[str, Any]) -> Version:
    texts: list[str | None] = []
    words: list[list[Word]] = []
    changed = [row[f"positions_{name}"] is not None for name in "ab"][: len(sentences)]
    for name, sentence in zip("ab", sentences, strict=False):
        stored = row[f"positions_{name}"]
        positions = list(range(len(sentence))) if stored is None else list(stored)
        fits = all(0 <= place < len(sentence) for place in positions)
        texts.append(sentence.render(np.array([positions], dtype=np.int64))[0] if fits else None)
        words.append(_words(sentence, positions) if fits else [])
    originals = [_words(sentence, range(len(sentence))) for sentence in sentences]
    return Version(row["variant"], texts, words, originals, changed)


def _words(sentence: Sentence, positions: Sequence[int]) -> list[Word]:
    return [(sentence.words[place], place + 1) for place in positions]
