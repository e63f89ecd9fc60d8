"""Words as Word Salad (Gupta et al., 2021) and NLI Data Sanity Check (Talman et al., 2021) split
them: by NLTK's word tokenizer, which needs no data.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from disorder.errors import MissingPackage
from disorder.registry import words
from disorder.transformations.words import sentence_of
from disorder.types import Sentence


@words(language="en", needs="nltk")
def nltk(text: str) -> Sentence:
    """Tokens of NLTK's Treebank-style word tokenizer, taken over the original text (no sentence
    splitter, no download).
    """
    return sentence_of(
        text, [span for span in word_tokenizer().span_tokenize(text) if span[1] > span[0]]
    )


@lru_cache(maxsize=1)
def word_tokenizer() -> Any:
    """NLTK's word tokenizer."""
    try:
        from nltk.tokenize.destructive import NLTKWordTokenizer
    except ImportError as error:
        raise MissingPackage("words=nltk", "nltk", "nlp") from error
    return NLTKWordTokenizer()
