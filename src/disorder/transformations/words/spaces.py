"""Words as Out of Order (Pham et al., 2021) splits them: at spaces, the final punctuation apart."""

from __future__ import annotations

import re

from disorder.registry import words
from disorder.transformations.words import is_punctuation, sentence_of
from disorder.types import Sentence


@words(language="any written with spaces")
def spaces(text: str) -> Sentence:
    """Whatever stands between spaces is a word; the final run of punctuation is split off so that
    it can stay.

    >>> spaces("Yes, it 's a dog?!").words
    ['Yes,', 'it', "'s", 'a', 'dog', '?!']
    """
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    if spans:
        start, end = spans[-1]
        bare = end
        while bare > start and is_punctuation(text[bare - 1]):
            bare -= 1
        if start < bare < end:
            spans[-1:] = [(start, bare), (bare, end)]
    return sentence_of(text, spans)
