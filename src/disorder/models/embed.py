"""Embedders: how similar two texts are, by the cosine of their vectors.

A folder of sentence-transformers is read through transformers (or onnxruntime, where it holds an
ONNX export alone): a network, how the vectors of its tokens become one, and the longest input. What
else its modules do, such as a dense layer, takes sentence-transformers itself.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadData, BadModel, MissingPackage, option
from disorder.models.fingerprints import check_complete, hub_fingerprint, path_fingerprint
from disorder.models.hf_network import TextNetwork, word_tokens
from disorder.models.inputs.batches import Feed, best_device
from disorder.models.onnx import Onnx
from disorder.models.outputs import sigmoid_columns
from disorder.models.protocols import Embeds, MadeOf, Truncates
from disorder.registry import model
from disorder.safe_io import read_json
from disorder.store.hub import hub_access, why_not_loaded
from disorder.types import Floats, Predictor, Task, Texts

PLAIN = ("Transformer", "Pooling", "Normalize")  # modules that are done here
POOLINGS = ("mean", "cls", "max")
SHARPNESS = (
    20.0  # of probabilities around the threshold: the scale of sentence-transformers' losses
)
MAX_KEPT = 64 * 1024**2  # numbers of vectors that are remembered: 256 MB
LABELS = ("different", "similar")


@model(form="embed:NAME_OR_FOLDER", needs="transformers, torch, or a server")
def embed(
    address: str,
    *,
    task: Task,
    threshold: float | None = None,
    base_url: str | None = None,
    max_connections: int | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
    proxy: str | None = None,
    ca_bundle: str | None = None,
) -> Predictor:
    """An embedder from the hub, a folder, or a server's /embeddings (--base-url): the cosine of two
    texts is the number, or the label by a threshold.
    """
    if base_url is not None:
        from disorder.models.servers.embeddings import ServerEmbedder

        asked = {
            "max_connections": max_connections,
            "timeout": timeout,
            "max_retries": max_retries,
            "proxy": proxy,
            "ca_bundle": ca_bundle,
        }
        return Similarity(ServerEmbedder.at(address, base_url, **asked), task, threshold)
    return Similarity(embedder_in(address), task, threshold)


def embedder_in(address: str) -> Embeds:
    """The embedder in a folder, or of that name on the hub."""
    place = Path(address).expanduser()
    if not address or (address.startswith(("/", "./", "../", "~")) and not place.exists()):
        raise BadModel(f"embed:{address}: no such folder")
    if place.is_file() or (place.is_dir() and not _has_weights(place)):
        return OnnxEmbedder(place)
    found = Modules.of(address)
    return _of_library(address) if found is None else _network(address, found)


def _has_weights(folder: Path) -> bool:
    return any(folder.glob("*.safetensors")) or not any(folder.glob("**/*.onnx"))


class Similarity(MadeOf):
    """Pairs of texts by the cosine of their vectors; a text that occurs again is embedded once.

    With two labels, those above the threshold are similar: the task's label of two copies, where
    it has one.
    """

    model: Embeds

    def __init__(self, embedder: Embeds, task: Task, threshold: float | None = None) -> None:
        super().__init__(embedder)
        self.is_costly = True
        self.threshold = threshold
        self.labels = _labels(task)
        # whether the second label is known to be that of similar texts
        self.knows_labels = len(task.labels) == 2 and similar_label(task) is not None
        self._kept: dict[str, Floats] = {}

    @property
    def fingerprint(self) -> str:
        """That of the embedder, and the threshold of labels."""
        own = self.model.fingerprint
        is_cut = self.labels and self.threshold is not None
        return f"{own}/{self.threshold!r}" if own and is_cut else own

    @property
    def notes(self) -> list[str]:
        """What the embedder says, and from which cosine on a pair is similar."""
        own = super().notes
        if not self.labels or self.threshold is None:
            return own
        return [
            *own,
            f"a pair is {self.labels[1]} where the cosine of its texts is above "
            f"{self.threshold:.3f}",
        ]

    def readable(self, texts: Texts, /) -> Texts:
        """Each text, cut at a word where the embedder would not read it to the end."""
        if not isinstance(self.model, Truncates):
            return texts
        first, second = (
            None if text is None else self.model.readable((text, None))[0] for text in texts
        )
        return str(first), second

    def use_own_labels(self) -> None:
        """Call the labels different and similar, where the user says what that means."""
        self.labels = LABELS
        self.knows_labels = True

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """The cosine of each pair, or the probabilities of its labels."""
        cosines = self.cosines(texts)
        if not self.labels:
            return cosines[:, None]
        if not self.knows_labels:
            raise BadModel(
                f"embed: which of the labels {', '.join(self.labels)} is that of similar texts? An "
                f"embedder tells two apart: {option('labels', 'different=…,similar=…')}"
            )
        if self.threshold is None:
            raise BadModel(
                f"embed: from which cosine on is a pair {self.labels[1]}? Name other data with "
                f"labels, {option('threshold_from', 'DATA')}, or {option('threshold', 0.8)}"
            )
        return sigmoid_columns(SHARPNESS * (cosines[:, None] - self.threshold), is_share=False)

    def cosines(self, pairs: Sequence[Texts]) -> Floats:
        """The cosine of the two texts of each pair."""
        if any(b is None for _, b in pairs):
            raise BadModel(
                "an embedder compares two texts, and this data has single ones; "
                "`disorder explain --by cosine` needs no pairs"
            )
        first = self.vectors([a for a, _ in pairs])
        second = self.vectors([str(b) for _, b in pairs])
        return np.asarray((first * second).sum(axis=1), dtype=np.float64)

    def vectors(self, texts: Sequence[str]) -> Floats:
        """The vector of each text, of length 1."""
        new = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if new:
            given = self.model.embed(new)
            try:
                found = np.asarray(given, dtype=np.float32)
            except (TypeError, ValueError):  # rows of different lengths, or no numbers
                found = np.asarray([], dtype=np.float32)
            if found.ndim != 2 or len(found) != len(new) or not np.isfinite(found).all():
                raise BadModel("the embedder gave no row of finite numbers for each text")
            kept = next(iter(self._kept.values()), found[0])
            if len(kept) != found.shape[1]:
                raise BadModel(
                    f"the embedder gave vectors of {len(kept)} numbers, then of {found.shape[1]}"
                )
            lengths = np.linalg.norm(found, axis=1, keepdims=True)
            if (len(self._kept) + len(new)) * found.shape[1] > MAX_KEPT:
                known = {text: self._kept[text] for text in texts if text in self._kept}
                self._kept = known
            self._kept.update(zip(new, found / np.maximum(lengths, 1e-12), strict=True))
        return np.array([self._kept[text] for text in texts])


def _labels(task: Task) -> tuple[str, ...]:
    """The labels in the order of their columns: the one of similar texts is the second."""
    if len(task.labels) != 2:
        return task.labels
    similar = similar_label(task)
    if similar is None:
        return task.labels
    return (*(label for label in task.labels if label != similar), similar)


def similar_label(task: Task) -> str | None:
    """The label of two texts that say the same: that of copies, or the one that another negates.

    >>> similar_label(Task("pairs", ("not_paraphrase", "paraphrase")))
    'paraphrase'
    """
    if task.default_label is not None or len(task.labels) != 2:
        return task.default_label
    short, long = sorted(task.labels, key=len)
    is_negated = long.lower().removeprefix("not").removeprefix("non").lstrip("_- ") == short.lower()
    return short if is_negated and short != long else None


@dataclass(frozen=True)
class Modules:
    """What the modules of a sentence-transformers folder do, in so far as it is done here."""

    pooling: str = "mean"
    max_length: int | None = None
    prefix: str = ""  # before every text
    is_lowered: bool = False

    @classmethod
    def of(cls, address: str) -> Modules | None:
        """Those of a folder or of a name on the hub; None where they do more. A folder without
        any is a plain encoder, whose tokens are averaged, as sentence-transformers does.
        """
        modules = _file(address, "modules.json")
        if modules is None:
            return cls()
        kinds = [str(each["type"]).rpartition(".")[2] for each in modules]
        if kinds not in (list(PLAIN), list(PLAIN[:2])):
            return None
        config = _file(address, f"{modules[1]['path']}/config.json") or {}
        own = _file(address, "sentence_bert_config.json") or {}
        library = _file(address, "config_sentence_transformers.json") or {}
        prompts = library.get("prompts") or {}
        prefix = prompts.get(library.get("default_prompt_name") or "", "")
        pooling = _pooling(config)
        if pooling is None or (prefix and config.get("include_prompt") is False):
            return None
        return cls(pooling, own.get("max_seq_length"), prefix, bool(own.get("do_lower_case")))


def _pooling(config: Mapping[str, Any]) -> str | None:
    """How the vectors of tokens become one, in the words of old and of new folders."""
    said = config.get("pooling_mode")
    if said is not None:
        return said if said in POOLINGS else None
    old = {"mean": "mean_tokens", "cls": "cls_token", "max": "max_tokens"}
    prefix = "pooling_mode_"
    chosen = [name for name, value in config.items() if name.startswith(prefix) and value is True]
    return next((mine for mine, name in old.items() if chosen == [prefix + name]), None)


def _file(address: str, name: str) -> Any:
    """The content of a JSON file of a model; None where it has none of that name."""
    folder = Path(address).expanduser()
    if folder.is_dir():
        path = folder / name
        try:
            return read_json(path) if path.is_file() else None
        except BadData as error:
            raise BadModel(str(error)) from None
    try:
        from transformers.utils import cached_file
    except ImportError as error:
        raise MissingPackage(f"embed:{address}", "transformers", "embed") from error
    with hub_access(address):
        found = cached_file(address, name, _raise_exceptions_for_missing_entries=False)
    return None if found is None else read_json(Path(found))


def _network(address: str, modules: Modules) -> Embeds:
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingPackage(f"embed:{address}", "transformers", "embed") from error
    logging.disable_progress_bar()
    try:
        with hub_access(address):
            tokenizer = AutoTokenizer.from_pretrained(address, trust_remote_code=False)
            network, found = AutoModel.from_pretrained(
                address,
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except (OSError, ValueError, KeyError) as error:
        raise BadModel(why_not_loaded(address, error)) from None
    # weights of a layer that no vector comes from are often left out
    missing = [name for name in found["missing_keys"] if not name.startswith("pooler.")]
    check_complete(f"embed:{address}", tokenizer, {"missing_keys": missing})
    known = hub_fingerprint(address, getattr(network.config, "_commit_hash", None))
    return NetworkEmbedder(
        network.to(best_device()), tokenizer, f"embed:{known}" if known else "", modules
    )


class NetworkEmbedder(TextNetwork):
    """A network of transformers whose token vectors become one per text."""

    def __init__(self, network: Any, tokenizer: Any, fingerprint: str, modules: Modules) -> None:
        super().__init__(network, tokenizer, fingerprint)
        self.modules = modules
        self.labels = ()
        if modules.max_length is not None and modules.max_length < self.max_length:
            self.max_length = modules.max_length
            self.tokens = word_tokens(tokenizer, self.max_length)

    def embed(self, texts: Sequence[str], /) -> Floats:
        """One row per text."""
        given: list[Texts] = [(self._written(text), None) for text in texts]
        return self.outputs_of(self.encode(given), self.network.config.hidden_size)

    def readable(self, texts: Texts, /) -> Texts:
        """The texts, cut at a word where they and the prefix are too long."""
        if self.tokens is None:
            return texts
        return self.tokens.readable(texts, len(self.tokens.units(self.modules.prefix)))

    def _written(self, text: str) -> str:
        written = f"{self.modules.prefix}{text.strip()}"
        return written.lower() if self.modules.is_lowered else written

    def read_outputs(self, found: Any) -> Floats:
        """The vectors of all tokens as one; no input is padded."""
        tokens = found.last_hidden_state.float()
        return np.asarray(pooled(tokens.cpu().numpy(), self.modules.pooling))


def pooled(tokens: Floats, pooling: str) -> Floats:
    """One vector per input (inputs × tokens × numbers): the mean, the first, or the largest."""
    if pooling == "cls":
        return tokens[:, 0]
    return np.asarray(tokens.max(axis=1) if pooling == "max" else tokens.mean(axis=1))


class OnnxEmbedder(Onnx):
    """An embedder exported to ONNX; vectors of tokens are averaged, unless it gives one itself."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.fingerprint = f"embed:{self.fingerprint}"
        self.labels = ()
        modules = Modules.of(str(place)) if place.is_dir() else None
        self.pooling = "mean" if modules is None else modules.pooling

    def chosen_output(self) -> str:
        """The vector of the whole text where there is one, else those of its tokens."""
        names = [entry.name for entry in self.session.get_outputs()]
        wanted = ("sentence_embedding", "last_hidden_state", "token_embeddings")
        return next((name for name in wanted if name in names), names[0])

    def _find_out(self, splits: bool) -> None:
        """Nothing: it has no labels."""

    def forward(self, feed: Feed) -> Floats:
        """One row per input of a batch."""
        found = super().forward(feed)
        return pooled(found, self.pooling) if found.ndim == 3 else found

    def embed(self, texts: Sequence[str], /) -> Floats:
        """One row per text."""
        encoded = self.encode([(text.strip(), None) for text in texts])
        width = self.forward(self.feed_of(*encoded.batch(np.array([0])))).shape[1]
        return self.outputs_of(encoded, width)


class LibraryEmbedder:
    """A SentenceTransformer that embeds by itself."""

    def __init__(self, network: Any, fingerprint: str = "") -> None:
        self.network = network
        self.fingerprint = fingerprint
        self.batch_size: int | None = None
        self.notes = ["sentence-transformers itself embeds the texts"]

    def embed(self, texts: Sequence[str], /) -> Floats:
        """One row per text."""
        settings = {} if self.batch_size is None else {"batch_size": self.batch_size}
        found = self.network.encode(list(texts), show_progress_bar=False, **settings)
        return np.asarray(found, dtype=np.float32)


def _of_library(address: str) -> Embeds:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingPackage(
            f"embed:{address} has modules of its own, and", "sentence-transformers", "embed"
        ) from error
    network = SentenceTransformer(address, trust_remote_code=False)
    known = path_fingerprint(address)
    return LibraryEmbedder(network, f"embed:{known}" if known else "")


def is_embedder(thing: Any) -> bool:
    """Whether an object gives vectors of texts."""
    if isinstance(thing, Embeds):
        return True
    library = sys.modules.get("sentence_transformers")
    return library is not None and isinstance(thing, library.SentenceTransformer)


def from_embedder(thing: Any, task: Task, threshold: float | None = None) -> Similarity:
    """An embedder as a predictor of similarity."""
    return Similarity(
        thing if isinstance(thing, Embeds) else LibraryEmbedder(thing), task, threshold
    )
