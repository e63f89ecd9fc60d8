"""Hugging Face classifiers and question answering models, by name or from a folder, on a GPU where
there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadData, BadModel, MissingPackage
from disorder.models.fingerprints import NO_VOCABULARY, check_complete, hub_fingerprint
from disorder.models.hf_network import HFNetwork, TextNetwork
from disorder.models.importance.gradients import (
    TARGETS,
    by_side,
    is_telling,
    token_scores,
    walked,
    watching,
)
from disorder.models.inputs.batches import Feed, best_device
from disorder.models.inputs.tokens import PROBES, is_fast
from disorder.models.question_answering import is_question_answering
from disorder.registry import model
from disorder.safe_io import read_json
from disorder.store.hub import hub_access, why_not_loaded
from disorder.types import Floats, Pair, Predictor, Task

CONFIGS = ("config.json", "adapter_config.json")  # one of which every model folder has
# one of which every tokenizer has; an adapter's may lie with its model
TOKENIZERS = ("*token*", "vocab*", "*.model", "*.vocab", "merges*", "*bpe*", "adapter_config.json")


@model(form="hf:NAME_OR_FOLDER", needs="transformers, torch", only_reads=True)
def hf(address: str, *, task: Task) -> Predictor:
    """A transformers classifier, or question answering model, from the hub or a folder; labels come
    from its config.
    """
    check_files(address, f"hf:{address}")  # before torch, whose import takes seconds
    try:
        import torch
        from transformers import (
            AutoConfig,
            AutoModelForQuestionAnswering,
            AutoModelForSequenceClassification,
            AutoTokenizer,
        )
        from transformers.utils import logging
    except ImportError as error:
        raise MissingPackage(f"hf:{address}", "transformers", "hf") from error
    logging.disable_progress_bar()
    try:
        with hub_access(address):
            tokenizer = AutoTokenizer.from_pretrained(address, trust_remote_code=False)
            config = AutoConfig.from_pretrained(address, trust_remote_code=False)
            kind = (
                AutoModelForQuestionAnswering
                if is_question_answering(config)
                else AutoModelForSequenceClassification
            )
            network, found = kind.from_pretrained(
                address,
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except (OSError, ValueError, KeyError) as error:
        raise BadModel(why_not_loaded(address, error)) from None
    check_complete(f"hf:{address}", tokenizer, found)
    # set by transformers for models of the hub, under a private name
    commit = getattr(network.config, "_commit_hash", None)
    fingerprint = hub_fingerprint(address, commit)
    return hf_predictor(
        network.to(best_device()), tokenizer, f"hf:{fingerprint}" if fingerprint else ""
    )


def check_files(address: str, spec: str) -> None:
    """Raise on a folder that holds no whole transformers model, and on a name that is neither a
    folder nor one on the hub.
    """
    folder = Path(address).expanduser()
    if not folder.is_dir():
        if not address or address.startswith(("/", "./", "../", "~")):
            raise BadModel(f"{spec}: no such folder")
        _check_name(address)
        return
    if not any((folder / name).exists() for name in CONFIGS):
        raise BadModel(
            f"{spec} is no transformers model: need a folder with config.json, a tokenizer and "
            "*.safetensors"
        )
    if not any(folder.glob("*.safetensors")):
        if any(folder.glob("*.bin")):
            raise BadModel(why_not_loaded(address, OSError()))
        raise BadModel(f"{spec} has no weights: there is no *.safetensors in the folder")
    if not any(path for name in TOKENIZERS for path in folder.glob(name)):
        raise BadModel(f"{spec} {NO_VOCABULARY}")


def labels_in(address: str) -> tuple[str, ...]:
    """The labels that a classifier's folder names, without loading it; none where it names none.
    Raises on a folder that holds no whole model.
    """
    folder = Path(address).expanduser()
    if not (folder / CONFIGS[0]).is_file():
        return ()
    check_files(address, f"hf:{address}")
    try:
        config = read_json(folder / CONFIGS[0])
        names = {int(number): str(name) for number, name in config["id2label"].items()}
        heads = [str(name) for name in config["architectures"]]
    except (AttributeError, BadData, KeyError, TypeError, ValueError):  # said when it is loaded
        return ()
    is_classifier = any("ForSequenceClassification" in name for name in heads)
    return tuple(names[i] for i in sorted(names)) if is_classifier and len(names) > 1 else ()


def _check_name(address: str) -> None:
    """Raise where the hub, or its cache where it cannot be reached, has no model of that name."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
    except ImportError:
        return  # what is missing is said where it is needed
    try:
        with hub_access(address):
            hf_hub_download(address, "config.json")
    except (OSError, ValueError) as error:
        is_other = isinstance(error, EntryNotFoundError)  # an adapter has another configuration
        if is_other and not isinstance(error, LocalEntryNotFoundError):
            return
        told = why_not_loaded(address, error)
        raise BadModel(f"{told}; nor is there a folder of that name here") from None


def hf_predictor(
    network: Any, tokenizer: Any, fingerprint: str, *, is_borrowed: bool = False
) -> HFNetwork:
    """A network and its tokenizer as a predictor."""
    # question_answering.py needs this module
    from disorder.models.question_answering import QuestionAnswering

    kind = QuestionAnswering if is_question_answering(network.config) else HFClassifier
    return kind(network, tokenizer, fingerprint, is_borrowed=is_borrowed)


class HFClassifier(TextNetwork):
    """A transformers classifier; inputs of equal length run together, without padding."""

    def __init__(self, network: Any, tokenizer: Any, fingerprint: str, **more: Any) -> None:
        super().__init__(network, tokenizer, fingerprint, **more)
        names = network.config.id2label
        self.labels = (
            tuple(str(names[i]) for i in sorted(names)) if network.config.num_labels > 1 else ()
        )

    def has_gradients(self) -> bool:
        """Whether the importance of words can be had from gradients; tried on one text."""
        return self._has_gradients

    @cached_property
    def _has_gradients(self) -> bool:
        if not is_fast(self.tokenizer):
            return False
        feed = self.feed(
            self.tokenizer(*PROBES[0], truncation=True, max_length=self.max_length).encodings
        )
        try:
            with watching(self.exact) as differentiate:
                calls = differentiate(feed | {TARGETS: np.eye(1, max(1, len(self.labels)))})
                return bool(token_scores(calls, feed["input_ids"]).any()) and is_telling(calls)
        except (BadModel, NotImplementedError):
            return False

    def importance(self, pairs: Sequence[Pair], targets: Floats, /) -> list[list[Floats]]:
        """Embedding · gradient of the loss, summed over each word's tokens, one array per text;
        words cut off get 0.
        """
        encoded = [self.encoding(pair) for pair in pairs]
        batches = self.batches([len(each.ids) for each in encoded], share=0.5)
        feeds = [
            self.feed([encoded[i] for i in members]) | {TARGETS: targets[members]}
            for members in batches
        ]
        found: list[list[Floats]] = [[] for _ in pairs]
        with watching(self.exact) as differentiate:

            def score(feed: Feed) -> Floats:
                return token_scores(differentiate(feed), feed["input_ids"])

            for members, scores in zip(
                batches, self.each(partial(self.fitting, score), feeds), strict=True
            ):
                for i, row in zip(members.tolist(), scores, strict=True):
                    found[i] = by_side(row, encoded[i], pairs[i])
        return found

    def integrated_gradients(
        self, pairs: Sequence[Pair], targets: Floats, /, *, n_steps: int
    ) -> list[list[Floats]]:
        """What each word adds to the probability of the labels marked in `targets`."""
        return walked(self, pairs, targets, n_steps=n_steps)
