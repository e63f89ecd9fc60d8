"""Batches: which inputs go through a model together, on which device, and what becomes of a batch
that does not fit. Only inputs of equal length go together, so that nothing is padded.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from disorder.errors import BadModel
from disorder.models.inputs.token_blocks import EncodedInputs
from disorder.models.inputs.tokens import WordTokens
from disorder.models.inputs.variants import all_texts
from disorder.models.outputs import sigmoid_columns, softmax
from disorder.types import Floats, Ints, Texts, TokenUnit, Variants

# tokens in a batch on a CPU: from 512 to 8,192 no difference above noise was measured
CPU_BUDGET = 2048
GPU_BUDGETS = (2048, 32768)  # fewest and most tokens in a batch on a GPU; not tuned on one
SHARE = 4  # a batch is planned to take a quarter of the memory
# models that keep two positions for themselves
OFFSET = ("roberta", "xlm-roberta", "camembert", "longformer")


def by_length(
    lengths: Sequence[int], *, batch_size: int | None = None, budget: int = CPU_BUDGET
) -> Iterator[Ints]:
    """Index arrays of inputs of one length, each batch within the token budget (or of the size
    asked for).
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for i, length in enumerate(lengths):
        groups[length].append(i)
    for length, members in sorted(groups.items()):
        size = batch_size or max(1, budget // max(length, 1))
        for start in range(0, len(members), size):
            yield np.array(members[start : start + size])


def token_budget(config: Any, max_length: int, memory: int | None) -> int:
    """Tokens in a batch, from the size of the model and the bytes its device has free for
    activations (None on a CPU).

    Settled by arithmetic and not by a stopwatch: the last bits of a prediction can depend on the
    batch it was in, so the same model on the same device must always get the same batches.
    """
    if memory is None:
        return CPU_BUDGET
    # configurations differ in which of these they have
    hidden = int(getattr(config, "hidden_size", None) or 1024)
    inner = int(getattr(config, "intermediate_size", None) or 4 * hidden)
    heads = int(getattr(config, "num_attention_heads", None) or 16)
    # attention scores are heads × length
    per_token = 4 * (8 * hidden + 2 * inner + 2 * heads * min(max_length, 512))
    fits = memory // SHARE // per_token
    least, most = GPU_BUDGETS
    # a power of two: a few bytes change nothing
    return max(least, min(most, 1 << max(0, fits.bit_length() - 1)))


def max_input_length(config: Mapping[str, Any]) -> int:
    """The longest input a model's configuration allows (RoBERTa and its kin use two positions
    themselves).
    """
    if config.get("max_length"):
        return int(config["max_length"])
    # XLNet says −1: no limit
    positions = max(0, int(config.get("max_position_embeddings") or 0)) or 512
    return positions - 2 if config.get("model_type") in OFFSET else positions


def n_threads() -> int:
    """As many as there are cores for this process; a worker's share where it was given one."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def best_device() -> str:
    """A GPU where there is one."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def thread_pool(device: Any) -> ThreadPoolExecutor | None:
    """Threads for batches side by side on a CPU, each batch on one; None on a GPU.

    It is quicker than one batch on all threads, and gives the same bits for any number of them.
    """
    import torch

    if device.type != "cpu":
        return None
    return ThreadPoolExecutor(n_threads(), initializer=torch.set_num_threads, initargs=(1,))


def free_memory(network: Any) -> int | None:
    """Bytes that the network's device has beside its weights; None on a CPU, where batches are
    small anyway.
    """
    import torch

    kind = network.device.type
    if kind == "cuda":
        total = torch.cuda.get_device_properties(network.device).total_memory
    elif kind == "mps":
        total = torch.mps.recommended_max_memory()
    else:
        return None
    weights: int = sum(weight.nbytes for weight in network.parameters())
    return max(0, int(total) - weights)


def is_out_of_memory(error: RuntimeError | MemoryError) -> bool:
    """Whether an error says that memory ran out: CUDA has a class for it, the CPU and MPS words."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    message = str(error).lower()
    return "out of memory" in message or "can't allocate memory" in message


Feed = dict[str, Any]
Run = Callable[[Feed], Floats]


class FittingBatches:
    """What all networks of transformers share: how their batches are run."""

    batch_size: int | None
    budget: int  # tokens in a batch
    notes: list[str]
    pool: ThreadPoolExecutor | None

    def each(self, run: Run, feeds: Sequence[Feed]) -> Iterator[Floats]:
        """What `run` makes of every batch, side by side on a CPU."""
        return self.pool.map(run, feeds) if self.pool else map(run, feeds)

    def fitting(self, run: Run, feed: Feed) -> Floats:
        """What `run` makes of one batch; one that does not fit in memory is halved, and so are
        those to come.
        """
        try:
            return run(feed)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error) or len(feed["input_ids"]) == 1:
                raise
        except IndexError as error:
            raise BadModel(
                "a token or place has no row in the model's embeddings: its tokenizer belongs to "
                "another model"
            ) from error
        # not inside `except`, where the tensors of the batch that failed are still held
        return self._in_halves(run, feed)

    def _in_halves(self, run: Run, feed: Feed) -> Floats:
        n, length = feed["input_ids"].shape
        self.notes.append(f"a batch of {n} texts did not fit in memory; smaller ones are used")
        if self.batch_size:
            self.batch_size = min(self.batch_size, n // 2)
        self.budget = min(self.budget, n * length // 2)
        halves = [
            {name: array[part] for name, array in feed.items()}
            for part in (slice(n // 2), slice(n // 2, n))
        ]
        return np.concatenate([self.fitting(run, half) for half in halves])


class TokenModel:
    """A network over token numbers: texts and variants become inputs, and inputs of equal length
    batches.
    """

    labels: tuple[str, ...]
    tokens: WordTokens | None  # None where every text is tokenised as a whole
    input_seconds: float
    batch_size: int | None
    budget: int  # tokens in a batch
    pool: ThreadPoolExecutor | None  # batches run side by side on a CPU
    form = "logits"  # of what the network gives: also probabilities, a share, its logit

    def __call__(self, texts: Sequence[Texts], /) -> Floats:
        """Probabilities, one row per text (one number per text for a regression model)."""
        began = time.perf_counter()
        encoded = self.encode(texts)
        self.input_seconds += time.perf_counter() - began
        return self._predicted(encoded)

    def predict_variants(self, variants: Sequence[Variants], /) -> Floats:
        """Probabilities, one row per variant, from word positions."""
        if self.tokens is None:
            return self(all_texts(variants))
        began = time.perf_counter()
        encoded = self.tokens.encode_variants(variants)
        self.input_seconds += time.perf_counter() - began
        return self._predicted(encoded)

    def token_units(self, texts: Texts, /) -> list[list[TokenUnit]]:
        """The tokens of each text, as units that can be moved."""
        if self.tokens is None:
            raise BadModel("unit=token needs a fast tokenizer; this model has none: unit=word")
        return [self.tokens.units(text) for text in texts if text is not None]

    def readable(self, texts: Texts, /) -> Texts:
        """The texts, cut at a word where the model would not read them to the end."""
        return texts if self.tokens is None else self.tokens.readable(texts)

    def _predicted(self, encoded: EncodedInputs) -> Floats:
        is_column = self.form in ("share", "logit")
        found = self.outputs_of(encoded, 1 if is_column else max(1, len(self.labels)))
        if is_column:
            return sigmoid_columns(found, is_share=self.form == "share")
        return softmax(found) if self.labels and self.form == "logits" else found

    def outputs_of(self, encoded: EncodedInputs, width: int) -> Floats:
        """What the network gives for each input, a row of `width` numbers."""
        began = time.perf_counter()
        lengths = encoded.lengths.tolist()
        batches = list(by_length(lengths, batch_size=self.batch_size, budget=self.budget))
        feeds = [self.feed_of(*encoded.batch(members)) for members in batches]
        self.input_seconds += time.perf_counter() - began
        found = np.empty((len(lengths), width))
        each = self.pool.map if self.pool else map
        for members, outputs in zip(batches, each(self.forward, feeds), strict=True):
            found[members] = outputs
        return found

    def encode(self, texts: Sequence[Texts]) -> EncodedInputs:
        """Token numbers of texts, as the tokenizer gives them."""
        assert self.tokens is not None
        return EncodedInputs.of_lists(self.tokens.encode(texts))

    def feed_of(self, ids: Ints, type_ids: Ints) -> Feed:
        """The arrays of one batch, as the network takes them."""
        raise NotImplementedError

    def forward(self, feed: Feed) -> Floats:
        """The network's outputs for one batch."""
        raise NotImplementedError
