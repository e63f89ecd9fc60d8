"""The words of a text as numbers, so that many texts are compared at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from disorder.languages import segments

Hashes = NDArray[np.uint64]
WORD = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")
# scripts without spaces, or with vowels that are marks, which the pattern would cut
HAN = re.compile(r"[\u3400-\u9fff]")
BY_UNICODE = re.compile(r"[\u0590-\u1dff\u2e80-\ua4cf\ua800-\uabff\uf900-\ufaff]")
# Fibonacci hashing: the high bits of a product with it are well mixed.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@lru_cache(maxsize=200_000)
def _number(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=50_000)
def hashes(text: str) -> Hashes:
    """A number for each word of a text; of Chinese texts for each character.

    The words of a shuffled Chinese text are cut elsewhere: to a bag of words order would matter.
    """
    return hashed(words_of(HAN.sub(r" \g<0> ", text)))


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case, whatever its language.

    >>> words_of("It's here!"), words_of("我喜欢苹果。")
    (["it's", 'here', '!'], ['我', '喜欢', '苹果', '。'])
    """
    lowered = text.lower()
    if not BY_UNICODE.search(lowered):
        return WORD.findall(lowered)
    bounds = segments(lowered, "word")
    pieces = (lowered[i:j].strip() for i, j in pairwise(bounds))
    return [piece for piece in pieces if piece]


def hashed(words: Sequence[str]) -> Hashes:
    """A number for each word."""
    return np.array([_number(word) for word in words], dtype=np.uint64)


def distinct(keys: Any) -> Any:
    """Each key once, sorted; quicker than `np.unique` for as many as these."""
    ordered = np.sort(keys)
    if not len(ordered):
        return ordered
    return ordered[np.append(True, ordered[1:] != ordered[:-1])]
