"""Networks that can be trained from scratch. One file each: a function that puts layers together,
with its settings.

Texts come as rows of word numbers (0 is padding) with their lengths; the second text of a pair
comes the same way. A network predicts the same for a padded text as for the text alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """What a network must fit: the words it knows, the numbers a word has, its outputs, and whether
    texts come in pairs.
    """

    n_words: int
    width: int
    n_outputs: int
    is_pair: bool
