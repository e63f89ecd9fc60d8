"""Writing: what a model behind a server answers to a request, as text."""

from __future__ import annotations

from disorder.models.servers.endpoint import Endpoint, content_of, first_choice
from disorder.models.servers.replies import visible_reply

ROOM_TO_THINK = 2048  # tokens more, for a model that had none left for its reply


async def written(endpoint: Endpoint, request: str, limit: int, *, is_plain: bool = False) -> str:
    """The reply to a request, without what the model thought aloud; of a plain continuation the
    first line.
    """
    if is_plain:
        choice = first_choice(await endpoint.complete([request], max_tokens=limit))
        return (str(choice.get("text") or "").strip().splitlines() or [""])[0].strip()
    text, is_thinking = await _reply(endpoint, request, limit)
    if is_thinking:
        text, _ = await _reply(endpoint, request, limit + ROOM_TO_THINK)
    return text


async def _reply(endpoint: Endpoint, request: str, limit: int) -> tuple[str, bool]:
    reply = await endpoint.chat([{"role": "user", "content": request}], limit=limit)
    return visible_reply(*content_of(reply))
