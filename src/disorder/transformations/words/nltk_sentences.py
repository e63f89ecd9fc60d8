"""Words as NLTK's `word_tokenize` finds them: sentences first, by Punkt, then the words of each.

NLI Data Sanity Check (Talman et al., 2021) split its texts so.
"""

from __future__ import annotations

from disorder.errors import MissingData, MissingPackage
from disorder.registry import words
from disorder.transformations.words import sentence_of
from disorder.transformations.words.nltk import word_tokenizer
from disorder.transformations.words.punkt import sentence_splitter
from disorder.types import Sentence

ASKED_BY = "words=nltk_sentences"


@words(language="en", needs="nltk and its data")
def nltk_sentences(text: str) -> Sentence:
    """Tokens as NLTK's word_tokenize finds them: sentences first (Punkt), then the words of each,
    so that every sentence's full stop is a token.
    """
    spans = []
    for start, end in sentence_splitter("en", ASKED_BY).span_tokenize(text):
        for first, last in word_tokenizer().span_tokenize(text[start:end]):
            if last > first:
                spans.append((start + first, start + last))
    return sentence_of(text, spans)


def tokens_of(text: str) -> list[str]:
    """The same tokens as `word_tokenize` writes them, quotation marks as `` and '': a tagger that
    never saw a plain one takes it for a noun.

    They are as many as the words of `nltk_sentences`.
    """
    return [
        token
        for sentence in sentence_splitter("en", ASKED_BY).tokenize(text)
        for token in word_tokenizer().tokenize(sentence)
    ]


def is_one_punkt_sentence(text: str) -> bool:
    """Whether NLTK's splitter finds no more than one sentence in a text."""
    return len(list(sentence_splitter("en", ASKED_BY).span_tokenize(text.strip()))) <= 1


def has_sentences() -> bool:
    """Whether NLTK and the data of its sentence splitter are installed."""
    try:
        sentence_splitter("en", ASKED_BY)
    except (MissingPackage, MissingData):
        return False
    return True
