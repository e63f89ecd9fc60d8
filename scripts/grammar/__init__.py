"""The built-in grammar: writes the texts that come with the tool, labels included.

Half of each task is decided by words alone (`needs="words"`), half by their order
(`needs="order"`), so the right outcome of an audit is known beforehand. The rare_ sets hold one
statement in several valid orders, told apart by `phenomenon`. The output depends on nothing but the
task and the split.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, islice
from threading import Lock

from disorder.errors import BadSetting, UnknownName

from . import acceptability, nli, rare, sentiment
from .draw import Draw
from .made_example import MadeExample, MadeGroup, Maker
from .surface import words

MAKERS: dict[str, Callable[[int], list[Maker]]] = {
    "nli": nli.makers,
    "sentiment": sentiment.makers,
    "acceptability": acceptability.makers,
    "rare_nli": rare.nli_makers,
    "rare_sentiment": rare.sentiment_makers,
}
N_TEST = {
    "nli": 4200,
    "sentiment": 1200,
    "acceptability": 1200,
    "rare_nli": 1500,
    "rare_sentiment": 1500,
}
N_TRAIN = {**dict.fromkeys(MAKERS, 60_000), "rare_sentiment": 15_145}  # the last: all there are
SPLITS = ("test", "train")
PATIENCE = 10_000


def rows(task: str, split: str, n: int | None = None) -> Iterator[dict[str, str | None]]:
    """The first `n` examples of a split as dictionaries; fewer are always a prefix of more."""
    if task not in MAKERS:
        raise UnknownName("task of the grammar", task, MAKERS)
    if split not in SPLITS:
        raise UnknownName("split of the grammar", split, SPLITS)
    if n is None:
        n = (N_TEST if split == "test" else N_TRAIN)[task]
    for i, made in enumerate(_written(task, split).first(n)):
        yield {"id": f"{task}-{split}-{i:05d}", **made._asdict()}


class Written:
    """The examples of a split that were made so far; a process makes each once."""

    def __init__(self, stream: Iterator[MadeExample]) -> None:
        self._stream = stream
        self._examples: list[MadeExample] = []
        self._lock = Lock()

    def first(self, n: int) -> list[MadeExample]:
        """The first `n` examples."""
        with self._lock:
            self._examples.extend(islice(self._stream, max(0, n - len(self._examples))))
        if len(self._examples) < n:
            raise BadSetting(
                "grammar",
                n_found=len(self._examples),
                need="fewer rows: there are no more",
            )
        return self._examples[:n]


@cache
def _written(task: str, split: str) -> Written:
    return Written(_stream(task, split))


def _stream(task: str, split: str) -> Iterator[MadeExample]:
    draw = Draw(f"{task}/{split}")
    seen: set[tuple[str, str | None]] = set()
    for block in count():
        for make in MAKERS[task](block):
            group = _fresh(make, draw, split, seen)
            if not group:
                return
            yield from group


def _fresh(make: Maker, draw: Draw, split: str, seen: set[tuple[str, str | None]]) -> MadeGroup:
    """A group of examples that are new and of this split; none where there are hardly any left."""
    for _ in range(PATIENCE):
        group = make(draw)
        keys = {(example.text_a, example.text_b) for example in group}
        if all(_split_of(example.text_a) == split for example in group) and not keys & seen:
            seen |= keys
            return group
    return []


def _split_of(text: str) -> str:
    # By checksum, so that the splits never share a text, however many rows are made; of the sorted
    # words, so that anagrams stay together.
    bag = " ".join(sorted(words(text)))
    return SPLITS[zlib.crc32(bag.encode()) & 1]
