"""What goes with every request beside the question: sampling, room for the answer, and whatever
else the user wants to be sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from disorder.errors import BadSetting, option

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
