"""Which word class has each word? One file a tagger; each gives universal classes for words that
are cut already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from disorder.memo import Memo
from disorder.registry import TaggerPart, part
from disorder.specs import split_spec
from disorder.transformations.tags.word_classes import UNIVERSAL, Tags, classes_named, is_of
from disorder.types import Sentence

__all__ = ["UNIVERSAL", "Tags", "classes_named", "is_of", "tagged"]

_kept: Memo[tuple[str, str, bytes], Tags] = Memo()


def tagged(sentences: Sequence[Sentence], *, tagger: str) -> list[Sentence]:
    """The sentences with their word classes, by a tagger such as `nltk` or `spacy:en_core_web_sm`;
    none is tagged twice.
    """
    name, model = split_spec(tagger)
    found = _kept(
        [(tagger, sentence.text, sentence.starts.tobytes()) for sentence in sentences],
        lambda missing: part(TaggerPart, name).function(
            [sentences[i] for i in missing], model=model
        ),
    )
    return [
        replace(s, tags=tags.tags, is_head=tags.is_head)
        for s, tags in zip(sentences, found, strict=True)
    ]
