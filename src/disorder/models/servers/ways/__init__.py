"""Ways to get an answer from a server, best first: one file per way."""

from __future__ import annotations

from disorder.models.servers.replies import Way
from disorder.models.servers.ways.constrained import Constrained
from disorder.models.servers.ways.decisions import Decisions
from disorder.models.servers.ways.first_token import FirstToken
from disorder.models.servers.ways.parsed import Parsed
from disorder.models.servers.ways.prompt_logprobs import PromptLogprobs


def ladder(chat: str = "auto") -> list[Way]:
    """All ways, as `--answers auto` tries them; `chat` is "off" for plain prompts."""
    first = FirstToken(is_plain=chat == "off")
    return [Decisions(), PromptLogprobs(), first, Constrained(), Parsed()]


__all__ = ["ladder"]
