"""Word classes and heads of noun phrases by a spaCy pipeline, the tool of Out of Order (Pham et
al., 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from disorder.errors import MissingData, MissingPackage, install_command
from disorder.languages import without_surrogates
from disorder.registry import tagger
from disorder.transformations.tags.word_classes import Tags, tokens_at
from disorder.types import Ints, Sentence

USUAL = "en_core_web_sm"
UNUSED = ("ner", "lemmatizer", "textcat", "entity_linker")


@tagger(language="any", needs="spacy and a model")
def spacy(sentences: Sequence[Sentence], *, model: str = "") -> list[Tags]:
    """Any spaCy pipeline, by name or folder (spacy:NAME); without a name, the English one that is
    installed.
    """
    pipeline = _pipeline(model)
    documents = (pipeline.tokenizer(without_surrogates(sentence.text)) for sentence in sentences)
    tagged = pipeline.pipe(documents, batch_size=256)
    return [_tags(sentence, document) for sentence, document in zip(sentences, tagged, strict=True)]


def _tags(sentence: Sentence, document: Any) -> Tags:
    names = [token.pos_ if token.pos_ not in ("", "SPACE") else "X" for token in document]
    is_head = np.zeros(len(document), dtype=bool)
    if document.has_annotation("DEP"):
        is_head[[chunk.root.i for chunk in document.noun_chunks]] = True
    tokens = _tokens(sentence, document)
    return Tags(np.array(names, dtype="U5")[tokens], is_head[tokens])


def _tokens(sentence: Sentence, document: Any) -> Ints:
    """The token for each word; of several in a word (don't), the one that governs the others."""
    starts = np.array([token.idx for token in document], dtype=np.int64)
    first, last = tokens_at(starts, sentence.starts), tokens_at(starts, sentence.ends - 1)
    tokens = first.copy()
    if document.has_annotation("DEP"):
        for i in np.flatnonzero(last > first).tolist():
            tokens[i] = document[int(first[i]) : int(last[i]) + 1].root.i
    return tokens


@lru_cache(maxsize=4)
def _pipeline(model: str) -> Any:
    name = model or installed_pipeline()
    try:
        return _spacy().load(name, exclude=list(UNUSED))
    except (OSError, ValueError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise MissingData(
            f"tagger=spacy:{name} cannot be loaded ({first}); install one: {how_to_install()}"
        ) from None


def installed_pipelines(language: str) -> list[str]:
    """The pipelines for a language that are installed, by name."""
    installed = _spacy().util.get_installed_models()
    return sorted(str(name) for name in installed if name.startswith(f"{language}_"))


def language_of(model: str) -> str:
    """The language that a pipeline is made for; `xx` where it is made for many."""
    code = str(_pipeline(model).lang)
    return "no" if code == "nb" else code


def installed_pipeline() -> str:
    """The usual English pipeline, or else the first English one that is installed."""
    names = installed_pipelines("en")
    if not names:
        raise MissingData(
            "tagger=spacy found no English pipeline; name one (tagger=spacy:FOLDER) or install "
            f"one: {how_to_install()}"
        )
    return USUAL if USUAL in names else names[0]


def how_to_install() -> str:
    """What to type for an English pipeline, which no extra brings: it comes from its publisher."""
    download = f"python -m spacy download {USUAL}"
    is_there = find_spec("spacy") is not None
    return download if is_there else f"{install_command('nlp')}, then {download}"


def _spacy() -> Any:
    try:
        import spacy
    except ImportError as error:
        raise MissingPackage("tagger=spacy", "spacy", "nlp") from error
    return spacy
