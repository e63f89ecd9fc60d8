"""Word classes and heads of noun phrases by a spaCy pipeline, the tool of Out of Order (Pham et al., 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from disorder.errors import MissingPackage, MissingResource
from disorder.perturb.tags._classes import Tags
from disorder.registry import tagger
from disorder.types import Sentence

USUAL = "en_core_web_sm"
INSTALL = f"install one with python -m spacy download {USUAL}"
UNUSED = ("ner", "lemmatizer", "textcat", "entity_linker")


@tagger(language="any", needs="spacy and a model")
def spacy(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """Any spaCy pipeline, by name or folder (spacy:NAME); without a name, the English one that is installed."""
    pipeline, make = _pipeline(model)
    documents = (make(pipeline.vocab, words=_safe(sentence.words), spaces=_spaces(sentence)) for sentence in sentences)
    return [_tags(document) for document in pipeline.pipe(documents, batch_size=256)]


def _tags(document: Any) -> Tags:
    is_head = np.zeros(len(document), dtype=bool)
    if document.has_annotation("DEP"):
        is_head[[chunk.root.i for chunk in document.noun_chunks]] = True
    return Tags.of([token.pos_ if token.pos_ not in ("", "SPACE") else "X" for token in document], is_head)


def _safe(words: Sequence[str]) -> list[str]:
    """Words that can be stored as UTF-8."""
    return [word.encode("utf-8", "replace").decode("utf-8") or "?" for word in words]


def _spaces(sentence: Sentence) -> list[bool]:
    """Whether white space follows each word."""
    if not len(sentence):
        return []
    return [*(sentence.starts[1:] > sentence.ends[:-1]).tolist(), False]


@lru_cache(maxsize=4)
def _pipeline(model: str) -> tuple[Any, Any]:
    try:
        import spacy
        from spacy.tokens import Doc
    except ImportError as error:
        raise MissingPackage("tagger=spacy", "spacy", "nlp") from error
    name = model or _installed(spacy)
    try:
        pipeline = spacy.load(name, exclude=list(UNUSED))
    except (OSError, ValueError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise MissingResource(f"tagger=spacy:{name} cannot be loaded ({first}); {INSTALL}") from None
    return pipeline, Doc


def _installed(spacy: Any) -> str:
    """The usual English pipeline, or else the first English one that is installed."""
    names = sorted(name for name in spacy.util.get_installed_models() if name.startswith("en"))
    if not names:
        raise MissingResource(f"tagger=spacy found no English pipeline; {INSTALL}, or name one: tagger=spacy:FOLDER")
    return USUAL if USUAL in names else str(names[0])
