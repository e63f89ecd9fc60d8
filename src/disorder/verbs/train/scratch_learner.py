"""Networks from scratch: words of the training data, vectors learned or given, layers by the
network's own file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disorder.models.inputs.vocabulary import FIRST, Vocabulary, count_words
from disorder.models.scratch import Encoded, build, encode, feed, read_folder
from disorder.registry import NetworkPart, part
from disorder.types import Texts
from disorder.verbs.train.learner import number, same_labels
from disorder.verbs.train.training_settings import Chosen


class Fresh:
    """A network over word numbers."""

    def __init__(self, network: Any, vocabulary: Vocabulary, config: dict[str, Any]) -> None:
        self.network, self.vocabulary, self.config = network, vocabulary, config
        self.form = config["model"]
        self.labels = tuple(config["labels"])
        self.columns: list[int] | None = (
            None  # where our labels stand in the network's, if in another order
        )
        declared = part(NetworkPart, self.form)
        self.lr = declared.lr
        self.epochs = declared.epochs
        network.words.table.weight.requires_grad_(config["tunes_vectors"])

    @classmethod
    def make(
        cls,
        name: str,
        settings: Chosen,
        texts: Sequence[Texts],
        labels: tuple[str, ...],
        *,
        is_pair: bool,
        seed: int,
    ) -> Fresh:
        """A network with random weights that knows the words of these texts."""
        from disorder.verbs.train.word_vectors import Vectors

        own = settings.words
        counts = count_words(
            (text for pair in texts for text in pair if text is not None), own.words
        )
        known = [
            w
            for w, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            if n >= own.min_count
        ]
        vectors = (
            Vectors.read(own.vectors, wanted=set(known), more=own.more_words)
            if own.vectors
            else None
        )
        if vectors is not None:
            frequent = set(known)
            known += [
                word for word in vectors.first if word not in frequent
            ]  # one that is rare here has a vector all the same
        config = {
            "model": name,
            "labels": list(labels),
            "is_pair": is_pair,
            "words": own.words,
            "max_length": settings.loop.max_length,
            "width": vectors.width if vectors else own.width,
            "settings": {**part(NetworkPart, name).settings, **settings.network},
            "tunes_vectors": vectors is None or own.tune_vectors,
        }
        network = _seeded(config, len(known) + FIRST, seed)
        if vectors is not None:
            vectors.fill(network.words.table, known)
        return cls(network, Vocabulary(known, own.words, settings.loop.max_length), config)

    @classmethod
    def load(
        cls, name: str, folder: Path, labels: tuple[str, ...], *, is_pair: bool, seed: int
    ) -> Fresh:
        """A network that was trained before, to go on from; its head stays if it answers the same
        labels.
        """
        from safetensors.torch import load_file

        config, vocabulary = read_folder(name, folder)
        network = build(config, len(vocabulary))
        network.load_state_dict(load_file(folder / "model.safetensors"))
        found = cls(network, vocabulary, config)
        columns = same_labels(found.labels, labels) if labels else [] if not found.labels else None
        if columns is None or config["is_pair"] != is_pair:
            found.new_head(labels, is_pair=is_pair, seed=seed)
        elif found.labels != labels:
            found.labels, found.columns = labels, columns
        return found

    def encode(self, texts: Sequence[Texts]) -> list[Encoded]:
        """Word numbers."""
        return [encode(self.vocabulary, text, self.config["is_pair"], self.form) for text in texts]

    def length(self, encoded: Encoded) -> int:
        """Words of both texts."""
        return len(encoded[0]) + len(encoded[1] or ())

    def feed(self, encoded: Sequence[Encoded]) -> dict[str, Any]:
        """Padded word numbers and lengths."""
        return feed(encoded)

    def logits(self, network: Any, given: dict[str, Any]) -> Any:
        """Logits of a batch, in the order of our labels."""
        found = network(**given)
        return found if self.columns is None else found[:, self.columns]

    def new_head(self, labels: tuple[str, ...], *, is_pair: bool, seed: int) -> None:
        """Keep everything but the head."""
        self.labels, self.columns = labels, None
        self.config |= {"labels": list(labels), "is_pair": is_pair}
        kept = {
            name: value
            for name, value in self.network.state_dict().items()
            if not name.startswith("head.")
        }
        self.network = _seeded(self.config, len(self.vocabulary), seed)
        self.network.load_state_dict(kept, strict=False)
        self.network.words.table.weight.requires_grad_(self.config["tunes_vectors"])

    def save(self, folder: Path) -> None:
        """config.json, vocabulary.json, model.safetensors."""
        from safetensors.torch import save_file

        weights = {
            name: value.detach().cpu().contiguous()
            for name, value in self.network.state_dict().items()
        }
        save_file(weights, folder / "model.safetensors")
        (folder / "vocabulary.json").write_text(
            json.dumps(list(self.vocabulary.known), ensure_ascii=False), encoding="utf-8"
        )
        (folder / "config.json").write_text(
            json.dumps(self.config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def _seeded(config: dict[str, Any], n_words: int, seed: int) -> Any:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(number(seed, "weights", config["model"], *config["labels"]))
        return build(config, n_words)
