"""Taggers: the universal class of each word of a split text, one file per tagger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

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
