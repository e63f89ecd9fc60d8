"""A causal language model of transformers: log-probabilities of answers after prompts and of texts,
and what it would write next.

The tokens that many prompts begin with (the stem) go through the network once; their keys and
values are shared. A batch holds prompts of one length, so that nothing is padded. All answers to a
prompt are scored in the pass of the prompt itself: their tokens stand behind it, side by side, and
see the prompt and themselves only.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from disorder.errors import BadModel, BadSetting
from disorder.models.devices import free_memory, thread_pool
from disorder.models.fitting_batches import Feed, FittingBatches
from disorder.models.inputs.batches import by_length, max_input_length, token_budget
from disorder.models.inputs.seams import Ids, PromptTokens
from disorder.types import Floats, Ints

STEM_SHARE = 4  # a token of the stem costs memory in a batch, but no time
LOGITS = 1 << 24  # numbers in the logits of a batch: 64 MB
TOLERANCE = 1e-3  # between ways to compute a log-probability
PROBE = "The cat sat on the mat. Did it sit? Answer:"
PROBE_ANSWERS = (" yes", " certainly not, it did not", " no")


@dataclass(frozen=True, eq=False)
class Stem:
    """Tokens that prompts begin with, and their keys and values, layer by layer."""

    ids: Ids = ()
    layers: tuple[tuple[Any, Any], ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def cache(self, n_rows: int) -> Any:
        """A cache that begins with the stem, for a batch of this size."""
        from transformers import DynamicCache

        rows = [
            (keys.expand(n_rows, -1, -1, -1), values.expand(n_rows, -1, -1, -1))
            for keys, values in self.layers
        ]
        return DynamicCache(rows)


class CausalNetwork(FittingBatches):
    """A causal language model and its tokenizer."""

    precisions = ("fp32", "bf16")

    def __init__(self, network: Any, tokenizer: Any) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer
        self.batch_size: int | None = None
        self.notes: list[str] = []
        config = network.config.get_text_config()
        self.max_length = max_input_length(
            {"max_position_embeddings": getattr(config, "max_position_embeddings", None) or 1 << 30}
        )
        self.n_vocabulary = int(config.vocab_size)
        self.budget = token_budget(config, self.max_length, free_memory(network))
        self.pool = thread_pool(network.device)
        self._keeps = "logits_to_keep" in inspect.signature(network.forward).parameters
        self.shares_stem = self._can_share()
        if not self.shares_stem:
            self.notes.append(
                f"{type(network).__name__} gives other values with shared keys and values: every "
                "prompt is run from its first token"
            )

    def use_precision(self, precision: str) -> None:
        """Run in this number format from now on."""
        import torch

        if precision == "bf16":
            self.network = self.network.to(torch.bfloat16)
        elif precision != "fp32":
            raise BadSetting("causal", precision=precision, need="fp32 or bf16")

    def _can_share(self) -> bool:
        """Whether a shared stem and answers side by side give what plain passes give; tried on one
        prompt, since some architectures keep their state otherwise.
        """
        from disorder.models.inputs.seams import prompt_tokens

        [tokens] = prompt_tokens(self.tokenizer, [PROBE], [PROBE_ANSWERS], special=True)
        plain = [self._plain_score(tokens, k) for k in range(len(tokens.tails))]
        try:
            stem = self.stem(tokens.shared[: len(tokens.shared) // 2])
            shared = self.answer_scores([tokens], stem)[0]
        except (RuntimeError, TypeError, ValueError, AttributeError, IndexError):
            return False  # the architecture has no such cache, or takes no such mask
        return bool(np.abs(shared - np.array(plain)).max() < TOLERANCE)

    def _plain_score(self, tokens: PromptTokens, k: int) -> float:
        """The log-probability of one answer by one pass over all its tokens."""
        whole = np.array([*tokens.shared, *tokens.tails[k]])
        n_context = len(tokens.shared) + tokens.n_unscored
        found = self.token_scores(whole[None])[0]
        return float(found[n_context - 1 :].sum())

    def stem(self, ids: Sequence[int]) -> Stem:
        """Run the first tokens of prompts once."""
        import torch
        from transformers import DynamicCache

        if not len(ids):
            return Stem()
        cache = DynamicCache()
        with torch.inference_mode():
            inputs = torch.tensor([list(ids)], device=self.network.device)
            self._run(inputs, 1, past_key_values=cache, use_cache=True)
        layers = tuple((layer.keys, layer.values) for layer in cache.layers)
        if any(keys is None or keys.shape[-2] != len(ids) for keys, _ in layers):
            raise ValueError("this architecture keeps no keys and values of all tokens")
        return Stem(tuple(ids), layers)

    def answer_scores(self, prompts: Sequence[PromptTokens], stem: Stem) -> Floats:
        """The log-probability of each answer of each prompt; every prompt begins with the stem."""
        n_answers = len(prompts[0].tails) if prompts else 0
        scores = np.empty((len(prompts), n_answers))
        groups: dict[tuple[int, tuple[Ids, ...], int], list[int]] = defaultdict(list)
        for i, tokens in enumerate(prompts):
            self._check_length(tokens)
            groups[len(tokens.shared), tokens.tails, tokens.n_unscored].append(i)
        work = [
            (members, partial(self._scored, stem, tails, n_unscored), length)
            for (length, tails, n_unscored), places in sorted(groups.items())
            for members in self._chunks(places, length, len(stem))
        ]
        feeds = [
            {"input_ids": np.array([prompts[i].shared[len(stem) :] for i in members]), "run": run}
            for members, run, _ in work
        ]
        for (members, _, _), found in zip(work, self.each(self._fitted, feeds), strict=True):
            scores[members] = found
        return scores

    def _fitted(self, feed: Feed) -> Floats:
        return self.fitting(lambda part: feed["run"](part["input_ids"]), _arrays(feed))

    def _chunks(self, places: Sequence[int], length: int, n_stem: int) -> Iterator[Ints]:
        """Batches of prompts of one length, as many as memory holds."""
        cost = max(1, length - n_stem + n_stem // STEM_SHARE)
        size = self.batch_size or max(1, self.budget // cost)
        for start in range(0, len(places), size):
            yield np.array(places[start : start + size])

    def _check_length(self, tokens: PromptTokens) -> None:
        longest = len(tokens.shared) + max(map(len, tokens.tails))
        if longest > self.max_length:
            raise BadModel(
                f"a prompt has {longest:,} tokens, and the model takes {self.max_length:,}: use "
                "fewer --shots, or leave out the longest texts"
            )

    def _scored(self, stem: Stem, tails: tuple[Ids, ...], n_unscored: int, ids: Ints) -> Floats:
        """One batch: the prompts' own tokens, then the answers' but for their last ones."""
        import torch

        n_rows, n_own = ids.shape
        inner = [tail[:-1] for tail in tails]
        beside = np.array([token for tail in inner for token in tail], dtype=np.int64)
        inputs = np.concatenate([ids, np.tile(beside, (n_rows, 1))], axis=1)
        more: dict[str, Any] = {}
        device = self.network.device
        with torch.inference_mode():
            if len(beside):
                places, mask = _side_by_side(len(stem), n_own, [len(tail) for tail in inner])
                more["position_ids"] = torch.from_numpy(places)[None].to(device)
                more["attention_mask"] = _additive(mask, self.network.dtype, device)
            if len(stem):
                more |= {"past_key_values": stem.cache(n_rows), "use_cache": True}
            logits = self._run(torch.from_numpy(inputs).to(device), 1 + len(beside), **more)
            found = torch.log_softmax(logits.float(), dim=-1).cpu().numpy()
        scores = np.zeros((n_rows, len(tails)))
        start = 1
        for k, tail in enumerate(tails):
            rows = [0, *range(start, start + len(tail) - 1)]  # where each token is predicted
            start += len(tail) - 1
            chosen = found[:, rows, list(tail)][:, n_unscored:]
            scores[:, k] = chosen.astype(np.float64).sum(axis=1)
        return scores

    def _run(self, inputs: Any, n_kept: int, **more: Any) -> Any:
        """The logits of the last positions."""
        if self._keeps:
            more["logits_to_keep"] = n_kept
        return self.network(input_ids=inputs, **more).logits[:, -n_kept:]

    def token_scores(self, ids: Ints) -> Floats:
        """The log-probability of each token but the first, given those before it."""
        import torch

        with torch.inference_mode():
            inputs = torch.from_numpy(ids).to(self.network.device)
            logits = self.network(input_ids=inputs).logits[:, :-1]
            found = torch.log_softmax(logits.float(), dim=-1)
            chosen = found.gather(2, inputs[:, 1:, None])[..., 0]
        scores: Floats = chosen.cpu().numpy().astype(np.float64)
        return scores

    def continuations(self, rows: Sequence[Sequence[int]], max_tokens: Sequence[int]) -> list[str]:
        """What the network writes next, always its likeliest token, until it ends or may not go
        on.
        """
        found = [""] * len(rows)
        lengths = [len(row) for row in rows]
        for members in by_length(lengths, batch_size=self.batch_size, budget=self.budget):
            places = members.tolist()
            inputs = np.array([rows[i] for i in places])
            written = self._continued(inputs, max(max_tokens[i] for i in places))
            for i, ids in zip(places, written, strict=True):
                found[i] = self.tokenizer.decode(ids[: max_tokens[i]], skip_special_tokens=True)
        return found

    def _continued(self, inputs: Ints, n_tokens: int) -> Ints:
        import torch

        ends = self.tokenizer.eos_token_id
        with torch.inference_mode():
            ids = torch.from_numpy(inputs).to(self.network.device)
            whole = self.network.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                do_sample=False,
                max_new_tokens=n_tokens,
                pad_token_id=0 if ends is None else ends,
            )
        written: Ints = whole[:, inputs.shape[1] :].cpu().numpy()
        return written

    def log_likelihoods(self, texts: Sequence[str], /) -> Floats:
        """The log-probability of each text, from its first token on."""
        start = self._start()
        rows = [
            np.array([start, *ids])
            for ids in self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        ]
        for row in rows:
            if len(row) > self.max_length:
                raise BadModel(
                    f"a text has {len(row):,} tokens, and the model takes {self.max_length:,}: "
                    "leave out the longest texts"
                )
        # all positions have logits, which take more room than anything else
        budget = min(self.budget, max(1, LOGITS // self.n_vocabulary))
        lengths = [len(row) for row in rows]
        batches = list(by_length(lengths, batch_size=self.batch_size, budget=budget))
        feeds = [{"input_ids": np.stack([rows[i] for i in members])} for members in batches]
        scores = np.zeros(len(texts))
        for members, found in zip(batches, self.each(self._summed, feeds), strict=True):
            scores[members] = found
        return scores

    def _summed(self, feed: Feed) -> Floats:
        return self.fitting(lambda part: self.token_scores(part["input_ids"]).sum(axis=1), feed)

    def _start(self) -> int:
        """The token before the first of a text."""
        for token in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        raise BadModel(
            "this tokenizer has no token that begins a text, so a first word has no odds"
        )


def _arrays(feed: Feed) -> Feed:
    return {name: array for name, array in feed.items() if name != "run"}


def _side_by_side(n_stem: int, n_own: int, lengths: Sequence[int]) -> tuple[Ints, Any]:
    """Positions, and which tokens each sees: its prompt up to itself; answers see their whole
    prompt and themselves, but not each other.
    """
    n_before = n_stem + n_own
    total = n_own + sum(lengths)
    places = np.concatenate(
        [np.arange(n_stem, n_before), *(n_before + np.arange(length) for length in lengths)]
    )
    sees = np.zeros((total, n_stem + total), dtype=bool)
    sees[:n_own, :n_before] = np.tri(n_own, n_before, n_stem, dtype=bool)
    sees[n_own:, :n_before] = True
    start = n_own
    for length in lengths:
        block = slice(start, start + length)
        columns = slice(n_stem + start, n_stem + start + length)
        sees[block, columns] = np.tri(length, dtype=bool)
        start += length
    return places.astype(np.int64), sees


def _additive(sees: Any, dtype: Any, device: Any) -> Any:
    """A mask that is added to attention scores: 0 where a token is seen."""
    import torch

    hidden = torch.finfo(dtype).min
    mask = torch.zeros(sees.shape, dtype=dtype)
    return mask.masked_fill(torch.from_numpy(~sees), hidden)[None, None].to(device)
