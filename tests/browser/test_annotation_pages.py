"""The annotation pages in a real browser: by keyboard, through a crash, three annotators at once,
on a phone, with hostile texts.
"""

from __future__ import annotations

import json
import re
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser.conftest import PATIENCE, assert_count
from disorder.verbs.human import make
from disorder.verbs.human.answer_store import AnswerStore
from disorder.verbs.human.task_folder import read_annotators, read_items, read_key, read_task

HOSTILE = [
    "<img src=x onerror=\"document.title='taken'\"> the cat sat on the mat today",
    "</script><script>document.title='taken'</script> a dog ran over the hill",
    "\u001b[2J\u001b[31mred\u0007 bells and clear screens went over the hill",
    "\u202egnp.exe reversed \u2066words\u2069 went over the small hill",
    "{{ 7 * 7 }} ${7*7} %s templates went over the small hill",
    "'\"><svg/onload=document.title='taken'> went over the small hill",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twenty-four perturbed pairs, with a key that must not show."""
    names = ["ann", "bob", "cleo"]
    made = make(
        "builtin",
        tmp_path / "task",
        with_="derange",
        whole=False,
        n=24,
        annotators=names,
    )
    assert made.task.n_items == 24
    return made.folder


def link(server: Any, folder: Path, name: str) -> str:
    token = next(a.token for a in read_annotators(folder) if a.name == name)
    return f"{server.url}/?token={token}"


def start(page: Any, address: str) -> None:
    """Open a personal link and start, by keyboard."""
    page.goto(address)
    page.wait_for_selector("main[data-ready] a.button")
    page.keyboard.press("Enter")
    page.wait_for_selector("main[data-item][data-ready]")


def item_of(page: Any) -> str:
    return str(page.get_attribute("main", "data-item"))


def press(page: Any, key: str) -> None:
    """Press a key and wait until another item, or the end, shows."""
    before = item_of(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "before => (document.querySelector('main').dataset.item || null) !== before", arg=before
    )
    page.wait_for_selector("main[data-ready]")


def stored(folder: Path, name: str) -> dict[str, str]:
    return {answer.item: answer.answer for answer in AnswerStore(folder).answers(name)}


def test_twenty_items_by_keyboard_through_a_crash(
    page: Any, seen: Any, serve: Callable[..., Any], folder: Path
) -> None:
    """kill −9 in the middle: no saved answer is lost or doubled, and the page continues."""
    server = serve("human", "serve", folder)
    port = int(server.url.rsplit(":", 1)[1])
    start(page, link(server, folder, "ann"))
    labels, keys = read_task(folder).labels, ["1", "n", "3", "e", "2", "c"]
    meant = [labels[i] for i in (0, 1, 2, 0, 1, 2)]
    given: dict[str, str] = {}
    for k in range(10):
        given[item_of(page)] = meant[k % 6]
        press(page, keys[k % 6])
        assert stored(folder, "ann") == given  # on disk before the next item shows
    server.kill()
    waiting = item_of(page)
    given[waiting] = "neutral"
    page.keyboard.press("2")
    page.wait_for_selector("#message:has-text('Not saved yet')")
    page.keyboard.press("1")  # is ignored while the first waits
    assert item_of(page) == waiting
    serve("human", "serve", folder, port=port)
    page.wait_for_function(
        "before => document.querySelector('main').dataset.item !== before", arg=waiting
    )
    page.wait_for_selector("main[data-ready]")
    assert page.inner_text("#message") == ""
    for k in range(9):
        given[item_of(page)] = meant[k % 6]
        press(page, keys[k % 6])
    assert len(given) == 20
    assert stored(folder, "ann") == given
    assert len(AnswerStore(folder).answers(with_undone=True)) == 20
    assert all(
        answer.seconds is not None and 0 < answer.seconds < 60
        for answer in AnswerStore(folder).answers()
    )
    assert "20 of 24 done" in page.inner_text("header")
    page.reload()
    assert "20 of 24 done" in page.inner_text("header")
    assert item_of(page) not in given
    seen.errors.clear()  # the browser logs that the server could not be reached


def test_undo_shows_the_item_again_and_keeps_the_history(
    page: Any, serve: Callable[..., Any], folder: Path
) -> None:
    start(page, link(serve("human", "serve", folder), folder, "ann"))
    first = item_of(page)
    press(page, "1")
    second = item_of(page)
    press(page, "2")
    press(page, "u")
    assert item_of(page) == second
    press(page, "Backspace")
    assert item_of(page) == first
    assert_count(page.locator("#undo"), 0)
    press(page, "3")
    assert item_of(page) == second
    assert stored(folder, "ann") == {first: "contradiction"}
    history = [
        (a.item, a.answer, a.undone is not None)
        for a in AnswerStore(folder).answers(with_undone=True)
    ]
    assert history == [
        (first, "entailment", True),
        (second, "neutral", True),
        (first, "contradiction", False),
    ]


def test_a_double_click_is_one_answer(page: Any, serve: Callable[..., Any], folder: Path) -> None:
    start(page, link(serve("human", "serve", folder), folder, "ann"))
    first = item_of(page)
    page.dblclick("button[value=neutral]")
    page.wait_for_function(
        "before => document.querySelector('main').dataset.item !== before", arg=first
    )
    page.wait_for_selector("main[data-ready]")
    assert stored(folder, "ann") == {first: "neutral"}


def test_three_annotators_at_once(
    new_page: Callable[..., Any], serve: Callable[..., Any], folder: Path
) -> None:
    server = serve("human", "serve", folder)
    pages = {name: new_page() for name in ("ann", "bob", "cleo")}
    for name, page in pages.items():
        start(page, link(server, folder, name))
        assert name in page.inner_text("header")
    orders: dict[str, list[str]] = {name: [] for name in pages}
    for k in range(8):
        for i, (name, page) in enumerate(pages.items()):
            orders[name].append(item_of(page))
            press(page, "123"[(k + i) % 3])
    labels = read_task(folder).labels
    for i, name in enumerate(pages):
        assert stored(folder, name) == {
            item: labels[(k + i) % 3] for k, item in enumerate(orders[name])
        }
    assert len({tuple(order) for order in orders.values()}) == 3


def test_a_second_link_in_the_same_browser_does_not_answer_for_the_first(
    new_page: Callable[..., Any], seen: Any, serve: Callable[..., Any], folder: Path
) -> None:
    server = serve("human", "serve", folder)
    first = new_page()
    start(first, link(server, folder, "ann"))
    second = first.context.new_page()
    start(second, link(server, folder, "bob"))
    first.keyboard.press("1")
    first.wait_for_selector("#message:has-text('link of bob')")
    assert not AnswerStore(folder).answers()
    seen.errors.clear()  # the browser logs the rejected request


def test_the_last_answer_can_be_undone_at_the_end(
    page: Any, serve: Callable[..., Any], folder: Path, assert_accessible: Callable[[Any], None]
) -> None:
    start(page, link(serve("human", "serve", folder), folder, "cleo"))
    for _ in range(24):
        press(page, "1")
    assert "All 24 done" in page.inner_text("h1")
    assert_accessible(page)
    page.keyboard.press("u")
    page.wait_for_selector("main[data-item]")
    assert len(stored(folder, "cleo")) == 23


def test_without_scripts(
    new_page: Callable[..., Any], serve: Callable[..., Any], folder: Path
) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(link(serve("human", "serve", folder), folder, "ann"))
    page.click("a.button")
    first = item_of(page)
    page.click("button[value=contradiction]")
    assert item_of(page) != first
    assert stored(folder, "ann") == {first: "contradiction"}
    (answer,) = AnswerStore(folder).answers()
    assert answer.seconds is not None
    page.click("#undo button")
    assert item_of(page) == first
    assert stored(folder, "ann") == {}


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_accessible_and_fit(
    new_page: Callable[..., Any],
    serve: Callable[..., Any],
    folder: Path,
    assert_accessible: Callable[[Any], None],
    width: int,
) -> None:
    phone = {"has_touch": True, "is_mobile": True} if width < 600 else {}
    page = new_page(width=width, height=844, **phone)
    page.goto(link(serve("human", "serve", folder), folder, "ann"))
    page.wait_for_selector("a.button")
    assert_accessible(page)
    page.click("a.button")
    page.wait_for_selector("main[data-ready]")
    page.click("button[value=neutral]")
    page.wait_for_selector("#undo")
    page.click("summary")
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("summary")
    page.evaluate("scrollTo(0, 0)")
    for button in page.locator("#answer button").all():
        box = button.bounding_box()
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 844  # in reach of a thumb, without scrolling


def test_shortcuts_can_be_turned_off(page: Any, serve: Callable[..., Any], folder: Path) -> None:
    start(page, link(serve("human", "serve", folder), folder, "ann"))
    page.uncheck("#shortcuts")
    first = item_of(page)
    page.keyboard.press("1")
    page.locator("button[value=neutral]").focus()
    press(page, "Enter")
    assert stored(folder, "ann") == {first: "neutral"}
    assert not page.is_checked("#shortcuts")


def test_hostile_texts_are_shown_as_text(
    page: Any,
    seen: Any,
    serve: Callable[..., Any],
    tmp_path: Path,
    assert_accessible: Callable[[Any], None],
) -> None:
    labels = ["fine<b>", "not \u202efine", "</script>"]
    rows = [
        {"id": str(i), "text_a": text, "label": labels[i % 3]} for i, text in enumerate(HOSTILE)
    ]
    data = tmp_path / "hostile.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    folder = make(
        str(data), tmp_path / "task", n=6, annotators=["<script>alert(1)</script>"]
    ).folder
    links = "[x](javascript:alert(1)) ![i](http://example.org/i.png)"
    (folder / "instructions.md").write_text(f"# Read\n\n<img src=x onerror=alert(1)>\n\n{links}")
    page.goto(link(serve("human", "serve", folder), folder, "<script>alert(1)</script>"))
    page.wait_for_selector("main[data-ready] a.button")
    assert "<img src=x onerror=alert(1)>" in page.inner_text("main")
    assert_count(page.locator("main img, main a[href^=javascript]"), 0)
    page.keyboard.press("Enter")
    shown = []
    for _ in HOSTILE:
        page.wait_for_selector("main[data-item][data-ready]")
        shown.append(page.inner_text(".text [dir=auto]"))
        assert_count(page.locator("main img, main svg, body script"), 0)
        assert page.title() == "Which label fits this text?"
        assert_accessible(page)
        press(page, "3")
    assert "\n".join(sorted(shown)).count("taken") == 3
    assert not re.search("[\u001b\u0007\u202e\u2066\u2069]", "".join(shown))
    assert "␛[2J" in "".join(shown)
    assert "⟨U+202E⟩" in "".join(shown)
    assert set(stored(folder, "<script>alert(1)</script>").values()) == {sorted(labels)[2]}


def send(address: str, **headers: str) -> tuple[int, str]:
    data = headers.pop("data", None)
    request = urllib.request.Request(
        address, headers=headers, data=data.encode() if data is not None else None
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_requests_without_an_invitation_are_denied(serve: Callable[..., Any], folder: Path) -> None:
    server = serve("human", "serve", folder)
    token = read_annotators(folder)[0].token
    good = {"Authorization": f"Bearer {token}"}
    first = read_items(folder)[0].item
    form = f"annotator=ann&item={first}&attempt=1&answer=neutral&seconds=1"
    assert send(f"{server.url}/item")[0] == 403
    assert send(f"{server.url}/?token={token[:-1]}x")[0] == 403
    assert send(f"{server.url}/answer", data=form)[0] == 403
    assert send(f"{server.url}/answer", data=form, Origin="http://evil.example", **good)[0] == 403
    assert (
        send(f"{server.url}/answer", data=form, **{"Sec-Fetch-Site": "cross-site"}, **good)[0]
        == 403
    )
    assert send(f"{server.url}/item", Host="evil.example", **good)[0] == 403
    assert send(f"{server.url}/answer", data=form.replace("ann&", "bob&"), **good)[0] == 409
    for wrong in (
        "attempt=0",
        "attempt=x",
        "attempt=",
        "attempt=9999999",
        "attempt=-1",
        "attempt=²",
    ):
        assert send(f"{server.url}/answer", data=form.replace("attempt=1", wrong), **good)[0] == 400
    assert send(f"{server.url}/answer", data=form.replace("neutral", "perhaps"), **good)[0] == 400
    assert send(f"{server.url}/answer", data=form.replace(first, "i999"), **good)[0] == 400
    assert send(f"{server.url}/answer", data="", **good)[0] == 409
    assert not AnswerStore(folder).answers()
    assert send(f"{server.url}/answer", data=form, **good)[0] == 200
    assert len(AnswerStore(folder).answers()) == 1
    denied = [line for line in server.lines if "denied 403" in line]
    assert len(denied) >= 6
    assert not any(a.token in line for a in read_annotators(folder) for line in denied)


def test_nothing_that_is_served_reveals_the_key(
    page: Any, serve: Callable[..., Any], folder: Path
) -> None:
    """The server does not need the key, and no page or address reveals any of it."""
    key = read_key(folder)
    (folder / "key.jsonl").rename(folder.parent / "key.jsonl")
    server = serve("human", "serve", folder)
    bodies: list[str] = []
    page.on(
        "response",
        lambda response: bodies.append(response.text()) if response.status == 200 else None,
    )
    start(page, link(server, folder, "ann"))
    for _ in range(6):
        press(page, "1")
    text = "\n".join([*bodies, page.content()])
    for entry in key:
        assert entry.original_a not in text
        assert entry.original_b is not None
        assert entry.original_b not in text
        assert entry.example not in text
    assert not re.search(r"\b(gold|D_c|D_f|derange|stratum|model)\b", text)
    good = {"Authorization": f"Bearer {read_annotators(folder)[0].token}"}
    files = [
        "key.jsonl",
        "items.jsonl",
        "annotators.json",
        "answers.sqlite",
        "task.json",
        "openapi.json",
        "docs",
    ]
    climbing = [
        "static/../key.jsonl",
        "%2e%2e/key.jsonl",
        "static/%2e%2e/annotation_app.py",
        "static/..%2fannotation_app.py",
    ]
    for path in [*files, *climbing]:
        assert send(f"{server.url}/{path}", **good)[0] in (403, 404)


def test_the_database_is_whole_after_a_crash(
    page: Any, serve: Callable[..., Any], folder: Path
) -> None:
    server = serve("human", "serve", folder)
    start(page, link(server, folder, "bob"))
    for _ in range(3):
        press(page, "2")
    server.kill()
    connection = sqlite3.connect(folder / "answers.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert len(stored(folder, "bob")) == 3
