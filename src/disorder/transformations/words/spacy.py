"""Words as UnNatural Language Inference (Sinha et al., 2021) splits them: by spaCy's English
tokenizer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from disorder.errors import MissingPackage
from disorder.languages import without_surrogates
from disorder.registry import words
from disorder.transformations.words import sentence_of
from disorder.types import Sentence


@words(language="en", needs="spacy")
def spacy(text: str) -> Sentence:
    """Tokens of spaCy's blank English pipeline (no model needed); punctuation by its own
    `is_punct`.

    Extra white space is a token there and counts as a word: the paper's 6,655 examples depend on
    it.
    """
    tokens = list(_tokenizer()(without_surrogates(text)))
    sentence = sentence_of(text, [(token.idx, token.idx + len(token.text)) for token in tokens])
    is_punct = np.array([token.is_punct for token in tokens], dtype=bool)
    return Sentence(text, sentence.starts, sentence.ends, is_punct, sentence.is_spaced)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        from spacy.lang.en import English
    except ImportError as error:
        raise MissingPackage("words=spacy", "spacy", "nlp") from error
    return English().tokenizer
