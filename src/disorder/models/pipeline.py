"""Objects of transformers: of a pipeline the model and tokenizer inside, run as `hf:` runs them.

A pipeline predicts one text at a time. Where its predictions are a plain softmax over labels (or
the bare output of a regression model) the network is taken out of it and run in batches without
padding. Where they are not (a sigmoid per label, settings for the tokenizer, a subclass), the
pipeline itself is called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.hf import hf_predictor
from disorder.models.outputs import from_label_scores
from disorder.models.question_answering import is_question_answering
from disorder.types import Floats, Predictor, Texts


def is_pipeline(thing: Any) -> bool:
    """Whether an object is a pipeline of transformers, which then has been imported already."""
    if "transformers" not in sys.modules:
        return False
    from transformers import Pipeline

    return isinstance(thing, Pipeline)


def from_pipeline(pipeline: Any) -> Predictor:
    """A predictor that gives a pipeline's predictions, as fast as they can be had."""
    if not is_question_answering(pipeline.model.config):
        _check_task(pipeline)
        if not _is_plain(pipeline):
            return CalledPipeline(pipeline)
    return from_network(pipeline.model, pipeline.tokenizer)


def network_of(thing: Any) -> tuple[Any, Any] | None:
    """The network and tokenizer that an object is: both in a tuple, those of a CrossEncoder, or a
    network that says where its tokenizer lies; None where it is none of these.
    """
    if "transformers" not in sys.modules:
        return None
    from transformers import AutoTokenizer, PreTrainedModel

    if _is_cross_encoder(thing):
        return thing.model, thing.tokenizer
    if isinstance(thing, tuple | list):
        networks = [each for each in thing if isinstance(each, PreTrainedModel)]
        others = [each for each in thing if not isinstance(each, PreTrainedModel)]
        return (networks[0], others[0]) if len(networks) == len(others) == 1 else None
    if not isinstance(thing, PreTrainedModel):
        return None
    if not Path(thing.name_or_path or "?").is_dir():
        raise BadModel(
            f"{type(thing).__name__} alone cannot read texts: give it with its tokenizer, "
            "(model, tokenizer)"
        )
    return thing, AutoTokenizer.from_pretrained(thing.name_or_path, trust_remote_code=False)


def _is_cross_encoder(thing: Any) -> bool:
    library = sys.modules.get("sentence_transformers")
    return library is not None and isinstance(thing, library.CrossEncoder)


def from_network(network: Any, tokenizer: Any) -> Predictor:
    """A predictor from a network and its tokenizer."""
    name = type(network).__name__
    if not is_question_answering(network.config) and "ForSequenceClassification" not in name:
        raise BadModel(
            f"{name} predicts no labels of texts: need a …ForSequenceClassification; of another "
            "kind, give a function that calls it"
        )
    given, notes = _network(network)
    predictor = hf_predictor(given, tokenizer, "", is_borrowed=True)
    predictor.notes = [*notes, *predictor.notes]
    return predictor


def _check_task(pipeline: Any) -> None:
    from transformers import TextClassificationPipeline

    if not isinstance(pipeline, TextClassificationPipeline):
        raise BadModel(
            f"a pipeline for {pipeline.task} is not supported; give one for text-classification, "
            "or a function that calls yours"
        )


def _is_plain(pipeline: Any) -> bool:
    """Whether the network alone, its inputs cut to fit, gives the pipeline's predictions."""
    from transformers import TextClassificationPipeline

    if type(pipeline) is not TextClassificationPipeline:
        return False
    settings = {k: v for k, v in pipeline._preprocess_params.items() if k != "padding"}
    if settings not in ({}, {"truncation": True}):
        return False
    is_number = pipeline.model.config.num_labels == 1
    return _applied(pipeline) == ("none" if is_number else "softmax")


def _applied(pipeline: Any) -> str:
    """The function that the pipeline applies to logits; its own rules where none was asked for."""
    chosen = pipeline._postprocess_params.get("function_to_apply")
    if chosen is not None:
        return str(chosen.value)
    config = pipeline.model.config
    if config.problem_type == "regression":
        return "none"
    if config.problem_type == "multi_label_classification" or config.num_labels == 1:
        return "sigmoid"
    return "softmax"


def _network(network: Any) -> tuple[Any, list[str]]:
    """The network, or a copy in single precision where a CPU would run half precision slowly."""
    import torch

    halves = (torch.float16, torch.bfloat16)
    if network.device.type != "cpu" or network.dtype not in halves:
        return network, []
    name = str(network.dtype).removeprefix("torch.")
    note = f"the model's weights are {name}, which is slow on a CPU: predictions are in fp32"
    return deepcopy(network).float(), [note]


class CalledPipeline:
    """A pipeline that is called as it is, for the scores of all labels."""

    is_costly = True
    fingerprint = ""

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline
        self.batch_size: int | None = None
        config = pipeline.model.config
        self.labels = (
            tuple(str(config.id2label[i]) for i in sorted(config.id2label))
            if config.num_labels > 1
            else ()
        )
        self.notes = ["the pipeline itself is called, text by text: it does more than a softmax"]
        if self.labels and _applied(pipeline) != "softmax":
            self.notes.append("the scores of its labels are divided by their sum")

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row per text: scores over their sum, so that the top label stays."""
        given = [a if b is None else {"text": a, "text_pair": b} for a, b in texts]
        settings = {} if self.batch_size is None else {"batch_size": self.batch_size}
        found = self.pipeline(given, top_k=None, **settings)
        if not self.labels:
            return np.array([[each[0]["score"]] for each in found])
        scores = from_label_scores("pipeline", found, self.labels)
        totals = scores.sum(axis=1, keepdims=True)
        if (scores < 0).any() or not totals.all():
            raise BadModel(
                "the pipeline's scores are no probabilities: give it a function_to_apply"
            )
        return np.asarray(scores / totals)
