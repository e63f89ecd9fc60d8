"""Words as people count them, in any script, with nothing to install."""

from __future__ import annotations

import re

from disorder.registry import words
from disorder.transformations.words import class_of, sentence_of
from disorder.types import Sentence

# Over the string of character classes: words may hold inner apostrophes and hyphens, and dots or
# commas between digits;
# marks and joiners (accents, emoji's variation selectors, Persian's half space) stay with what they
# follow.
WORD = re.compile(r"[wdm]+(?:[ah][wdm]+|(?<=d)n(?=d)[wdm]+)*|zm*|e[em]*|[ahnp]")


@words(language="any")
def simple(text: str) -> Sentence:
    """Runs of letters and digits, each Han or kana character, each punctuation mark; needs nothing
    installed.

    >>> simple("Don't panic: it's 3.5 well-known dogs.").words
    ["Don't", 'panic', ':', "it's", '3.5', 'well-known', 'dogs', '.']
    """
    classes = "".join(map(class_of, text))
    return sentence_of(text, [match.span() for match in WORD.finditer(classes)])
