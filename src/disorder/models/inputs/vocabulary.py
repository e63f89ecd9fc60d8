"""The vocabulary of a network: numbers for words; 0 is padding, 1 any word it does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from disorder.registry import SplitterPart, part

PADDING, UNKNOWN, FIRST = 0, 1, 2
LOCAL = ("simple",)  # splitters whose words depend on nothing beyond the nearest spaces


@dataclass
class Vocabulary:
    """Words in the order of their numbers, and how a text is cut into them."""

    known: Sequence[str]
    words: str = "simple"
    max_length: int = 128
    _numbers: dict[str, int] = field(init=False, repr=False)
    _pieces: dict[str, list[int]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = {word: number for number, word in enumerate(self.known, start=FIRST)}

    def __len__(self) -> int:
        return len(self.known) + FIRST

    def encode(self, text: str) -> list[int]:
        """Word numbers of a text, cut at `max_length`; a text without words is one unknown word."""
        if self.words in LOCAL:
            numbers = [number for piece in text.split() for number in self._piece(piece)]
        else:
            numbers = self._cut(text)
        return numbers[: self.max_length] or [UNKNOWN]

    def _piece(self, piece: str) -> list[int]:
        """Numbers of what stands between two spaces, kept: perturbed texts repeat the same
        words.
        """
        found = self._pieces.get(piece)
        if found is None:
            found = self._pieces[piece] = self._cut(piece)
        return found

    def _cut(self, text: str) -> list[int]:
        return [self._numbers.get(word.lower(), UNKNOWN) for word in words_of(text, self.words)]


def words_of(text: str, words: str) -> list[str]:
    """The words of a text by the splitter of that name."""
    found: list[str] = part(SplitterPart, words).function(text).words
    return found


def word_spans(text: str, words: str) -> list[tuple[int, int]]:
    """Where the words of a text lie, by the splitter of that name."""
    found = part(SplitterPart, words).function(text)
    return list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))


def count_words(texts: Iterable[str], words: str) -> Counter[str]:
    """How often each lower-cased word occurs in the texts."""
    counts: Counter[str] = Counter()
    if words not in LOCAL:
        for text in texts:
            counts.update(word.lower() for word in words_of(text, words))
        return counts
    pieces = Counter(piece for text in texts for piece in text.split())
    for piece, n in pieces.items():
        for word in words_of(piece, words):
            counts[word.lower()] += n
    return counts
