"""Hugging Face classifiers and question answering models, by name or from a folder, on a GPU where
there is one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from disorder.errors import BadModel, BadSetting, MissingPackage
from disorder.models.importance.gradients import (
    TARGETS,
    by_side,
    is_telling,
    token_scores,
    watching,
)
from disorder.models.inputs.batches import by_length, max_input_length, n_threads, token_budget
from disorder.models.inputs.pieces import Spans, token_spans, whole_words
from disorder.models.inputs.tokens import PROBES, Encoded, WordTokens
from disorder.models.outputs.answer_spans import is_question_answering
from disorder.models.outputs.probabilities import softmax
from disorder.registry import model
from disorder.types import Floats, Ints, Pair, Predictor, Task, Texts

Run = Callable[[dict[str, Any]], Floats]


@model(form="hf:NAME_OR_FOLDER", needs="transformers, torch")
def hf(address: str, *, task: Task) -> Predictor:
    """A transformers classifier, or question answering model, from the hub or a folder; labels come
    from its config.
    """
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
    if address.startswith(("/", "./", "../", "~")) and not Path(address).is_dir():
        raise BadModel(f"hf:{address}: no such folder")
    try:
        tokenizer = AutoTokenizer.from_pretrained(address)
        finds_spans = is_question_answering(AutoConfig.from_pretrained(address))
        kind = AutoModelForQuestionAnswering if finds_spans else AutoModelForSequenceClassification
        network = kind.from_pretrained(address, dtype=torch.float32, use_safetensors=True)
    except (OSError, ValueError, KeyError) as error:
        raise BadModel(
            f"hf:{address} cannot be loaded: {(str(error).splitlines() or [''])[0]}"
        ) from None
    return _predictor(
        network.to(_device(torch)), tokenizer, f"hf:{_hash(address, network, tokenizer)}"
    )


def from_pipeline(pipeline: Any) -> Predictor:
    """The model and tokenizer inside a transformers pipeline, without its slow batching."""
    return _predictor(pipeline.model, pipeline.tokenizer, "")


def _predictor(network: Any, tokenizer: Any, fingerprint: str) -> Predictor:
    from disorder.models.question_answering import (
        QuestionAnswering,
    )  # which is a Transformer itself

    kind = QuestionAnswering if is_question_answering(network.config) else Transformer
    return kind(network, tokenizer, fingerprint)


class Transformer:
    """A transformers classifier; inputs of equal length run together, without padding."""

    is_costly = True

    def __init__(
        self, network: Any, tokenizer: Any, fingerprint: str, *, batch_size: int | None = None
    ) -> None:
        self.network, self.tokenizer, self.fingerprint = network.eval(), tokenizer, fingerprint
        self.batch_size = batch_size
        names = network.config.id2label
        self.labels = (
            tuple(str(names[i]) for i in sorted(names)) if network.config.num_labels > 1 else ()
        )
        self.max_length = min(
            max_input_length(_positions(network.config)), tokenizer.model_max_length
        )
        self.tokens = _word_tokens(tokenizer, self.max_length)
        self.notes = (
            ["every text is tokenised as a whole"] if self.tokens is None else self.tokens.notes
        )
        self.assembling = 0.0
        self._pool = _pool() if network.device.type == "cpu" else None
        self._unquantised: Any = None
        self.budget = token_budget(network.config, self.max_length, _device_memory(network))

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row a text (one number a text for a regression model)."""
        began = time.perf_counter()
        encoded = self._encode(texts)
        logits = np.empty((len(texts), max(1, len(self.labels))))
        batches = self.batches(encoded)
        feeds = [self.feed([encoded[i] for i in batch]) for batch in batches]
        self.assembling += time.perf_counter() - began
        for batch, part in zip(batches, self.each(self._forward, feeds), strict=True):
            logits[batch] = part
        return softmax(logits) if self.labels else logits

    @cached_property
    def has_gradients(self) -> bool:
        """Whether the importance of words can be had from gradients; tried on one text."""
        if not getattr(self.tokenizer, "is_fast", False):
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
        """Embedding · gradient of the loss, summed over each word's tokens, one array a text; words
        cut off get 0.

        `targets` holds a row for each pair: 1 for every label of the model's own that means the
        gold one, or the gold number.
        """
        encoded = [self.encoding(pair) for pair in pairs]
        batches = self.batches(encoded, share=0.5)
        feeds = [
            self.feed([encoded[i] for i in batch]) | {TARGETS: targets[batch]} for batch in batches
        ]
        found: list[list[Floats]] = [[] for _ in pairs]
        with watching(self.exact) as differentiate:

            def score(feed: dict[str, Any]) -> Floats:
                return token_scores(differentiate(feed), feed["input_ids"])

            for batch, scores in zip(
                batches, self.each(partial(self._fitting, score), feeds), strict=True
            ):
                for i, row in zip(batch.tolist(), scores, strict=True):
                    found[i] = by_side(row, encoded[i], pairs[i])
        return found

    def pieces(self, text: str) -> Spans:
        """Where the tokenizer's own tokens lie in a text."""
        if not getattr(self.tokenizer, "is_fast", False):
            raise BadModel(
                "this model's tokenizer does not say where its tokens lie: it has no fast form"
            )
        return token_spans(self.tokenizer, text)

    def vocabulary(self) -> Sequence[str]:
        """The whole words among the tokenizer's tokens."""
        return self._words

    @cached_property
    def _words(self) -> list[str]:
        return whole_words(self.tokenizer)

    @cached_property
    def exact(self) -> Any:
        """The network in single precision, whatever the answers are computed in: gradients need it."""
        import torch

        network = self._unquantised or self.network
        is_exact = all(weights.dtype is torch.float32 for weights in network.parameters())
        return network if is_exact else deepcopy(network).float()

    def use_precision(self, precision: str) -> None:
        """Run in another number format from now on; int8 quantises the linear layers for the CPU."""
        import torch

        if precision == "bf16":
            self.network = self.network.to(torch.bfloat16)
        elif precision == "int8":
            self._unquantised, self.network = self.network, quantised(self.network)
        else:
            raise BadSetting("audit", precision=precision, need="fp32, bf16, int8 or auto")

    def each(self, run: Run, feeds: Sequence[dict[str, Any]]) -> Iterator[Floats]:
        """What `run` makes of every batch, side by side on a CPU."""
        return self._pool.map(run, feeds) if self._pool else map(run, feeds)

    def batches(self, encoded: Sequence[Any], *, share: float = 1.0) -> list[Ints]:
        """Inputs of equal length, as many as a share of the usual memory holds."""
        budget = int(share * self.budget)
        return list(
            by_length([len(e.ids) for e in encoded], batch_size=self.batch_size, budget=budget)
        )

    def _forward(self, feed: dict[str, Any]) -> Floats:
        return self._fitting(self._logits, feed)

    def _logits(self, feed: dict[str, Any]) -> Floats:
        import torch

        with torch.inference_mode():
            inputs = {
                name: torch.from_numpy(array).to(self.network.device)
                for name, array in feed.items()
            }
            logits: Floats = self.network(**inputs).logits.float().cpu().numpy()
            return logits

    def _fitting(self, run: Run, feed: dict[str, Any]) -> Floats:
        """What `run` makes of one batch; one that does not fit in memory is halved, and so are
        those to come.
        """
        try:
            return run(feed)
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error) or len(feed["input_ids"]) == 1:
                raise
        return self._in_halves(
            run, feed
        )  # not inside `except`, where the tensors of the batch that failed are still held

    def _in_halves(self, run: Run, feed: dict[str, Any]) -> Floats:
        n, length = feed["input_ids"].shape
        self.notes.append(f"a batch of {n} texts did not fit in memory; smaller ones are used")
        if self.batch_size:
            self.batch_size = min(self.batch_size, n // 2)
        self.budget = min(self.budget, n * length // 2)
        halves = [
            {name: array[part] for name, array in feed.items()}
            for part in (slice(n // 2), slice(n // 2, n))
        ]
        return np.concatenate([self._fitting(run, half) for half in halves])

    def _encode(self, texts: Sequence[Texts]) -> list[Encoded]:
        if self.tokens is not None:
            return self.tokens.encode(texts)
        first, second = [a for a, _ in texts], [b for _, b in texts]
        pairs = None if not second or second[0] is None else second
        given = self.tokenizer(first, pairs, truncation=True, max_length=self.max_length)
        types = given.get("token_type_ids") or [[0] * len(ids) for ids in given["input_ids"]]
        return [Encoded(ids, kinds) for ids, kinds in zip(given["input_ids"], types, strict=True)]

    def encoding(self, pair: Pair) -> Any:
        """One input with where its tokens come from, cut off where the model's answers cut it off."""
        second = None if pair.b is None else pair.b.text
        return self.tokenizer(
            pair.a.text, second, truncation=True, max_length=self.max_length
        ).encodings[0]

    def feed(self, encoded: Sequence[Any]) -> dict[str, Any]:
        """The arrays of one batch, as the network takes them."""
        ids = np.array([e.ids for e in encoded], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if "token_type_ids" in self.tokenizer.model_input_names:
            feed["token_type_ids"] = np.array([e.type_ids for e in encoded], dtype=np.int64)
        return feed


def _pool() -> ThreadPoolExecutor:
    """Batches side by side, each on one thread: quicker on a CPU, and the same bits however many
    threads there are.
    """
    import torch

    return ThreadPoolExecutor(n_threads(), initializer=torch.set_num_threads, initargs=(1,))


def _word_tokens(tokenizer: Any, max_length: int) -> WordTokens | None:
    """Tokenising from kept words, for tokenizers that have a fast core."""
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is None:
        return None
    own = type(core).from_str(core.to_str())
    own.no_padding()
    own.enable_truncation(max_length, direction=tokenizer.truncation_side)
    tokens = WordTokens(own, max_length)
    for a, b in PROBES:  # the fast core must also be all there is to this tokenizer
        whole = tokenizer(a, b, truncation=True, max_length=max_length)["input_ids"]
        if tokens.encode([(a, b)])[0].ids != whole:
            return None
    return tokens


def quantised(network: Any) -> Any:
    """The network with its linear layers in int8, their inputs quantised as they come."""
    import torch

    return torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, dtype=torch.qint8)


def _positions(config: Any) -> dict[str, Any]:
    """What a configuration says about positions; its generation defaults (max_length) do not count."""
    return {name: getattr(config, name, None) for name in ("max_position_embeddings", "model_type")}


def _device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _device_memory(network: Any) -> int | None:
    """Bytes that the network's device has beside its weights; None on a CPU, where batches are
    small anyway.
    """
    import torch

    kind = network.device.type
    if kind not in ("cuda", "mps"):
        return None
    cuda = kind == "cuda"
    total = (
        torch.cuda.get_device_properties(network.device).total_memory
        if cuda
        else torch.mps.recommended_max_memory()
    )
    weights: int = sum(weight.nbytes for weight in network.parameters())
    return max(0, int(total) - weights)


def _is_out_of_memory(error: RuntimeError | MemoryError) -> bool:
    """CUDA has an error of its own for it; the CPU and MPS say it in words."""
    import torch

    said = str(error).lower()
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "out of memory" in said
        or "can't allocate memory" in said
    )


def _hash(address: str, network: Any, tokenizer: Any) -> str:
    """A hash of weights, configuration and tokenizer where they are local, wherever they lie; else
    the hub's commit.
    """
    commit = getattr(network.config, "_commit_hash", None)
    if commit:
        return f"{address}@{commit}"
    config = {
        key: value for key, value in network.config.to_dict().items() if key != "_name_or_path"
    }
    core = getattr(tokenizer, "backend_tokenizer", None)
    words = core.to_str() if core is not None else str(sorted(tokenizer.get_vocab().items()))
    facts = [
        json.dumps(config, sort_keys=True, default=str),
        words,
        str(tokenizer.model_max_length),
        tokenizer.truncation_side,
    ]
    hashed = blake2b("\0".join(facts).encode(), digest_size=16)
    for path in sorted(Path(address).glob("*.safetensors")):
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                hashed.update(block)
    return hashed.hexdigest()
