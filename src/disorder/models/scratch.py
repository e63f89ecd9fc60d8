"""Networks trained from scratch by `disorder train`: word numbers in, probabilities out, from a
folder of plain files.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel, MissingPackage
from disorder.models.fingerprints import folder_fingerprint
from disorder.models.inputs.batches import best_device, thread_pool
from disorder.models.inputs.tokens import readable
from disorder.models.networks import Shape
from disorder.models.outputs import softmax
from disorder.registry import NetworkPart, SplitterPart, model, part
from disorder.types import Floats, Predictor, Task, Texts

BUDGET = 8192  # words in a batch
WordIds = tuple[list[int], list[int] | None]


@model(form="bilstm:FOLDER", needs="torch", only_reads=True)
def bilstm(address: str, *, task: Task) -> Predictor:
    """A bidirectional LSTM that `disorder train --model bilstm` made."""
    return load("bilstm", Path(address))


@model(form="infersent:FOLDER", needs="torch", only_reads=True)
def infersent(address: str, *, task: Task) -> Predictor:
    """InferSent as `disorder train --model infersent` made it."""
    return load("infersent", Path(address))


@model(form="convnet:FOLDER", needs="torch", only_reads=True)
def convnet(address: str, *, task: Task) -> Predictor:
    """A convolutional network that `disorder train --model convnet` made."""
    return load("convnet", Path(address))


@model(form="esim:FOLDER", needs="torch", only_reads=True)
def esim(address: str, *, task: Task) -> Predictor:
    """ESIM as `disorder train --model esim` made it; for pairs."""
    return load("esim", Path(address))


@model(form="transformer:FOLDER", needs="torch", only_reads=True)
def transformer(address: str, *, task: Task) -> Predictor:
    """A small Transformer that `disorder train --model transformer` made from scratch."""
    return load("transformer", Path(address))


def load(name: str, folder: Path) -> ScratchNetwork:
    """The network in a folder."""
    try:
        from safetensors.torch import load_file
    except ImportError as error:
        raise MissingPackage(f"{name}:{folder}", "torch", "hf") from error
    config, vocabulary = read_folder(name, folder)
    network = build(config, len(vocabulary))
    try:
        network.load_state_dict(load_file(folder / "model.safetensors"))
    except (OSError, RuntimeError, ValueError) as error:
        raise BadModel(
            f"{name}:{folder} cannot be loaded: {(str(error).splitlines() or [''])[0]}"
        ) from None
    fingerprint = f"{name}:{folder_fingerprint(folder)}"
    return ScratchNetwork(network.to(best_device()), vocabulary, config, fingerprint)


def read_folder(name: str, folder: Path) -> tuple[dict[str, Any], Vocabulary]:
    """The configuration and vocabulary in a folder."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        known = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
        if config["model"] != name:
            raise BadModel(
                f"{name}:{folder}: this folder holds a {config['model']}; "
                f"write {config['model']}:{folder}"
            )
        return config, Vocabulary(known, config["words"], config["max_length"])
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise BadModel(
            f"{name}:{folder} is no folder that `disorder train` made ({error})"
        ) from None


def build(config: Mapping[str, Any], n_words: int) -> Any:
    """The network that a configuration describes, its weights drawn at random."""
    shape = Shape(n_words, config["width"], max(1, len(config["labels"])), config["is_pair"])
    return part(NetworkPart, config["model"]).function(shape, **config["settings"])


class ScratchNetwork:
    """A network over word numbers; texts of like length run together."""

    is_costly = True

    def __init__(
        self, network: Any, vocabulary: Vocabulary, config: Mapping[str, Any], fingerprint: str
    ) -> None:
        self.network = network.eval()
        self.known = vocabulary
        self.fingerprint = fingerprint
        self.labels = tuple(config["labels"])
        self.is_pair = bool(config["is_pair"])
        self.name = config["model"]
        self.batch_size: int | None = None
        self.input_seconds = 0.0
        self._device = next(network.parameters()).device
        self._pool = thread_pool(self._device)

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row per text (one number per text for a regression model)."""
        began = time.perf_counter()
        encoded = [encode(self.known, text, self.is_pair, self.name) for text in texts]
        batches = list(by_size([size(e) for e in encoded], batch_size=self.batch_size))
        feeds = [feed([encoded[i] for i in members]) for members in batches]
        self.input_seconds += time.perf_counter() - began
        logits = np.empty((len(texts), max(1, len(self.labels))))
        each = self._pool.map if self._pool else map
        for members, outputs in zip(batches, each(self._forward, feeds), strict=True):
            logits[members] = outputs
        return softmax(logits) if self.labels else logits

    def readable(self, texts: Texts, /) -> Texts:
        """Each text, cut at a word where it is too long."""
        first, second = (None if text is None else self.known.readable(text) for text in texts)
        return str(first), second

    def pieces(self, text: str) -> list[tuple[int, int]]:
        """Where its words lie in a text."""
        return word_spans(text, self.known.words)

    def vocabulary(self) -> Sequence[str]:
        """The words of letters that it has a number for."""
        return self._words

    @cached_property
    def _words(self) -> list[str]:
        return [word for word in self.known.known if word.isalpha()]

    def _forward(self, arrays: Mapping[str, Any]) -> Any:
        import torch

        with torch.inference_mode():
            given = {
                name: torch.from_numpy(array).to(self._device) for name, array in arrays.items()
            }
            return self.network(**given).float().cpu().numpy()


def encode(vocabulary: Vocabulary, texts: Texts, is_pair: bool, name: str) -> WordIds:
    """Word numbers of a text or pair."""
    a, b = texts
    if (b is not None) != is_pair:
        wanted, got = ("pairs", "single texts") if is_pair else ("single texts", "pairs")
        raise BadModel(f"{name} was trained on {wanted}, and this data has {got}")
    return vocabulary.encode(a), None if b is None else vocabulary.encode(b)


def size(encoded: WordIds) -> tuple[int, int]:
    """How long both texts are."""
    a, b = encoded
    return len(a), 0 if b is None else len(b)


def by_size(sizes: Sequence[tuple[int, int]], *, batch_size: int | None = None) -> list[list[int]]:
    """Numbers of inputs that go together: neighbours in length, within the budget of words."""
    batches: list[list[int]] = []
    longest = 0
    for i in sorted(range(len(sizes)), key=sizes.__getitem__):
        longest = max(longest, sum(sizes[i]))
        fits = batches and len(batches[-1]) < (batch_size or max(1, BUDGET // longest))
        if fits:
            batches[-1].append(i)
        else:
            batches.append([i])
            longest = sum(sizes[i])
    return batches


def feed(encoded: Sequence[WordIds]) -> dict[str, Any]:
    """Arrays of a batch: word numbers padded to the longest, and lengths, for each text."""
    arrays: dict[str, Any] = {}
    for name, side in zip("ab", zip(*encoded, strict=True), strict=True):
        if side[0] is None:
            continue
        lengths = np.array([len(ids) for ids in side], dtype=np.int64)
        ids = np.full((len(side), int(lengths.max())), PADDING, dtype=np.int64)
        for row, numbers in zip(ids, side, strict=True):
            row[: len(numbers)] = numbers
        arrays |= {name: ids, f"n_{name}": lengths}
    return arrays


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

    def readable(self, text: str) -> str:
        """The text as far as it is read."""

        def count(word: str) -> tuple[int, int]:
            n = len(self._piece(word))
            return n, n

        return readable((text, None), count, self.max_length)[0]

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
