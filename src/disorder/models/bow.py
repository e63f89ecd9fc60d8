"""A bag-of-words classifier, the papers' Model C made real: it cannot see order.

Logistic regression over hashed features: the words of each text and, for pairs, which words they
share or not and how unshared words face each other. Features are sorted before they are added, so
any order of the same words gives the same bits.
"""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile
from zlib import crc32

import numpy as np

from disorder.errors import BadData, BadModel
from disorder.models.fingerprints import array_fingerprint, folder_fingerprint
from disorder.models.outputs import softmax
from disorder.registry import model
from disorder.safe_io import read_file, read_json
from disorder.types import Floats, Ints, Predictor, Task, Texts

N_FEATURES = 2**18
MAX_BYTES = 1024**3  # of weights, packed or not
WORD = re.compile(r"\w+(?:['’]\w+)?")


@model(form="bow[:FOLDER]", only_reads=True)
def bow(address: str, *, task: Task) -> Predictor:
    """A bag-of-words classifier that `disorder train --model bow` made; without a folder, the
    built-in one for the task.
    """
    if not address:
        from disorder.models.builtin import folder

        return Bow.load(folder(task) / "bow")
    return Bow.load(Path(address))


@dataclass
class Bow:
    """Hashed bag-of-words logistic regression."""

    labels: tuple[str, ...]
    weights: Floats
    fingerprint: str = ""

    def __post_init__(self) -> None:
        if not self.fingerprint:
            self.fingerprint = f"bow:{array_fingerprint(self.labels, self.weights)}"

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row per text."""
        logits = [
            self.weights[features(bag(a), None if b is None else bag(b))].sum(axis=0)
            for a, b in texts
        ]
        outputs = np.array(logits).reshape(len(texts), max(1, len(self.labels)))
        return softmax(outputs) if self.labels else outputs

    def save(self, folder: Path, *, dtype: type[np.floating[Any]] = np.float16) -> None:
        """Write the model as config.json and weights.npz (no pickle)."""
        folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(folder / "weights.npz", weights=self.weights.astype(dtype))
        (folder / "config.json").write_text(
            json.dumps({"model": "bow", "labels": list(self.labels)}) + "\n"
        )

    @classmethod
    def load(cls, folder: Path) -> Bow:
        """Read what `save` wrote."""
        try:
            labels = read_json(folder / "config.json")["labels"]
            weights = _array(read_file(folder / "weights.npz", max_bytes=MAX_BYTES))
            if weights.shape != (N_FEATURES, max(1, len(labels))):
                raise ValueError(f"{len(labels)} labels, weights of shape {weights.shape}")
        except (BadData, OSError, KeyError, ValueError, TypeError, BadZipFile, zlib.error) as error:
            raise BadModel(f"bow:{folder} is no bag-of-words folder ({error})") from None
        return cls(tuple(labels), weights, f"bow:{folder_fingerprint(folder)}")


def _array(content: bytes) -> Floats:
    """The weights in the bytes of an .npz file, which may unpack to much more than they are."""
    with ZipFile(io.BytesIO(content)) as packed:
        if sum(member.file_size for member in packed.infolist()) > MAX_BYTES:
            raise ValueError(f"weights.npz unpacks to more than {MAX_BYTES:,} bytes")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        weights: Floats = arrays["weights"].astype(np.float64)
    return weights


@lru_cache(maxsize=65536)
def bag(text: str) -> frozenset[str]:
    """The words of a text, lower-cased, each once."""
    return frozenset(WORD.findall(text.lower()))


@lru_cache(maxsize=65536)
def features(a: frozenset[str], b: frozenset[str] | None) -> Ints:
    """Sorted feature numbers of a text or pair; depends on the sets of words alone."""
    if b is None:
        names = [f"a {word}" for word in a]
    else:
        only_a = a - b
        only_b = b - a
        names = (
            [f"- {word}" for word in only_a]
            + [f"+ {word}" for word in only_b]
            + [f"= {word}" for word in a & b]
        )
        names += [f"{left} > {right}" for left in only_a for right in only_b]
        names += [f"missing {min(len(only_b), 6)}", f"dropped {min(len(only_a), 9)}"]
    numbers = np.array([crc32(name.encode()) % N_FEATURES for name in names] + [0], dtype=np.int64)
    return np.sort(numbers)


def fit(
    rows: Iterable[Mapping[str, Any]],
    labels: Sequence[str],
    *,
    epochs: int = 5,
    rate: float = 1.0,
    decay: float = 1e-6,
) -> Bow:
    """Train on rows with text_a, text_b and label, by AdaGrad over a seeded order of the rows."""
    data = [(row["text_a"], row["text_b"], labels.index(row["label"])) for row in rows]
    encoded = [features(bag(a), None if b is None else bag(b)) for a, b, _ in data]
    targets = np.eye(len(labels))[[label for *_, label in data]]
    weights = np.zeros((N_FEATURES, len(labels)))
    squares = np.full(N_FEATURES, 1e-8)
    order = np.random.Generator(np.random.Philox(0))
    for _ in range(epochs):
        for i in order.permutation(len(data)):
            found = encoded[i]
            error = softmax(weights[found].sum(axis=0)[None, :])[0] - targets[i]
            squares[found] += float(error @ error)
            weights[found] -= (
                rate * (error / np.sqrt(squares[found])[:, None]) / len(found) ** 0.5
                + decay * weights[found]
            )
    return Bow(tuple(labels), weights)
