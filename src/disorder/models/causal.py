"""Causal language models of transformers behind a prompt: the likeliest label word is the
prediction.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from cachetools import LRUCache

from disorder.errors import BadModel, DoesNotApply, MissingPackage, option
from disorder.models.causal_network import CausalNetwork
from disorder.models.fingerprints import check_complete, hub_fingerprint
from disorder.models.inputs.batches import best_device
from disorder.models.inputs.prompt_tokens import (
    Ids,
    PromptTokens,
    Stem,
    common_length,
    prompt_tokens,
)
from disorder.models.inputs.variants import all_texts, are_tokens, token_rows
from disorder.models.likelihood import LikelihoodModel
from disorder.models.prompting import Prompt, PromptedModel, Question, prompt_for
from disorder.models.prompting.template import TextPlace, marked, text_places, with_moved
from disorder.registry import model
from disorder.store.hub import hub_access
from disorder.store.store import Memo
from disorder.types import Floats, Predictor, Task, Texts, TokenUnit, Variants, text_segments

# texts that begin differently, to find where the part that all prompts share ends
OPENINGS = ("x", "The cat", "the cat", "I", "12 (!)", '"A')
DIFFERENT: tuple[Texts, ...] = tuple((each, each) for each in OPENINGS)
MAX_STEMS = 4
KEPT_TOKENS = 4096  # of leads, whose keys and values are kept
PORTION = 4 * KEPT_TOKENS  # letters of leads that are run together
N_MET = 20_000  # first texts that are known to have been there
NO_STEM = Stem()


@model(form="causal:NAME_OR_FOLDER", needs="transformers, torch", only_reads=True)
def causal(address: str, *, task: Task, prompt: Prompt | None = None) -> Predictor:
    """A causal language model from the hub or a folder (safetensors, or one GGUF file), asked by a
    prompt.
    """
    network, tokenizer = loaded_network("causal", address)
    fingerprint = fingerprint_of("causal", address, network)
    causal_network = CausalNetwork(network, tokenizer)
    if task.is_likelihood or task.kind == "pair":
        return LikelihoodModel(causal_network, fingerprint)
    return CausalModel(causal_network, prompt or prompt_for(task), fingerprint)


def fingerprint_of(kind: str, address: str, network: Any) -> str:
    """A hash of a folder, or the commit of a model on the hub; empty where neither is known."""
    # set by transformers for models of the hub, under a private name
    commit = getattr(network.config, "_commit_hash", None)
    found = hub_fingerprint(address, commit)
    return f"{kind}:{found}" if found else ""


def loaded_network(kind: Literal["causal", "masked"], address: str) -> tuple[Any, Any]:
    """A language model in single precision on the best device, and its tokenizer."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingPackage(f"{kind}:{address}", "transformers", "hf") from error
    logging.disable_progress_bar()
    maker = AutoModelForCausalLM if kind == "causal" else AutoModelForMaskedLM
    more: dict[str, Any] = _gguf(address) or {"use_safetensors": True}
    of_tokenizer = {name: value for name, value in more.items() if name == "gguf_file"}
    try:
        with hub_access(address):
            tokenizer = AutoTokenizer.from_pretrained(
                address, trust_remote_code=False, **of_tokenizer
            )
            network, found = maker.from_pretrained(
                address,
                dtype=torch.float32,
                trust_remote_code=False,
                output_loading_info=True,
                **more,
            )
    except (ImportError, OSError, ValueError, KeyError) as error:
        raise BadModel(f"{kind}:{address} cannot be loaded: {_first_line(error)}") from None
    check_complete(f"{kind}:{address}", tokenizer, found)
    return network.to(best_device()), tokenizer


def _gguf(address: str) -> dict[str, str]:
    """How transformers is told of the one GGUF file of a folder without a configuration."""
    folder = Path(address).expanduser()
    if not folder.is_dir() or (folder / "config.json").exists():
        return {}
    files = sorted(path.name for path in folder.glob("*.gguf"))
    if len(files) > 1:
        raise BadModel(f"causal:{address} has {len(files)} GGUF files; put one into a folder")
    return {"gguf_file": files[0]} if files else {}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class CausalModel(PromptedModel):
    """A causal language model that predicts the label whose word it finds likeliest."""

    precisions = ("fp32", "bf16")

    def __init__(self, network: CausalNetwork, prompt: Prompt, fingerprint: str) -> None:
        super().__init__(prompt, fingerprint)
        self.network = network
        self.input_seconds = 0.0
        self.is_chat = self._uses_chat()
        self.notes = network.notes
        self._stems: Memo[tuple[object, ...], Stem] = Memo(MAX_STEMS)
        self._leads: Memo[tuple[Stem, str], Stem] = Memo(KEPT_TOKENS, _n_own)
        self._met: LRUCache[tuple[Stem, str], bool] = LRUCache(N_MET)

    @property
    def batch_size(self) -> int | None:
        """Prompts in a batch; None: by length."""
        return self.network.batch_size

    @batch_size.setter
    def batch_size(self, size: int | None) -> None:
        self.network.batch_size = size

    def use_precision(self, precision: str) -> None:
        """Predict in this number format from now on."""
        self.network.use_precision(precision)

    def _uses_chat(self) -> bool:
        """Whether prompts go through the tokenizer's chat template."""
        has_one = bool(getattr(self.network.tokenizer, "chat_template", None))
        if self.prompt.chat == "on" and not has_one:
            raise BadModel(
                f"{option('chat', 'on')}: this model has no chat template; leave the option out"
            )
        return has_one and self.prompt.chat != "off"

    def rendered(self, question: Question) -> str:
        """The prompt as the model gets it, with the marks of its chat template."""
        if not self.is_chat:
            return question.text
        asked = question if self.has_system_role else question.without_system
        text: str = self.network.tokenizer.apply_chat_template(
            asked.messages, tokenize=False, add_generation_prompt=True
        )
        return text

    @cached_property
    def has_system_role(self) -> bool:
        """Whether the chat template takes a system message."""
        from jinja2 import TemplateError

        turns = [{"role": role, "content": "x"} for role in ("system", "user")]
        try:
            self.network.tokenizer.apply_chat_template(turns, tokenize=False)
        except TemplateError:
            return False
        return True

    def tokens(self, questions: Sequence[Question]) -> list[PromptTokens]:
        """The tokens of questions with each of their options."""
        before = "" if self.is_chat else " "
        answers = [[before + option for option in question.options] for question in questions]
        prompts = [self.rendered(question) for question in questions]
        # a chat template writes the first token of a text itself
        return prompt_tokens(self.network.tokenizer, prompts, answers, special=not self.is_chat)

    def option_scores(self, questions: Sequence[Question], /) -> Floats:
        """The log-probability of each option, one row per question; questions with one opening
        share its keys and values.
        """
        return self._scores(questions)

    def token_units(self, texts: Texts, /) -> list[list[TokenUnit]]:
        """The tokens of each text in its prompt, as units that can be moved."""
        found = [
            [place.units for place in self._places(question, texts)]
            for question in self.prompt.questions([texts])
        ]
        if any(units != found[0] for units in found):
            raise DoesNotApply("its tokens depend on the order of the options")
        return found[0]

    def predict_variants(self, variants: Sequence[Variants], /) -> Floats:
        """Probabilities, one row per variant; those that move tokens keep them as numbers."""
        if not are_tokens(variants):
            return self.predictions(self._scores(self.prompt.questions(all_texts(variants))))
        began = time.perf_counter()
        questions: list[Question] = []
        tokens: list[PromptTokens] = []
        for each in variants:
            a, *b = [rows.sentence.text for rows in each.sides]
            texts = (a, b[0] if b else None)
            asked = self.prompt.questions([texts])
            originals = self.tokens(asked)
            places = [self._places(question, texts) for question in asked]
            for row in token_rows(each):
                questions += asked
                tokens += [with_moved(*known, row) for known in zip(originals, places, strict=True)]
        self.input_seconds += time.perf_counter() - began
        return self.predictions(self._scores(questions, tokens))

    def _places(self, question: Question, texts: Texts) -> list[TextPlace]:
        """Where the texts of an example lie in the tokens of a question about it."""
        item = self.prompt.template.item(text_segments(marked(texts)), question.listing)
        prompt = self.rendered(question)
        given = self.network.tokenizer(
            prompt, add_special_tokens=not self.is_chat, return_offsets_mapping=True
        )
        ids = given["input_ids"]
        with_marks = self.rendered(replace(question, item=item))
        places = text_places(prompt, with_marks, texts, ids, given["offset_mapping"])
        end = max(place.end for place in places)
        [tokens] = self.tokens([question])
        if list(tokens.shared[:end]) != ids[:end]:
            raise DoesNotApply("the answers share tokens with the text")
        return places

    def _scores(
        self, questions: Sequence[Question], tokens: Sequence[PromptTokens] | None = None
    ) -> Floats:
        """Scores of questions, whose tokens are made when they are needed or given."""
        if not questions:
            return np.empty((0, len(self.prompt.words)))
        scores = np.empty((len(questions), len(questions[0].options)))
        openings: dict[tuple[object, ...], list[int]] = {}
        for i, question in enumerate(questions):
            openings.setdefault(question.opening, []).append(i)
        for places in openings.values():
            some = None if tokens is None else [tokens[i] for i in places]
            scores[places] = self._under_one_opening([questions[i] for i in places], some)
        return scores

    def generate(self, requests: Sequence[str], /, *, max_tokens: Sequence[int]) -> list[str]:
        """The likeliest answer to each request: one turn of a chat model, one line of another."""
        texts = list(requests)
        if self.is_chat:
            turns = [[{"role": "user", "content": request}] for request in requests]
            texts = [
                self.network.tokenizer.apply_chat_template(
                    turn, tokenize=False, add_generation_prompt=True
                )
                for turn in turns
            ]
        ids = self.network.tokenizer(texts, add_special_tokens=not self.is_chat)["input_ids"]
        answers = self.network.continuations(ids, max_tokens)
        if self.is_chat:
            return [answer.strip() for answer in answers]
        return [(answer.strip().splitlines() or [""])[0].strip() for answer in answers]

    def _under_one_opening(
        self, questions: Sequence[Question], tokens: Sequence[PromptTokens] | None
    ) -> Floats:
        """Scores of questions with one opening, some at a time: the keys and values of their leads
        must fit in memory.
        """
        scores = np.empty((len(questions), len(questions[0].options)))
        lengths = {question.lead: len(question.lead) for question in questions}
        portions = np.cumsum(list(lengths.values())) // PORTION
        portion_of = dict(zip(lengths, portions.tolist(), strict=True))
        members: dict[int, list[int]] = {}
        for i, question in enumerate(questions):
            members.setdefault(portion_of[question.lead], []).append(i)
        for places in members.values():
            some = None if tokens is None else [tokens[i] for i in places]
            scores[places] = self._at_once([questions[i] for i in places], some)
        return scores

    def _at_once(
        self, questions: Sequence[Question], tokens: Sequence[PromptTokens] | None
    ) -> Floats:
        if tokens is None:
            began = time.perf_counter()
            tokens = self.tokens(questions)
            self.input_seconds += time.perf_counter() - began
        stem = self._stem(questions[0])
        branches = self._branches(questions, stem)
        stems = [
            _fitting(each, branches.get(question.lead, stem), stem)
            for question, each in zip(questions, tokens, strict=True)
        ]
        return self.network.answer_scores(tokens, stems)

    def _stem(self, question: Question) -> Stem:
        """The tokens that all questions with this opening begin with, run once and kept."""
        if not self.network.shares_stem:
            return NO_STEM
        key = (*question.opening, self.network.network.dtype)
        [found] = self._stems([key], lambda _: [self._run_stem(question)])
        return found

    def _run_stem(self, question: Question) -> Stem:
        texts = [(a, b if self.prompt.is_pair else None) for a, b in DIFFERENT]
        items = [self.prompt.questions([each])[0].item for each in texts]
        return self.network.stem(self._shared_tokens(question, items))

    def _branches(self, questions: Sequence[Question], stem: Stem) -> dict[str, Stem]:
        """For every lead that was met before or twice: the stem and the tokens of the lead."""
        first = {question.lead: question for question in questions if len(stem) and question.lead}
        counts = Counter(question.lead for question in questions)
        often = [lead for lead in first if counts[lead] > 1 or (stem, lead) in self._met]
        self._met.update(dict.fromkeys(((stem, lead) for lead in first), True))

        def run(places: Sequence[int]) -> list[Stem]:
            rows = [self._lead_tokens(first[often[i]], stem) for i in places]
            return self.network.stems(rows, stem)

        found = self._leads([(stem, lead) for lead in often], run)
        return dict(zip(often, found, strict=True))

    def _lead_tokens(self, question: Question, stem: Stem) -> Ids:
        ids = self._shared_tokens(question, [question.lead + each for each in OPENINGS])
        n_own = len(ids) - len(stem)
        can_be_kept = 0 < n_own <= KEPT_TOKENS and len(ids) < self.network.max_length
        return ids if can_be_kept and ids[: len(stem)] == stem.ids else stem.ids

    def _shared_tokens(self, question: Question, items: Sequence[str]) -> Ids:
        """The first tokens of questions that differ in their items only."""
        prompts = [self.rendered(replace(question, item=item)).rstrip() for item in items]
        rows = self.network.tokenizer(prompts, add_special_tokens=not self.is_chat)["input_ids"]
        return tuple(rows[0][: common_length(rows)])


def _n_own(stem: Stem) -> int:
    """Tokens of a lead that are kept for it alone."""
    return len(stem) - len(stem.after) if stem.after else 0


def _fitting(tokens: PromptTokens, *stems: Stem) -> Stem:
    """The first of some stems that a prompt begins with."""
    for stem in stems:
        n = len(stem)
        if len(tokens.shared) > n and tokens.shared[:n] == stem.ids:
            return stem
    return NO_STEM
