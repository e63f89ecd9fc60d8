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
from functools import partial
from typing import Any

import numpy as np

from disorder.errors import BadModel, BadSetting, option
from disorder.models.inputs.batches import (
    Feed,
    FittingBatches,
    by_length,
    free_memory,
    max_input_length,
    thread_pool,
    token_budget,
)
from disorder.models.inputs.prompt_tokens import (
    Ids,
    PromptTokens,
    Stem,
    additive_mask,
    side_by_side,
)
from disorder.types import Floats, Ints

STEM_SHARE = 2  # a token of the stem is copied in a batch, but not computed
LOGITS = 1 << 24  # numbers in the logits of a batch: 64 MB
TOLERANCE = 1e-3  # between ways to compute a log-probability
PROBE = "The cat sat on the mat. Did it sit? Answer:"
PROBE_ANSWERS = (" yes", " certainly not, it did not", " no")


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
        from disorder.models.inputs.prompt_tokens import prompt_tokens

        [tokens] = prompt_tokens(self.tokenizer, [PROBE], [PROBE_ANSWERS], special=True)
        plain = [self._plain_score(tokens, k) for k in range(len(tokens.tails))]
        try:
            n_shared = len(tokens.shared)
            stem = self.stem(tokens.shared[: n_shared // 3])
            longer = self.stem(tokens.shared[: n_shared // 2], stem)
            shared = self.answer_scores([tokens], [longer])[0]
        except (RuntimeError, TypeError, ValueError, AttributeError, IndexError):
            return False  # the architecture has no such cache, or takes no such mask
        return bool(np.abs(shared - np.array(plain)).max() < TOLERANCE)

    def _plain_score(self, tokens: PromptTokens, k: int) -> float:
        """The log-probability of one answer by one pass over all its tokens."""
        whole = np.array([*tokens.shared, *tokens.tails[k]])
        n_context = len(tokens.shared) + tokens.n_unscored
        found = self.token_scores(whole[None])[0]
        return float(found[n_context - 1 :].sum())

    def stem(self, ids: Sequence[int], after: Stem | None = None) -> Stem:
        """Run the first tokens of prompts once, those of another stem left out."""
        import torch
        from transformers import DynamicCache

        n_before = len(after) if after else 0
        if len(ids) == n_before:
            return after or Stem()
        with torch.inference_mode():
            cache = after.cache(1) if after else DynamicCache()
            inputs = torch.tensor([list(ids[n_before:])], device=self.network.device)
            self._run(inputs, 1, past_key_values=cache, use_cache=True)
            if any(each.keys is None or each.keys.shape[-2] != len(ids) for each in cache.layers):
                raise ValueError("this architecture keeps no keys and values of all tokens")
            # copied, so that those of the stem before it are not kept once more
            layers = tuple(
                (each.keys[..., n_before:, :].clone(), each.values[..., n_before:, :].clone())
                for each in cache.layers
            )
        return Stem(tuple(ids), layers, after)

    def stems(self, rows: Sequence[Ids], after: Stem) -> list[Stem]:
        """Stems after another, side by side on a CPU."""
        run = partial(self.stem, after=after)
        return list(self.pool.map(run, rows) if self.pool else map(run, rows))

    def answer_scores(self, prompts: Sequence[PromptTokens], stems: Sequence[Stem]) -> Floats:
        """The log-probability of each answer of each prompt; every prompt begins with its stem."""
        n_answers = len(prompts[0].tails) if prompts else 0
        scores = np.empty((len(prompts), n_answers))
        groups: dict[tuple[Stem, int, tuple[Ids, ...], int], list[int]] = defaultdict(list)
        for i, (tokens, stem) in enumerate(zip(prompts, stems, strict=True)):
            self._check_length(tokens)
            groups[stem, len(tokens.shared), tokens.tails, tokens.n_unscored].append(i)
        work = [
            (members, stem, partial(self._scored, stem, tails, n_unscored))
            for (stem, length, tails, n_unscored), places in groups.items()
            for members in self._chunks(places, length, len(stem))
        ]
        feeds = [
            {"input_ids": np.array([prompts[i].shared[len(stem) :] for i in members]), "run": run}
            for members, stem, run in work
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
        yield from np.array_split(np.array(places), -(-len(places) // size))

    def _check_length(self, tokens: PromptTokens) -> None:
        longest = len(tokens.shared) + max(map(len, tokens.tails))
        if longest > self.max_length:
            raise BadModel(
                f"a prompt has {longest:,} tokens, and the model takes {self.max_length:,}: use "
                f"fewer {option('shots')}, or leave out the longest texts"
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
                places, mask = side_by_side(len(stem), n_own, [len(tail) for tail in inner])
                more["position_ids"] = torch.from_numpy(places)[None].to(device)
                more["attention_mask"] = additive_mask(mask, self.network.dtype, device)
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
