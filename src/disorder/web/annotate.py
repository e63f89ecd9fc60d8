"""`disorder human serve`: one item at a time, by keyboard or by thumb; the answer is on disk before
the next item shows.

This file reads what annotators may see and never the key: what is not in the process cannot leak
from it. A page works without scripts; with them it goes on by itself when the server was away for a
while.
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
from disorder.verbs.human.store import Answer, Stale, Store
from disorder.verbs.human.task import (
    HumanTask,
    Item,
    order_for,
    read_annotators,
    read_instructions,
    read_items,
    read_task,
)
from disorder.web.pages import html, serve_static
from disorder.web.serving import new_app, require_web, serve

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

UNDO = "u"
N_DIGITS = 9
LONGEST = 24 * 3600.0  # seconds; a page that was open for longer says nothing about reading
HINT = "open your personal link again, or ask for it"


@dataclass(frozen=True)
class Desk:
    """One task folder as its annotators see it."""

    folder: Path

    @cached_property
    def task(self) -> HumanTask:
        """What is asked."""
        return read_task(self.folder)

    @cached_property
    def items(self) -> dict[str, Item]:
        """What is shown."""
        return {item.item: item for item in read_items(self.folder)}

    @cached_property
    def names(self) -> dict[bytes, str]:
        """Who a token belongs to; by its hash, so that looking it up tells nothing about the
        others.
        """
        return {
            _hashed(annotator.token): annotator.name for annotator in read_annotators(self.folder)
        }

    @cached_property
    def orders(self) -> dict[str, list[Item]]:
        """The items in the order of each annotator."""
        items = list(self.items.values())
        return {name: order_for(name, items, self.task.seed) for name in self.names.values()}

    def who(self, token: str) -> str | None:
        """The annotator whom a personal link belongs to."""
        return self.names.get(_hashed(token))

    def next_item(self, annotator: str, answers: Sequence[Answer]) -> Item | None:
        """The first item that has no answer yet."""
        done = {answer.item for answer in answers}
        return next((item for item in self.orders[annotator] if item.item not in done), None)


def _hashed(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).digest()


def serve_task(folder: Path, *, host: str = "127.0.0.1", port: int = 8766) -> None:
    """Serve a task folder until Ctrl-C, after printing the personal links."""
    require_web("human serve")
    desk = Desk(folder)
    app = annotation(desk)
    links = {annotator.name: annotator.token for annotator in read_annotators(folder)}
    serve(
        app,
        host=host,
        port=port,
        is_good=lambda token: desk.who(token) is not None,
        name="disorder human",
        links=links,
        hint=HINT,
    )


def annotation(desk: Desk) -> FastAPI:
    """The application over one task folder; damaged files are found before anybody comes."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import PlainTextResponse, RedirectResponse

    app = new_app()
    serve_static(app)
    store = Store(desk.folder)
    _ = desk.task, desk.orders, store.answers()

    def page(
        function: Callable[[Desk, Store, str], Response],
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(function, desk, store, _annotator(desk, request))

        return endpoint

    def change(
        function: Callable[[Desk, Store, Mapping[str, str]], None],
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            form = dict(
                parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
            )
            who = _annotator(desk, request)
            if form.get("annotator") != who:
                return PlainTextResponse(
                    f"This browser now has the link of {who}; {HINT}. Nothing was stored.\n", 409
                )
            try:
                await run_in_threadpool(function, desk, store, form)
            except Stale as error:
                return PlainTextResponse(f"{error}\n", 409)
            return RedirectResponse("/item", 303)

        return endpoint

    app.add_route("/", page(_welcome), methods=["GET"])
    app.add_route("/item", page(_item), methods=["GET"])
    app.add_route("/answer", change(_answer), methods=["POST"])
    app.add_route("/undo", change(_undo), methods=["POST"])
    return app


def _annotator(desk: Desk, request: Request) -> str:
    name = desk.who(request.state.token)
    assert name is not None, "the guard lets in good tokens only"
    return name


def _welcome(desk: Desk, store: Store, who: str) -> Response:
    """The instructions, and a way to begin or to go on."""
    n_done = len(store.answers(who))
    return html(
        "annotate_welcome.html",
        task=desk.task,
        who=who,
        n_done=n_done,
        instructions=_markdown(desk, top=1),
    )


def _item(desk: Desk, store: Store, who: str) -> Response:
    """The next item, or the end."""
    answers = store.answers(who)
    item = desk.next_item(who, answers)
    last = next((answer for answer in reversed(answers) if answer.item in desk.items), None)
    shared = {"task": desk.task, "who": who, "n_done": len(answers), "last": last}
    if item is None:
        return html("annotate_done.html", **shared)
    return html(
        "annotate_item.html",
        **shared,
        item=item,
        attempt=store.attempt(who, item.item),
        shown=f"{time.time():.3f}",
        choices=choices(desk.task.labels),
        texts=list(zip(desk.task.text_names, (item.text_a, item.text_b), strict=False)),
        instructions=_markdown(desk, top=2),
    )


def _answer(desk: Desk, store: Store, form: Mapping[str, str]) -> None:
    item, answer = form.get("item", ""), form.get("answer", "")
    if item not in desk.items or answer not in desk.task.labels:
        raise DisorderError("the form cannot be understood; reload the page")
    store.answer(form["annotator"], item, _number(form), answer, _seconds(form))


def _undo(desk: Desk, store: Store, form: Mapping[str, str]) -> None:
    store.undo(form["annotator"], form.get("item", ""), _number(form))


def _number(form: Mapping[str, str]) -> int:
    text = form.get("attempt", "")
    if not text.isascii() or not text.isdecimal() or not 1 <= len(text) <= 6 or int(text) < 1:
        raise DisorderError("the form cannot be understood; reload the page")
    return int(text)


def _seconds(form: Mapping[str, str]) -> float | None:
    """How long the item was in view: as the page measured it, else since it was sent."""
    for name, since in (("seconds", 0.0), ("shown", time.time())):
        try:
            value = abs(float(form.get(name, "")) - since)
        except ValueError:
            continue
        if math.isfinite(value) and value < LONGEST:
            return round(value, 2)
    return None


def choices(labels: Sequence[str]) -> list[dict[str, Any]]:
    """The answers with their keys: a digit, and the first letter of the label that is still free.

    >>> [(c["digit"], c["letter"]) for c in choices(["unacceptable", "acceptable", "acid"])]
    [('1', 'n'), ('2', 'a'), ('3', 'c')]
    """
    taken, found = {UNDO}, []
    for number, label in enumerate(labels, start=1):
        letter = next(
            (
                char
                for char in label.lower()
                if char.isascii() and char.isalpha() and char not in taken
            ),
            "",
        )
        taken |= {letter}
        found.append(
            {"label": label, "digit": str(number) if number <= N_DIGITS else "", "letter": letter}
        )
    return found


def _markdown(desk: Desk, *, top: int) -> Any:
    """The instructions as HTML whose first heading is of level `top`; raw HTML and pictures in them
    stay text.
    """
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    parser = MarkdownIt("commonmark", {"html": False}).disable("image")
    tokens = parser.parse(read_instructions(desk.folder))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + top - 1)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))
