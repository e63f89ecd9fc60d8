"""Words as they are written: the units of `fidelity=natural`.

Marks, capitals, `@` and `#` belong to the word they are glued to and move with it, so that only
order changes; a mark set apart by spaces is a unit of its own, and stays. White space belongs to
the places between units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from disorder.languages import is_one_of_unspaced
from disorder.registry import words
from disorder.transformations.words import sentence_of
from disorder.transformations.words.icu import icu
from disorder.types import Sentence

WRITTEN = re.compile(r"\S+")


@words(language="any")
def natural(text: str) -> Sentence:
    """Whatever stands between spaces is a word, with all that is glued to it; scripts without
    spaces are cut by Unicode's rules.

    >>> natural("@ann saw 9/10 of C++ -- superb! 我喜欢苹果。").words
    ['@ann', 'saw', '9/10', 'of', 'C++', '--', 'superb!', '我', '喜欢', '苹果', '。']
    """
    spans = [found.span() for found in WRITTEN.finditer(text)]
    if not text.isascii():
        spans = [piece for span in spans for piece in _pieces(text, *span)]
    return replace(sentence_of(text, spans), keeps_gaps=True)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The units between two spaces: one, or the words of a script that has no spaces."""
    written = text[start:end]
    if not any(map(is_one_of_unspaced, written)):
        yield start, end
        return
    cut = icu(written)
    for i, j in zip(cut.starts.tolist(), cut.ends.tolist(), strict=True):
        yield start + i, start + j
