"""Chinese words by a segmenter, where `simple` would split at every character."""

from __future__ import annotations

from disorder.errors import MissingPackage
from disorder.languages import without_surrogates
from disorder.registry import words
from disorder.transformations.words import sentence_of, spans_of
from disorder.types import Sentence


@words(language="zh", needs="rjieba")
def jieba(text: str) -> Sentence:
    """Words of the jieba segmenter (through rjieba); joined again without spaces."""
    try:
        import rjieba
    except ImportError as error:
        raise MissingPackage("words=jieba", "rjieba", "nlp") from error
    valid = without_surrogates(text)
    return sentence_of(text, spans_of(valid, [word for word in rjieba.cut(valid) if word.strip()]))
