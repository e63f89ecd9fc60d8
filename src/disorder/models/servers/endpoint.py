"""An endpoint: one model of one server, what is sent to it and what comes back, with its cost.

With every request go sampling settings, room for the answer (grown for a model that thinks first,
by what `usage` says), and whatever else the user wants to be sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from disorder.errors import BadModel, BadSetting, option
from disorder.models.servers.client import MAX_BYTES, Client, Refusal, Rejected, ServerError
from disorder.types import Costs

USUAL = {"temperature": 0}  # the likeliest answer, from servers that take it
OURS = ("model", "messages", "prompt", "stream", "n", "logprobs", "top_logprobs", "echo")


@dataclass(frozen=True)
class RequestSettings:
    """Settings of requests that the user gave; nothing is sent for those that are None."""

    temperature: float | None = None
    top_p: float | None = None
    reasoning_effort: str | None = None
    max_answer_tokens: int | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise on a value that no server takes."""
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise BadSetting("openai", temperature=self.temperature, need="a number from 0 to 2")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise BadSetting("openai", top_p=self.top_p, need="a share above 0, at most 1")
        if self.max_answer_tokens is not None and self.max_answer_tokens < 1:
            raise BadSetting("openai", max_answer_tokens=self.max_answer_tokens, need="1 or more")
        for name in self.extra_body:
            if name in OURS:
                raise BadSetting("openai", extra_body=name, need=f"none of {', '.join(OURS)}")

    @property
    def given(self) -> dict[str, Any]:
        """The fields of a request that the user set."""
        named = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "reasoning_effort": self.reasoning_effort,
        }
        return {name: value for name, value in named.items() if value is not None} | nested(
            self.extra_body
        )

    @property
    def fingerprint(self) -> str:
        """What tells predictions under these settings from others; empty for the usual ones."""
        limit = {} if self.max_answer_tokens is None else {"limit": self.max_answer_tokens}
        said = USUAL | self.given | limit
        return "" if said == USUAL else json.dumps(said, sort_keys=True)

    def option(self, name: str) -> str:
        """How the user gave a field, for messages."""
        if name in nested(self.extra_body):
            return option("extra_body", name)
        return option(name, self.given[name])


def nested(pairs: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request from names and values as they are typed: a dot in a name goes one
    level down, and a value that is JSON is read as such.

    >>> nested({"top_k": "1", "chat_template_kwargs.enable_thinking": "false"})
    {'top_k': 1, 'chat_template_kwargs': {'enable_thinking': False}}
    """
    found: dict[str, Any] = {}
    for name, value in pairs.items():
        *outer, last = name.split(".")
        place = found
        for part in outer:
            place = place.setdefault(part, {})
        place[last] = _read(value)
    return found


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


FIRST = 2048  # tokens to think, once a model is found to need any
GROWTH = 4  # times more for one that had too few
MARGIN = 2  # times what an answer was seen to use
MAX_COUNT = 10**7  # tokens of one reply; a larger count is none
MOST = 32768  # to think, before an answer counts as none


@dataclass
class Room:
    """Tokens that a model gets beside those of its answer; `given` is a limit for both together."""

    given: int | None = None
    thinking: int = 0
    most: int = MOST

    def limit(self, longest: int) -> int:
        """The limit of a request whose answer itself takes at most `longest` tokens."""
        return longest + self.thinking if self.given is None else self.given

    def learn(self, used: int) -> None:
        """A model used so many tokens to think."""
        self.thinking = min(self.most, max(self.thinking, MARGIN * used))

    def grow(self, limit: int, longest: int) -> bool:
        """More room after a reply that ended at a limit; False where there is no more."""
        if self.given is not None or limit >= longest + self.most:
            return False
        if self.limit(longest) <= limit:  # else another reply has made room already
            self.thinking = min(self.most, max(FIRST, GROWTH * self.thinking))
        return True

    def shrink(self, refused: int, taken: int, longest: int) -> bool:
        """Less room after a limit that the server refused; False at one that it took before."""
        self.most = min(self.most, (refused - longest) // 2)
        is_less = self.most > taken - longest
        if not is_less:
            self.most = max(0, taken - longest)
        self.thinking = min(self.thinking, self.most)
        return is_less


def reasoning_tokens(reply: Mapping[str, Any]) -> int:
    """Tokens of a reply that the model thought and did not show, as far as the server says."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return 0
    places = [usage.get("completion_tokens_details"), usage.get("output_tokens_details"), usage]
    for place in places:
        value = place.get("reasoning_tokens") if isinstance(place, dict) else None
        if isinstance(value, int) and 0 < value <= MAX_COUNT:
            return value
    return 0


CHARACTERS = 4  # in a token, where a server does not count tokens
# the smallest limit that a server takes, in the words of its refusal of a smaller one
LEAST = re.compile(r"(?:>=|at least|greater than or equal to)\s*(\d{1,6})\b")
LIMITS = ("max_tokens", "max_completion_tokens")
CHAT = "chat/completions"
COMPLETIONS = "completions"
Reply = dict[str, Any]


class Unusable(Exception):
    """A reply that does not hold what was asked for; the message says what is wrong with it."""


@dataclass
class Endpoint:
    """A model of a server; `spent` counts questions and tokens. While it `adapts`, until a probe is
    over, what the server refuses of ours is left out or changed.
    """

    client: Client
    model: str
    settings: RequestSettings = field(default_factory=RequestSettings)
    spent: Costs = field(default_factory=Costs)
    room: Room = field(init=False)
    adapts: bool = True
    is_listed: bool = True  # among the models of the server, if it lists any
    limit_name: str = "max_tokens"  # newer hosted models call it max_completion_tokens
    takes_limit: bool = False  # known to be called so
    least_limit: int = 1
    left_out: dict[str, str] = field(default_factory=dict)  # field → why, in the server's words

    def __post_init__(self) -> None:
        self.room = Room(self.settings.max_answer_tokens)

    async def chat(self, messages: Sequence[Mapping[str, str]], limit: int, **more: Any) -> Reply:
        """One reply to some messages, of at most `limit` tokens, as likely as possible."""
        sent = sum(len(message["content"]) for message in messages)
        body = {"messages": list(messages), **more}
        return await self._adapted(CHAT, body, limit, sent)

    async def complete(self, prompts: Sequence[str], *, max_tokens: int, **more: Any) -> Reply:
        """Continuations of some plain prompts, one choice each."""
        prompt = list(prompts) if len(prompts) > 1 else prompts[0]  # not every server takes a list
        body = {"prompt": prompt, **more}
        return await self._adapted(COMPLETIONS, body, max_tokens, sum(map(len, prompts)))

    async def _adapted(
        self, path: str, body: Mapping[str, Any], limit: int, n_characters: int
    ) -> Reply:
        """The reply to a request, said otherwise where the server refuses a field of it."""
        whole = self._whole(path, body, limit)
        while True:
            try:
                reply = await self._post(path, whole, n_characters)
                self.takes_limit = self.takes_limit or path == CHAT
                return reply
            except (Rejected, ServerError) as error:
                refused = whole
                if self.adapts:
                    self._adapt(error if isinstance(error, Rejected) else error.refusal, refused)
                    whole = self._whole(path, body, limit)
                if whole == refused:
                    raise

    def _whole(self, path: str, body: Mapping[str, Any], limit: int) -> dict[str, Any]:
        """A request with its settings and its limit."""
        whole = self._settings() | dict(body)
        limit = max(limit, self.least_limit)
        if path == CHAT:
            return whole | {self.limit_name: limit}
        whole.pop("reasoning_effort", None)
        return whole | {"max_tokens": limit}

    def _settings(self) -> dict[str, Any]:
        """What the user gave, and what is usual where the server takes it."""
        usual = {name: value for name, value in USUAL.items() if name not in self.left_out}
        return usual | self.settings.given

    def _adapt(self, refusal: Refusal, body: Mapping[str, Any]) -> None:
        """Change what a refusal is about, where that is ours: never what the user asked for."""
        least = LEAST.search(refusal.words)
        if any(refusal.names(name) for name in LIMITS):
            if least is not None:
                self.least_limit = int(least[1])
            elif not self.takes_limit:
                self.limit_name = LIMITS[-1]
            return
        for name in self._settings():
            if name not in body or not refusal.names(name):
                continue
            if name in self.settings.given:
                raise BadModel(
                    f"{self.model} at {self.client.url} refuses {self.settings.option(name)} "
                    f"(HTTP {refusal.status}: {refusal}); leave it out"
                )
            self.left_out[name] = str(refusal)

    async def decide(self, path: str, body: Mapping[str, Any], n_characters: int) -> Reply:
        """Probabilities from a decision endpoint."""
        return await self._post(path, body, n_characters)

    async def _post(self, path: str, body: Mapping[str, Any], n_characters: int) -> Reply:
        reply = await self.client.post(path, {"model": self.model, **body})
        self._count(reply, n_characters)
        return reply

    def _count(self, reply: Reply, n_characters: int) -> None:
        """Add what a reply cost; a server that does not say gets an estimate."""
        usage = reply.get("usage")
        found = usage if isinstance(usage, dict) else {}
        n_in = _count_of(found, "prompt_tokens", "input_tokens")
        n_out = _count_of(found, "completion_tokens", "output_tokens")
        # no token is shorter than a byte: a larger count is no count of this prompt or reply
        most_in = 4 * n_characters + 4096
        if n_in is None or n_out is None or n_in > most_in or n_out > MAX_BYTES:
            self.spent["tokens_estimated"] += 1
            n_in = n_characters // CHARACTERS + 1
            n_out = 1
        self.spent["tokens_thought"] += reasoning_tokens(reply)
        self.spent["questions"] += 1
        self.spent["tokens_in"] += n_in or 0
        self.spent["tokens_out"] += n_out or 0


def _count_of(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def first_choice(reply: Reply) -> dict[str, Any]:
    """The first choice of a reply."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unusable("the reply has no choices")
    return choices[0]


def content_of(reply: Reply) -> tuple[str, dict[str, Any], str]:
    """The text of a chat reply, its whole message, and why it ended."""
    choice = first_choice(reply)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unusable("the reply has no message")
    return _text_of(message.get("content")), message, str(choice.get("finish_reason") or "")


TEXTS = ("text", "output_text")  # parts of a message that are no thoughts


def _text_of(content: Any) -> str:
    """The text of a message, also of one in parts; those of thoughts are left out."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part for part in parts if isinstance(part, dict) and part.get("type") in TEXTS]
    return "".join(str(part.get("text") or "") for part in texts)
