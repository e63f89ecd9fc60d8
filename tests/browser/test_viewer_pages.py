"""The viewer in a real browser: open a run, filter, open an example, compare two runs, and follow
one that is running.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import disorder
from browser.conftest import PATIENCE, assert_count

HOSTILE = (
    "<img src=x onerror=document.title='owned'></script>"
    "<script>document.title='owned'</script> \x1b[31m one \u202etwo three"
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs on the same data, one with hostile text, one that is damaged."""
    folder = tmp_path_factory.mktemp("runs")
    for model, name in (("builtin", "reader"), ("builtin:bow", "bag")):
        disorder.audit(
            model,
            "builtin",
            limit=60,
            q=24,
            with_=["derange", "reverse"],
            cache="off",
            out=folder / name,
        )
    rows = [
        {"id": f"{HOSTILE}{i}", "text_a": f"{HOSTILE} {i}", "label": ("<b>y", "n")[i % 2]}
        for i in range(6)
    ]
    disorder.audit("uniform", rows, q=3, with_=["derange"], cache="off", out=folder / "hostile")
    (folder / "damaged").mkdir()
    (folder / "damaged" / "run.json").write_text("{")
    return folder


@pytest.fixture
def at(serve: Callable[..., Any], runs: Path) -> str:
    return str(serve("view", runs).url)


def test_open_a_run_filter_it_and_open_an_example(
    page: Any, at: str, assert_accessible: Callable[[Any], None]
) -> None:
    page.goto(at)
    assert_count(page.get_by_role("row"), 5)
    assert "cannot be read" in page.get_by_role("row", name="damaged").inner_text()
    assert_accessible(page)
    page.get_by_label("run, model or data contains").fill("builtin:bow")
    page.get_by_role("button", name="Show").click()
    assert_count(page.get_by_role("row"), 2)
    page.get_by_role("link", name="Clear").click()
    page.get_by_role("link", name="reader", exact=True).click()
    status = page.get_by_role("status")
    status.wait_for()  # only the page of a run has it
    assert_accessible(page)
    assert status.inner_text().startswith("60 examples")
    page.locator("select[name=label]").select_option("neutral")
    page.get_by_label("accepted share, at least").fill("0.5")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**neutral**")
    n = int(status.inner_text().split()[0])
    assert 0 < n < 60
    golds = page.locator("#examples ~ .scroll tbody tr td:nth-child(2)").all_inner_texts()
    assert set(golds) == {"neutral"}
    page.get_by_role("link", name="open example").first.click()
    page.wait_for_load_state()  # until then nobody listens to the pointer
    assert_count(page.locator(".words svg path[d]"), 0)
    page.locator(".words .moved").first.hover()
    page.locator(".words svg path[d]").first.wait_for(state="attached")
    assert page.locator(".words svg path[d]").count() == 1, "an arc to where the word came from"
    assert_count(page.locator(".version"), 20)
    assert "24 versions get the gold label" in page.locator("#versions ~ p").first.inner_text()
    assert_accessible(page)
    page.get_by_role("link", name="next →").click()
    assert_count(page.locator(".version"), 4)
    page.get_by_role("link", name="reverse", exact=True).click()
    assert_count(page.locator(".version"), 1)


def test_a_task_for_people_opens_from_the_list(
    page: Any,
    serve: Callable[..., Any],
    tmp_path: Path,
    assert_accessible: Callable[[Any], None],
) -> None:
    from disorder.verbs import human
    from disorder.verbs.human.task_folder import read_items

    task = tmp_path / "runs" / "people"
    human.make("builtin", task, n=6, with_=["derange"], annotators=["ann", "bob"])
    answers = [
        f"{each.item},{name},neutral" for each in read_items(task) for name in ("ann", "bob")
    ]
    file = tmp_path / "answers.csv"
    file.write_text("\n".join(["item,annotator,answer", *answers]), encoding="utf-8")
    human.import_answers(task, file)
    page.goto(str(serve("view", tmp_path / "runs").url))
    page.get_by_role("link", name="6 items of builtin").click()
    page.get_by_role("row", name="bob").wait_for()
    assert_accessible(page)


def test_compare_two_runs(page: Any, at: str, assert_accessible: Callable[[Any], None]) -> None:
    page.goto(at)
    button = page.get_by_role("button", name="Compare")
    page.get_by_label("compare reader").check()
    assert button.is_disabled()
    page.get_by_label("compare bag").check()
    button.click()
    page.get_by_text("after Holm's correction").first.wait_for()
    page.wait_for_load_state()
    apart = [
        float(text)
        for text in page.locator("#examples ~ .scroll tbody tr td:last-child").all_inner_texts()
    ]
    assert apart == sorted(apart, reverse=True)
    assert apart[0] > 0
    assert_accessible(page)


def test_pages_work_by_keyboard_on_a_phone_in_the_dark(
    new_page: Callable[..., Any], at: str, assert_accessible: Callable[[Any], None]
) -> None:
    page = new_page(width=390, color_scheme="dark")
    page.goto(at)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for path in ("", page.get_by_role("link", name="reader", exact=True).get_attribute("href")):
        page.goto(f"{at}{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
            "the page moves sideways"
        )
        assert_accessible(page)
    page.get_by_role("link", name="open example").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/example/**")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert_accessible(page)


def test_hostile_text_is_only_text(
    page: Any, at: str, assert_accessible: Callable[[Any], None]
) -> None:
    page.goto(at)
    page.get_by_role("link", name="hostile", exact=True).click()
    assert "<img src=x onerror=" in page.locator("td.text").first.inner_text()
    assert "⟨U+202E⟩" in page.locator("td.text").first.inner_text()
    assert_accessible(page)
    page.get_by_role("link", name="open example").first.click()
    assert "␛[31m" in page.locator(".original").inner_text()
    assert_count(page.locator("main img, main script"), 0)
    assert "owned" not in page.title().replace(HOSTILE, "")
    assert_accessible(page)


def test_a_running_run_is_followed_to_its_end(
    page: Any, serve: Callable[..., Any], tmp_path: Path, assert_accessible: Callable[[Any], None]
) -> None:
    """The model waits, once the run is there, until the page that follows it is open."""
    (tmp_path / "slow_model.py").write_text(
        "import pathlib, time\n"
        "here = pathlib.Path(__file__).parent\n"
        "def predict(texts):\n"
        "    time.sleep(0.6)\n"
        "    while (here / 'runs/live/result.json').exists() and not (here / 'go').exists():\n"
        "        time.sleep(0.02)\n"
        "    return ['neutral'] * len(texts)\n"
    )
    text = "one two three four five six seven eight."
    rows = [
        {"id": str(i), "text_a": text, "label": ("neutral", "other")[i % 2]} for i in range(320)
    ]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [
        sys.executable,
        "-m",
        "disorder",
        "audit",
        "python:slow_model:predict",
        str(data),
        "--with",
        "derange",
    ]
    command += [
        "--q",
        "100",
        "--cache",
        "off",
        "--batch-size",
        "4096",
        "--out",
        str(tmp_path / "runs" / "live"),
    ]
    started = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        path = tmp_path / "runs" / "live" / "result.json"
        while not path.exists():
            time.sleep(0.05)
            assert started.poll() is None
        page.goto(serve("view", tmp_path / "runs").url)
        page.get_by_role("link", name="live").click()
        total = page.locator("[data-total]")
        first = total.inner_text()
        assert first.endswith("examples done, over all transformations")
        assert_accessible(page)
        (tmp_path / "go").touch()
        page.wait_for_function(
            "before => document.querySelector('[data-total]')?.textContent !== before", arg=first
        )
        assert started.wait(timeout=300) == 0
        running = page.get_by_role("heading", name="Running", exact=True)
        running.wait_for(state="detached")
        assert "not complete" not in page.locator(".verdict").inner_text()
    finally:
        started.kill()
        started.wait()


def test_a_token_lets_in_once_given_and_nobody_else(
    page: Any, serve: Callable[..., Any], runs: Path, seen: Any
) -> None:
    server = serve("view", runs, "--token", "a-good-long-token-42")
    denied = page.goto(server.url)
    assert denied.status == 403
    assert page.goto(f"{server.url}/?token=a-wrong-long-token-42").status == 403
    seen.errors.clear()
    page.goto(server.address)
    page.get_by_role("heading", name="Runs").wait_for()
    assert "token" not in page.url
    page.get_by_role("link", name="reader", exact=True).click()
    page.get_by_role("heading", name="Examples", exact=True).wait_for()
    assert page.evaluate("document.cookie") == "", "scripts cannot read it"
    assert any("denied 403 GET /" in line and "wrong token" in line for line in server.lines)
    assert not any("a-wrong" in line for line in server.lines)


def test_a_page_of_another_origin_gets_nothing(
    page: Any, serve: Callable[..., Any], runs: Path, seen: Any
) -> None:
    ours = serve("view", runs)
    theirs = serve("view", runs)
    page.goto(theirs.url)
    fetched = page.evaluate(
        "url => fetch(url, {mode: 'no-cors'}).then(a => a.type, e => 'denied')", ours.url
    )
    posted = page.evaluate(
        "url => fetch(url, {method: 'POST', mode: 'no-cors'}).then(a => a.type, e => 'denied')",
        ours.url,
    )
    assert (fetched, posted) == ("denied", "denied")
    seen.errors.clear()


def test_paths_that_climb_are_denied_and_the_server_ends_cleanly(
    serve: Callable[..., Any], runs: Path
) -> None:
    import http.client
    from urllib.parse import urlsplit

    server = serve("view", runs)
    for path in ("/../../etc/passwd", "/static/%2e%2e/%2e%2e/viewer_app.py", "/run/..%2f..%2fetc"):
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=PATIENCE)
        connection.request("GET", path)
        assert connection.getresponse().status == 403
        connection.close()
    assert server.stop() == 0
    assert len([line for line in server.lines if "denied 403" in line]) == 3
    assert server.lines[-1] == "stopped"


def test_a_page_of_others_leads_nowhere_by_itself(
    page: Any, serve: Callable[..., Any], tmp_path: Path, seen: Any
) -> None:
    (tmp_path / "theirs.html").write_text(
        "<title>disorder sanity: theirs</title>"
        '<meta http-equiv="refresh" content="0; url=http://elsewhere.example/">'
        "<h1>theirs</h1><script>document.title = 'owned'</script>",
        encoding="utf-8",
    )
    page.goto(str(serve("view", tmp_path).url))
    page.get_by_role("link", name="theirs").click()
    heading = page.get_by_role("heading", name="theirs")
    heading.wait_for()
    page.wait_for_timeout(500)
    assert heading.is_visible()
    assert page.title() == "disorder sanity: theirs"
    page.get_by_role("link", name="all runs and results").click()
    page.get_by_role("link", name="theirs").wait_for()
    assert any("sandboxed" in error for error in seen.errors), "its script was stopped"
    seen.errors.clear()
