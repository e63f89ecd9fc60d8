"""Trainable networks from scratch: words of the training data, vectors learned or given, layers by
the network's own file; and a bag of words, the weights of models/bow.py, by the same loop.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

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
from disorder.verbs.train.trainable import label_columns, torch_seed
from disorder.verbs.train.training_settings import TrainingSettings
from disorder.verbs.train.word_vectors import WordVectors


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
        splitter = own.words or _usual_splitter(texts)
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


def _usual_splitter(texts: Sequence[Texts]) -> str:
    """`simple`, which cuts Chinese by character; `icu` for other scripts without spaces."""
    sample = " ".join(text for pair in sampled(texts) for text in pair if text is not None)
    is_unspaced = main_script(sample) in UNSPACED_SCRIPTS - {"Han"}
    return "icu" if is_unspaced else "simple"


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
