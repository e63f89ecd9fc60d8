"""Taggers: the universal class of each word of a split text, one file per tagger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from disorder.registry import TaggerPart, part
from disorder.specs import split_spec
from disorder.store.store import Memo
from disorder.transformations.tags.choice import (
    TaggerChoice,
    named_or_usual,
    package_for,
    tagger_for,
)
from disorder.transformations.tags.english import TRIED, installed_tagger
from disorder.transformations.tags.nltk import DOWNLOAD
from disorder.transformations.tags.spacy import installed_pipeline
from disorder.transformations.tags.word_classes import UNIVERSAL, Tags, classes_named, is_of
from disorder.transformations.words import split
from disorder.types import Sentence

__all__ = [
    "UNIVERSAL",
    "TaggerChoice",
    "Tags",
    "classes_named",
    "is_of",
    "named_or_usual",
    "package_for",
    "resolved",
    "tagged",
    "tagged_units",
    "tagger_for",
    "tagger_notes",
]

_kept: Memo[tuple[str, str, bytes], Tags] = Memo()


def tagged(sentences: Sequence[Sentence], *, tagger: str) -> list[Sentence]:
    """The sentences with their word classes, by a tagger such as `nltk` or `spacy:en_core_web_sm`;
    none is tagged twice.
    """
    if not sentences:
        return []
    chosen = resolved(tagger)
    name, model = split_spec(chosen)
    found = _kept(
        [(chosen, sentence.text, sentence.starts.tobytes()) for sentence in sentences],
        lambda missing: part(TaggerPart, name).function(
            [sentences[i] for i in missing], model=model
        ),
    )
    return [
        replace(s, tags=tags.tags, is_head=tags.is_head)
        for s, tags in zip(sentences, found, strict=True)
    ]


def tagged_units(sentences: Sequence[Sentence], *, tagger: str) -> list[Sentence]:
    """The sentences with word classes; a unit with marks glued to it has that of its first word."""
    words = [split(each.text) if each.keeps_gaps else each for each in sentences]
    found = tagged(words, tagger=tagger)
    return [
        _with_tags_of(sentence, known) if sentence.keeps_gaps else known
        for sentence, known in zip(sentences, found, strict=True)
    ]


def _with_tags_of(sentence: Sentence, known: Sentence) -> Sentence:
    """The units of a sentence with the classes of the words in them."""
    assert known.tags is not None
    if not len(sentence):
        return replace(sentence, tags=known.tags[:0], is_head=None)
    unit = np.searchsorted(sentence.starts, known.starts, side="right") - 1
    order = np.lexsort((known.starts, known.is_punctuation, unit))
    first = order[np.unique(unit[order], return_index=True)[1]]
    is_head = None
    if known.is_head is not None:
        is_head = np.bincount(unit, known.is_head, minlength=len(sentence)) > 0
    return replace(sentence, tags=known.tags[first], is_head=is_head)


def resolved(tagger: str) -> str:
    """The tagger that a name stands for on this machine: `english` is `nltk` or `spacy:PIPELINE`,
    `at_hand` the same with spaCy first, `spacy` the English pipeline that is installed.
    """
    if tagger in TRIED:
        return installed_tagger(tagger)
    if tagger == "spacy":
        return f"spacy:{installed_pipeline()}"
    return tagger


def tagger_notes(taggers: Iterable[str]) -> list[str]:
    """What a run says about its taggers, one line each."""
    notes: dict[str, str] = {}
    for tagger in sorted(taggers):  # `english` comes before the tagger it stands for
        chosen = resolved(tagger)
        name, model = split_spec(chosen)
        note = f"word classes by {name} {model}".rstrip()
        if tagger == "english" and name != "nltk":
            note += f"; the paper used NLTK, whose data is not here: {DOWNLOAD}"
        notes.setdefault(chosen, note)
    return list(notes.values())
