"""The pages of `disorder human serve`: one item at a time, answered by keyboard or touch.

An answer is on disk before the next item shows. This file reads what annotators may see and never
the key: what is not in the process cannot leak from it. Pages work without scripts; with them, an
answer is sent again when the server was unreachable for a while.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from disorder.errors import DisorderError
from disorder.store.store import Store
from disorder.verbs.human.answer_store import AnswerStore, HumanAnswer, StaleAnswer
from disorder.verbs.human.task_folder import (
    HumanTask,
    TaskItem,
    order_for,
    read_annotators,
    read_instructions,
    read_items,
    read_task,
)
from disorder.web.page_rendering import render_page, serve_static
from disorder.web.server import new_app, require_web, serve

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

UNDO_KEY = "u"
N_DIGITS = 9
MAX_SECONDS = 24 * 3600.0  # a page that was open for longer says nothing about reading time
HINT = "open your personal link again, or ask for it"
BAD_FORM = "the form cannot be read; reload the page"

Endpoint = Callable[["Request"], Awaitable["Response"]]


@dataclass(frozen=True)
class ServedTask:
    """One task folder as its annotators see it."""

    folder: Path

    @cached_property
    def task(self) -> HumanTask:
        """What annotators are asked."""
        return read_task(self.folder)

    @cached_property
    def items(self) -> dict[str, TaskItem]:
        """What annotators see, by item."""
        return {item.item: item for item in read_items(self.folder)}

    @cached_property
    def names(self) -> dict[bytes, str]:
        """The annotator of each token, by the hash of the token: the time that a lookup takes tells
        nothing about the other tokens.
        """
        return {
            _hashed(annotator.token): annotator.name for annotator in read_annotators(self.folder)
        }

    @cached_property
    def orders(self) -> dict[str, list[TaskItem]]:
        """The items in the order of each annotator."""
        items = list(self.items.values())
        return {name: order_for(name, items, self.task.seed) for name in self.names.values()}

    @cached_property
    def store(self) -> AnswerStore:
        """Where the answers go."""
        return AnswerStore(self.folder)

    def annotator(self, token: str) -> str | None:
        """The annotator that a token belongs to."""
        return self.names.get(_hashed(token))

    def next_item(self, annotator: str, answers: Sequence[HumanAnswer]) -> TaskItem | None:
        """The first item that has no answer yet."""
        done = {answer.item for answer in answers}
        return next((item for item in self.orders[annotator] if item.item not in done), None)

    def check(self) -> None:
        """Read every file, so that a damaged one is found before the first annotator comes."""
        _ = self.task, self.orders
        self.store.answers()


def _hashed(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).digest()


def serve_task(
    folder: Path, say: Callable[[str], None], *, host: str = "127.0.0.1", port: int = 8766
) -> None:
    """Serve a task folder until Ctrl-C, after printing the personal links."""
    require_web("human serve")
    served = ServedTask(folder)
    app = annotation_app(served)
    with Store.open(folder):  # the task must not be made again under its annotators
        serve(
            app,
            say,
            host=host,
            port=port,
            is_good=lambda token: served.annotator(token) is not None,
            name="disorder human",
            links={annotator.name: annotator.token for annotator in read_annotators(folder)},
            hint=HINT,
        )


def annotation_app(served: ServedTask) -> FastAPI:
    """The application over one task folder."""
    served.check()
    app = new_app()
    serve_static(app)
    app.add_route("/", _page(served, _welcome), methods=["GET"])
    app.add_route("/item", _page(served, _item), methods=["GET"])
    app.add_route("/answer", _change(served, _answer), methods=["POST"])
    app.add_route("/undo", _change(served, _undo), methods=["POST"])
    return app


def _page(served: ServedTask, render: Callable[[ServedTask, str], Response]) -> Endpoint:
    """An endpoint that shows a page to the annotator who asks for it."""
    from starlette.concurrency import run_in_threadpool

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(render, served, _annotator(served, request))

    return endpoint


def _change(
    served: ServedTask, change: Callable[[ServedTask, Mapping[str, str]], None]
) -> Endpoint:
    """An endpoint that stores what a form says, then shows the next item."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import PlainTextResponse, RedirectResponse

    async def endpoint(request: Request) -> Response:
        body = (await request.body()).decode("utf-8", "replace")
        form = dict(parse_qsl(body, keep_blank_values=True))
        annotator = _annotator(served, request)
        if form.get("annotator") != annotator:
            reason = f"This browser now has the link of {annotator}; {HINT}. Nothing was stored.\n"
            return PlainTextResponse(reason, 409)
        try:
            await run_in_threadpool(change, served, form)
        except StaleAnswer as error:
            return PlainTextResponse(f"{error}\n", 409)
        return RedirectResponse("/item", 303)

    return endpoint


def _annotator(served: ServedTask, request: Request) -> str:
    name = served.annotator(request.state.token)
    assert name is not None, "access control lets in good tokens only"
    return name


def _welcome(served: ServedTask, annotator: str) -> Response:
    """The instructions, and a button to start or continue."""
    return render_page(
        "annotate_welcome.html",
        task=served.task,
        annotator=annotator,
        n_done=len(served.store.answers(annotator)),
        instructions=_instructions(served, top=1),
    )


def _item(served: ServedTask, annotator: str) -> Response:
    """The next item, or the end."""
    answers = served.store.answers(annotator)
    item = served.next_item(annotator, answers)
    last = next((answer for answer in reversed(answers) if answer.item in served.items), None)
    shared = {"task": served.task, "annotator": annotator, "n_done": len(answers), "last": last}
    if item is None:
        return render_page("annotate_done.html", **shared)
    return render_page(
        "annotate_item.html",
        **shared,
        item=item,
        attempt=served.store.attempt(annotator, item.item),
        shown=f"{time.time():.3f}",
        choices=choices(served.task.labels, served.task.meanings),
        texts=list(zip(served.task.text_names, (item.text_a, item.text_b), strict=False)),
        instructions=_instructions(served, top=2),
    )


def _answer(served: ServedTask, form: Mapping[str, str]) -> None:
    item = form.get("item", "")
    answer = form.get("answer", "")
    if item not in served.items or answer not in served.task.labels:
        raise DisorderError(BAD_FORM)
    served.store.answer(form["annotator"], item, _attempt(form), answer, _seconds(form))


def _undo(served: ServedTask, form: Mapping[str, str]) -> None:
    served.store.undo(form["annotator"], form.get("item", ""), _attempt(form))


def _attempt(form: Mapping[str, str]) -> int:
    text = form.get("attempt", "")
    if not text.isascii() or not text.isdecimal() or not 1 <= len(text) <= 6 or int(text) < 1:
        raise DisorderError(BAD_FORM)
    return int(text)


def _seconds(form: Mapping[str, str]) -> float | None:
    """How long the item was in view: as the page measured it, else since it was sent."""
    for name, since in (("seconds", 0.0), ("shown", time.time())):
        try:
            value = abs(float(form.get(name, "")) - since)
        except ValueError:
            continue
        if math.isfinite(value) and value < MAX_SECONDS:
            return round(value, 2)
    return None


def choices(labels: Sequence[str], meanings: Mapping[str, str]) -> list[dict[str, str]]:
    """The labels with their keys: a digit, and the first letter of the label that is still free.

    >>> [(c["digit"], c["letter"]) for c in choices(["unacceptable", "acceptable", "acid"], {})]
    [('1', 'n'), ('2', 'a'), ('3', 'c')]
    """
    taken = {UNDO_KEY}
    found = []
    for number, label in enumerate(labels, start=1):
        letters = [
            char for char in meanings.get(label, label).lower() if char.isascii() and char.isalpha()
        ]
        letter = next((char for char in letters if char not in taken), "")
        taken.add(letter)
        digit = str(number) if number <= N_DIGITS else ""
        shown = meanings.get(label, label)
        found.append({"label": label, "shown": shown, "digit": digit, "letter": letter})
    return found


def _instructions(served: ServedTask, *, top: int) -> Any:
    """The instructions as HTML whose first heading is of level `top`; raw HTML and images in them
    stay text.
    """
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    parser = MarkdownIt("commonmark", {"html": False}).disable("image")
    tokens = parser.parse(read_instructions(served.folder))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + top - 1)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))
