"""The probe: before an audit, each way to answer is tried on a few questions, and one that a server
ignores or does wrong is refused with one line; of those that are right the cheapest is taken.

What a probe found is remembered beside the prediction cache, so that a repeated audit asks nothing;
before the first new question the server is probed again.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from disorder.errors import BadModel, CannotWrite, UnknownName, option
from disorder.models.prompting import Prompt, Question
from disorder.models.servers.client import Rejected, ServerError
from disorder.models.servers.endpoint import Endpoint, Unusable
from disorder.models.servers.replies import Unfit, Way
from disorder.models.servers.ways import ladder
from disorder.store.storage import write_atomically
from disorder.types import Texts

AUTO = "auto"
FILE = "servers.json"
HIGH_MASS = 0.8  # share of the probability from which the options are all that a model says
SLOWER = 2.0  # times slower: by this much, and the noise of a clock, fewer tokens are not cheaper
NOISE = 0.05  # seconds
PROBES: tuple[Texts, ...] = (
    ("A man is playing a guitar on a stage.", "A person is making music."),
    ("The children slept all night in their beds.", "The children were running in the street."),
)


@dataclass(frozen=True)
class Probed:
    """The way that was chosen, and why better ones were not."""

    way: Way
    refused: dict[str, str] = field(default_factory=dict)


def ways_named(answers: str, chat: str) -> list[Way]:
    """The ways that `--answers` and `--chat` allow, best first."""
    known = {way.name: way for way in ladder(chat)}
    if answers == AUTO:
        return list(known.values())
    if answers not in known:
        raise UnknownName(f"way in {option('answers')}", answers, [AUTO, *known])
    return [known[answers]]


def probe_questions(prompt: Prompt) -> list[Question]:
    """Two questions that differ in their texts only."""
    texts: list[Texts] = [(a, b if prompt.is_pair else None) for a, b in PROBES]
    return [prompt.questions([each])[0] for each in texts]


@dataclass(frozen=True)
class Price:
    """What a question costs by a way, on average: tokens, and seconds."""

    tokens: float
    seconds: float
    mass: float  # the share of the probability that the options get

    def __str__(self) -> str:
        return f"{self.tokens:,.0f} tokens and {self.seconds:.2g} s for a question"


async def probed(endpoint: Endpoint, prompt: Prompt, answers: str, known: str = "") -> Probed:
    """The best way that this server does right, or the `known` one; raises where none is left."""
    with endpoint.client.retrying_once():
        others = await _others(endpoint)
        try:
            found = await _best_fit(endpoint, prompt, answers, known)
        except BadModel:
            if not others:
                raise
            known_as = f"model of {endpoint.client.url}"
            raise UnknownName(known_as, endpoint.model, others) from None
    endpoint.is_listed = not others
    endpoint.adapts = False
    return found


async def _best_fit(endpoint: Endpoint, prompt: Prompt, answers: str, known: str) -> Probed:
    questions = probe_questions(prompt)
    refused: dict[str, str] = {}
    right: list[Way] = []
    for way in ways_named(answers, prompt.chat):
        if right and not way.gives_probabilities:
            break
        try:
            if prompt.chat not in way.chats:
                raise Unfit(f"not possible with {option('chat', prompt.chat)}")
            await way.probe(endpoint, questions)
            right.append(way)
        except Rejected as refusal:
            refused[way.name] = f"HTTP {refusal.status}: {refusal}"
        except (Unfit, Unusable, ServerError) as reason:
            refused[way.name] = str(reason)
        if right and (right[-1].reads_once or right[-1].name == known):
            break
    if right:
        return await _cheapest(endpoint, questions, right, refused, known)
    reasons = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
    hint = (
        "" if answers == AUTO else f"; leave out {option('answers')} to use the best way there is"
    )
    raise BadModel(f"{endpoint.model} at {endpoint.client.url} cannot answer by {reasons}{hint}")


async def _cheapest(
    endpoint: Endpoint,
    questions: Sequence[Question],
    right: Sequence[Way],
    refused: dict[str, str],
    known: str,
) -> Probed:
    """The last of the ways that are right, which reads a prompt once, if it shows nearly all of
    what the model would say and is no dearer; else the first.
    """
    first, last = right[0], right[-1]
    if first is last or first.name == known:
        return Probed(first, refused)
    dear, cheap = [await _price(endpoint, way, questions) for way in (first, last)]
    is_cheaper = cheap.tokens < dear.tokens and cheap.seconds < SLOWER * dear.seconds + NOISE
    if last.name == known or (cheap.mass >= HIGH_MASS and is_cheaper):
        why = f"right, and dearer: {dear}, by {last.name} {cheap}"
        return Probed(last, refused | {first.name: why})
    return Probed(first, refused)


async def _price(endpoint: Endpoint, way: Way, questions: Sequence[Question]) -> Price:
    before = dict(endpoint.spent)
    began = time.perf_counter()
    try:
        answers = [await way.ask(endpoint, question) for question in questions]
    except (Rejected, Unusable):
        return Price(math.inf, math.inf, 0.0)
    seconds = time.perf_counter() - began
    spent = endpoint.spent.since(before)
    tokens = spent["tokens_in"] + spent["tokens_out"]
    n = len(questions)
    return Price(tokens / n, seconds / n, min(answer.mass for answer in answers))


async def _others(endpoint: Endpoint) -> list[str]:
    """The models that the server lists, where this is none of them: a wrong name, or one of those
    that a list lacks, such as Azure's deployments and short names of dated models.
    """
    try:
        reply = await endpoint.client.get("models")
    except (Rejected, ServerError):
        return []  # not every server lists its models
    entries = reply.get("data")
    names = [
        str(entry["id"])
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and "id" in entry
    ]
    # servers of one model answer under any name
    return names if len(names) > 1 and not is_listed(endpoint.model, names) else []


def is_listed(model: str, names: Sequence[str]) -> bool:
    """Whether a server that lists these models has one: Gemini writes `models/` before them, Ollama
    `:latest` after them, and OpenRouter takes ways to route after a colon.

    >>> is_listed("llama3.2", ["llama3.2:latest", "qwen3:4b"])
    True
    """
    short = {name.removeprefix("models/").removesuffix(":latest") for name in names}
    return model in names or model in short or model.rpartition(":")[0] in names


@dataclass
class Memory:
    """Which way answered which prompt of which model last, kept beside the prediction cache."""

    folder: Path | None

    def way(self, endpoint: Endpoint, prompt: Prompt, answers: str) -> str:
        """The name of the way; empty where there is none."""
        found = self._read().get(_key(endpoint, prompt, answers), "")
        return found if found in {way.name for way in ladder(prompt.chat)} else ""

    def keep(self, endpoint: Endpoint, prompt: Prompt, answers: str, way: str) -> None:
        """Remember a way; a folder that cannot be written to is left alone."""
        if self.folder is None:
            return
        known = self._read() | {_key(endpoint, prompt, answers): way}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            content = json.dumps(known, indent=1, sort_keys=True)
            write_atomically(self.folder / FILE, content.encode())
        except (OSError, CannotWrite):
            return

    def _read(self) -> dict[str, str]:
        if self.folder is None:
            return {}
        try:
            found = json.loads((self.folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _key(endpoint: Endpoint, prompt: Prompt, answers: str) -> str:
    parts = [endpoint.client.url, endpoint.model, prompt.fingerprint, answers]
    parts += [endpoint.settings.fingerprint] if endpoint.settings.fingerprint else []
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
